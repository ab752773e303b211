"""`skilld config` as a person types it: values are read back, and invalid ones are not written."""

from __future__ import annotations

import io
import json
import os
import shutil
import sys
import tomllib
from pathlib import Path

import pytest

from skilld import console
from skilld.__main__ import main
from skilld.agents import ADAPTERS
from skilld.caller.judge import Doubt, DoubtKind
from skilld.classify.backends.names import find_problem
from skilld.cli import permissions
from skilld.health import judge_facts
from skilld.health.values import Model, Trouble
from skilld.settings import Settings, setting_keys
from support.rows import for_each


@pytest.fixture
def file(home: Path) -> Path:
    return home / ".config/skilld/config.toml"


def _write_config(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True)
    file.write_bytes(text.encode())
    file.chmod(0o600)


def _set(key: str, value: str) -> int:
    return main(["config", "set", key, value])


def test_setting_one_value_keeps_the_others(file: Path) -> None:
    assert _set("model", "openai/gpt-5-mini") == 0
    assert _set("batch.turns", "7") == 0
    assert _set("roots.claude-code", "/a,/b") == 0
    assert _set("model", "offline") == 0
    assert file.read_text() == 'model = "offline"\n\n[batch]\nturns = 7\n\n[roots]\nclaude-code = ["/a", "/b"]\n'


