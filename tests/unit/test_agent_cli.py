"""An agent's command line as a back-end, against scripts on PATH that behave well or badly."""

from __future__ import annotations

import json
import os
import stat
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

from skilld.classify.backends import Spec, make_backend
from skilld.classify.backends.agent_cli import process
from skilld.classify.backends.model import Model
from skilld.classify.json_answer import BadReplyError
from skilld.classify.trial_prompt import ask_case
from skilld.errors import RetryError, SkilldError, UsageError
from skilld.types import Kind, Message, Op, Operation, SkillDoc, Update, Usage
from support.late_clock import LateClock
from support.processes import processes_of
from support.rows import for_each
from support.waiting import LIMIT

SAID = "From now on, always put the ticket number first."
MESSAGES = [Message("Write the notes", 1, "a:1"), Message("Done."), Message(SAID, 2, "a:2")]
SKILL = SkillDoc(1, "release-notes", "/x/SKILL.md", "---\nname: release-notes\n---\n\n- No marketing words.\n")
CHANGE = "Always put the ticket number first."
FOUND = {
    "skill": 1,
    "section": "Style",
    "change": CHANGE,
    "reason": "asked for",
    "kind": "preference",
    "turn": 2,
    "quote": SAID,
    "confidence": 0.9,
}
REPLY = f"Here you are:\n<updates>{json.dumps([FOUND])}</updates>"
UPDATE = Update(1, "Style", CHANGE, "asked for", Kind.PREFERENCE, 2, SAID, 0.9)
CLAUDE_SAYS = {
    "type": "result",
    "subtype": "success",
    "is_error": False,
    "result": REPLY,
    "total_cost_usd": 0.002,
    "usage": {
        "input_tokens": 10,
        "cache_creation_input_tokens": 20,
        "cache_read_input_tokens": 300,
        "output_tokens": 7,
    },
}
CODEX_SAYS = [
    {"type": "thread.started", "thread_id": "0"},
    {"type": "item.completed", "item": {"id": "item_0", "type": "error", "message": "No metadata for this model."}},
    {"type": "error", "message": "Reconnecting... 1/5 (unexpected status 503)"},
    {"type": "item.completed", "item": {"id": "item_1", "type": "agent_message", "text": "I will look."}},
    {"type": "item.completed", "item": {"id": "item_2", "type": "agent_message", "text": REPLY}},
    {"type": "turn.completed", "usage": {"input_tokens": 330, "cached_input_tokens": 300, "output_tokens": 7}},
]
GEMINI_SAYS = {
    "session_id": "0",
    "response": REPLY,
    "stats": {"models": {"gemini-flash": {"tokens": {"prompt": 330, "candidates": 3, "thoughts": 4, "total": 337}}}},
}
OPENCODE_SAYS = [
    {"type": "step_start", "part": {"type": "step-start"}},
    {"type": "text", "part": {"type": "text", "text": REPLY}},
    {
        "type": "step_finish",
        "part": {
            "tokens": {"input": 30, "output": 5, "reasoning": 2, "cache": {"read": 300, "write": 0}},
            "cost": 0.002,
        },
    },
]
PI_USED = {"input": 30, "output": 7, "cacheRead": 300, "cacheWrite": 0, "cost": {"total": 0.002}}
PI_SAYS = [
    {"type": "session", "version": 3},
    {"type": "message_end", "message": {"role": "user", "content": [{"type": "text", "text": "the question"}]}},
    *({"type": "message_update", "message": {"role": "assistant", "content": "x" * 60_000}} for _ in range(100)),
    {
        "type": "message_end",
        "message": {"role": "assistant", "content": [{"type": "text", "text": REPLY}], "usage": PI_USED},
    },
]
SAYS: dict[str, Any] = {
    "claude": CLAUDE_SAYS,
    "codex": CODEX_SAYS,
    "gemini": GEMINI_SAYS,
    "opencode": OPENCODE_SAYS,
    "pi": PI_SAYS,
}


