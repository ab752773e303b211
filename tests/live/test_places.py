"""A lasting word finds its place where no skill can take it, said to real Claude Code and Codex; no key, no model."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from support.live_agent import LiveAgent
from support.live_bench import Bench
from support.live_claude_code import ClaudeCode
from support.live_codex import Codex
from support.live_project import project_without_skill
from support.stub_agents import Call, Rule, Say
from support.waiting import wait_for
from tools.live_clients import CLAUDE_CODE, CLAUDE_CODE_NEWER, CODEX, Client

pytestmark = pytest.mark.live

PNPM = "From now on, always use pnpm, never npm, in this repository."
TALK = ("Look at the sources please", PNPM, "ok, looks good", "yes please", "thanks")
GUIDE = "# Probe\n\n## Conventions\n\n- Keep functions short.\n- Write tests first.\n"
RULES = ".claude/rules/typescript.md"
RULE = '---\npaths: ["src/**/*.ts"]\n---\n\n# TypeScript\n\n- Use strict mode.\n'
SOURCE = "src/main.ts"
TREES: Mapping[str, Mapping[str, str]] = {
    "CLAUDE.md": {"CLAUDE.md": GUIDE},
    "AGENTS.md": {"AGENTS.md": GUIDE},
    "neither": {},
    "one imports the other": {"CLAUDE.md": "@AGENTS.md\n", "AGENTS.md": GUIDE},
    "a rule for paths": {RULES: RULE},
}
ASKED_AGAIN = {"CLAUDE.md"}  # said once more when it stands there


class Person(NamedTuple):
    """Who works: a client, its way to read a file, and where the words go in each of the trees.

    A place that the tree does not have is made for what was said in two sessions.
    """

    agent: type[LiveAgent]
    client: Client
    reads: Callable[[Path], Call]
    places: tuple[str, str, str, str, str]


def _reads(path: Path) -> Call:
    return Call("Read", {"file_path": str(path)})


PEOPLE = {
    "claude-code-2.1.197": Person(
        ClaudeCode, CLAUDE_CODE, _reads, ("CLAUDE.md", "CLAUDE.md", "CLAUDE.md", "AGENTS.md", RULES)
    ),
    "claude-code-2.1.332": Person(
        ClaudeCode, CLAUDE_CODE_NEWER, _reads, ("CLAUDE.md", "AGENTS.md", "CLAUDE.md", "AGENTS.md", RULES)
    ),
    "codex": Person(Codex, CODEX, lambda path: Call("exec_command", {"cmd": f"cat {path}"}), ("AGENTS.md",) * 5),
}


class Told:
    """Sessions that have as many turns as a batch has, and what skilld makes of each."""

    def __init__(self, bench: Bench, turns: int = 5) -> None:
        self.bench = bench
        self.bench.skilld.environment["SKILLD_BATCH__TURNS"] = str(turns)
        self._sessions = 0

    def session(self, *prompts: str) -> None:
        """Hold a session, and wait until it was judged."""
        with self.bench.agent as session:
            for prompt in prompts:
                session.say(prompt)
            session.quit()
        self._sessions += 1
        wait_for("the session to be judged", self._is_judged, every=0.2, context=self.bench.account)

    def proposal(self) -> dict[str, Any]:
        """Return the one proposal that is open."""
        found = self.bench.proposals("open")
        assert len(found) == 1, f"{found}\n{self.bench.skilld.json('learnings')}\n{self.bench.account()}"
        return found[0]

    def _is_judged(self) -> bool:
        return bool(self.bench.skilld.json("status")["batches"]["done"] == self._sessions)


@pytest.fixture(params=PEOPLE)
def person(request: pytest.FixtureRequest) -> Person:
    return PEOPLE[request.param]


@pytest.mark.parametrize("tree", TREES)
def test_a_word_said_without_a_skill_goes_to_what_the_client_loads(
    make_bench: Callable[..., Bench], person: Person, tree: str, tmp_path: Path, home: Path
) -> None:
    files = TREES[tree]
    place = person.places[list(TREES).index(tree)]
    project = project_without_skill(tmp_path / "project", home, {**files, SOURCE: "export {}\n"})
    bench = make_bench(person.agent, person.client, project)
    bench.stub.rules = [Rule("sources", person.reads(project.root / SOURCE), Say("I have read them."))]
    talk = TALK if tree in ASKED_AGAIN else TALK[:2]  # a turn takes a second and a half
    told = Told(bench, len(talk))
    before = project.fingerprint()
    with bench.skilld.daemon():
        told.session(*talk)
        if place not in files:
            assert bench.proposals() == []
            (waits,) = bench.skilld.json("learnings")
            assert (waits["place"]["path"], waits["sessions"]) == (str(project.root / place), 1)
            told.session(*talk)
        proposal = told.proposal()
        assert (proposal["relpath"], proposal["skill"]) == (place, "")
        assert [said["quote"] for said in proposal["evidence"]] == [PNPM] * (1 if place in files else 2)
        assert bench.skilld.json("learnings") == []
        assert project.fingerprint() == before

        file = project.root / place
        project.git("merge", "--quiet", "--no-edit", "skilld/staging")
        bench.wait_for_state(proposal["id"], "accepted")
        lines = file.read_text().splitlines()
        line = 1 + next(number for number, text in enumerate(lines) if "pnpm" in text)
        assert lines[line - 1] == "- Always use pnpm, never npm, in this repository."
        (why,) = bench.skilld.json("why", f"{file}:{line}")["proposals"]
        assert (why["id"], {said["quote"] for said in why["evidence"]}) == (proposal["id"], {PNPM})

        if tree in ASKED_AGAIN:
            told.session(*talk)
            check_repeat(bench, f"{place}:{line}")

        project.git("revert", "--no-edit", proposal["commit"])
        bench.wait_for_state(proposal["id"], "reverted")
        assert (file.read_text() if file.exists() else None) == files.get(place)


def check_repeat(bench: Bench, where: str) -> None:
    """Check that what was said again is no proposal, and is written down with its session, its words and the line."""
    assert bench.proposals("open") == []
    (repeat,) = bench.proposals("said")
    assert repeat["note"].startswith(f"{where} already says this: ")
    assert repeat["commit"] == ""
    assert [said["quote"] for said in repeat["evidence"]] == [PNPM]
    newest = max(bench.agent.transcripts(), key=lambda path: path.stat().st_mtime)
    assert repeat["session_id"] in newest.name
    assert where in bench.skilld.run("doctor").stdout


# A skill in use that lies where none is looked for: a plugin's, and one in a folder of the project's own.

NOTES = "---\nname: notes\ndescription: Writes notes.\n---\n\n# Notes\n\n- One line per note.\n"
LESSON = "From now on, always write notes in the past tense."
OWN = "skills/notes/SKILL.md"


class InItsPlugin(ClaudeCode):
    """Claude Code in a project that is a plugin, as people run it who write one."""

    def arguments(self) -> list[str]:
        return ["--plugin-dir", str(self.project)]


def plugin(name: str) -> dict[str, str]:
    """Return the files of a plugin with the skill, and of a marketplace that offers it."""
    offer = {"name": name, "source": f"./{name}", "description": "Notes."}
    market = {"name": "market", "owner": {"name": "Somebody"}, "plugins": [offer]}
    manifest = {"name": name, "version": "1.0.0", "description": "Notes."}
    return {
        ".claude-plugin/marketplace.json": json.dumps(market),
        f"{name}/.claude-plugin/plugin.json": json.dumps(manifest),
        f"{name}/{OWN}": NOTES,
    }


@pytest.mark.parametrize("client", [CLAUDE_CODE, CLAUDE_CODE_NEWER], ids=lambda client: client.version)
def test_a_lesson_about_an_installed_plugins_skill_goes_into_the_overlay(
    make_bench: Callable[..., Bench], client: Client, tmp_path: Path, home: Path
) -> None:
    """The client loads it from the folder of the marketplace, which is no repository of the person's."""
    for name, text in plugin("office").items():
        file = tmp_path / "market" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    project = project_without_skill(tmp_path / "project", home, {"CLAUDE.md": GUIDE})
    bench = make_bench(ClaudeCode, client, project)
    bench.agent.manage("plugin", "marketplace", "add", str(tmp_path / "market"))
    bench.agent.manage("plugin", "install", "office@market")
    bench.stub.rules = [Rule("version 1.4", Call("Skill", {"skill": "office:notes"}), Say("They are written."))]
    told = Told(bench, 2)
    with bench.skilld.daemon():
        told.session("Write the notes of version 1.4 please", LESSON)
        proposal = told.proposal()
    assert (proposal["relpath"], proposal["skill"]) == ("CLAUDE.md", "")
    change = "When using notes: always write notes in the past tense."
    assert project.git("show", f"skilld/staging:{proposal['relpath']}") == f"{GUIDE}- {change}"


