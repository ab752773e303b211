"""Earlier proposals are recognized by turn and meaning, and return only when said again."""

from __future__ import annotations

from dataclasses import replace

import pytest

from skilld.clock import parse_time
from skilld.library.clusters import Ask, Mention, Piece, group_asks
from skilld.mining.dedup import ProposalHistory
from skilld.types import Evidence, Op, Operation, Proposal, State, TargetKind
from support.proposals import make_proposal
from support.rows import for_each

PATH = "/shop/SKILL.md"
SAID = "Always put the ticket number first in each entry."
OTHERWISE = "put the ticket number first, in each entry"
DECIDED = "2026-03-02T09:00:00Z"


def _ask(text: str, *, turn: str = "k9", at: str = "2026-03-01T09:00:00Z") -> Ask:
    return Ask((Mention("fact", turn, text, text, "", "", "/shop", Piece("s9", parse_time(at) or 0.0, 0.8)),))


def _proposed(state: State, *, text: str = f"# Notes\n\n- {SAID}\n") -> Proposal:
    operations = (Operation(Op.INSERT_AFTER, "- a", text),)
    return make_proposal(
        id="abc12345",
        path=PATH,
        state=state,
        operations=operations,
        evidence=(Evidence("k1", SAID),),
        decided_at=DECIDED,
        summary="x",
    )


@for_each("state", [*State])
@for_each("text", [SAID, OTHERWISE])
def test_an_earlier_proposal_is_recognized_in_any_state_and_wording(state: State, text: str) -> None:
    assert "abc12345" in (ProposalHistory([_proposed(state)]).duplicate_reason(_ask(text), "") or "")


def test_an_earlier_proposal_is_recognized_by_its_turn() -> None:
    known = ProposalHistory([_proposed(State.OPEN, text="- entries begin with a number")])
    assert "abc12345" in (known.duplicate_reason(_ask(SAID, turn="k1"), "") or "")
    assert known.duplicate_reason(_ask("Never mention hosts.", turn="k1"), "") is None


@for_each(
    "said, quote, counts",
    [
        ("I need no summary of every diff", "answer shorter please, I need no summary of every diff", True),
        ("Stop reformatting files, the diffs are unreadable", "stop reformatting files", True),
        ("Use fake timers, and put them in setup.ts", "use fake timers", False),
        ("Use fake timers, no sleeps", "use fake timers", False),
        ("be brief", "be briefer", False),
    ],
)
def test_a_part_of_the_words_of_a_turn_that_was_quoted_is_recognized(said: str, quote: str, *, counts: bool) -> None:
    proposal = replace(_proposed(State.ACCEPTED, text="- another rule"), evidence=(Evidence("k1", quote),))
    why = ProposalHistory([proposal]).duplicate_reason(_ask(said, turn="k1"), "")
    assert why == ("you accepted it (abc12345)" if counts else None)
    assert ProposalHistory([proposal]).duplicate_reason(_ask(said, turn="k2"), "") is None


def test_an_unrelated_rule_is_not_recognized() -> None:
    known = ProposalHistory([_proposed(State.OPEN)])
    assert known.duplicate_reason(_ask("Never mention internal hosts in the notes."), "") is None


def test_a_rule_for_one_skill_may_be_proposed_for_another() -> None:
    accepted = ProposalHistory([_proposed(State.ACCEPTED)])
    assert accepted.duplicate_reason(_ask(SAID), "/shop/other/SKILL.md") is None
    assert "accepted" in (accepted.duplicate_reason(_ask(SAID), PATH) or "")


def _in(
    path: str, target: TargetKind = TargetKind.SKILL, state: State = State.OPEN, agents: tuple[str, ...] = ()
) -> Proposal:
    repo = "/".join(path.split("/")[:3])
    return replace(_proposed(state), path=path, repo=repo, target=target, agents=agents)


