from __future__ import annotations

import os
from pathlib import Path

import pytest

from skilld.daemon.reload import SettingsFile
from skilld.errors import UsageError
from skilld.settings import load_file, parse_value, setting_keys
from support.rows import for_each


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "config.toml"


def _refusal(file: Path) -> str:
    with pytest.raises(UsageError) as error:
        load_file(file)
    return f"{error.value.title}: {error.value.cause}"


def test_without_a_file_everything_has_its_default(file: Path) -> None:
    settings = load_file(file)
    assert settings.model == "auto"
    assert (settings.batch.turns, settings.batch.idle_minutes) == (5, 10)
    assert (settings.apply, settings.notify.enabled, settings.accept.by_agents) == ("stage", True, False)


def test_the_file_overrides_defaults_and_a_variable_overrides_the_file(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file.write_text('model = "offline"\n[batch]\nturns = 7\nidle_minutes = 1\n')
    monkeypatch.setenv("SKILLD_BATCH__TURNS", "9")
    settings = load_file(file)
    assert (settings.model, settings.batch.turns, settings.batch.idle_minutes) == ("offline", 9, 1)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("modle = 'x'", "unknown setting modle (did you mean model?)"),
        ("[batch]\nturn = 5", "unknown setting batch.turn (did you mean batch.turns?)"),
        ("_env_file = '.env'", "unknown setting _env_file"),  # an argument of the library's
        ("_cli_parse_args = true", "unknown setting _cli_parse_args"),
        ("batch = 3", "batch: must be a table of settings"),
        ("model = 5", "model: must be text"),
        ('model = "openai/"', "not a valid model name"),
        ('model_base_url = "localhost:11434"', "must begin with http:// or https://"),
        ('targets = ["skills"]', "targets: must be skill, instructions, rules, personal or evals, not 'skills'"),
        ("budget.usd = inf", "budget.usd: must be a number of at least 0"),
        ("model = ''", "model: cannot be empty"),
        ("apply = 'sometimes'", "apply: must be stage or auto"),
        ("[batch]\nturns = 0", "batch.turns: must be a whole number from 1 to 50"),
        ("[batch]\nidle_minutes = nan", "batch.idle_minutes: must be a number from 0 to 1440"),
        ("[roots]\nclaude = ['/x']", "unknown agent 'claude' (did you mean claude-code?)"),
        ("[roots]\ncodex = ['x']", "x is not an absolute path"),
        ("[roots]\ncodex = ['~nobody-of-that-name/x']", "no such user"),
        ("model = ", "Cannot read the settings file"),
        ("x = " + "[" * 5000, "Cannot read the settings file"),
        ("model = '\xff'", "Cannot read the settings file"),
        ('model = "cli:nosuch"', "supports cli:claude"),
        ('model = "cli:claude:--resume"', "the part after the second colon is not a model name"),
        ('model = "claude"', "did you mean cli:claude?"),
        ('model = "Offline"', "did you mean offline?"),
        ('model = "gpt 5"', "not a valid model name"),
        (f"[budget]\ncalls = {'9' * 5000}", "4300 digits"),
        ('[roots]\ncodex = "/a\\u0000b"', "a path cannot contain a NUL character"),
    ],
)
def test_an_invalid_setting_is_reported_with_its_key(file: Path, text: str, told: str) -> None:
    file.write_text(text, encoding="latin-1")
    assert told in _refusal(file)


def test_all_that_is_wrong_is_reported_at_once(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file.write_text(
        "modle = 'x'\napply = 'now'\n[batch]\nturns = 0\nturn = 3\n[roots]\nclaude = ['/x']\ncodx = ['/y']\n"
    )
    told = _refusal(file)
    for one in (
        "unknown setting modle (did you mean model?) (line 1)",
        "apply: must be stage or auto (line 2)",
        "batch.turns: must be a whole number from 1 to 50 (line 4)",
        "unknown setting batch.turn (did you mean batch.turns?) (line 5)",
        "unknown agent 'claude' (did you mean claude-code?)",
        "unknown agent 'codx' (did you mean codex?)",
    ):
        assert one in told
    monkeypatch.setenv("SKILLD_MODLE", "x")
    monkeypatch.setenv("SKILLD_APLY", "x")
    assert "SKILLD_MODEL?); unknown setting SKILLD_APLY (did you mean SKILLD_APPLY?)" in _refusal(file)


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("SKILLD_MODLE", "x", "unknown setting SKILLD_MODLE (did you mean SKILLD_MODEL?)"),
        ("skilld_batch", "{}", "unknown setting skilld_batch"),
        ("SKILLD_ROOTS", "/x", "SKILLD_ROOTS is not a JSON object"),
        ("SKILLD_BATCH__TURNS", "many", "Invalid setting: SKILLD_BATCH__TURNS: must be a whole number from 1 to 50"),
        ("skilld_model", "", "Invalid setting: skilld_model: cannot be empty"),
        ("SKILLD_ROOTS__CODEX", "x", "Invalid setting: SKILLD_ROOTS__CODEX: x is not an absolute path"),
    ],
)
def test_an_invalid_variable_is_reported(
    file: Path, monkeypatch: pytest.MonkeyPatch, name: str, value: str, told: str
) -> None:
    monkeypatch.setenv(name, value)
    assert told in _refusal(file)


