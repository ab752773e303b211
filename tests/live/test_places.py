"""A lasting word finds its place where no skill can take it, said to real Claude Code and Codex; no key, no model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from support.live_agent import LiveAgent
from support.live_bench import Bench
from support.live_claude_code import ClaudeCode
from support.live_codex import Codex
from support.live_project import without_skill
from support.stub_agents import Call, Rule, Say
from support.waiting import LIMIT, wait_for
from tools.live_clients import CLAUDE_CODE, CLAUDE_CODE_NEWER, CODEX, Client

pytestmark = pytest.mark.live

PNPM = "From now on, always use pnpm, never npm, in this repository."
TALK = ("Look at the sources please", PNPM, "ok, looks good", "yes please", "thanks")
GUIDE = "# Probe\n\n## Conventions\n\n- Keep functions short.\n- Write tests first.\n"
RULE = '---\npaths: ["src/**/*.ts"]\n---\n\n# TypeScript\n\n- Use strict mode.\n'
SOURCE = "src/main.ts"
TREES: Mapping[str, Mapping[str, str]] = {
    "CLAUDE.md": {"CLAUDE.md": GUIDE},
    "AGENTS.md": {"AGENTS.md": GUIDE},
    "neither": {},
    "one imports the other": {"CLAUDE.md": "@AGENTS.md\n", "AGENTS.md": GUIDE},
    "a rule for paths": {".claude/rules/typescript.md": RULE},
}


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


RULES = ".claude/rules/typescript.md"
PEOPLE = {
    "claude-code-2.1.197": Person(
        ClaudeCode, CLAUDE_CODE, _reads, ("CLAUDE.md", "CLAUDE.md", "CLAUDE.md", "AGENTS.md", RULES)
    ),
    "claude-code-2.1.330": Person(
        ClaudeCode, CLAUDE_CODE_NEWER, _reads, ("CLAUDE.md", "AGENTS.md", "CLAUDE.md", "AGENTS.md", RULES)
    ),
    "codex": Person(Codex, CODEX, lambda path: Call("exec_command", {"cmd": f"cat {path}"}), ("AGENTS.md",) * 5),
}


class Told:
    """What is said in sessions of one bench, and what skilld makes of it."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self.turns = 0

    def session(self, *prompts: str) -> None:
        """Hold a session, and wait until all of it was judged."""
        with self.bench.agent as session:
            for prompt in prompts:
                session.say(prompt)
            session.quit()
        self.turns += len(prompts)
        self.bench.wait_until_seen(self.turns)
        wait_for("the batch to be judged", self._is_judged, every=0.2, context=self.bench.account)

    def _is_judged(self) -> bool:
        batches = self.bench.skilld.json("status")["batches"]
        return not batches["pending"] and batches["done"] == self.turns // len(TALK)


@pytest.fixture(params=PEOPLE)
def person(request: pytest.FixtureRequest) -> Person:
    return PEOPLE[request.param]


@pytest.mark.parametrize("tree", TREES)
def test_a_word_said_without_a_skill_goes_to_what_the_client_loads(
    make_bench: Callable[..., Bench], person: Person, tree: str, tmp_path: Path, home: Path
) -> None:
    files = TREES[tree]
    place = person.places[list(TREES).index(tree)]
    project = without_skill(tmp_path / "project", home, {**files, SOURCE: "export {}\n"})
    bench = make_bench(person.agent, person.client, project)
    bench.stub.rules = [Rule("sources", person.reads(project.root / SOURCE), Say("I have read them."))]
    told = Told(bench)
    before = project.fingerprint()
    with bench.skilld.daemon():
        told.session(*TALK)
        if place not in files:
            assert bench.proposals() == []
            (waits,) = bench.skilld.json("learnings")
            assert (waits["place"]["path"], waits["sessions"]) == (str(project.root / place), 1)
            told.session(*TALK)
        (proposal,) = bench.proposals("open")
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

        told.session(*TALK)
        check_repeat(bench, f"{place}:{line}")

        project.git("revert", "--no-edit", proposal["commit"])
        bench.wait_for_state(proposal["id"], "reverted")
        assert (file.read_text() if file.exists() else None) == files.get(place)


def check_repeat(bench: Bench, where: str) -> None:
    """Check that what was said again is no proposal, and is written down with its session, its words and the line."""
    assert bench.proposals("open") == []
    (repeat,) = bench.proposals("said")
    assert (repeat["note"], repeat["commit"]) == (f"{where} says it already", "")
    assert [said["quote"] for said in repeat["evidence"]] == [PNPM]
    newest = max(bench.agent.transcripts(), key=lambda path: path.stat().st_mtime)
    assert repeat["session_id"] in newest.name
    assert where in bench.skilld.run("doctor").stdout