@for_each(
    "path, target, counts",
    [
        ("/src/shop/.claude/skills/notes/SKILL.md", TargetKind.SKILL, True),
        ("/src/shop/CLAUDE.md", TargetKind.INSTRUCTIONS, True),
        ("/src/shop/web/.claude/skills/notes/SKILL.md", TargetKind.SKILL, True),  # of the same repository
        ("/src/.claude/skills/notes/SKILL.md", TargetKind.SKILL, True),  # of the folder around it
        ("/home/me/.claude/CLAUDE.md", TargetKind.PERSONAL, True),
        ("/src/billing/.claude/skills/notes/SKILL.md", TargetKind.SKILL, False),
        ("/src/shop-two/CLAUDE.md", TargetKind.INSTRUCTIONS, False),
        ("/src/shop/.claude/skills/notes/evals/evals.json", TargetKind.EVALS, False),
    ],
)
def test_an_open_proposal_counts_only_where_its_file_is_loaded(path: str, target: TargetKind, *, counts: bool) -> None:
    ask = Ask((replace(_ask(OTHERWISE).said[0], project="/src/shop"),))
    known = ProposalHistory([_in(path, target)])
    assert bool(known.duplicate_reason(ask, "")) is counts
    assert bool(known.duplicate_reason(ask, "/src/shop/.claude/skills/deploy/SKILL.md")) is counts


@for_each(
    "path, agents, counts",
    [
        ("/src/shop/AGENTS.md", ("codex",), True),
        ("/src/shop/AGENTS.md", (), True),  # made before agents were noted
        ("/src/shop/CLAUDE.md", ("claude-code",), False),
        ("/src/billing/AGENTS.md", ("codex",), False),
    ],
)
def test_what_was_accepted_for_a_project_is_not_proposed_for_its_skill(
    path: str, agents: tuple[str, ...], *, counts: bool
) -> None:
    known = ProposalHistory([_in(path, TargetKind.INSTRUCTIONS, State.ACCEPTED, agents)])
    ask = Ask((replace(_ask(OTHERWISE).said[0], project="/src/shop"),))
    why = known.duplicate_reason(ask, "/src/shop/.agents/skills/deploy/SKILL.md", {"codex"})
    assert why == ("you accepted it (abc12345)" if counts else None)


def test_what_was_rejected_in_one_project_is_no_new_skill_elsewhere() -> None:
    ask = Ask((replace(_ask(SAID).said[0], project="/src/billing"),))
    for state, counts in ((State.REJECTED, True), (State.ACCEPTED, False)):
        known = ProposalHistory([_in("/src/shop/AGENTS.md", TargetKind.INSTRUCTIONS, state, ())])
        assert bool(known.duplicate_reason(ask, "")) is counts


@for_each("state", [State.REJECTED, State.REVERTED, State.DROPPED])
def test_a_rule_of_several_that_were_decided_against_extends_no_skill(state: State) -> None:
    text = f"- {SAID}\n- Glas06 will be the NFS box.\n"
    declined = replace(_proposed(state, text=text), path="/src/shop/CLAUDE.md", target=TargetKind.INSTRUCTIONS)
    known, skill = ProposalHistory([declined]), "/src/shop/.claude/skills/hosts/SKILL.md"
    for said in ("Glas06 will be the NFS box.", OTHERWISE):
        assert f"you {state} it (abc12345)" == known.duplicate_reason(_ask(said), skill)
    later = _ask("Glas06 will be our box for NFS.", at="2026-03-03T09:00:00Z")
    assert known.duplicate_reason(later, skill) is None


def test_a_command_in_a_new_skill_is_no_rule_about_it() -> None:
    steps = (
        "# Reset the database\n\n## Steps\n\n1. Run `docker stop`.\n2. Run `pnpm db:reset`.\n\n- `pnpm up` failed.\n"
    )
    made = replace(_proposed(State.OPEN), operations=(Operation(Op.CREATE, "", steps),), evidence=())
    assert ProposalHistory([made]).duplicate_reason(_ask("Always use pnpm instead of npm here."), "") is None
    rule = replace(made, operations=(Operation(Op.CREATE, "", f"{steps}\n- Use pnpm, not npm.\n"),))
    assert ProposalHistory([rule]).duplicate_reason(_ask("Always use pnpm instead of npm here."), "") is not None


@pytest.mark.parametrize("state", [State.REJECTED, State.REVERTED])
def test_a_rejected_rule_returns_when_said_again(state: State) -> None:
    known = ProposalHistory([_proposed(state)])
    assert known.duplicate_reason(_ask(OTHERWISE, at="2026-03-03T09:00:00Z"), "") is None
    assert known.duplicate_reason(_ask(SAID, at="2026-03-03T09:00:00Z"), "") is not None  # the same words once more
    assert known.duplicate_reason(_ask(OTHERWISE, turn="k1", at="2026-03-03T09:00:00Z"), "") is not None