@pytest.mark.parametrize("client", ["claude", "claude by a link", "codex"])
def test_a_skill_of_the_projects_own_is_edited_wherever_it_lies(
    make_bench: Callable[..., Bench], client: str, tmp_path: Path, home: Path
) -> None:
    manifest = {".claude-plugin/plugin.json": json.dumps({"name": "office", "version": "1.0.0", "description": "x"})}
    files = {OWN: NOTES, "CLAUDE.md": GUIDE, "AGENTS.md": GUIDE}
    project = project_without_skill(
        tmp_path / "project", home, files if client == "claude by a link" else files | manifest
    )
    if client == "codex":
        bench = make_bench(Codex, CODEX, project)
        uses = Call("exec_command", {"cmd": f"cat {OWN}"})
    elif client == "claude":
        bench = make_bench(InItsPlugin, CLAUDE_CODE_NEWER, project)
        uses = Call("Skill", {"skill": "office:notes"})
    else:
        (project.root / ".claude/skills").mkdir(parents=True)
        (project.root / ".claude/skills/notes").symlink_to("../../skills/notes")
        bench = make_bench(ClaudeCode, CLAUDE_CODE_NEWER, project)
        uses = Call("Skill", {"skill": "notes"})
    bench.stub.rules = [Rule("version 1.4", uses, Say("They are written."))]
    told = Told(bench, 2)
    with bench.skilld.daemon():
        told.session("Write the notes of version 1.4 please", LESSON)
        proposal = told.proposal()
    assert (proposal["relpath"], proposal["skill"]) == (OWN, "notes")
    assert project.git("show", f"skilld/staging:{OWN}") == f"{NOTES}- Always write notes in the past tense."
