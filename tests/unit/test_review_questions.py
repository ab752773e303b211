"""The review in plain lines: what it asks again, and what the editor is given."""

from __future__ import annotations

from typing import Any

from skilld.proposals.decide import DecisionReport
from skilld.review.controller import ProposalView
from skilld.review.plain import Plain
from skilld.review.plain_tabs import PlainTabs, Talk
from skilld.store.learnings import Learning
from skilld.types import TargetKind
from support.proposals import a_proposal

LEARNING = Learning(
    "1", "t", "Say b.", "Say b.", "fact", "claude-code", "s", None, None, "no file", 0.9, "2026-03-02T09:00:00Z"
)


class Sitting:
    """One proposal for a CLAUDE.md and one learning; notes what is done with them."""

    def __init__(self) -> None:
        self.done: list[str] = []
        self._open = [a_proposal(skill="CLAUDE.md", path="/p/CLAUDE.md", target=TargetKind.INSTRUCTIONS)]

    def proposals(self, ids: object = ()) -> list[Any]:
        del ids
        return self._open

    def look(self, proposal: object) -> ProposalView:
        del proposal
        return ProposalView((), (), (), (), (), "# Notes\n")

    def doubts(self) -> list[str]:
        return []

    def accept_edited(self, proposal_id: str, text: str, opened: str) -> DecisionReport:
        assert opened == "# Notes\n"
        self.done.append(text)
        self._open = []
        return DecisionReport((f"{proposal_id} accepted",))

    def waiting(self) -> list[list[Any]]:
        return [[LEARNING]]

    def forget(self, ask: list[Any]) -> None:
        self.done.append(f"forgot {ask[0].change}")


def _answer(*answers: str) -> tuple[Sitting, list[str], list[str]]:
    """Answer one question after the other; return the sitting, what was said, and the names of the files edited."""
    sitting: Any = Sitting()
    said: list[str] = []
    names: list[str] = []
    given = iter(answers)

    def ask(question: str) -> str | None:
        said.append(question)
        return next(given, None)

    def edit(text: str, *, name: str = "SKILL.md") -> str:
        names.append(name)
        return text + "- Mine.\n"

    talk = Talk(said.append, ask, edit)
    Plain(sitting, talk, PlainTabs(sitting, 5, talk, lambda: None)).run()
    return sitting, said, names


def test_the_editor_is_given_a_file_of_the_name_that_it_is_for() -> None:
    sitting, said, names = _answer("e", "q")
    assert names == ["CLAUDE.md"]
    assert sitting.done == ["# Notes\n- Mine.\n"]
    assert any(line.startswith("0123abcd, CLAUDE.md, ") for line in said), "it is no skill"


def test_a_letter_that_is_none_of_the_answers_is_asked_again() -> None:
    sitting, said, _ = _answer("s", "x", "F", "y", "q")
    assert sitting.done == ["forgot Say b."]
    assert said.count("Type one of these letters.") == 1
    assert "Type one of these letters." not in _answer("s", "s", "q")[1]
