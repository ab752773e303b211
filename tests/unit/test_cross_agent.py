"""A rule accepted for one agent is offered once in the file of another agent that does not see it."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import pytest

from skilld.clock import rfc3339
from skilld.daemon import schedule
from skilld.daemon.engine import Engine
from skilld.effect.outcomes import RuleRemedies
from skilld.errors import SkilldError
from skilld.ingest.discover import Host
from skilld.jobs.relocation import accept_elsewhere, agents_loading, personal_file_name
from skilld.proposals.auto_apply import apply_allowed
from skilld.proposals.decide import accepting
from skilld.proposals.staging_result import StagingResult
from skilld.protocol import MEND_RULES, AutoRules
from skilld.settings import Settings
from skilld.store import Store
from skilld.types import Evidence, Kind, Op, Operation, Proposal, State, TargetKind, Update
from support.live_project import Project
from support.new_store import new_store
from support.proposals import make_proposal
from support.repos import isolate_git

NOW = 1_795_000_000.0
DAY = 86400.0
PNPM = "Use pnpm, never npm, in this repository."
TESTS = "Run the linter before every commit."
AGENTS = "# Probe\n\n- Keep functions short.\n"


class Bench(NamedTuple):
    project: Project
    store: Store
    host: Host

    def write(self, **files: str) -> None:
        self.project.commit("Write down how we work", files)

    def record_session(self, *agents: str, below: str = "") -> None:
        for agent in agents:
            cwd = str(self.project.root / below)
            self.store.transcripts.record_activity(agent, f"of {agent}", cwd=cwd, activity=NOW)

    def add_accepted(self, rule: str = PNPM, name: str = "CLAUDE.md", number: int = 1, **changes: Any) -> Proposal:
        """Have a rule that stands in a file be an accepted proposal's."""
        path = self.project.root / name
        fields = {
            "id": f"{number:08}",
            "batch_id": f"batch {number}",
            "path": str(path),
            "skill": name,
            "state": State.ACCEPTED,
            "operations": (Operation(Op.INSERT_AFTER, "# Probe", f"\n- {rule}"),),
            "evidence": (Evidence("claude-code:t1", rule),),
            "updates": (Update(1, "", rule, "", Kind.CORRECTION, 1, rule),),
            "target": TargetKind.INSTRUCTIONS,
            "agents": ("claude-code",),
            "kind": Kind.CORRECTION,
            "created_at": rfc3339(NOW - DAY),
            "decided_at": rfc3339(NOW - DAY),
            **changes,
        }
        proposal = make_proposal(**fields)
        self.store.proposals.add(proposal)
        return proposal

    def run_share(self, days: float = 0.0, allowed: frozenset[TargetKind] = frozenset(TargetKind)) -> list[Proposal]:
        return RuleRemedies(self.store, self.host, allowed, str, NOW + days * DAY).propose_for_other_agents()

    def staged_file(self, name: str) -> str:
        return self.project.git("show", f"skilld/staging:{name}") + "\n"


