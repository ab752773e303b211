"""The review as questions and answers, for screen readers and plain terminals; it can do all that the screen can.

`ask` returns None at the end of the input, which ends the review, as `q` does at every question.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from pathlib import Path

from skilld.clock import time_ago
from skilld.console import message
from skilld.edit.move import move_to_section, section_titles
from skilld.errors import SkilldError
from skilld.proposals.decide import DecisionReport
from skilld.proposals.explain import Part
from skilld.proposals.remarks import describe_decision_time
from skilld.review.controller import ProposalView, ReviewSession, borrowed_lines_note, has_words
from skilld.review.diff import DiffRow, diff_rows
from skilld.review.plain_tabs import TAB_NAMES, Conversation, PlainTabs, chosen_letter, type_one_of
from skilld.text import pluralize
from skilld.types import Proposal, State, TargetKind

_QUESTION = "a accept, r reject, e edit, p parts, s skip, u undo, q quit, ? more: "
_END_QUESTION = "u undo, / search, 2 skills, 3 sessions, 4 learnings, 5 report, q quit? "
_HELP_LINES = (
    "a  accept it                     A  accept all proposals for this file",
    "r  reject it, with a reason      e  edit it in your editor, then decide",
    "p  accept some parts of it       t  accept it into another file",
    "m  put it into another section   s  skip it, also n",
    "u  undo your last decision       q  quit",
    "/words  search proposals, including decided ones; / alone shows all open ones",
    *(f"{number}  {name}" for number, name in TAB_NAMES.items()),
)
_WORDS = {
    "a": "accept", "A": "accept all", "r": "reject", "e": "edit", "p": "parts", "m": "move", "t": "to", "s": "skip",
    "n": "next", "u": "undo", "q": "quit", "?": "help",
}  # fmt: skip
_END_WORDS = {"u": "undo", "q": "quit"}
_CONTINUE = "continue"
_TEXT_KEPT = "Your text is kept. Type e to open it again."
_ROW_PREFIXES = {"-": "remove: ", "+": "add:    ", "@": "...", " ": "        "}


class PlainReview:
    """A review as questions and answers."""

    def __init__(self, session: ReviewSession, talk: Conversation, tabs: PlainTabs) -> None:
        self._session = session
        self._talk = talk
        self._say = talk.say
        self._tabs = tabs
        self._ids: Collection[str] = ()  # only these proposals and their successors, if there are any
        self._words = ""
        self._drafts: dict[str, tuple[str, str]] = {}  # by ID: the original text, and the edited one, not accepted yet

    def run(self, ids: Collection[str] = ()) -> None:
        """Go through the open proposals (or those with these IDs) until all are decided or the person quits."""
        self._ids = ids
        self._say(*(message(f"check: {doubt}") for doubt in self._session.doubts()))
        seen: set[str] = set()
        while True:
            if not self._go_through(seen) or (not ids and self._tabs.go_through_learnings() is False):
                return
            self._say(self._ending() if seen else self._session.none_open)
            if not self._ask_at_end(seen):
                return

    def _ending(self) -> str:
        """Return what to say once all were asked about: how many are open, skipped or not named by the person."""
        left = sum(one.state is State.OPEN for one in self._session.proposals())
        still = f"{pluralize(left, 'proposal is', 'proposals are')} still open"
        return f"That was the last one. {still}: skilld review" if left else "No more open proposals."

    def _go_through(self, seen: set[str]) -> bool:
        """Ask about one proposal after the other; return False if the person quits."""
        while proposal := self._next(seen):
            seen.add(proposal.id)
            view = self._session.view(proposal)
            self._show(proposal, view)
            answer = _CONTINUE
            while answer == _CONTINUE:
                answer = self._handle_answer(proposal, view, seen)
            if answer == "q":
                return False
        return True

    def _ask_at_end(self, seen: set[str]) -> bool:
        """Ask what else to do; return whether to start again, with a reopened proposal or the found ones."""
        while (given := self._talk.ask_line(_END_QUESTION)) and (letter := chosen_letter(given, _END_WORDS)) != "q":
            try:
                if letter == "u":
                    if self._undo(seen):
                        return True
                elif given.startswith("/"):
                    if self._search(given[1:].strip(), seen) != _CONTINUE:
                        return True
                elif not self._tabs.show(given):
                    self._say(type_one_of({**_END_WORDS, **TAB_NAMES}))
            except SkilldError as error:
                self._talk.show_error(error)
        return False

    def _next(self, seen: Collection[str]) -> Proposal | None:
        """Return the next proposal with the searched words; if there is none left, the next of the others."""
        new = [one for one in self._session.proposals(self._ids) if one.id not in seen]
        found = next((one for one in new if has_words(one, self._words)), None)
        if found is None and new:
            self._say("No more open proposals contain these words. Now the others:")
            self._words, found = "", new[0]
        return found

    def _handle_answer(self, proposal: Proposal, view: ProposalView, seen: set[str]) -> str:
        """Ask once and carry out the answer; return what happens next."""
        given = self._talk.ask_line(_QUESTION)
        if (letter := chosen_letter(given, _WORDS)) in {"s", "n", "q"}:
            return letter
        try:
            if given.startswith("/"):
                return self._search(given[1:].strip(), seen)
            if decided := self._try_decision(letter, proposal, view):
                return decided
            if letter == "u":
                self._undo(seen)
            elif letter == "?":
                self._say(*_HELP_LINES)
            elif not self._tabs.show(given):
                self._say(f"{type_one_of(_WORDS)} Nothing was decided.")
        except SkilldError as error:
            self._talk.show_error(error)
            if proposal not in self._session.proposals(self._ids):  # it has changed, so it is shown again
                seen.discard(proposal.id)
                return "s"
        return _CONTINUE

    def _try_decision(self, letter: str, proposal: Proposal, view: ProposalView) -> str:
        """Decide as the person says; return what happens next, empty if that was not a decision."""
        match letter:
            case "A":
                return self._accept_file(proposal)
            case "a":
                self._print_report(self._session.accept(proposal.id, proposal))
            case "r":
                if (why := self._talk.ask_line("reason (Enter for none, q to cancel)? ")) == "q":
                    return _CONTINUE
                self._print_report(self._session.reject(proposal.id, why, proposal))
            case "e":
                return self._edit_and_accept(proposal, view)
            case "p":
                return self._accept_parts(proposal, view.parts)
            case "m":
                return self._move_and_accept(proposal, view)
            case "t":
                own = self._session.own_file(proposal)
                given = self._talk.ask_line(f"into which file{f' (Enter for {own})' if own else ''}? ") or own
                if given in {"", "q"}:
                    return _CONTINUE
                self._print_report(self._session.accept_elsewhere(proposal.id, given, proposal))
            case _:
                return ""
        return "done"

    def _undo(self, seen: set[str]) -> bool:
        """Undo the last decision; return whether that reopened a proposal."""
        before = {item.id for item in self._session.proposals()}
        self._print_report(self._session.undo(self._talk.ask_yes_no))
        opened = {item.id for item in self._session.proposals()} - before
        seen -= opened
        return bool(opened)

    def _search(self, words: str, seen: set[str]) -> str:
        """Restart with the open proposals that have all these words; decided ones are only listed."""
        for one in self._session.decided() if words else ():
            if has_words(one, words):
                self._say(f"{one.id}, {one.skill}: {one.summary}", f"  {describe_decision_time(one, time.time())}")
        found = [one for one in self._session.proposals(self._ids) if has_words(one, words)]
        if not found:
            self._say("No open proposal contains these words.")
            return _CONTINUE
        self._words = words
        self._say(f"Found {pluralize(len(found), 'proposal')}.")
        seen.clear()
        return "s"

    def _accept_file(self, proposal: Proposal) -> str:
        those = [one for one in self._session.proposals() if one.path == proposal.path and one.state is State.OPEN]
        question = self._session.accept_all_question(those, self._session.short_path(proposal.path))
        if question and not self._talk.ask_yes_no(question):
            return _CONTINUE
        self._print_report(self._session.accept_all(those[::-1]))
        return _CONTINUE if proposal in self._session.proposals() else "done"

    def _edit_and_accept(self, proposal: Proposal, view: ProposalView) -> str:
        if not view.text:
            self._say("There is no text to edit.")
            return _CONTINUE
        if view.lenders:
            self._say(borrowed_lines_note(view.lenders))
        base, typed = self._drafts.get(proposal.id, (view.text, view.text))
        if typed != view.text and self._talk.ask_yes_no("Go back to the text as proposed?"):
            del self._drafts[proposal.id]
            base = typed = view.text
        text = self._talk.edit(typed, name=Path(proposal.path).name)
        if text == base:
            self._say("You made no changes.")
            return _CONTINUE
        self._print_rows(self._session.edited_rows(view.before, text))
        if not self._talk.ask_yes_no("Accept this text?"):
            self._drafts[proposal.id] = base, text
            self._say(_TEXT_KEPT)
            return _CONTINUE
        return self._accept_text(proposal, base, text)

    def _move_and_accept(self, proposal: Proposal, view: ProposalView) -> str:
        titles = section_titles(view.before)
        self._say(*(f"  {number}  {title}" for number, title in enumerate(titles, 1)))
        given = self._talk.ask("into which section (a number)? ") or "" if titles else ""
        if not (given.isascii() and given.isdigit() and 0 < int(given) <= len(titles)):
            self._say("No such section in this file; nothing changed.")
            return _CONTINUE
        text = move_to_section(view.before, view.text, titles[int(given) - 1])
        self._print_rows(diff_rows(view.before.encode(), text.encode()))
        if not self._talk.ask_yes_no("Accept it there?"):
            return _CONTINUE
        return self._accept_text(proposal, view.text, text)

    def _accept_text(self, proposal: Proposal, base: str, text: str) -> str:
        self._drafts[proposal.id] = base, text
        try:
            self._print_report(self._session.accept_edited(proposal.id, text, base))
        except SkilldError as error:
            self._talk.show_error(error)
            self._say(_TEXT_KEPT)
            return _CONTINUE
        del self._drafts[proposal.id]
        return "done"

    def _accept_parts(self, proposal: Proposal, parts: Sequence[Part]) -> str:
        if len(parts) < 2:  # noqa: PLR2004 - one part is the whole
            self._say("This proposal has only one part.")
            return _CONTINUE
        for number, part in enumerate(parts, 1):
            self._say(*(f"  part {number} removes: {line}" for line in part.removed))
            self._say(*(f"  part {number} adds: {line}" for line in part.added))
        given = self._talk.ask("accept which parts (such as 1,3; the others stay open)? ") or ""
        numbers = {int(word) - 1 for word in given.replace(",", " ").split() if word.isascii() and word.isdigit()}
        if not numbers or not numbers <= set(range(len(parts))):
            self._say("No such part in this proposal; nothing changed.")
            return _CONTINUE
        self._print_report(self._session.accept_parts(proposal.id, numbers, proposal))
        return "done"

    def _show(self, proposal: Proposal, view: ProposalView) -> None:
        age = time_ago(self._session.made_at(proposal), time.time())
        kind = "skill " if proposal.target is TargetKind.SKILL else ""
        self._say("", f"{proposal.id}, {kind}{proposal.skill}, {age}, confidence {proposal.confidence:.2f}")
        self._say(f"  {self._session.short_path(Path(proposal.path).parent)}", f"  {proposal.summary}")
        if proposal.reason:
            self._say(f"  why: {proposal.reason}")
        for number, evidence in enumerate(proposal.evidence):
            excerpts = view.excerpts[number] if number < len(view.excerpts) else ()
            if not excerpts:
                self._say(f"  you: \u201c{evidence.quote}\u201d")
            for one in excerpts:
                if one.gap:
                    self._say("  ...")
                who = "you" if one.by_person else "agent"
                quote = f"[[{one.quote}]]" if one.quote else ""
                self._say(f"  {who}: {one.before}{quote}{one.after}")
        self._say(*(message(f"  check: {remark}") for remark in view.remarks))
        self._say(*(message(f"  note: {note}") for note in view.notes))
        self._print_rows(view.rows)
        for name, rows in view.beside:
            self._say(f"  in {name}:")
            self._print_rows(rows)

    def _print_rows(self, rows: Sequence[DiffRow]) -> None:
        self._say(*(f"  {_ROW_PREFIXES[row.kind]}{row.text}".rstrip() for row in rows))

    def _print_report(self, report: DecisionReport) -> None:
        self._say(*map(message, (*report.lines, *report.warnings)))
