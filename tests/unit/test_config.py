"""`skilld config`, as a person types it: what is written is read back, and nothing is written that could not be."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from skilld.__main__ import main


@pytest.fixture
def file(home: Path) -> Path:
    return home / ".config/skilld/config.toml"


def _set(key: str, value: str) -> int:
    return main(["config", "set", key, value])


def test_one_setting_changes_and_the_others_stay(file: Path) -> None:
    assert _set("model", "openai/gpt-5-mini") == 0
    assert _set("batch.turns", "7") == 0
    assert _set("roots.claude-code", "/a,/b") == 0
    assert _set("model", "offline") == 0
    assert file.read_text() == 'model = "offline"\n\n[batch]\nturns = 7\n\n[roots]\nclaude-code = ["/a", "/b"]\n'


def test_a_variable_does_not_hide_that_a_value_is_none(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SKILLD_MODEL", "offline")
    assert _set("model", "no model at all") == 2
    assert not file.exists()


WRITTEN = """\
# my own settings
model = "offline"  # no cloud, ever
budget.usd = 2.0

# quiet at night
[notify]
  quiet_hours = "22:00-08:00" # "#" is no comment there
[roots]  # of agents
claude-code = [
  "/a",  # the first
  "/b]",
]
# the end
"""


@pytest.mark.parametrize(
    ("change", "old", "new"),
    [
        ("model auto", 'model = "offline"', 'model = "auto"'),
        ("model_base_url http://x", "budget.usd = 2.0\n", 'budget.usd = 2.0\nmodel_base_url = "http://x"\n'),
        ("budget.usd 3", "budget.usd = 2.0", "budget.usd = 3.0"),
        ("budget.calls 3", "budget.usd = 2.0\n", "budget.usd = 2.0\nbudget.calls = 3\n"),
        ("notify.quiet_hours ", '= "22:00-08:00"', '= ""'),
        ("notify.per_day 3", "comment there\n", "comment there\nper_day = 3\n"),
        ("roots.claude-code /c", '[\n  "/a",  # the first\n  "/b]",\n]', '["/c"]'),
        ("roots.codex /c", '  "/b]",\n]\n', '  "/b]",\n]\ncodex = ["/c"]\n'),
        ("batch.turns 7", "# the end\n", "# the end\n\n[batch]\nturns = 7\n"),
    ],
)
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_comments_and_order_are_the_persons_own(file: Path, change: str, old: str, new: str, ending: str) -> None:
    assert WRITTEN.count(old) == 1
    file.parent.mkdir(parents=True)
    file.write_bytes(WRITTEN.replace("\n", ending).encode())
    file.chmod(0o600)
    assert _set(*change.split(" ")) == 0
    assert file.read_bytes().decode() == WRITTEN.replace(old, new).replace("\n", ending)


def test_a_setting_is_taken_out_again(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.parent.mkdir(parents=True)
    file.write_text(WRITTEN)
    file.chmod(0o600)
    for key in ("roots.claude-code", "budget.usd", "notify.quiet_hours", "model"):
        assert main(["config", "unset", key]) == 0
    assert file.read_text() == "# my own settings\n\n# quiet at night\n[notify]\n[roots]  # of agents\n# the end\n"
    assert _set("notify.per_day", "3") == 0
    assert "[notify]\nper_day = 3\n[roots]" in file.read_text()
    assert _set("model", "offline") == 0
    assert file.read_text().startswith('model = "offline"\n\n# my own settings\n')
    capsys.readouterr()
    assert main(["config", "unset", "batch.turns"]) == 0
    assert capsys.readouterr().out == f"batch.turns is not set in {file}.\n"
    assert main(["config", "unset", "batch.turn"]) == 2


def test_what_is_no_line_of_its_own_is_told_and_left_alone(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.parent.mkdir(parents=True)
    file.write_text("notify = { per_day = 3 }\n")
    file.chmod(0o600)
    for command in (["set", "notify.per_day", "4"], ["set", "notify.words", "true"], ["unset", "notify.per_day"]):
        assert main(["config", *command]) == 2
        assert "cannot edit the line of" in capsys.readouterr().err
    assert file.read_text() == "notify = { per_day = 3 }\n"


@pytest.mark.parametrize("value", ['quote " and \\', "12345", "true", "ü 😀", "tab\tand \x7f", "[1]"])
def test_any_text_is_read_back_as_it_was_typed(value: str, capsys: pytest.CaptureFixture[str]) -> None:
    from skilld.cli.common import settings

    assert _set("model_api_key", value) == 0
    assert settings().model_api_key == value
    assert value not in capsys.readouterr().out


def test_the_file_is_private_also_under_a_common_umask(file: Path) -> None:
    before = os.umask(0o022)
    try:
        _set("model", "offline")
    finally:
        os.umask(before)
    assert file.stat().st_mode & 0o777 == 0o600
    assert [path.name for path in file.parent.iterdir()] == ["config.toml"]


def test_a_link_to_the_settings_stays_a_link(file: Path, tmp_path: Path) -> None:
    own = tmp_path / "dotfiles" / "skilld.toml"
    own.parent.mkdir()
    own.write_text('model = "auto"\n')
    file.parent.mkdir(parents=True)
    file.symlink_to(own)
    assert _set("model", "offline") == 0
    assert file.is_symlink()
    assert own.read_text() == 'model = "offline"\n'


@pytest.mark.parametrize(
    ("key", "value", "told"),
    [
        ("modle", "x", "No such setting: modle (did you mean model?)"),
        ("batch", "5", "No such setting: batch"),
        ("batch.turns", "many", "batch.turns: Input should be a valid integer"),
        ("batch.turns", "0", "batch.turns"),
        ("budget.usd", "nan", "budget.usd"),
        ("roots.codex", "relative", "relative is not an absolute path"),
    ],
)
def test_what_cannot_be_is_told_and_nothing_is_written(
    file: Path, key: str, value: str, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    _set("model", "offline")
    assert _set(key, value) == 2
    assert told in capsys.readouterr().err
    assert file.read_text() == 'model = "offline"\n'


@pytest.mark.parametrize("text", ["batch = 3\n", "model = 2020-01-01\n", "model = \n", "surplus = 1\n"])
def test_a_file_that_is_broken_already_is_told_and_left_alone(
    file: Path, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    file.parent.mkdir(parents=True)
    file.write_text(text)
    assert _set("batch.turns", "5") == 2
    assert "skilld: " in capsys.readouterr().err
    assert file.read_text() == text


def test_a_folder_in_the_place_of_the_file_is_told(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.mkdir(parents=True)
    assert _set("model", "offline") == 2
    assert "Is a directory" in capsys.readouterr().err


def test_show_names_every_setting_and_hides_the_key(capsys: pytest.CaptureFixture[str]) -> None:
    _set("model_api_key", "sk-very-secret")
    assert main(["config", "show"]) == 0
    assert main(["config", "show", "--json"]) == 0
    shown = capsys.readouterr().out
    assert "batch.idle_minutes" in shown
    assert '"model_api_key": "(set)"' in shown
    assert "sk-very-secret" not in shown


def test_path_is_where_the_file_is(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["config", "path"]) == 0
    assert capsys.readouterr().out == f"{file}\n"


@pytest.mark.parametrize(
    ("key", "value", "when"),
    [
        ("batch.turns", "4", "within seconds"),
        ("notify.enabled", "false", "after a restart"),
        ("roots.codex", "/x", "after a restart"),
    ],
)
def test_when_a_running_daemon_takes_a_setting_up_is_told(
    key: str, value: str, when: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["config", "set", key, value]) == 0
    assert capsys.readouterr().out.endswith(f"A running daemon uses it {when}.\n")
