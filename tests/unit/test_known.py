from __future__ import annotations

from dataclasses import replace

import pytest

from skilld.proposals.lessons import why_known
from skilld.protocol import PastDecision
from skilld.types import Kind, Op, Operation, State, Update
from support.proposals import a_proposal

PATH = "/p/.claude/skills/notes/SKILL.md"
UPDATE = Update(
    1, "Style", "Put the ticket number first.", "", Kind.PREFERENCE, 1, "Always the ticket number first!", 0.9
)
STANDING = a_proposal(path=PATH, operations=(Operation(Op.INSERT_AFTER, "- a", "- Put the ticket number first."),))
DECIDED = PastDecision(
    PATH, State.REJECTED, ("- Put the ticket number first.",), ("always the ticket number first!",), "s1"
)


def test_what_an_open_proposal_says_is_not_proposed_again() -> None:
    assert why_known(UPDATE, PATH, "s2", [STANDING], []) == "the open proposal 0123abcd already says this"


def test_an_open_proposal_for_another_skill_is_no_obstacle() -> None:
    assert why_known(UPDATE, PATH, "s2", [replace(STANDING, path="/other")], []) == ""


@pytest.mark.parametrize(
    ("session", "quote", "why"),
    [
        ("s1", "put ticket numbers first from now on", "it was rejected before"),  # the same session
        ("s2", "always  the ticket\nnumber first!", "it was rejected before"),  # the same words
        ("s2", "put ticket numbers first from now on", ""),  # said anew
    ],
)
def test_what_was_rejected_comes_again_only_when_it_is_said_anew(session: str, quote: str, why: str) -> None:
    assert why_known(replace(UPDATE, quote=quote), PATH, session, [], [DECIDED]) == why


def test_something_else_is_no_obstacle() -> None:
    other = replace(UPDATE, change="Write in the past tense.")
    assert why_known(other, PATH, "s1", [STANDING], [DECIDED]) == ""
