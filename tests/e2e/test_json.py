"""The --json output of every command matches docs/json.md exactly.

Issue 18, part 2.
"""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema

from support.live_project import Project
from support.program import Program
from support.session import LASTING, Session
from support.taught_project import TaughtProject
from tools.json_documents import DOCUMENTS, definition

# Run by other tests: they need a model, labelled cases, a service manager, a team or a host.
ELSEWHERE = {
    "eval",
    "service status",
    "learnings propose",
    "restore",
    "skills test",
    "team status",
    "team pr",
    "machines status",
    "mine --reviews",
    "mine --over",
}


class DocumentCheck:
    """Runs commands and holds what they print against their schema."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self.names: set[str] = set()
        self.wrong: list[str] = []

    def __call__(self, name: str, *more: str, codes: tuple[int, ...] = (0,)) -> list[dict[str, object]]:
        result = self._program.run(*name.partition(" --")[0].split(), "--json", *more)
        assert result.returncode in codes, (name, result.stderr)
        document = json.loads(result.stdout)
        for error in jsonschema.Draft202012Validator(definition(name)).iter_errors(document):
            self.wrong.append(f"{name} {error.json_path}: {error.message[:300]}")
        self.names.add(name)
        return document if isinstance(document, list) else [document]


def test_every_document_matches_its_documentation(
    home: Path, tmp_path: Path, project: Project, program: Program
) -> None:
    assert program.run("run", "--once").returncode == 0  # what is said from now on is new
    session = Session(home, project, "s1")
    session.use_skill()
    session.type("hello", LASTING, "Never mention hostnames again.", "thanks", "go on")
    other = Session(home, project, "s2")
    other.type("hello", "From now on, always sign the tags.", "ok", "thanks", "go on")
    assert program.run("run", "--once").returncode == 0
    skill, at = str(project.skill_path.parent), ("--project", str(project.root))
    document = tmp_path / "skill.yaml"
    document.write_text('name: "tidy"\ndescription: "Tidies up."\nprompt: "Tidy up the folder."\n', encoding="utf-8")
    check = DocumentCheck(program)
    name = str(check("proposals")[0]["id"])
    assert check("learnings") != []
    for verb, *more in (
        *(
            ("setup",),
            ("cost",),
            ("config show",),
            ("config get", "batch.turns"),
            ("report",),
            ("report", "--words"),
            ("effect",),
            ("skills list",),
        ),
        *(("status",), ("show", name), ("skills profile",), ("skills show", skill), ("skills history", skill)),
        *(("context", *at), ("context", "--agent", "claude-code", *at), ("inspect", str(session.path)), ("logs",)),
        *((verb, "--dry-run", *at) for verb in ("consolidate", "trim", "mine")),
        ("skills eval", skill, "--dry-run"),
        *((verb, "--dry-run", "--all", *at) for verb in ("sync", "unsync")),
        *(("recommend", "write the release notes", *at), ("suggest", *at), ("skills import", str(document), *at)),
        ("record", "fix the login", "--qa-passed", "--result", "Use a token.", "--seconds", "3"),
        ("record --stats", "--stats"),
        ("inspect --explain", "--explain", str(session.path)),
    ):
        check(verb, *more)
    check("status", "--check", codes=(0, 1, 4))
    check("doctor", codes=(0, 1))
    _decide(check, project, name)
    assert check("skills restore") == []
    assert "\n".join(check.wrong) == ""
    assert {command for entry in DOCUMENTS for command in entry.commands} - check.names == ELSEWHERE


def _decide(check: DocumentCheck, project: Project, name: str) -> None:
    (accepted,) = check("accept", name)
    assert (accepted["id"], accepted["state"], accepted["error"]) == (name, "accepted", "")
    assert accepted["commit"] == project.git("rev-parse", "HEAD").strip()
    check("why", f"{project.skill_path}:18")
    check("why", str(project.skill_path))
    (reverted,) = check("revert", name)
    assert reverted["state"] == "reverted"
    for one in check("proposals"):
        (rejected,) = check("reject", str(one["id"]))
        assert rejected["state"] == "rejected"


def test_a_failure_prints_no_document(project: Project, program: Program) -> None:
    del project
    for words in (("show", "nosuch"), ("accept", "nosuch"), ("skills", "show", "nosuch"), ("inspect", "/nowhere")):
        result = program.run(*words, "--json")
        assert (result.returncode != 0, result.stdout) == (True, "")
        assert result.stderr.startswith("skilld: ")


def test_what_looks_in_process_says_what_a_program_says(world: TaughtProject) -> None:
    for look in (("proposals", "--state", "all"), ("show", world.one), ("learnings",), ("status",)):
        files = len(list(Path("/dev/fd").iterdir()))
        assert world.program.json(*look) == json.loads(world.program.run(*look, "--json").stdout)
        assert len(list(Path("/dev/fd").iterdir())) <= files + 1, "the first run of a verb has a server for all"
