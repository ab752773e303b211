"""What is done about a rule that is not followed: which remedy, how often, and its edit."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest

from skilld.clock import rfc3339
from skilld.effect.enforce import draft_hooks
from skilld.effect.figures import MIN_SESSIONS, Count, RuleState
from skilld.effect.outcomes import RuleRemedies
from skilld.effect.remedies import Remedy, called_for, is_broken, is_repeated_more
from skilld.effect.rules import Effect, Origin, RepeatEvidence, Rule
from skilld.ingest.discover import Host
from skilld.past import Correction, PastSession, Repeat
from skilld.store import Store
from skilld.types import Op, Operation, Proposal, State, TargetKind
from support.live_project import Project
from support.new_store import new_store
from support.proposals import make_proposal
from support.repos import isolate_git
from support.rows import for_each

NOW = 1_795_000_000.0
DAY = 86400.0
PNPM = "Use pnpm, never npm, in this repository."
AGAIN = "You ran npm again, use pnpm!"
ASKED = "Always use pnpm, never npm."


def make_evidence(session: str, quote: str = AGAIN, days: float = 1.0) -> RepeatEvidence:
    return RepeatEvidence(session, f"codex:{session}", quote, "codex", NOW - days * DAY)


@for_each(
    ("origin", "state", "evidence", "broken"),
    [
        (Origin.PERSON, RuleState.REPEATED, [], True),
        (Origin.PERSON, RuleState.UNKNOWN, [make_evidence("a")], False),
        (Origin.PERSON, RuleState.UNKNOWN, [make_evidence("a"), make_evidence("a")], False),
        (Origin.PERSON, RuleState.UNKNOWN, [make_evidence("a"), make_evidence("b")], True),
        (Origin.PERSON, RuleState.UNKNOWN, [make_evidence("a"), make_evidence("b", days=40)], False),
        (Origin.PERSON, RuleState.UNKNOWN, [make_evidence("a", ASKED), make_evidence("b", ASKED)], False),
        (Origin.PERSON, RuleState.UNKNOWN, [make_evidence("a"), make_evidence("b", ASKED)], False),
        (Origin.PROPOSAL, RuleState.UNKNOWN, [make_evidence("a", ASKED), make_evidence("b", ASKED)], True),
        (Origin.PERSON, RuleState.HOLDS, [make_evidence("a"), make_evidence("b")], False),
        (Origin.PROPOSAL, RuleState.UNKNOWN, [make_evidence("a")], True),
        (Origin.PROPOSAL, RuleState.UNKNOWN, [make_evidence("a", ASKED)], False),
    ],
)
def test_a_rule_gets_a_remedy_for_its_figures_or_when_repeated_in_a_second_session(
    origin: Origin,
    state: RuleState,
    evidence: list[RepeatEvidence],
    broken: bool,  # noqa: FBT001 - a case
) -> None:
    rule = Rule("/p/CLAUDE.md", 3, PNPM, origin, 0.0)
    effect = Effect(rule, Count(), Count(len(evidence), len(evidence)), state, tuple(evidence))
    assert is_broken(effect, NOW) is broken


@for_each(
    ("origin", "before", "state", "remedies"),
    [
        (Origin.PERSON, Count(), RuleState.HOLDS, []),
        (Origin.PERSON, Count(), RuleState.UNUSED, ["cut"]),
        (Origin.PERSON, Count(), RuleState.REPEATED, ["merge", "move", "scope", "sharpen", "enforce"]),
        (Origin.PROPOSAL, Count(40, 1), RuleState.HOLDS, ["revert"]),
        (
            Origin.PROPOSAL,
            Count(40, 1),
            RuleState.REPEATED,
            ["revert", "merge", "move", "scope", "sharpen", "enforce"],
        ),
    ],
)
def test_remedies_are_tried_in_order(origin: Origin, before: Count, state: RuleState, remedies: list[str]) -> None:
    effect = Effect(Rule("/p/CLAUDE.md", 3, PNPM, origin, 0.0), before, Count(20, 12), state)
    assert [one.value for one in called_for(effect, NOW)] == remedies


class Bench(NamedTuple):
    """A project, and the store with what was said in it."""

    project: Project
    store: Store
    host: Host

    def write(self, **files: str) -> None:
        self.project.commit("Write down how we work", files)

    def add_repeat(
        self, session: str, quote: str, *loaded: str, again: tuple[str, str] = ("", ""), days: float = 1
    ) -> None:
        """Have a session say something with these files loaded, `again` being the file and the rule that has it."""
        turn, at = f"claude-code:{session}", NOW - days * DAY
        files = tuple(str(self.project.root / name) for name in loaded)
        repeats = [Repeat(turn, quote, str(self.project.root / again[0]), 0, again[1], 1.0)] if again[0] else []
        past = PastSession(
            agent="claude-code",
            session_id=session,
            cwd=str(self.project.root),
            version="",
            at=at,
            loaded=files,
            work=(),
            said=(Correction(turn, at, quote),),
            repeats=tuple(repeats),
        )
        self.store.past.save(f"/{session}.jsonl", 1, at, [past])

    def remedies(self, days: float = 0.0) -> RuleRemedies:
        return RuleRemedies(self.store, self.host, set(TargetKind), str, NOW + days * DAY)

    def propose_remedies(self, days: float = 0.0) -> list[Proposal]:
        return self.remedies(days).propose()

    def remedy(self, days: float = 0.0) -> Remedy | None:
        (outcome,) = self.remedies(days).outcomes()
        return outcome.plan.remedy

    def staged(self, name: str) -> str:
        return self.project.git("show", f"skilld/staging:{name}") + "\n"

    def decide(self, proposal: Proposal, state: State) -> None:
        self.store.proposals.decide(proposal, state, rfc3339(NOW), who="command")


@pytest.fixture
def bench(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    isolate_git(monkeypatch, home)
    project = Project(tmp_path / "plain", home, ".elsewhere")
    return Bench(project, new_store(tmp_path / "skilld.db"), Host(home, {}))


GUIDE = f"# Probe\n\n- Keep functions short.\n- {PNPM}\n"


def repeat_twice(bench: Bench, quote: str = AGAIN, name: str = "CLAUDE.md", *also: str) -> None:
    bench.add_repeat("a", quote, name, *also, again=(name, PNPM), days=2)
    bench.add_repeat("b", quote, name, *also, again=(name, PNPM))


def test_a_rule_gets_one_proposal_a_month_and_each_remedy_once(bench: Bench) -> None:
    bench.write(**{"CLAUDE.md": GUIDE})
    repeat_twice(bench)
    (proposal,) = bench.propose_remedies()
    assert bench.staged("CLAUDE.md") == f"# Probe\n\n- Keep functions short.\n- **{PNPM}**\n"
    assert ([evidence.turn for evidence in proposal.evidence], proposal.state) == (
        ["claude-code:b", "claude-code:a"],
        State.OPEN,
    )
    assert proposal.reason == "You repeated the rule in 2 of 2 sessions where it applied."
    assert proposal.summary == f"Set this in bold: {PNPM}"
    assert bench.propose_remedies() == []
    bench.decide(proposal, State.REJECTED)
    assert bench.propose_remedies(29) == []
    bench.add_repeat("c", AGAIN, "CLAUDE.md", again=("CLAUDE.md", PNPM), days=-30)
    bench.add_repeat("d", AGAIN, "CLAUDE.md", again=("CLAUDE.md", PNPM), days=-30)
    assert (bench.remedy(31), bench.propose_remedies(31)) == (Remedy.ENFORCE, [])


def test_a_rule_is_reworded_with_the_newer_words(bench: Bench) -> None:
    bench.write(**{"CLAUDE.md": GUIDE})
    newer = "Use pnpm in this repository and for its scripts, never npm."
    repeat_twice(bench, "You ran npm again. Pls use pnpm in this repository and for its scripts, never npm!")
    (proposal,) = bench.propose_remedies()
    assert bench.staged("CLAUDE.md") == GUIDE.replace(PNPM, newer)
    assert proposal.summary == f"Say this more clearly: {newer}"
    assert proposal.evidence[0].quote.endswith("never npm!")


@pytest.mark.parametrize("marker", ["1. ", "- [ ] ", ""])
def test_a_reworded_rule_keeps_its_marker(bench: Bench, marker: str) -> None:
    rule = "1 file for each class in this repository, never two."
    newer = "Always write 1 file for each class in this repository and for its tests, never two."
    bench.write(**{"CLAUDE.md": f"# Probe\n\n{marker}{rule}\n"})
    for session in "ab":
        quote = f"You put two classes into one again. {newer}"
        bench.add_repeat(session, quote, "CLAUDE.md", again=("CLAUDE.md", rule))
    (proposal,) = bench.propose_remedies()
    assert bench.staged("CLAUDE.md") == f"# Probe\n\n{marker}{newer}\n", proposal.summary


@pytest.mark.parametrize(
    "other",
    [
        "Use pnpm for the scripts as well!",
        "Use pnpm 9, never npm, in this repository.",
        "Always commit the lock file of pnpm.",
        "In this repository, run pnpm install before each test.",
    ],
)
def test_words_that_say_only_a_part_of_a_rule_do_not_change_its_wording(bench: Bench, other: str) -> None:
    bench.write(**{"CLAUDE.md": GUIDE})
    repeat_twice(bench, f"You ran npm again. {other}")
    bench.propose_remedies()
    assert bench.staged("CLAUDE.md") == GUIDE.replace(PNPM, f"**{PNPM}**")


def test_a_rule_in_two_lines_is_reduced_to_one(bench: Bench) -> None:
    bench.write(**{"CLAUDE.md": GUIDE, ".claude/rules/tools.md": f"# Tools\n\n- {PNPM}\n- Run the linter.\n"})
    repeat_twice(bench, AGAIN, "CLAUDE.md", ".claude/rules/tools.md")
    (proposal,) = bench.propose_remedies()
    assert (proposal.relpath, proposal.target) == (".claude/rules/tools.md", TargetKind.RULES)
    assert bench.staged(".claude/rules/tools.md") == "# Tools\n\n- Run the linter.\n"
    assert proposal.reason.endswith("CLAUDE.md:4 also says this.")


SKILL = f"---\nname: notes\ndescription: Writes notes.\n---\n\n# Notes\n\n- {PNPM}\n- One line per note.\n"


def test_a_rule_of_a_rarely_used_skill_moves_to_the_instructions(bench: Bench) -> None:
    skill = ".claude/skills/notes/SKILL.md"
    bench.write(**{"CLAUDE.md": "# Probe\n\n- Keep functions short.\n", skill: SKILL})
    bench.add_repeat("a", AGAIN, "CLAUDE.md", skill, again=(skill, PNPM), days=3)
    bench.add_repeat("b", AGAIN, "CLAUDE.md", days=2)
    assert bench.propose_remedies() == []
    bench.add_repeat("c", AGAIN, "CLAUDE.md")
    (remedy,) = bench.propose_remedies()
    assert (remedy.relpath, [side.relpath for side in remedy.also]) == ("CLAUDE.md", [skill])
    assert bench.staged("CLAUDE.md") == f"# Probe\n\n- Keep functions short.\n- {PNPM}\n"
    assert bench.staged(skill) == SKILL.replace(f"- {PNPM}\n", "")


def test_a_rule_of_a_file_that_is_not_loaded_moves_to_one_that_is(bench: Bench) -> None:
    """Emphasis would change nothing for an agent that does not read the file."""
    narrow = '---\npaths: ["web/**"]\n---\n\n# Web\n\n- Be kind.\n'
    bench.write(**{"CLAUDE.md": "# Probe\n", ".claude/rules/web.md": f"{narrow}- {PNPM}\n"})
    bench.add_repeat("a", AGAIN, "CLAUDE.md", ".claude/rules/web.md", again=(".claude/rules/web.md", PNPM), days=3)
    bench.add_repeat("b", AGAIN, "CLAUDE.md", days=2)
    bench.add_repeat("c", AGAIN, "CLAUDE.md")
    (remedy,) = bench.propose_remedies()
    assert bench.staged("CLAUDE.md") == f"# Probe\n\n- {PNPM}\n"
    assert bench.staged(".claude/rules/web.md") == narrow
    assert remedy.reason.endswith("The agent had not loaded the rule's file where you asked for this.")


def test_a_rule_of_a_file_that_is_not_loaded_is_not_set_in_bold(bench: Bench) -> None:
    rules = ".claude/rules/web.md"
    bench.write(**{rules: f'---\npaths: ["web/**"]\n---\n\n{GUIDE}'})
    bench.add_repeat("a", AGAIN, rules, again=(rules, PNPM), days=3)
    bench.add_repeat("b", AGAIN, "README.md", days=2)
    bench.add_repeat("c", AGAIN, "README.md")
    assert (bench.remedy(), bench.propose_remedies()) == (Remedy.ENFORCE, [])


def test_a_rule_about_a_skills_work_moves_into_that_skill(bench: Bench) -> None:
    skill, rule = ".claude/skills/notes/SKILL.md", "Write the release notes in the past tense."
    said = "The release notes are not in the past tense again!"
    bench.write(
        **{"CLAUDE.md": f"# Probe\n\n- Be brief.\n- {rule}\n", skill: SKILL.replace("notes.\n", "release notes.\n")}
    )
    bench.add_repeat("a", said, "CLAUDE.md", skill, again=("CLAUDE.md", rule), days=2)
    bench.add_repeat("b", said, "CLAUDE.md", skill, again=("CLAUDE.md", rule))
    (proposal,) = bench.propose_remedies()
    assert (proposal.relpath, proposal.skill, bench.staged("CLAUDE.md")) == (skill, "notes", "# Probe\n\n- Be brief.\n")
    assert rule in bench.staged(skill)


def test_a_rule_always_about_the_same_files_moves_to_a_path_rule(bench: Bench) -> None:
    bench.write(**{"CLAUDE.md": GUIDE, "web/index.ts": "export {}\n", ".claude/rules/x.md": "- Be kind.\n"})
    repeat_twice(bench, "npm again in the web folder! Use pnpm, never npm")
    (proposal,) = bench.propose_remedies()
    assert (proposal.relpath, proposal.target) == (".claude/rules/web.md", TargetKind.RULES)
    assert bench.staged("CLAUDE.md") == "# Probe\n\n- Keep functions short.\n"
    assert '  - "web/**"\n' in bench.staged(".claude/rules/web.md")
    assert f"- {PNPM}\n" in bench.staged(".claude/rules/web.md")


def _work_without_it(bench: Bench) -> None:
    for number in range(MIN_SESSIONS):
        bench.add_repeat(f"later-{number}", "Make the sidebar blue!", "CLAUDE.md", days=-15)


def test_a_rule_that_was_needed_before_skilld_reworded_it_is_not_cut(bench: Bench) -> None:
    bench.write(**{"CLAUDE.md": GUIDE})
    repeat_twice(bench)
    (remedy,) = bench.propose_remedies()
    bench.decide(remedy, State.ACCEPTED)
    bench.write(**{"CLAUDE.md": bench.staged("CLAUDE.md")})
    _work_without_it(bench)
    assert bench.propose_remedies(31) == []


def test_an_accepted_rule_never_needed_is_removed(bench: Bench) -> None:
    """Nobody's words ask for it, and none are quoted."""
    bench.write(**{"CLAUDE.md": GUIDE})
    guide, rule = str(bench.project.root / "CLAUDE.md"), Operation(Op.INSERT_AFTER, "# Probe", f"- {PNPM}")
    bench.store.proposals.add(one := make_proposal(path=guide, operations=(rule,)))
    bench.decide(one, State.ACCEPTED)
    _work_without_it(bench)
    (two,) = bench.propose_remedies(31)
    assert (two.reason, two.evidence) == ("The rule has not applied in any session since it was added.", ())
    assert bench.staged("CLAUDE.md") == "# Probe\n\n- Keep functions short.\n"


