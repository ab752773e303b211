"""The review by questions: what it asks again, and what the editor is given."""

from __future__ import annotations

from typing import Any

from skilld.proposals.decide import DecisionReport
from skilld.review.controller import ProposalView
from skilld.review.plain import PlainReview
from skilld.review.plain_tabs import Conversation, PlainTabs
from skilld.store.learnings import Learning
from skilld.types import TargetKind
from support.proposals import make_proposal

LEARNING = Learning(
    "1", "t", "Say b.", "Say b.", "fact", "claude-code", "s", None, None, "no file", 0.9, "2026-03-02T09:00:00Z"
)


class FakeSession:
    """One proposal for a CLAUDE.md and one learning; notes what is done with them."""

    def __init__(self) -> None:
        self.done: list[str] = []
        self._open = [make_proposal(skill="CLAUDE.md", path="/p/CLAUDE.md", target=TargetKind.INSTRUCTIONS)]

    def proposals(self, ids: object = ()) -> list[Any]:
        del ids
        return self._open

    def view(self, proposal: object) -> ProposalView:
        del proposal
        return ProposalView((), (), (), (), (), "# Notes\n")

    def doubts(self) -> list[str]:
        return []

    def accept_edited(self, proposal_id: str, text: str, opened: str) -> DecisionReport:
        assert opened == "# Notes\n"
        self.done.append(text)
        self._open = []
        return DecisionReport((f"{proposal_id} accepted",))

    def waiting_learnings(self) -> list[list[Any]]:
        return [[LEARNING]]

    def forget(self, ask: list[Any]) -> None:
        self.done.append(f"forgot {ask[0].change}")


def _answer(*answers: str) -> tuple[FakeSession, list[str], list[str]]:
    """Answer one question after the other; return the session, what was said, and the names of the files edited."""
    review_session: Any = FakeSession()
    said: list[str] = []
    names: list[str] = []
    given = iter(answers)

    def ask(question: str) -> str | None:
        said.append(question)
        return next(given, None)

    def edit(text: str, *, name: str = "SKILL.md") -> str:
        names.append(name)
        return text + "- Mine.\n"

    talk = Conversation(said.append, ask, edit)
    PlainReview(review_session, talk, PlainTabs(review_session, 5, talk, lambda: None)).run()
    return review_session, said, names


def test_the_editor_gets_a_file_named_after_the_target() -> None:
    review_session, said, names = _answer("e", "q")
    assert names == ["CLAUDE.md"]
    assert review_session.done == ["# Notes\n- Mine.\n"]
    assert any(line.startswith("0123abcd, CLAUDE.md, ") for line in said), "it is no skill"


def test_an_unknown_letter_is_asked_again() -> None:
    review_session, said, _ = _answer("s", "x", "F", "y", "q")
    assert review_session.done == ["forgot Say b."]
    assert said.count("Type one of these letters.") == 1
    assert "Type one of these letters." not in _answer("s", "s", "q")[1]