def test_an_invalid_value_is_refused_even_if_a_variable_overrides_it(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SKILLD_MODEL", "offline")
    assert _set("model", "no model at all") == 2
    assert not file.exists()


def test_a_value_is_printed_as_it_is_set(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _write_config(file, 'model_api_key = "sk-hidden"\n[notify]\nwords = true\n[roots]\ncodex = ["/a", "/b"]\n')
    for key in ("model", "notify.words", "roots.codex", "model_base_url", "model_api_key"):
        assert main(["config", "get", key]) == 0
    assert capsys.readouterr().out == "auto\ntrue\n/a,/b\n\n(set)\n"
    assert main(["config", "get", "roots.codex", "--json"]) == 0
    assert capsys.readouterr().out == '[\n  "/a",\n  "/b"\n]\n'
    assert main(["config", "get", "modle"]) == 2
    assert "did you mean model?" in capsys.readouterr().err


def test_an_address_set_by_a_variable_is_shown(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    del home
    monkeypatch.setenv("SKILLD_MODEL", "anthropic/claude-haiku-4-5")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://me:hidden@gateway.test:8443/v1")
    assert main(["config", "show"]) == 0
    assert "; in use: gateway.test:8443 (ANTHROPIC_BASE_URL)" in capsys.readouterr().out.replace("\n", " ")


def test_it_is_shown_who_set_a_value(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _write_config(file, 'model = "offline"\n[batch]\nturns = 5\n[budget]\nusd = 2.0\n[roots]\ncodex = ["/a"]\n')
    monkeypatch.setenv("skilld_budget__usd", "3")
    monkeypatch.setenv("COLUMNS", "400")
    assert main(["config", "show"]) == 0
    lines = (line.partition("; set by ") for line in capsys.readouterr().out.splitlines())
    told = {line.split()[0]: who for line, _, who in lines if "`" not in who}
    assert {key: who for key, who in told.items() if who} == {
        "model": "you",
        "batch.turns": "you",  # although it is the default
        "budget.usd": "skilld_budget__usd",
        "roots.codex": "you",
    }


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
def test_comments_and_order_are_kept(file: Path, change: str, old: str, new: str, ending: str) -> None:
    assert WRITTEN.count(old) == 1
    _write_config(file, WRITTEN.replace("\n", ending))
    assert _set(*change.split(" ")) == 0
    assert file.read_bytes().decode() == WRITTEN.replace(old, new).replace("\n", ending)


def test_a_setting_can_be_removed(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _write_config(file, WRITTEN)
    for key in ("roots.claude-code", "budget.usd", "notify.quiet_hours", "model"):
        assert main(["config", "unset", key]) == 0
    assert file.read_text() == "# my own settings\n\n# quiet at night\n[notify]\n[roots]  # of agents\n# the end\n"
    assert _set("notify.per_day", "3") == 0
    assert "[notify]\nper_day = 3\n[roots]" in file.read_text()
    assert _set("model", "offline") == 0
    assert file.read_text().startswith('model = "offline"\n\n# my own settings\n')
    capsys.readouterr()
    assert main(["config", "unset", "batch.turns"]) == 0
    assert capsys.readouterr().out == "batch.turns is not set in ~/.config/skilld/config.toml.\n"
    assert main(["config", "unset", "batch.turn"]) == 2


def test_no_empty_table_is_left_behind(file: Path) -> None:
    for written in ("", '[notify]\nper_day = 3\n\n[roots]\npi = ["/p"]\n'):
        shutil.rmtree(file.parent, ignore_errors=True)
        _write_config(file, written)
        assert _set("batch.turns", "4") == 0
        assert main(["config", "unset", "batch.turns"]) == 0
        assert file.read_text().strip() == written.strip()
    assert main(["config", "unset", "notify.per_day"]) == 0
    assert file.read_text().strip() == '[roots]\npi = ["/p"]'


def test_a_setting_not_on_a_line_of_its_own_is_reported_and_left_alone(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _write_config(file, "notify = { per_day = 3 }\n")
    for command in (["set", "notify.per_day", "4"], ["set", "notify.words", "true"], ["unset", "notify.per_day"]):
        assert main(["config", *command]) == 2
        assert "cannot edit the line in" in capsys.readouterr().err
    assert file.read_text() == "notify = { per_day = 3 }\n"


@pytest.mark.parametrize("value", ['quote " and \\', "12345", "true", "ü 😀", "tab\tand \x7f", "[1]"])
def test_any_text_is_read_back_as_typed(value: str, capsys: pytest.CaptureFixture[str]) -> None:
    from skilld.cli.common import settings

    assert _set("model_api_key", value) == 0
    assert settings().model_api_key == value
    assert value not in capsys.readouterr().out


def test_the_file_is_private_whatever_the_umask(file: Path) -> None:
    before = os.umask(0o022)
    try:
        _set("model", "offline")
    finally:
        os.umask(before)
    assert file.stat().st_mode & 0o777 == 0o600
    assert [path.name for path in file.parent.iterdir()] == ["config.toml"]


def test_a_symlinked_settings_file_stays_a_link(file: Path, tmp_path: Path) -> None:
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
        ("batch", "5", "No such setting: batch (it is a section: batch.turns, batch.idle_minutes)"),
        ("nothing.here", "x", "No such setting: nothing.here\n"),
        ("worker.memory_mb", "1", "worker.memory_mb: must be at least 128, or 0 for no limit"),
        ("targets", "", "targets: cannot be empty"),
        ("batch.turns", "many", "batch.turns: must be a whole number from 1 to 50"),
        ("batch.turns", "0", "batch.turns"),
        ("budget.usd", "nan", "budget.usd"),
        ("roots.codex", "relative", "relative is not an absolute path"),
    ],
)
def test_an_invalid_value_is_reported_and_nothing_is_written(
    file: Path, key: str, value: str, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    _set("model", "offline")
    assert _set(key, value) == 2
    assert told in capsys.readouterr().err
    assert file.read_text() == 'model = "offline"\n'


@pytest.mark.parametrize("text", ["batch = 3\n", "model = 2020-01-01\n", "model = \n", "surplus = 1\n"])
def test_an_already_broken_file_is_reported_and_left_alone(
    file: Path, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    file.parent.mkdir(parents=True)
    file.write_text(text)
    assert _set("batch.turns", "5") == 2
    assert "skilld: " in capsys.readouterr().err
    assert file.read_text() == text


def test_a_folder_in_place_of_the_file_is_reported(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.mkdir(parents=True)
    assert _set("model", "offline") == 2
    assert "Is a directory" in capsys.readouterr().err


def test_show_lists_every_setting_and_hides_the_key(capsys: pytest.CaptureFixture[str]) -> None:
    _set("model_api_key", "sk-very-secret")
    assert main(["config", "show"]) == 0
    assert main(["config", "show", "--json"]) == 0
    output = capsys.readouterr().out
    assert "batch.idle_minutes" in output
    assert '"model_api_key": "(set)"' in output
    assert "sk-very-secret" not in output


def test_path_prints_the_location_of_the_file(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["config", "path"]) == 0
    assert capsys.readouterr().out == f"{file}\n"


@pytest.mark.parametrize(
    ("key", "value", "when"),
    [
        ("batch.turns", "4", "A running daemon picks up the change within seconds."),
        ("notify.enabled", "false", "The change takes effect when skilld restarts."),
        ("roots.codex", "/x", "The change takes effect when skilld restarts."),
    ],
)
def test_it_says_when_a_running_daemon_will_apply_a_setting(
    key: str, value: str, when: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["config", "set", key, value]) == 0
    assert capsys.readouterr().out.endswith(f"{when}\n")


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)


def _edit(monkeypatch: pytest.MonkeyPatch, folder: Path, change: str) -> int:
    """Run `config edit` with an editor that makes this change; return the exit code."""
    editor = folder / "editor"
    editor.write_text(f'#!/bin/sh\n{change} "$1"\n')
    editor.chmod(0o755)
    monkeypatch.setenv("EDITOR", str(editor))
    monkeypatch.delenv("VISUAL", raising=False)
    return main(["config", "edit"])


@pytest.mark.parametrize(
    ("key", "value", "stored"),
    [
        ("roots.codex", '["/a", "/b"]', ["/a", "/b"]),
        ("roots.codex", "/a,/b", ["/a", "/b"]),
        ("auto.skills", '["notes"]', ["notes"]),
        ("auto.skills", "[notes", ["[notes"]),
        ("auto.targets", '["skill", "rules"]', ["skill", "rules"]),
        ("model_api_key", '["a"]', '["a"]'),
    ],
)
def test_a_list_is_typed_as_it_is_shown(file: Path, key: str, value: str, stored: object) -> None:
    assert main(["config", "set", key, value]) == 0
    section, _, name = key.rpartition(".")
    values = tomllib.loads(file.read_text())
    assert (values[section] if section else values)[name] == stored


@pytest.mark.usefixtures("terminal")
def test_u3_the_editor_shows_every_setting_with_default_and_meaning(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert _edit(monkeypatch, tmp_path, r"sed -i 's/^# turns = 5 /turns = 3 /'") == 0
    written = file.read_text()
    assert "turns = 3  # number of your messages" in written
    for key, meaning in setting_keys().items():
        assert f"{key.rpartition('.')[2]} = " in written
        assert meaning in written
    assert _edit(monkeypatch, tmp_path, "sed -i -E 's/^# ([a-z._-]+ = )/\\1/'") == 0
    read = Settings(**tomllib.loads(file.read_text())).model_dump()
    empty = {"roots": {agent: [] for agent in ADAPTERS}, "model_base_url": "", "model_api_key": ""}
    assert read == Settings().model_dump() | empty | {"batch": {"turns": 3, "idle_minutes": 10}}


@pytest.mark.usefixtures("terminal")
def test_u3_the_users_own_lines_stay_and_comments_are_added_once(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _write_config(file, WRITTEN)
    assert _edit(monkeypatch, tmp_path, "echo '# seen' >>") == 0
    once = file.read_text()
    assert [line for line in WRITTEN.split("\n") if line not in once.split("\n")] == []
    assert Settings(**tomllib.loads(once)) == Settings(**tomllib.loads(WRITTEN))
    assert main(["config", "edit"]) == 0
    assert file.read_text() == once + "# seen\n"


@pytest.mark.usefixtures("terminal")
def test_u3_invalid_edits_are_not_saved(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stdin, "readline", lambda: "n\n", raising=False)
    for change in (r"sed -i 's/^# turns = 5 /turns = 99 /'", "echo '[' >>", "echo 'modle = 1' >"):
        assert _edit(monkeypatch, tmp_path, change) == 2
        assert not file.exists()
    assert _edit(monkeypatch, tmp_path, "true") == 0
    assert not file.exists()


@pytest.mark.usefixtures("terminal")
def test_u3_a_mistake_costs_nothing_but_a_second_edit(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = iter(["\n", "x\n"])
    monkeypatch.setattr(sys.stdin, "readline", lambda: next(answers, ""), raising=False)
    steps = "s/^turns = 98 .*/turns = 7/", "s/^turns = 99 .*/turns = 98 # more/", "s/^# turns = 5 /turns = 99 /"
    change = "sed -i" + "".join(f" -e '{step}'" for step in steps)
    assert _edit(monkeypatch, tmp_path, change) == 0
    assert "\nturns = 7\n" in file.read_text()
    file.unlink()
    assert _edit(monkeypatch, tmp_path, "echo '[' >>") == 2, (
        "the end of the input is no answer that asks for another edit"
    )


@pytest.mark.usefixtures("terminal")
def test_u3_a_model_that_no_provider_takes_is_not_saved(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stdin, "readline", lambda: "n\n", raising=False)
    assert _edit(monkeypatch, tmp_path, "echo 'model = \"sonnet\"' >") == 2
    assert not file.exists()


@pytest.mark.usefixtures("terminal")
def test_u3_a_file_with_the_line_ends_of_windows_keeps_them(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(b'model = "offline"\r\nbatch.turns = 4\r\n')
    file.chmod(0o600)
    assert _edit(monkeypatch, tmp_path, "sed -i 's/turns = 4/turns = 6/'") == 0
    written = file.read_bytes()
    assert b"batch.turns = 6\r\n" in written
    assert written.count(b"\n") == written.count(b"\r\n")


def test_u3_without_a_terminal_no_editor_opens(file: Path) -> None:
    assert main(["config", "edit"]) == 2
    assert not file.exists()


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("gpt5", "did you mean gpt-5?"),
        ("opnai/gpt-5", "unknown provider 'opnai' (did you mean openai?)"),
        ("text-embedding-3-small", "cannot answer questions"),
        ("sonnet", "unknown model"),
    ],
)
def test_u3_a_model_name_without_a_provider_is_refused(
    file: Path, capsys: pytest.CaptureFixture[str], name: str, told: str
) -> None:
    assert _set("model", name) == 2
    assert told in capsys.readouterr().err
    assert not file.exists()
    assert _set("model_base_url", "http://127.0.0.1:9/v1") == 0
    has_no_api = name != "text-embedding-3-small"  # which litellm knows as one of OpenAI's
    assert main(["config", "set", "model", name, "--no-check"]) == (2 if has_no_api else 0)
    if has_no_api:
        assert f"If your server is OpenAI-compatible, as most are: openai/{name}\n" in capsys.readouterr().err
    assert main(["config", "set", "model", f"openai/{name}", "--no-check"]) == 0


def test_u3_an_unknown_model_is_a_warning(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _set("model", "openai/gpt-99-nano") == 0
    assert "litellm's list of openai models does not include 'gpt-99-nano'" in capsys.readouterr().err
    assert "gpt-99-nano" in file.read_text()


@for_each(
    "name",
    [
        "gpt-5",
        "openai/gpt-5-mini",
        "anthropic/claude-haiku-4-5",
        "ollama_chat/own",
        "azure/my-own",
        "vertex_ai/gemini-2.5-pro",
    ],
)
def test_u3_a_known_or_custom_model_name_is_accepted(name: str) -> None:
    assert find_problem(name) is None


def test_u3_a_new_model_is_tested_with_one_question_that_cannot_block(
    file: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def model(settings: Settings, *_: object, ask: bool) -> Model:
        asked.append((settings.model, ask))
        return Model(settings.model, "", answer=answers.pop())

    answers: list[Trouble | str] = [Trouble("the provider rejected the key", "Check the key."), " (12 tokens)"]
    monkeypatch.setattr(judge_facts, "model_facts", model)
    assert _set("model", "openai/gpt-5-mini") == 0
    assert "The model answered a test question (12 tokens)." in capsys.readouterr().out
    assert _set("model", "gpt-5") == 0
    output = capsys.readouterr().out
    assert "The model cannot answer yet: the provider rejected the key" in output
    assert "The setting was saved, and skilld will try again. To choose another model: skilld setup" in output
    assert main(["config", "set", "model", "openai/gpt-5-mini", "--no-check"]) == 0
    assert _set("model", "offline") == 0
    answers += [Trouble("Claude Code is not logged in", "Run claude.")]
    assert _set("model", "agent") == 0
    assert "The agent cannot answer yet: Claude Code is not logged in" in capsys.readouterr().out
    assert asked == [("openai/gpt-5-mini", True), ("gpt-5", True), ("agent", True)]
    assert 'model = "agent"' in file.read_text()


@pytest.mark.parametrize(
    ("key", "names"),
    [
        ("model", ["model"]),
        ("budget.calls", ["budget.calls"]),
        ("budget", ["budget.calls", "budget.tokens", "budget.usd"]),
        ("roots.codex", ["roots.codex"]),
    ],
)
def test_one_setting_or_section_is_shown(key: str, names: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["config", "show", key]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines() if line[0] != " "] == names
    assert main(["config", "show", key, "--json"]) == 0
    json.loads(capsys.readouterr().out)


def test_an_unknown_setting_is_not_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["config", "show", "budgte"]) == 2
    assert "No such setting: budgte" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("https://bob:hunter2@gw.example/v1", "https://***@gw.example/v1"),
        ("https://hunter2@gw.example:8443", "https://***@gw.example:8443"),
        ("https://gw.example/v1", "https://gw.example/v1"),
    ],
)
def test_a_login_in_an_address_is_not_shown(
    file: Path, capsys: pytest.CaptureFixture[str], address: str, shown: str
) -> None:
    """And what is shown cannot be set by mistake."""
    _write_config(file, f'model_base_url = "{address}"\n[machines]\nremote = "{address}"\n')
    asked = [["show"], ["show", "--json"], ["show", "machines"], ["get", "model_base_url"], ["get", "machines.remote"]]
    for words in asked:
        assert main(["config", *words]) == 0
        out = capsys.readouterr().out
        assert shown in out
        assert "hunter2" not in out
    assert _set("model_base_url", shown) == (0 if shown == address else 2)
    assert tomllib.loads(file.read_text())["model_base_url"] == address


@pytest.mark.parametrize(("typed", "code", "stored"), [("sk-1234\n", 0, "sk-1234"), ("\n", 2, None), ("", 2, None)])
def test_a_secret_is_read_from_standard_input(  # noqa: PLR0917 - fixtures
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], typed: str, code: int, stored: str
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(typed))
    assert _set("model_api_key", "-") == code
    assert (tomllib.loads(file.read_text())["model_api_key"] if file.exists() else None) == stored
    shown = capsys.readouterr()
    assert "sk-1234" not in shown.out + shown.err


def test_a_refused_command_does_not_repeat_the_key() -> None:
    doubt = Doubt(DoubtKind.AGENT, "an agent ran it")
    words = ["config", "set", "model_api_key", "sk-1234", "--no-check"]
    assert "skilld config set model_api_key - --no-check" in permissions.remedy(doubt, words)
    assert "skilld config set model offline" in permissions.remedy(doubt, ["config", "set", "model", "offline"])


def test_a_refused_command_can_be_copied_from_one_line() -> None:
    doubt = Doubt(DoubtKind.NO_TERMINAL, "it has no terminal")
    told = permissions.remedy(doubt, ["reject", "0123abcd", "--why", "not here,\nnot now"])
    assert console.message(told) == r"Run it in a terminal: skilld reject 0123abcd --why $'not here,\x0anot now'"
