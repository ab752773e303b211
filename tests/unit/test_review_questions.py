"""The review by questions: what it asks again, and what the editor is given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from skilld.errors import SkilldError
from skilld.proposals.decide import DecisionReport
from skilld.review.controller import ProposalView
from skilld.review.diff import DiffRow, diff_rows
from skilld.review.plain import PlainReview
from skilld.review.plain_tabs import Conversation, PlainTabs
from skilld.store.learnings import Learning
from skilld.types import TargetKind
from support.proposals import make_proposal
from support.rows import for_each

LEARNING = Learning(
    "1", "t", "Say b.", "Say b.", "fact", "claude-code", "s", None, None, "no file", 0.9, "2026-03-02T09:00:00Z"
)

BEFORE = "# Notes\n\n## One\n\n- a\n"
TEXT = f"{BEFORE}\n## Two\n\n- b\n"


class FakeSession:
    """One proposal for a CLAUDE.md and one learning; notes what is done with them."""

    def __init__(self) -> None:
        self.done: list[str] = []
        self._open = [make_proposal(skill="CLAUDE.md", path="/p/CLAUDE.md", target=TargetKind.INSTRUCTIONS)]

    def proposals(self, ids: object = ()) -> list[Any]:
        del ids
        return self._open

    def short_path(self, path: object) -> str:
        return str(path)

    def made_at(self, proposal: object) -> None:
        del proposal

    def view(self, proposal: object) -> ProposalView:
        del proposal
        return ProposalView((), (), (), (), (), TEXT, (), BEFORE)

    def doubts(self) -> list[str]:
        return []

    def accept(self, proposal_id: str, seen: Any) -> DecisionReport:
        """Refuse it once, as it has another text by now."""
        if seen.summary != "new words":
            self._open = [replace(seen, summary="new words")]
            raise SkilldError(
                "Nothing was decided", f"{proposal_id} has changed since it was shown", "Look at it again."
            )
        self.done.append("accepted")
        self._open = []
        return DecisionReport(())

    def reject(self, proposal_id: str, why: str, seen: Any) -> DecisionReport:
        del proposal_id, seen
        self.done.append(f"rejected: {why}")
        self._open = []
        return DecisionReport(())

    def accept_all_question(self, those: list[Any], file: str) -> str:
        del those, file
        return ""

    def accept_all(self, those: list[Any]) -> DecisionReport:
        return DecisionReport(tuple(f"{one.id} was left open" for one in those))

    def edited_rows(self, before: str, text: str) -> tuple[DiffRow, ...]:
        return tuple(diff_rows(before.encode(), text.encode()))

    def accept_edited(self, proposal_id: str, text: str, opened: str) -> DecisionReport:
        assert opened == TEXT
        if "refused" in text:
            raise SkilldError("Could not accept it", "it is refused")
        self.done.append(text)
        self._open = []
        return DecisionReport((f"{proposal_id} accepted",))

    not_shown = ""

    def waiting_learnings(self) -> list[list[Any]]:
        return [[LEARNING]]

    def forget(self, ask: list[Any]) -> None:
        self.done.append(f"forgot {ask[0].change}")


def _answer(*answers: str, typed: Sequence[str] = ("- Mine.\n",)) -> tuple[FakeSession, list[str], list[str]]:
    """Answer one question after the other; return the session, what was said, and the names of the files edited."""
    review_session: Any = FakeSession()
    said: list[str] = []
    names: list[str] = []
    given, mine = iter(answers), list(typed)

    def ask(question: str) -> str | None:
        said.append(question)
        return next(given, None)

    def edit(text: str, *, name: str = "SKILL.md") -> str:
        names.append(name)
        return text + mine.pop(0)

    talk = Conversation(said.append, ask, edit)
    PlainReview(review_session, talk, PlainTabs(review_session, 5, talk, lambda: None)).run()
    return review_session, said, names


def test_the_editor_gets_a_file_named_after_the_target() -> None:
    review_session, said, names = _answer("e", "y", "q")
    assert names == ["CLAUDE.md"]
    assert review_session.done == [TEXT + "- Mine.\n"]
    assert any(line.startswith("0123abcd, CLAUDE.md, ") for line in said), "it is no skill"


def test_a_ruined_text_can_be_given_up_for_the_proposed_one() -> None:
    review_session, said, _ = _answer("e", "y", "e", "y", "y", "q", typed=("refused\n", "- Mine.\n"))
    assert review_session.done == [TEXT + "- Mine.\n"]
    assert sum("Go back to the text as proposed?" in line for line in said) == 1
    assert _answer("e", "y", "e", "n", "y", "q", typed=("refused\n", "- Mine.\n"))[0].done == []


def test_the_section_can_be_chosen() -> None:
    review_session, said, _ = _answer("m", "2", "y", "q")
    assert review_session.done == ["# Notes\n\n## One\n\n- a\n- b\n"]
    assert "  2  One" in said
    assert "  add:    - b" in said
    assert _answer("m", "2", "n", "q")[0].done == []
    assert "No such section in this file; nothing changed." in _answer("m", "3", "q")[1]


def test_an_unknown_letter_is_asked_again() -> None:
    review_session, said, _ = _answer("s", "x", "F", "y", "q")
    assert review_session.done == ["forgot Say b."]
    assert said.count("Type one of p, f, s, q.") == 1
    assert "Type one of p, f, s, q." not in _answer("s", "s", "q")[1]


@for_each(
    "line",
    ["already said that", "unsure", "really?", "quit?", "x", "edit it for me", "skip, I think", "parts?", "no", ""],
)
def test_only_a_whole_letter_or_word_decides(line: str) -> None:
    review_session, said, names = _answer(line, "q")
    assert (review_session.done, names) == ([], [])
    assert any(one.startswith("Type one of a, A, r, e, p, m, t, s, n, u, q, ?") for one in said)
    assert said.count("learning: Say b.") == 0, "the proposal is still asked about until q"


@for_each(
    ("answers", "done"),
    [(("r",), []), (("r", "q"), []), (("r", ""), ["rejected: "]), (("r", "not here"), ["rejected: not here"])],
)
def test_nothing_is_rejected_at_the_end_of_the_input(answers: tuple[str, ...], done: list[str]) -> None:
    assert _answer(*answers)[0].done == done


def test_what_has_changed_is_shown_again() -> None:
    review_session, said, _ = _answer("a", "a", "q")
    assert review_session.done == ["accepted"]
    assert [said.index("  new words") > said.index("  Look at it again."), said.count("  new words")] == [True, 1]


def test_what_is_left_open_can_still_be_decided() -> None:
    review_session, said, _ = _answer("A", "r", "", "q")
    assert review_session.done == ["rejected: "]
    assert "0123abcd was left open" in said


@for_each("word", ["edit", "E", " Edit "])
def test_the_word_does_as_its_letter(word: str) -> None:
    assert _answer(word, "y", "q")[0].done == [TEXT + "- Mine.\n"]


@for_each(
    ("answers", "done"),
    [(("f", "yesterday"), []), (("f", "Yes"), ["forgot Say b."]), (("forget it", "f", "yet"), [])],
)
def test_only_a_whole_yes_agrees(answers: tuple[str, ...], done: list[str]) -> None:
    assert _answer("s", *answers, "q")[0].done == done
