"""A file or folder that the person names is where the rule goes, or they are told why it does not."""

from __future__ import annotations

from pathlib import Path

import pytest

from e2e.test_targets import Talk
from skilld.targets.find import TargetFiles, WorkingSession, find_targets
from skilld.targets.route import choose_target, ordered_files
from skilld.targets.scopes import find_scopes
from skilld.types import TargetKind
from support.in_process_daemon import InProcessDaemon
from support.program import Program
from support.repos import Person, isolate_git
from support.session import CHATTER

WEB, API, UI = (f"packages/{name}/AGENTS.md" for name in ("web", "api", "ui"))


@pytest.fixture
def root(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    isolate_git(monkeypatch, home)
    root = tmp_path / "mono"
    root.mkdir()
    person = Person(root)
    person.git("init", "--quiet")
    files = dict.fromkeys(("AGENTS.md", WEB, API), "# Notes\n\n- Be brief.\n")
    person.commit("Start", {**files, "packages/ui/a.ts": "1\n"})
    (home / ".codex").mkdir()
    (home / ".codex/AGENTS.md").write_text("# Me\n\n- Be kind.\n")
    return root


def _find(root: Path, home: Path, said: str, agent: str = "codex") -> tuple[str | None, TargetFiles]:
    session = WorkingSession(agent, root, home, {})
    found = find_targets(session, set(TargetKind), find_scopes(said), ordered_files(said))
    chosen = choose_target(said, found.refs)
    return (chosen.name if chosen else None), found


@pytest.mark.parametrize("agent", ["codex", "claude-code"])
@pytest.mark.parametrize(
    ("said", "name"),
    [
        (f"put this into {WEB}: never use Tailwind classes", WEB),
        (f"schreib in {WEB} rein, dass wir nie Tailwind benutzen", WEB),
        ("For packages/api: log with pino from now on, not console.log", API),
        ("f\u00fcr packages/api: immer pino benutzen", API),
        ("In packages/web always use CSS modules", WEB),
        ("put it into AGENTS.md: never touch vendor/", "AGENTS.md"),
        ("Always use pnpm.", "AGENTS.md"),
    ],
)
def test_the_named_file_or_folder_is_the_target(root: Path, home: Path, said: str, name: str, agent: str) -> None:
    assert _find(root, home, said, agent)[0] == name


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        (UI, None, f"there is no {UI}"),
        (UI, b"\xff\xfe", f"{UI} is not UTF-8 text"),
        (UI, b"<!-- Generated file: do not edit. -->\n- a\n", f"{UI} says that it is a generated file"),
    ],
)
def test_a_named_file_that_may_not_be_edited_is_not_replaced_by_another(
    root: Path, home: Path, name: str, text: bytes | None, why: str
) -> None:
    if text is not None:
        (root / name).write_bytes(text)
    chosen, found = _find(root, home, f"put it into {name}: never touch vendor/")
    assert (chosen, found.refusal) == (None, why)


def test_words_about_a_folder_do_not_draw_others_there(root: Path, home: Path) -> None:
    session = WorkingSession("codex", root, home, {})
    found = find_targets(session, set(TargetKind), find_scopes("In packages/web always use CSS modules"))
    chosen = choose_target("Always use pnpm.", found.refs)
    assert chosen is not None
    assert chosen.name == "AGENTS.md"


def test_a_clone_never_committed_to_is_the_reason_that_the_person_reads(
    home: Path, root: Path, tmp_path: Path, daemon: InProcessDaemon
) -> None:
    clone = tmp_path / "clone"
    Person(root).git("clone", "--quiet", str(root), str(clone))
    Person(clone).git("config", "user.email", "other@example.org")
    (home / ".claude").mkdir(exist_ok=True)
    (home / ".claude/CLAUDE.md").write_text("# Me\n\n- Be kind.\n")
    Talk(home, clone).type("put it into CLAUDE.md: never touch vendor/", *CHATTER[:4])
    assert daemon.run() == []
    program = Program(home)
    why = "the project is a clone that you have never committed to"
    (learning,) = program.json("learnings")
    assert (learning["text"], learning["why_not"]) == ("Never touch vendor/.", why)
    refused = program.run("learnings", "propose", learning["id"])
    assert (refused.returncode, why in refused.stderr, "--to PATH" in refused.stderr) == (1, True, True)


def test_a_folder_that_is_gone_is_no_clone(home: Path, tmp_path: Path) -> None:
    (home / ".codex").mkdir()
    assert _find(tmp_path / "gone", home, "Always use pnpm.")[1].refusal == ("the session's folder no longer exists")
