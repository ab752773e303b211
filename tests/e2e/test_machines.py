"""One person's machines: decisions, learnings and repeats sync through a private repository (issue 20, 5)."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path
from random import Random

import pytest

from skilld.errors import SkilldError
from skilld.proposals.decide import accepting, rejecting, reverting
from skilld.types import OBSERVED_TURN, Evidence, Kind, Op, Operation, State, TargetKind, Update
from support.machines import Machine, SyncGroup
from support.repos import isolate_git

PNPM = "Use pnpm, not npm, to install packages."
PNPM_TOO = "Use pnpm and not npm to install packages."
RULES = (
    "Write dates as year, month and day.",
    "Run the linter before each push.",
    "Keep secrets out of fixtures.",
    "Prefer composition over inheritance.",
    "Answer questions in German.",
    "Put generated files below build.",
    "Squash fixups on merging.",
    "Never mock the database.",
)
SEEDS = int(os.environ.get("HYPOTHESIS_EXAMPLES", "100")) // 100  # of four interleavings each; `make soak` tries more
DATES = "Write dates as YYYY-MM-DD in the changelog."


@pytest.fixture
def group(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SyncGroup:
    isolate_git(monkeypatch, tmp_path / "nobody")
    return SyncGroup(tmp_path)


def quiet(*machines: Machine) -> None:
    """Sync until nobody has anything to tell."""
    for _ in range(4):
        pushed = [machine.sync().pushed for machine in machines]
        if not any(pushed):
            return
    raise AssertionError("they do not come to rest")


def test_the_same_proposal_of_two_machines_is_one_and_a_rejection_applies_to_both(group: SyncGroup) -> None:
    tower, laptop = group.machine("tower"), group.machine("laptop")
    tower.say(PNPM)
    laptop.say(PNPM_TOO)
    laptop.say(DATES)
    quiet(tower, laptop)
    assert group.refs() == ["refs/skilld/machines/laptop", "refs/skilld/machines/tower"]
    tower.decide(PNPM, rejecting())
    quiet(tower, laptop)
    assert laptop.state(PNPM_TOO) is State.REJECTED
    assert laptop.state(DATES) is State.OPEN
    assert "pnpm" not in laptop.staged()
    assert "YYYY" in laptop.staged()
    assert laptop.store.proposals.decided_by(laptop.find(PNPM_TOO).id) == "another machine"
    assert tower.known() == laptop.known()


def test_a_rejection_before_the_machines_met_applies_to_both(group: SyncGroup) -> None:
    tower, laptop = group.machine("tower"), group.machine("laptop")
    tower.say(PNPM)
    tower.decide(PNPM, rejecting())
    laptop.now = 500
    laptop.say(PNPM_TOO)
    quiet(laptop, tower)
    assert laptop.state(PNPM_TOO) is State.REJECTED
    # Said anew, once that is known here, it is open on both.
    laptop.now = 1_000_000  # far in the future: no decision of today is later
    laptop.say("Always use pnpm and never npm to install packages.", created_at="2099-01-01T00:00:00Z")
    quiet(laptop, tower)
    assert tower.state(PNPM) is State.OPEN
    assert "pnpm" in tower.staged()


def test_accepting_on_one_accepts_on_the_other_without_writing_a_file_there(group: SyncGroup) -> None:
    tower, laptop = group.machine("tower"), group.machine("laptop")
    for machine in (tower, laptop):
        machine.say(PNPM)
    before = laptop.clone.git("rev-parse", "HEAD"), (laptop.clone.root / "CLAUDE.md").read_text()
    tower.decide(PNPM, accepting())
    quiet(tower, laptop)
    assert laptop.state(PNPM) is State.ACCEPTED
    assert (laptop.clone.git("rev-parse", "HEAD"), (laptop.clone.root / "CLAUDE.md").read_text()) == before
    # It may be had here as well, without git.
    laptop.decide(PNPM, accepting())
    assert "pnpm" in (laptop.clone.root / "CLAUDE.md").read_text()


def test_a_machine_joining_later_knows_earlier_decisions_even_if_the_other_is_gone(group: SyncGroup) -> None:
    tower, laptop = group.machine("tower"), group.machine("laptop")
    tower.say(PNPM)
    tower.decide(PNPM, rejecting())
    quiet(tower, laptop)
    group.team.hub.git(f"--git-dir={group.remote}", "update-ref", "-d", "refs/skilld/machines/tower")
    third = group.machine("third")
    third.store.transcripts.record_activity("codex", "s1", cwd=str(third.clone.root), activity=1.0)
    third.sync()
    (rejection,) = third.store.machine_records.rejections()
    assert rejection[:4] == (str(third.clone.root / "CLAUDE.md"), "rejected", PNPM, f"from now on: {PNPM}")
    assert rejection[4] == tower.find(PNPM).decided_at


@pytest.mark.parametrize("seed", range(1, 1 + min(SEEDS, 40)))
def test_random_interleavings_converge(group: SyncGroup, seed: int) -> None:
    """Four rounds each: said on one or both, decided, synced and looked at in any order; git brings nothing between."""
    random = Random(seed)
    tower, laptop = machines = group.machine("tower"), group.machine("laptop")
    decisions = rejecting(), accepting(), reverting()
    states: set[State] = set()
    rules = random.sample(RULES, len(RULES))
    for _ in range(4):
        for _ in range(2):
            rule = rules.pop()
            for one in random.choice([machines, machines, machines[:1], machines[1:]]):
                one.say(rule)
        for _ in range(8):
            one = random.choice(machines)
            what = random.random()
            if what < 0.3:
                one.sync() if what < 0.2 else one.observe()
            elif proposals := one.store.proposals.in_states(list(State)):
                with suppress(SkilldError):  # not every decision follows every other
                    one.decide(random.choice(proposals).summary, random.choice(decisions))
        quiet(*machines)
        for one in machines:
            one.observe()
        quiet(*machines)
        assert tower.known() == laptop.known()
        assert _states(tower, laptop) == _states(laptop, tower)
        states |= {*_states(tower, laptop).values()}
    assert len(states) > 1, "nothing was decided"


def _states(one: Machine, other: Machine) -> dict[str, State]:
    """Return how the rules stand on a machine that both have."""
    both = [{proposal.summary for proposal in each.store.proposals.in_states(list(State))} for each in (one, other)]
    return {rule: one.state(rule) for rule in sorted(both[0] & both[1])}


def test_a_rejected_mined_skill_is_known_on_the_other_machine_by_its_request(group: SyncGroup) -> None:
    tower, laptop = group.machine("tower"), group.machine("laptop")
    request, text = (
        "rebase onto main and squash the fixups",
        "---\nname: squash\ndescription: Use to squash.\n---\n\n# Squash\n",
    )
    path = tower.clone.root / ".claude/skills/squash/SKILL.md"
    tower.say(
        "Use to squash.",
        path=str(path),
        skill="squash",
        target=TargetKind.SKILL,
        operations=(Operation(Op.CREATE, "", text),),
        updates=(
            Update(None, "", "Run `make squash`", "observed in 2 sessions", Kind.ADD_STEP, OBSERVED_TURN, "make"),
        ),
        evidence=(Evidence("claude-code:1", request), Evidence("claude-code:2", f"please {request}")),
    )
    tower.decide("new skill: Use to squash.", rejecting())
    laptop.store.transcripts.record_activity("codex", "s1", cwd=str(laptop.clone.root), activity=1.0)
    quiet(tower, laptop)
    assert [json.loads(one)["rule"] for one in laptop.known()] == [request], "nothing that was only observed"
    (rejection,) = laptop.store.machine_records.rejections()
    assert rejection[0] == str(laptop.clone.root / ".claude/skills/squash/SKILL.md")
    assert rejection[1:4] == ("rejected", request, request)


def test_what_was_only_observed_in_sessions_is_no_rule(group: SyncGroup) -> None:
    tower, laptop = group.machine("tower"), group.machine("laptop")
    updates = (
        Update(None, "", DATES, "", Kind.PREFERENCE, 1, DATES),
        Update(None, "", "Run the tests.", "observed in 3 sessions", Kind.ADD_STEP, OBSERVED_TURN, "make test"),
    )
    tower.say("Use when you write a changelog.", updates=updates)
    quiet(tower, laptop)
    assert [json.loads(one)["rule"] for one in laptop.known()] == [DATES]


def test_removing_a_rule_is_not_saying_it(group: SyncGroup) -> None:
    tower = group.machine("tower")
    tower.say(PNPM)
    tower.decide(PNPM, accepting())
    tower.sync()
    away = "You don't have to use pnpm any more."
    tower.say(
        f"Remove the rule: {PNPM}",
        operations=(Operation(Op.DELETE, f"- {PNPM}", ""),),
        kind=Kind.REMOVE_STEP,
        updates=(Update(1, "Rules", PNPM, "", Kind.REMOVE_STEP, 1, away),),
        evidence=(Evidence("claude-code:t9", away),),
    )
    tower.sync()
    (record,) = map(json.loads, tower.known())
    assert (record["rule"], record["said"], len(record["heard"])) == (PNPM, "accepted", 1)