class Fake:
    """Scripts that stand on PATH under the names of clients and note down how they were called."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.bin = folder / "bin"
        self.bin.mkdir()
        self.noted = folder / "asked.json"
        monkeypatch.setenv("PATH", f"{self.bin}:/usr/bin:/bin")

    def install(self, program: str, body: str) -> None:
        """Install a Python script as `program`; it has noted its call before `body` runs."""
        head = f"""\
            #!{sys.executable}
            import json, os, subprocess, sys, time
            asked = {{"arguments": sys.argv[1:], "stdin": sys.stdin.read(), "environment": dict(os.environ),
                     "cwd": os.getcwd(), "files": os.listdir()}}
            with open({str(self.noted)!r} + ".new", "w") as file:
                json.dump(asked, file)
            os.rename({str(self.noted)!r} + ".new", {str(self.noted)!r})
            """
        path = self.bin / program
        path.write_text(textwrap.dedent(head) + textwrap.dedent(body))
        path.chmod(0o755)

    def behaves_well(self, program: str) -> None:
        """Install a client that prints the answer as the real one does."""
        says = SAYS[program]
        lines = says if isinstance(says, list) else [says]
        path = self.bin / f"{program}.says"
        path.write_text("".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines))
        self.install(program, f"sys.stdout.write(open({str(path)!r}).read())")

    @property
    def requests(self) -> dict[str, Any]:
        """How it was called."""
        asked: dict[str, Any] = json.loads(self.noted.read_text())
        return asked


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Fake:
    return Fake(tmp_path, monkeypatch)


def detect(model: str, seconds: float = LIMIT) -> tuple[list[Update], list[str]]:
    return make_backend(Spec(model, seconds=seconds)).detect(MESSAGES, [SKILL])


def detect_error(model: str, seconds: float = LIMIT) -> SkilldError:
    with pytest.raises(SkilldError) as error:
        detect(model, seconds)
    return error.value


def sandbox_folders(home: Path) -> list[Path]:
    # Unlike rglob, walk does not mind a folder that goes meanwhile.
    return [Path(at, name) for at, names, _ in os.walk(home) for name in names if name.startswith("skilld-ask-")]


@pytest.mark.parametrize("program", SAYS)
def test_each_client_is_asked_on_stdin_in_a_private_folder_and_its_reply_is_parsed(
    fake: Fake, home: Path, program: str
) -> None:
    """Issue 17, part 5: an agent's own command line may be what an evaluation runs, too."""
    fake.behaves_well(program)
    mode = f"open({str(fake.bin / 'mode')!r}, 'w').write(oct(os.stat('..').st_mode)); open('notes.txt', 'w').write('x')"
    with (fake.bin / program).open("a") as script:
        script.write(f"\n{mode}\n")
    backend = make_backend(Spec(f"cli:{program}:vendor/name-1:high", seconds=20))
    assert backend.detect(MESSAGES, [SKILL]) == ([UPDATE], [])
    usd = 0.0 if program in {"codex", "gemini"} else 0.002
    assert backend.usage == Usage(1, 330, 7, usd)
    assert backend.name == f"cli:{program}:vendor/name-1:high"
    assert backend.edits_together
    asked = fake.requests
    assert asked["files"] == []
    assert stat.S_IMODE(int((fake.bin / "mode").read_text(), 8)) == 0o700
    assert Path(asked["cwd"]).is_relative_to(home)
    assert asked["environment"]["TMPDIR"].startswith(str(Path(asked["cwd"]).parent))
    assert sandbox_folders(home) == []
    assert asked["arguments"][asked["arguments"].index("--model") + 1] == "vendor/name-1:high"
    assert isinstance(backend, Model)
    assert backend.write(ask_case("Write the ticket notes", "- No marketing words.")) == REPLY
    for call, said in ((asked, SAID), (fake.requests, "Write the ticket notes")):
        assert said in call["stdin"]
        assert "No marketing words" in call["stdin"]
        elsewhere = json.dumps([call["arguments"], call["environment"]])
        assert "ticket" not in elsewhere
        assert "marketing" not in elsewhere