@pytest.fixture
def bench(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    isolate_git(monkeypatch, home)
    project = Project(tmp_path / "plain", home, ".elsewhere")
    return Bench(project, new_store(tmp_path / "skilld.db"), Host(home, {}))


def instructions(*rules: str) -> str:
    return "# Probe\n\n" + "".join(f"- {rule}\n" for rule in rules)


def test_a_rule_is_offered_in_the_file_of_an_agent_that_does_not_see_it(bench: Bench) -> None:
    bench.write(**{"CLAUDE.md": instructions(PNPM), "AGENTS.md": AGENTS})
    bench.record_session("claude-code", "codex")
    bench.add_accepted()
    (proposal,) = bench.run_share()
    assert (proposal.state, proposal.relpath, proposal.target) == (State.OPEN, "AGENTS.md", TargetKind.INSTRUCTIONS)
    assert bench.staged_file("AGENTS.md") == f"{AGENTS}- {PNPM}\n"
    assert proposal.summary == f"Tell Codex this too: {PNPM}"
    assert proposal.reason == "You accepted this for CLAUDE.md (00000001), which Codex does not load in this project."
    assert proposal.evidence == (Evidence("claude-code:t1", PNPM),)
    assert (bench.project.root / "AGENTS.md").read_text() == AGENTS


def test_it_is_offered_only_once_whatever_the_outcome(bench: Bench) -> None:
    bench.write(**{"CLAUDE.md": instructions(PNPM), "AGENTS.md": AGENTS})
    bench.record_session("claude-code", "codex", "cursor")
    bench.add_accepted()
    (proposal,) = bench.run_share()
    assert bench.run_share() == []
    bench.store.proposals.decide(proposal, State.REJECTED, rfc3339(NOW), who="command")
    assert bench.run_share(2) == []


def test_a_rule_rejected_there_before_is_not_offered(bench: Bench) -> None:
    bench.write(**{"CLAUDE.md": instructions(PNPM), "AGENTS.md": AGENTS})
    bench.record_session("claude-code", "codex")
    bench.add_accepted()
    bench.add_accepted(name="AGENTS.md", number=2, state=State.REJECTED)
    assert bench.run_share() == []


@pytest.mark.parametrize(
    "files",
    [
        {"CLAUDE.md": instructions(PNPM), "AGENTS.md": f"{AGENTS}- {PNPM}\n"},
        {"CLAUDE.md": "@AGENTS.md\n", "AGENTS.md": instructions(PNPM)},
        {"CLAUDE.md": "# Probe\n", "AGENTS.md": AGENTS},  # the person took it out again
        {"CLAUDE.md": instructions(PNPM), "AGENTS.md": AGENTS, ".skilld.toml": "ignore = true\n"},
    ],
    ids=["said there", "imported", "taken out", "opted out"],
)
def test_a_rule_that_is_seen_gone_or_unwanted_is_not_offered(bench: Bench, files: dict[str, str]) -> None:
    bench.write(**files)
    bench.record_session("claude-code", "codex")
    bench.add_accepted(name="CLAUDE.md" if PNPM in files["CLAUDE.md"] else "AGENTS.md")
    assert bench.run_share() == []


def test_only_agents_used_in_the_project_are_considered(bench: Bench, tmp_path: Path) -> None:
    bench.write(**{"CLAUDE.md": instructions(PNPM), "AGENTS.md": AGENTS})
    bench.record_session("claude-code")
    bench.store.transcripts.record_activity("codex", "s", cwd=str(tmp_path / "elsewhere"), activity=NOW)
    bench.add_accepted()
    assert bench.run_share() == []
    bench.record_session("codex", below="docs")
    assert [proposal.relpath for proposal in bench.run_share()] == ["AGENTS.md"]


def test_only_recently_accepted_rules_of_the_project_are_offered(bench: Bench) -> None:
    bench.write(**{"CLAUDE.md": instructions(PNPM), "AGENTS.md": AGENTS})
    bench.record_session("claude-code", "codex")
    others: list[dict[str, Any]] = [
        {"decided_at": rfc3339(NOW - 31 * DAY)},
        {"state": State.OPEN},
        {"state": State.REVERTED},
        {"kind": Kind.REMOVE_STEP},
        {"evidence": ()},
        {"target": TargetKind.SKILL},
        {"target": TargetKind.PERSONAL},
    ]
    for number, changes in enumerate(others):
        bench.add_accepted(number=number, **changes)
        assert bench.run_share() == [], changes
    bench.add_accepted(number=9)
    assert bench.run_share(allowed=frozenset({TargetKind.SKILL})) == []
    assert len(bench.run_share()) == 1


def test_a_new_file_is_created_once_and_not_again_after_a_rejection(bench: Bench) -> None:
    bench.write(**{"CLAUDE.md": instructions(PNPM, TESTS)})
    bench.record_session("claude-code", "codex")
    bench.add_accepted()
    (proposal,) = bench.run_share()
    assert (proposal.relpath, proposal.creates, bench.staged_file("AGENTS.md").endswith(f"- {PNPM}\n")) == (
        "AGENTS.md",
        True,
        True,
    )
    bench.store.proposals.decide(proposal, State.REJECTED, rfc3339(NOW), who="command")
    bench.add_accepted(TESTS, number=2)
    assert bench.run_share(2) == []


def test_a_contradicting_line_there_is_changed(bench: Bench) -> None:
    bench.write(
        **{"CLAUDE.md": instructions("Indent with 2 spaces."), "AGENTS.md": instructions("Indent with 4 spaces.")}
    )
    bench.record_session("claude-code", "codex")
    bench.add_accepted("Indent with 2 spaces.")
    assert [proposal.relpath for proposal in bench.run_share()] == ["AGENTS.md"]
    assert bench.staged_file("AGENTS.md") == instructions("Indent with 2 spaces.")


def test_a_folder_rule_goes_to_the_file_of_that_folder(bench: Bench) -> None:
    bench.write(**{"web/CLAUDE.md": instructions(PNPM), "AGENTS.md": AGENTS, "web/AGENTS.md": AGENTS})
    bench.record_session("claude-code", "codex", below="web")
    bench.add_accepted(name="web/CLAUDE.md")
    assert [proposal.relpath for proposal in bench.run_share()] == ["web/AGENTS.md"]


def test_at_most_three_a_day_are_offered(bench: Bench) -> None:
    said = [f"Use the {name} module for {what}." for name, what in zip(_NAMES, _WHAT, strict=True)]
    bench.write(**{"CLAUDE.md": instructions(*said), "AGENTS.md": AGENTS})
    bench.record_session("claude-code", "codex")
    for number, rule in enumerate(said):
        bench.add_accepted(rule, number=number)
    assert [len(bench.run_share(days)) for days in (0.0, 0.1, 1.1, 1.2)] == [3, 0, 2, 0]


_NAMES = ("pathlib", "decimal", "logging", "secrets", "argparse")
_WHAT = ("file names", "money", "diagnostics", "tokens", "commands")


def test_it_never_applies_a_proposal_by_itself(bench: Bench) -> None:
    bench.write(**{"CLAUDE.md": instructions(PNPM), "AGENTS.md": AGENTS})
    bench.record_session("claude-code", "codex")
    bench.add_accepted()
    (proposal,) = bench.run_share()
    assert proposal.flags == ("you said it to Claude Code, not to Codex",)
    staged = StagingResult(made=[proposal])
    apply_allowed(staged, [], AutoRules(None, 0.0, tuple(TargetKind)), lambda _: PNPM)
    assert staged.applied == []


def test_the_daemon_checks_each_decision_once(tmp_path: Path) -> None:
    engine = Engine(new_store(tmp_path / "skilld.db"), Settings(), Host(tmp_path, {}), NOW)
    taught = make_proposal(state=State.OPEN)
    engine.store.proposals.add(taught)
    noon = NOW - NOW % DAY
    assert schedule.due_verb(engine, noon) is None
    engine.store.proposals.decide(taught, State.ACCEPTED, rfc3339(noon), who="command")
    assert [schedule.due_verb(engine, noon), schedule.due_verb(engine, noon + 60)] == [MEND_RULES, None]


def offer_to_gemini(bench: Bench, home: Path) -> Proposal:
    """Have a rule that was said to opencode be offered to Gemini CLI; each agent has a folder for a file of its own."""
    bench.write(**{"AGENTS.md": instructions(PNPM), "GEMINI.md": "# Probe\n\n- Be brief.\n"})
    for folder in (".gemini", ".config/opencode", ".claude"):
        (home / folder).mkdir(parents=True)
    bench.record_session("opencode", "gemini-cli")
    said: dict[str, Any] = {"agent": "opencode", "evidence": (Evidence("opencode:t1", PNPM),)}
    bench.add_accepted(name="AGENTS.md", agents=("opencode",), session_id="of opencode", **said)
    (proposal,) = bench.run_share()
    bench.store.proposals.add(proposal)
    assert (proposal.skill, proposal.agents[0]) == ("GEMINI.md", "gemini-cli")
    return proposal


def test_the_personal_file_offered_is_that_of_the_agent_to_tell(bench: Bench, home: Path) -> None:
    proposal = offer_to_gemini(bench, home)
    assert personal_file_name(bench.store, proposal, bench.host) == "~/.gemini/GEMINI.md"
    (home / ".gemini").rmdir()
    assert personal_file_name(bench.store, proposal, bench.host) == ""


@pytest.mark.parametrize("name", [".config/opencode/AGENTS.md", ".claude/CLAUDE.md", "plain/AGENTS.md"])
def test_it_is_not_moved_to_a_file_that_the_agent_does_not_load(bench: Bench, home: Path, name: str) -> None:
    proposal = offer_to_gemini(bench, home)
    to = bench.project.root / "AGENTS.md" if name.startswith("plain") else home / name
    with pytest.raises(SkilldError, match="it is meant for Gemini CLI, which does not load"):
        accept_elsewhere(bench.store, proposal, to, bench.host, redact=str, decision=accepting())
    assert [one.id for one in bench.store.proposals.in_states([State.OPEN])] == [proposal.id]


def test_it_is_moved_to_the_agents_own_file(bench: Bench, home: Path) -> None:
    proposal = offer_to_gemini(bench, home)
    mine = home / ".gemini/GEMINI.md"
    accept_elsewhere(bench.store, proposal, mine, bench.host, redact=str, decision=accepting())
    assert PNPM in mine.read_text()
    assert bench.store.proposals.in_states([State.OPEN]) == []


def test_it_says_whom_it_was_said_to_until_that_agent_hears_it(bench: Bench, home: Path) -> None:
    proposal = offer_to_gemini(bench, home)
    assert "you said it to opencode, not to Gemini CLI" in proposal.flags
    for turn, remains in (("codex:t2", True), ("gemini-cli:t3", False)):
        bench.store.proposals.add_evidence(proposal.id, Evidence(turn, PNPM))
        now = bench.store.proposals.get(proposal.id)
        assert now is not None
        assert any(flag.startswith("you said it to") for flag in now.flags) is remains


def test_all_agents_that_heard_a_rule_are_named(bench: Bench) -> None:
    bench.write(**{"CLAUDE.md": instructions(PNPM), "AGENTS.md": AGENTS, "GEMINI.md": "# Probe\n\n- Be brief.\n"})
    bench.record_session("claude-code", "codex", "gemini-cli")
    bench.add_accepted(evidence=(Evidence("claude-code:t1", PNPM), Evidence("codex:t2", PNPM)))
    flags = {one.skill: [flag for flag in one.flags if "you said it to" in flag] for one in bench.run_share()}
    assert flags == {"AGENTS.md": [], "GEMINI.md": ["you said it to Claude Code and Codex, not to Gemini CLI"]}


def test_an_agent_that_came_later_is_among_those_that_load_the_file(bench: Bench) -> None:
    bench.write(**{"AGENTS.md": instructions(PNPM)})
    bench.record_session("codex")
    said: dict[str, Any] = {"agent": "codex", "session_id": "of codex", "evidence": (Evidence("codex:t1", PNPM),)}
    proposal = bench.add_accepted(name="AGENTS.md", agents=("codex",), **said)
    assert agents_loading(bench.store, proposal, bench.host) == ("codex",)
    bench.record_session("opencode", "gemini-cli", "pi")
    assert agents_loading(bench.store, proposal, bench.host) == ("codex", "opencode", "pi")
