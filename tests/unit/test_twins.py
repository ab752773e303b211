"""Two open proposals that say the same: what becomes of the second when the first is accepted."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from skilld.cli import decide
from skilld.proposals.amend import restore
from skilld.proposals.remarks import refusal_and_remedy
from skilld.review.controller import ReviewContext, ReviewSession
from skilld.store.proposals import twin_flag
from skilld.types import Kind, Op, Operation, State, Update
from support.new_store import new_store
from support.proposal_life import ProposalLife
from support.repos import Person

TESTS, TAG, PUSH = "- Run the tests.", "- Tag the commit.", "- Push the tag."
FIRST = "Always sign the release tag with your own key."
AGAIN = "Sign the release tag with your own key, always."
OTHER = "Never push a tag on a Friday."
SAID = "p1, which was accepted, says this"


def say(life: ProposalLife, name: str, below: str, line: str, **other: Any) -> None:
    update = Update(1, "", line, "", Kind.PREFERENCE, 1, line, 0.9)
    life.propose(name, Operation(Op.INSERT_AFTER, below, f"- {line}"), updates=(update,), **other)


def outcomes(life: ProposalLife, *names: str) -> list[str]:
    return [life.get(name).state.value for name in names]


@pytest.fixture
def accept_all(
    person: Person, life: ProposalLife, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[[], str]:
    """Return `skilld accept --all` in the person's repository."""
    monkeypatch.chdir(person.root)
    monkeypatch.setattr(decide, "_refreshed_store", lambda **_: life.store)
    asked = Namespace(ids=[], all=True, all_repositories=False, part=[], to=None, json=False, worktree=False, yes=True)

    def run() -> str:
        assert decide.accept(asked) == 0
        return " ".join(capsys.readouterr().out.split())

    return run


def test_accepting_one_closes_the_other_for_the_same_file(person: Person, life: ProposalLife) -> None:
    say(life, "p1", TESTS, FIRST)
    say(life, "p2", TAG, AGAIN)
    say(life, "p3", PUSH, OTHER)
    report = life.accept("p1")
    assert outcomes(life, "p1", "p2", "p3") == ["accepted", "superseded", "open"]
    assert life.get("p2").note == SAID
    assert f"p2 was closed: {SAID}. To propose it anyway: skilld restore p2" in report.lines
    assert AGAIN not in person.show(ref="refs/heads/skilld/staging")
    cause, remedy = refusal_and_remedy(life.store, life.get("p2"), "accept", (State.OPEN,))
    assert (cause, remedy) == (f"it is superseded: {SAID}", "To propose it anyway: skilld restore p2")
    restore(life.store, life.get("p2"))
    assert outcomes(life, "p2") == ["open"]


@pytest.mark.parametrize(
    "other",
    [
        {"updates": ()},  # a summary is no rule
        {"evidence": ()},
        {"batch_id": "effect-sharpen-0123abcd"},
    ],
)
def test_what_is_not_in_the_persons_words_stays_open(life: ProposalLife, other: dict[str, Any]) -> None:
    update = Update(1, "", AGAIN, "", Kind.PREFERENCE, 1, AGAIN, 0.9)
    say(life, "p1", TESTS, FIRST)
    life.propose("p2", Operation(Op.INSERT_AFTER, TAG, f"- {AGAIN}"), **{"updates": (update,), **other})
    life.accept("p1")
    assert outcomes(life, "p2") == ["open"]


def test_a_batch_writes_it_once(person: Person, life: ProposalLife, accept_all: Callable[[], str]) -> None:
    say(life, "p1", TESTS, FIRST)
    say(life, "p2", TAG, AGAIN)
    assert "p2 was closed" in accept_all()
    assert outcomes(life, "p1", "p2") == ["accepted", "superseded"]
    assert AGAIN not in person.skill.read_text()


@pytest.mark.parametrize(("first", "second"), [("p1", "p2"), ("p2", "p1")])
def test_either_proposal_in_another_file_is_left_to_the_person(
    person: Person, life: ProposalLife, accept_all: Callable[[], str], first: str, second: str
) -> None:
    guide = Path(person.root) / "CLAUDE.md"
    life.commit("guide", {"CLAUDE.md": "# Guide\n\n- Keep it short.\n"})
    say(life, "p1", TESTS, FIRST)
    say(life, "p2", "- Keep it short.", AGAIN, path=guide, skill="CLAUDE.md", flags=(twin_flag("p1", "release"),))
    where = {"p1": "release", "p2": "CLAUDE.md"}[first]
    life.accept(first)
    flag = f"the accepted proposal {first} asks for the same in {where}, which has it now"
    assert life.get(second).flags == (flag,)
    assert f"{second} was left open: {flag}" in accept_all()
    assert outcomes(life, "p1", "p2") == [{"p1": "accepted"}.get(first, "open"), {"p2": "accepted"}.get(first, "open")]
    life.revert(first)
    assert life.get(second).flags == (f"the reverted proposal {first} asks for the same in {where}",)


def test_a_batch_writes_it_into_one_of_two_files(
    person: Person, life: ProposalLife, accept_all: Callable[[], str]
) -> None:
    life.commit("guide", {"CLAUDE.md": "# Guide\n\n- Keep it short.\n"})
    say(life, "p1", TESTS, FIRST)
    guide, flags = Path(person.root) / "CLAUDE.md", (twin_flag("p1", "release"),)
    say(life, "p2", "- Keep it short.", AGAIN, path=guide, skill="CLAUDE.md", flags=flags)
    assert "p2 was left open: the accepted proposal p1 asks for the same" in accept_all()
    assert outcomes(life, "p1", "p2") == ["accepted", "open"]


def test_a_batch_in_review_continues_after_a_closed_proposal(person: Person, life: ProposalLife) -> None:
    home, database = person.root.parent, person.root.parent / "skilld.db"
    context = ReviewContext(
        database, partial(new_store, database), lambda _: [], home, {}, home / "trash", home / "key"
    )
    say(life, "p1", TESTS, FIRST)
    say(life, "p2", TAG, AGAIN)
    say(life, "p3", PUSH, OTHER)
    report = ReviewSession(context).accept_all([life.get(name) for name in ("p1", "p2", "p3")])
    assert report.warnings == ()
    assert outcomes(life, "p1", "p2", "p3") == ["accepted", "superseded", "accepted"]