def test_an_edit_is_requested_the_same_way(fake: Fake) -> None:
    answer = '<operations>[{"op": "delete", "anchor": "- No marketing words."}]</operations>'
    fake.install("claude", f"print(json.dumps({{'type': 'result', 'is_error': False, 'result': {answer!r}}}))")
    assert make_backend(Spec("cli:claude", seconds=20)).edit([UPDATE], SKILL) == [
        Operation(Op.DELETE, "- No marketing words.")
    ]
    assert "<current_skill_file>" in fake.requests["stdin"]


def test_a_folder_open_to_other_users_is_refused(
    fake: Fake, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake.behaves_well("claude")
    (tmp_path / "runtime").mkdir(mode=0o755)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "runtime"))
    detect("cli:claude")
    assert Path(fake.requests["cwd"]).is_relative_to(home / ".cache")


def test_the_environment_is_allow_listed(fake: Fake, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake.behaves_well("claude")
    kept = {"ANTHROPIC_API_KEY": "k", "CLAUDE_CONFIG_DIR": str(home / "c"), "HTTPS_PROXY": "http://p", "LC_ALL": "C"}
    kept |= {"ANTHROPIC_BASE_URL": "http://gateway", "ANTHROPIC_CUSTOM_HEADERS": "x: y", "CLAUDE_CODE_USE_FOUNDRY": "1"}
    dropped = ["CLAUDECODE", "CODEX_HOME", "GIT_DIR", "LD_PRELOAD", "NODE_OPTIONS", "OPENAI_API_KEY"]
    for name, value in [*kept.items(), *((name, "") for name in dropped)]:
        monkeypatch.setenv(name, value)
    detect("cli:claude")
    environment = fake.requests["environment"]
    assert kept.items() <= environment.items()
    assert environment["HOME"] == str(home)
    assert environment["SKILLD_CHILD"] == "1"
    assert environment["CLAUDE_CODE_SKIP_PROMPT_HISTORY"] == "1"
    assert not set(dropped) & environment.keys()


def test_an_unreachable_address_is_named(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    said = "API Error: Unable to connect to API (FailedToOpenSocket)"
    fake.install("claude", f"print(json.dumps({{'is_error': True, 'result': {said!r}}})); sys.exit(1)")
    assert detect_error("cli:claude").cause == f"it could not reach its provider and printed “{said}”"
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://gate.example:8080/v1")
    error = detect_error("cli:claude")
    assert "it could not reach gate.example:8080 (ANTHROPIC_BASE_URL)" in error.cause
    assert error.remedy.startswith("Try claude in a shell.")


def test_a_hanging_client_is_killed(fake: Fake, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake.install("codex", "time.sleep(1000)")
    monkeypatch.setattr(process, "time", LateClock(fake.noted.exists))
    error = detect_error("cli:codex", seconds=1)
    assert isinstance(error, RetryError)
    assert "did not answer within 1 seconds" in str(error)
    assert processes_of(home) == {}
    assert sandbox_folders(home) == []


def test_a_client_that_hangs_after_an_error_reports_that_error(
    fake: Fake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = tmp_path / "said"
    monkeypatch.setattr(process, "time", LateClock(said.exists))
    line = json.dumps({"type": "error", "message": "Reconnecting... 2/5 (exceeded retry limit, last status: 429)"})
    fake.install("codex", f"print({line!r}, flush=True); open({str(said)!r}, 'w').close(); time.sleep(1000)")
    assert "it has reached its usage limit" in str(detect_error("cli:codex"))


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("print('no such thing as an answer')", "not valid output from Claude"),
        ("print('[' * 100000)", "not valid output from Claude"),
        ("os.write(1, b'\\xff\\xfe\\x00' * 9)", "not valid output from Claude"),
        ("print(json.dumps({'type': 'result', 'is_error': False, 'result': ''}))", "not valid output from Claude"),
        ("print(json.dumps({'is_error': False, 'result': '', 'usage': {'output_tokens': 3}}))", "it is empty"),
        ("print(json.dumps({'type': 'result', 'is_error': False, 'result': 'Nothing to add.'}))", "not valid JSON"),
        ("for _ in range(160): print('x' * 65536)", "far too long"),
        ("pass", "not valid output from Claude"),
    ],
)
def test_an_invalid_answer_is_not_used(fake: Fake, body: str, told: str) -> None:
    fake.install("claude", body)
    error = detect_error("cli:claude")
    assert isinstance(error, BadReplyError)
    assert told in error.cause
    assert error.remedy == ""


@pytest.mark.parametrize(
    ("body", "passing", "told"),
    [
        ("print(json.dumps({'is_error': True, 'result': 'Please run /login'})); sys.exit(1)", False, "not logged in"),
        (
            "print(json.dumps({'is_error': True, 'api_error_status': 429, 'result': 'x'}))",
            True,
            "has reached its usage limit",
        ),
        ("sys.exit(\"error: unknown option '--tools'\")", False, "does not support skilld's request"),
        ("sys.exit(3)", True, "exited without an answer (exit code 3); this may be temporary"),
        (
            "print('cannot reach the gateway'); sys.exit(1)",
            True,
            "(exit code 1) and printed “cannot reach the gateway”;",
        ),
        ("os.kill(os.getpid(), 9)", True, "exited without an answer (exit code -9)"),
    ],
)
def test_client_errors_become_our_errors(fake: Fake, body: str, passing: bool, told: str) -> None:  # noqa: FBT001 - a column of the table
    fake.install("claude", body)
    error = detect_error("cli:claude")
    assert isinstance(error, RetryError) == passing
    assert bool(error.remedy) != passing
    assert error.title == "Could not ask Claude Code"
    assert told in error.cause


def test_a_recognized_client_error_hides_the_clients_words(fake: Fake) -> None:
    fake.install(
        "codex", "sys.stderr.write('\\x1b[31munexpected status 401: key sk-12345 ' + asked['stdin']); sys.exit(1)"
    )
    error = detect_error("cli:codex")
    assert "not logged in" in error.cause
    for part in ("\x1b", "sk-12345", "ticket"):
        assert part not in f"{error} {error.remedy}"
    assert error.__cause__ is None


def test_an_unrecognized_error_shows_its_last_telling_line_without_secrets(fake: Fake) -> None:
    fake.install(
        "codex",
        "sys.stderr.write('first\\n\\x1b[31mcannot start: token=ghp_" + "a1B2" * 9 + "\\x1b[0m\\n    at f (x.js:1)\\n"
        "{\"a\":1}\\n' + asked['stdin']); sys.exit(1)",
    )
    cause = detect_error("cli:codex").cause
    assert "and printed “cannot start: token=" in cause
    for part in ("\x1b", "ghp_", "first", "x.js", "ticket", "skilld-ask"):
        assert part not in cause


def test_a_missing_or_broken_program_is_named(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "PATH" in detect_error("cli:claude").cause
    (fake.bin / "claude").write_bytes(b"\x7fELF no program")
    (fake.bin / "claude").chmod(0o755)
    assert "Exec format error" in detect_error("cli:claude").cause
    fake.behaves_well("claude")
    monkeypatch.chdir(fake.bin)
    monkeypatch.setenv("PATH", ".:/usr/bin:/bin")
    assert "PATH" in detect_error("cli:claude").cause


@for_each("model", ["cli:", "cli:emacs", "cli:claude:--dangerous", "cli:claude:a b", "cli:../claude"])
def test_an_unknown_model_string_is_a_usage_error(model: str) -> None:
    with pytest.raises(UsageError):
        make_backend(Spec(model))