@for_each(
    ("origin", "before", "after", "worse"),
    [
        (Origin.PROPOSAL, Count(40, 1), Count(20, 12), True),
        (Origin.PERSON, Count(40, 1), Count(20, 12), False),
        (Origin.PROPOSAL, Count(40, 12), Count(20, 12), False),
        (Origin.PROPOSAL, Count(), Count(20, 12), False),
    ],
)
def test_a_revert_is_suggested_if_it_had_to_be_repeated_more_often_since(
    origin: Origin,
    before: Count,
    after: Count,
    worse: bool,  # noqa: FBT001 - a case
) -> None:
    assert (
        is_repeated_more(Effect(Rule("/p/CLAUDE.md", 3, PNPM, origin, 0.0), before, after, RuleState.REPEATED)) is worse
    )


def test_nothing_is_proposed_against_project_or_user_settings(bench: Bench) -> None:
    bench.write(**{"CLAUDE.md": GUIDE})
    repeat_twice(bench)
    assert RuleRemedies(bench.store, bench.host, {TargetKind.SKILL}, str, NOW).propose() == []
    bench.write(**{".skilld.toml": "enabled = false\n"})
    assert bench.propose_remedies() == []


def test_at_most_three_a_day_are_proposed(bench: Bench) -> None:
    rules = [f"Always water the {plant} twice." for plant in ("fern", "cactus", "orchid", "bonsai")]
    bench.write(**{"CLAUDE.md": "# Plants\n\n" + "".join(f"- {rule}\n" for rule in rules)})
    for number, rule in enumerate(rules):
        for session in "ab":
            quote = f"You did not water the {rule.split()[3]} twice again!"
            bench.add_repeat(f"{session}{number}", quote, "CLAUDE.md", again=("CLAUDE.md", rule))
    assert [len(bench.propose_remedies()), len(bench.propose_remedies()), len(bench.propose_remedies(2))] == [3, 0, 1]


@for_each(
    ("command", "refused"),
    [("npm install", True), ("cd x && npm ci", True), ("pnpm install", False), ("git log --grep npm", False)],
)
def test_the_drafted_hook_blocks_what_the_rule_forbids(
    command: str,
    refused: bool,  # noqa: FBT001 - a case
) -> None:
    claude, codex = draft_hooks(PNPM, {"claude-code", "codex"})
    (group,) = json.loads(claude.text)["hooks"]["PreToolUse"]
    asked = json.dumps({"tool_name": "Bash", "tool_input": {"command": command, "description": "npm"}})
    result = subprocess.run(
        ["sh", "-c", group["hooks"][0]["command"]], input=asked, capture_output=True, text=True, check=False
    )
    assert (result.returncode, PNPM in result.stderr) == ((2, True) if refused else (0, False))
    assert 'pattern = ["npm"], decision = "forbidden"' in codex.text
    assert draft_hooks("Keep functions short.", {"claude-code"}) == draft_hooks(PNPM, {"pi"}) == []