def test_an_accepted_rule_said_again_is_not_proposed() -> None:
    known = ProposalHistory([_proposed(State.ACCEPTED)])
    assert known.duplicate_reason(_ask(OTHERWISE, at="2026-03-03T09:00:00Z"), "") is not None


def test_an_open_proposal_gains_quotes_found_elsewhere() -> None:
    known = ProposalHistory([_proposed(State.OPEN)])
    known.duplicate_reason(_ask(OTHERWISE), "")
    known.duplicate_reason(_ask(SAID, turn="k1"), "")
    assert known.supported == {("abc12345", "k9"): Evidence("k9", OTHERWISE)}
    decided = ProposalHistory([_proposed(State.ACCEPTED)])
    decided.duplicate_reason(_ask(OTHERWISE), "")
    assert decided.supported == {}


def test_of_two_halves_with_one_quote_the_matching_one_is_named() -> None:
    accepted = replace(_proposed(State.ACCEPTED, text="- Sign the tag."), id="82d15b08")
    rejected = replace(_proposed(State.REJECTED), id="8ca5588f")
    known = ProposalHistory([accepted, rejected])
    assert known.duplicate_reason(_ask(SAID, turn="k1"), "") == "you rejected it (8ca5588f)"


@for_each(
    ("one", "other"),
    [
        (
            "No need to use the test postgres, mock the database in tests.",
            "Don't mock the db in tests, use the real test postgres.",
        ),
        ("Mock the database in tests.", "Don't mock the db in tests."),
        ("Always squash commits before merging.", "Never squash commits before merging."),
        ("Put the changelog entry in the same commit.", "No need to put a changelog entry in the commit."),
        ("No need for docstrings on private functions.", "Write docstrings on private functions too."),
        ("Ask before you install a dependency.", "No need to ask before you install a dependency."),
        ("Don't use emojis in commit messages.", "Use emojis in commit messages."),
        ("Stop adding type annotations to tests.", "Add type annotations to tests."),
        ("Keine Kommentare auf Deutsch im Code.", "Schreib die Kommentare im Code auf Deutsch."),
        ("Don't wait for CI before merging docs changes.", "Wait for CI before merging docs changes."),
    ],
)
def test_the_opposite_is_another_ask_and_no_evidence(one: str, other: str) -> None:
    for said, wanted in ((one, other), (other, one)):
        proposed = replace(_proposed(State.OPEN, text=f"- {said}\n"), summary=said)
        known = ProposalHistory([proposed])
        assert known.duplicate_reason(_ask(wanted), PATH) is None
        assert not known.supported
        assert known.duplicate_reason(_ask(said), PATH)
        assert len(group_asks([*_ask(said).said, *_ask(wanted, turn="k8").said])) == 2


@for_each("state", [State.REJECTED, State.REVERTED, State.DROPPED])
def test_declining_other_words_for_a_line_does_not_decline_the_line(state: State) -> None:
    louder = (Operation(Op.REPLACE, f"- {SAID}", f"- **{SAID}**"),)
    declined = replace(_proposed(state), operations=louder, evidence=())
    assert ProposalHistory([declined]).duplicate_reason(_ask(OTHERWISE), "") is None
    assert ProposalHistory([replace(declined, state=State.OPEN)]).duplicate_reason(_ask(OTHERWISE), "") is not None


def test_a_rule_that_an_accepted_edit_took_away_is_not_proposed_again() -> None:
    accepted = replace(
        _in("/shop/CLAUDE.md", TargetKind.INSTRUCTIONS, State.ACCEPTED),
        operations=(Operation(Op.REPLACE, "- No default exports.", "- Default exports are fine."),),
        evidence=(),
        created_at="2026-03-02T08:00:00Z",
    )
    known = ProposalHistory([accepted])
    assert known.duplicate_reason(_ask("No default exports."), "") == "you accepted an edit that removes it (abc12345)"
    later = _ask("No default exports.", at="2026-03-03T09:00:00Z")
    assert known.duplicate_reason(later, "") is None