def test_an_unknown_variable_has_a_remedy(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SKILLD_FOO", "1")
    with pytest.raises(UsageError) as error:
        load_file(file)
    assert error.value.remedy == "If it is not meant for skilld: unset SKILLD_FOO"


def test_the_line_and_the_variable_are_named_and_each_has_its_remedy(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file.write_text('model = "auto"\n[batch]\nturns = 0\n\n[notify]\nper_day = "x"  # many\n')
    monkeypatch.setenv("SKILLD_BATCH__TURNS", "many")
    with pytest.raises(UsageError) as error:
        load_file(file)
    assert error.value.cause.split("; ") == [
        "SKILLD_BATCH__TURNS: must be a whole number from 1 to 50",
        "notify.per_day: must be a whole number from 1 to 200 (line 6)",
    ]
    assert error.value.remedy == f"Fix {file}. Change or unset SKILLD_BATCH__TURNS."
    file.unlink()
    with pytest.raises(UsageError) as error:
        load_file(file)
    assert error.value.remedy == "Change or unset SKILLD_BATCH__TURNS."


def test_a_single_folder_needs_no_list_and_may_use_a_tilde(
    file: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file.write_text('[roots]\nclaude-code = "~/transcripts"\n')
    monkeypatch.setenv("SKILLD_ROOTS__CODEX", "/a")
    assert load_file(file).roots == {"claude-code": [home / "transcripts"], "codex": [Path("/a")]}


def test_no_file_in_the_current_folder_is_read(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".env").write_text("SKILLD_MODEL=openai/attacker\n")
    monkeypatch.chdir(tmp_path)
    assert load_file(file).model == "auto"


def test_a_byte_order_mark_is_accepted(file: Path) -> None:
    file.write_bytes(b'\xef\xbb\xbfmodel = "offline"\n')
    assert load_file(file).model == "offline"


def test_a_pipe_in_its_place_is_refused_without_blocking(file: Path) -> None:
    os.mkfifo(file, 0o600)
    assert "it is not a regular file" in _refusal(file)


def test_a_folder_or_an_endless_device_in_its_place_is_refused(file: Path) -> None:
    file.symlink_to("/dev/zero")
    assert "it is not a regular file" in _refusal(file)
    file.unlink()
    file.mkdir()
    assert str(file) in _refusal(file)


def test_an_oversized_file_is_refused(file: Path) -> None:
    file.write_text("# nothing\n" * 200_000)
    assert "bytes; the limit is 1048576" in _refusal(file)


def test_a_key_never_appears_in_printed_settings(file: Path) -> None:
    file.write_text('model_api_key = "sk-very-secret"\n')
    file.chmod(0o600)
    assert "sk-very-secret" not in repr(load_file(file))


def test_every_key_has_a_description() -> None:
    found = setting_keys()
    assert {"model", "model_base_url", "model_api_key", "apply", "batch.turns", "batch.idle_minutes"} <= found.keys()
    assert {"notify.enabled", "roots.claude-code", "roots.codex"} <= found.keys()
    assert all(found.values())


@for_each(
    ("key", "text", "value"),
    [
        ("batch.turns", "7", 7),
        ("batch.idle_minutes", "0.5", 0.5),
        ("notify.enabled", "no", False),
        ("model_api_key", "12345", "12345"),
        ("model", "true", "true"),
        ("roots.codex", "/a, /b", ["/a", "/b"]),
        ("batch.turns", "many", "many"),
    ],
)
def test_typed_values_are_converted_to_the_type_of_their_key(key: str, text: str, value: object) -> None:
    found = parse_value(key, text)
    assert (found, type(found)) == (value, type(value))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "config.toml"


def test_a_change_is_reported_once(path: Path) -> None:
    file = SettingsFile(path, load_file(path))
    assert file.load_if_changed() is None
    path.write_text("[batch]\nturns = 3\n")
    settings = file.load_if_changed()
    assert settings is not None
    assert settings.batch.turns == 3
    assert (file.load_if_changed(), file.message) == (None, "")
    path.unlink()
    settings = file.load_if_changed()
    assert settings is not None
    assert settings.batch.turns == 5


def test_an_invalid_file_changes_nothing_and_is_reported_until_fixed(path: Path) -> None:
    file = SettingsFile(path, load_file(path))
    path.write_text("[batch]\nturn = 3\n")
    assert file.load_if_changed() is None
    assert "unknown setting batch.turn" in file.message
    path.write_text("[batch]\nturns = 33\n")
    assert file.load_if_changed() is not None
    assert file.message == ""


def test_a_setting_that_needs_a_restart_says_so(path: Path, tmp_path: Path) -> None:
    file = SettingsFile(path, load_file(path))
    path.write_text(f'[roots]\nclaude-code = ["{tmp_path}"]\n[notify]\nenabled = false\n')
    assert file.load_if_changed() is not None
    assert file.message == "changed; roots and notify.enabled take effect only after a restart"


def test_a_file_is_read_again_once_its_mode_is_mended(path: Path) -> None:
    file = SettingsFile(path, load_file(path))
    path.write_text("[batch]\nturns = 3\n")
    path.chmod(0o666)
    assert file.load_if_changed() is None
    assert "can be changed by other users" in file.message
    path.chmod(0o600)
    assert file.load_if_changed() is not None
    assert file.message == ""


def test_a_model_that_no_provider_takes_is_refused_and_the_judge_stays(path: Path) -> None:
    file = SettingsFile(path, load_file(path))
    path.write_text('model = "sonnet"\n')
    assert file.load_if_changed() is None
    assert "unknown model 'sonnet'" in file.message


def test_what_is_not_utf8_is_named_by_its_line(path: Path) -> None:
    path.write_bytes(b'model = "offline"\n# \xff\n')
    with pytest.raises(UsageError, match="line 2 is not UTF-8"):
        load_file(path)


def test_without_a_file_nothing_changes(path: Path) -> None:
    assert SettingsFile(None, load_file(path)).load_if_changed() is None
