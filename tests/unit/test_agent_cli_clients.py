"""The arguments given to each agent's command line, and how its answers and errors are read."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from skilld.classify.backends.agent_cli.backend import failure_error
from skilld.classify.backends.agent_cli.base import ClientAnswer, Question, commented_json, make_workspace
from skilld.classify.backends.agent_cli.clients import CLIENTS, is_client_variable
from skilld.classify.backends.agent_cli.own_questions import is_own_question, new_mark
from skilld.classify.backends.choose import choose
from skilld.errors import RetryError
from skilld.files import find_program
from skilld.types import Usage
from support.rows import for_each
from support.tables import table_rows

RULES = "The rules."


@pytest.fixture
def question(home: Path) -> Iterator[Question]:
    with make_workspace(home, {}) as made:
        yield Question(RULES, "The question.", "", made, home, {})


def codex_settings(arguments: tuple[str, ...]) -> list[str]:
    """Return what follows each --config."""
    return [after for option, after in pairwise(arguments) if option == "--config"]


# --- what they are told


@pytest.mark.parametrize(
    ("program", "parts"),
    [
        ("claude", ["--print", "--no-session-persistence", "--strict-mcp-config", "--disable-slash-commands"]),
        ("codex", ["exec", "--ephemeral", "--ignore-rules", "--skip-git-repo-check", "-"]),
        ("opencode", ["run"]),
        ("pi", ["--print", "--no-session", "--no-tools", "--no-skills", "--no-extensions", "--no-context-files"]),
    ],
)
def test_a_client_gets_no_tools_and_keeps_nothing(question: Question, program: str, parts: list[str]) -> None:
    arguments = CLIENTS[program].command(question).arguments
    assert [part for part in parts if part not in arguments] == []


def test_claude_gets_no_tools_and_no_customization(question: Question) -> None:
    command = CLIENTS["claude"].command(replace(question, model="haiku"))
    pairs = list(pairwise(command.arguments))
    assert ("--tools", "") in pairs
    assert ("--model", "haiku") in pairs
    assert ("--system-prompt", RULES) in pairs
    assert command.variables["CLAUDE_CODE_SAFE_MODE"] == "1"
    assert command.variables["CLAUDE_CODE_SKIP_PROMPT_HISTORY"] == "1"


def test_codex_reads_the_rules_from_a_file_and_has_no_tools(question: Question) -> None:
    arguments = CLIENTS["codex"].command(question).arguments
    settings = codex_settings(arguments)
    assert arguments[arguments.index("--sandbox") + 1] == "read-only"
    assert arguments[arguments.index("--cd") + 1] == str(question.workspace.work)
    assert {"features.shell_tool=false", "features.unified_exec=false", "features.hooks=false", "notify=[]"} <= {
        *settings
    }
    (rules,) = [part.partition("=")[2] for part in settings if part.startswith("model_instructions_file=")]
    assert Path(json.loads(rules)).read_text() == RULES


def test_codex_starts_none_of_the_users_servers(question: Question, home: Path) -> None:
    (home / "elsewhere").mkdir()
    config = (
        '[mcp_servers.docs]\ncommand = "x"\n[mcp_servers."odd name"]\ncommand = "y"\n[mcp_servers.my-db]\nurl = "z"\n'
    )
    (home / "elsewhere" / "config.toml").write_text(config)
    there = replace(question, environment={"CODEX_HOME": str(home / "elsewhere")})
    servers = [part for part in codex_settings(CLIENTS["codex"].command(there).arguments) if "mcp_servers" in part]
    assert servers == ["mcp_servers.docs.enabled=false", "mcp_servers.my-db.enabled=false"]


@pytest.mark.parametrize("config", ["not toml [", "mcp_servers = 3\n", ""])
def test_invalid_codex_settings_do_no_harm(question: Question, home: Path, config: str) -> None:
    (home / ".codex").mkdir()
    (home / ".codex" / "config.toml").write_text(config)
    assert "mcp_servers" not in " ".join(CLIENTS["codex"].command(question).arguments)


def test_gemini_gets_a_home_with_the_login_and_nothing_else(question: Question, home: Path) -> None:
    theirs = home / ".gemini"
    (theirs / "extensions").mkdir(parents=True)
    for name in ("oauth_creds.json", "google_accounts.json", "GEMINI.md"):
        (theirs / name).write_text("{}")
    (theirs / "settings.json").write_text(
        '{\n// how I log in\n"security": {"auth": {"selectedType": "oauth-personal"}},\n'
        '"mcpServers": {"docs": {"command": "x"}}, "hooks": {"SessionStart": []},\n}'
    )
    command = CLIENTS["gemini"].command(replace(question, model="flash"))
    own = Path(command.variables["GEMINI_CLI_HOME"]) / ".gemini"
    assert own.is_relative_to(question.workspace.folder)
    assert not own.is_relative_to(question.workspace.work)
    assert sorted(path.name for path in own.iterdir()) == ["google_accounts.json", "oauth_creds.json", "settings.json"]
    assert (own / "oauth_creds.json").readlink() == theirs / "oauth_creds.json"
    settings = json.loads((own / "settings.json").read_text())
    assert settings["security"]["auth"] == {"selectedType": "oauth-personal"}
    assert settings["tools"]["core"] == []
    assert settings["hooksConfig"]["enabled"] is False
    assert "mcpServers" not in settings
    assert Path(command.variables["GEMINI_SYSTEM_MD"]).read_text() == RULES


def test_gemini_accepts_the_older_login_method_name(question: Question, home: Path) -> None:
    (home / ".gemini").mkdir()
    (home / ".gemini" / "settings.json").write_text('{"selectedAuthType": "gemini-api-key"}')
    command = CLIENTS["gemini"].command(question)
    settings = json.loads((Path(command.variables["GEMINI_CLI_HOME"]) / ".gemini" / "settings.json").read_text())
    assert settings["security"]["auth"] == {"selectedType": "gemini-api-key"}


def test_opencode_keeps_its_database_in_memory_and_denies_every_tool(question: Question, home: Path) -> None:
    (home / ".config" / "opencode").mkdir(parents=True)
    (home / ".config" / "opencode" / "opencode.jsonc").write_text('{"mcp": {"docs": {"type": "local"}}, /* x */}')
    command = CLIENTS["opencode"].command(question)
    assert command.variables["OPENCODE_DB"] == ":memory:"
    settings = json.loads(command.variables["OPENCODE_CONFIG_CONTENT"])
    assert settings["agent"]["skilld"]["permission"] == {"*": "deny"}
    assert settings["agent"]["skilld"]["prompt"] == RULES
    assert settings["mcp"] == {"docs": {"enabled": False}}
    assert settings["share"] == "disabled"


def test_settings_may_have_comments_and_trailing_commas(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_text('{ // one\n "a": "http://x", /* two, */ "b": ["//", ",]",], }')
    assert commented_json(path) == {"a": "http://x", "b": ["//", ",]"]}
    path.write_text("[1]")
    assert commented_json(path) == {}
    assert commented_json(tmp_path / "none.json") == {}


# --- what is read out of their answers (the forms that work are held in test_agent_cli.py)


@for_each(
    ("program", "printed", "answer"),
    [
        ("claude", '[{"type":"system"},{"type":"result","is_error":false,"result":"yes"}]', ClientAnswer("yes")),
        ("claude", '{"is_error":true,"result":"no","api_error_status":500}', ClientAnswer(trouble="no", status=500)),
        (
            "claude",
            '{"is_error":true,"subtype":"error_during_execution"}',
            ClientAnswer(trouble="error_during_execution"),
        ),
        (
            "codex",
            '{"type":"turn.failed","error":{"message":"status 429"}}',
            ClientAnswer(trouble="status 429", status=429),
        ),
        ("gemini", '{"error":{"message":"no","code":429}}', ClientAnswer(trouble="no", status=429)),
        ("opencode", '{"type":"error","error":{"name":"APIError","data":{"message":"no","statusCode":401}}}',
         ClientAnswer(trouble="no", status=401)),
        ("opencode", '{"type":"error","error":{"name":"UnknownError"}}', ClientAnswer(trouble="UnknownError")),
        ("pi", '{"type":"message_end","message":{"role":"assistant","content":[],"errorMessage":"429 no"}}',
         ClientAnswer(trouble="429 no")),
    ],
)  # fmt: skip
def test_an_error_is_told_apart_from_an_answer(program: str, printed: str, answer: ClientAnswer) -> None:
    assert CLIENTS[program].read(printed.encode()) == answer


@pytest.mark.parametrize("program", CLIENTS)
@pytest.mark.parametrize(
    "printed",
    [
        b"",
        b"no json",
        b"null",
        b"[]",
        b"[[]]",
        b"{}",
        b'{"type":["x"]}',
        b'{"type":"result","result":7,"usage":{"input_tokens":"7","output_tokens":-1},"response":[]}',
        b'{"type":"item.completed","item":[]}\n{"type":"text","part":3}\n{"type":"message_end","message":{"content":3}}',
        b'{"type":"turn.completed"}\n{"type":"step_finish","part":{"tokens":[],"cost":true}}\n\xff\n{"stats":{"models":3}}',
    ],
)
def test_an_invalid_answer_is_read_as_none(program: str, printed: bytes) -> None:
    assert CLIENTS[program].read(printed) == ClientAnswer("", Usage())


# --- what trouble means


def test_permanent_errors_are_not_retried() -> None:
    for said, status, told in table_rows("agent_cli_clients", "trouble that stays"):
        error = failure_error(CLIENTS["claude"], said, int(status) if status else None, 1)
        assert not isinstance(error, RetryError)
        assert told in error.cause


def test_temporary_errors_are_retried() -> None:
    for said, status, told in table_rows("agent_cli_clients", "trouble that may pass"):
        error = failure_error(CLIENTS["claude"], said, int(status) if status else None, 1)
        assert isinstance(error, RetryError)
        assert told in error.cause


# --- what the rest of skilld asks


def test_our_own_questions_are_recognized() -> None:
    mark = new_mark()
    assert new_mark() != mark
    assert is_own_question(f"a question\n\n{mark}\n", None)
    assert is_own_question("", "/run/user/1000/skilld-ask-ab12_x9z/work")
    assert is_own_question("", "/home/a/.cache/skilld-ask-ab12_x9z")
    for text in ("", "what does skilld-ask: mean?", mark[:-1], "skilld-ask:" + "z" * 32):
        assert not is_own_question(text, "/home/a/skilld-ask-notes/x")


def test_installed_clients_are_listed_with_how_to_use_them(tmp_path: Path) -> None:
    for name in ("pi", "codex"):
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    environment = {"PATH": f"relative::{tmp_path}", "OLLAMA_HOST": "192.0.2.1"}
    found = choose("auto", None, None, 60, environment).found
    told = "found Codex, Pi; to have each agent judge its own sessions, through its own login: skilld setup agent"
    assert found == (told,), "in the words of the setup that offers it"
    assert find_program("pi", environment) == str(tmp_path / "pi")
    assert find_program("pi", {"PATH": "."}) is None
    assert choose("cli:pi", "http://x", "key", 60, environment).spec.model == "cli:pi"


def test_clients_find_their_login_by_these_variables() -> None:
    assert all(
        map(
            is_client_variable,
            ["CLAUDE_CONFIG_DIR", "CODEX_HOME", "STUB_API_KEY", "PI_CODING_AGENT_DIR", "AWS_PROFILE"],
        )
    )
    assert all(map(is_client_variable, ["ANTHROPIC_BASE_URL", "GOOGLE_GEMINI_BASE_URL"]))
    assert not any(map(is_client_variable, ["OPENAI_BASE_URL", "CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "PATH"]))
