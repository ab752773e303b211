"""The review by questions and answers: for screen readers, terminals without a cursor, pipes.

One proposal after the other, in whole lines, with no colours and nothing redrawn. `ask` returns None at the end of the
input, which ends the review.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from pathlib import Path

from skilld.clock import ago, seconds
from skilld.errors import SkilldError
from skilld.proposals.decide import Told
from skilld.proposals.explain import Part
from skilld.review.controller import Look, ReviewSession
from skilld.text import safe_text
from skilld.types import Proposal

Say = Callable[[str], None]
Ask = Callable[[str], str | None]
Edit = Callable[[str], str]

_QUESTION = "accept, reject, edit, parts, skip, undo, quit? [a/r/e/p/s/u/q] "
_GO_ON = "go on"
_KINDS = {"-": "remove: ", "+": "add:    ", "@": "...", " ": "        "}


class Plain:
    """A review in plain lines."""

    def __init__(self, sitting: ReviewSession, say: Say, ask: Ask, edit: Edit) -> None:
        self._sitting = sitting
        self._line = say
        self._ask = ask
        self._edit = edit

    def run(self, ids: Collection[str] = ()) -> None:
        """Go through what is open (or the proposals with these ids) until it is decided or the person ends it."""
        for doubt in self._sitting.doubts():
            self._say(f"look: {doubt}")
        seen: set[str] = set()
        while proposal := self._next(ids, seen):
            seen.add(proposal.id)
            look = self._sitting.look(proposal)
            self._show(proposal, look)
            answer = _GO_ON
            while answer == _GO_ON:
                answer = self._answer(proposal, look, seen)
            if answer == "q":
                return
        self._say("Nothing more waits for you." if seen else "Nothing waits for you.")

    def _next(self, ids: Collection[str], seen: Collection[str]) -> Proposal | None:
        waiting = [proposal for proposal in self._sitting.proposals() if not ids or proposal.id in ids]
        return next((proposal for proposal in waiting if proposal.id not in seen), None)

    def _answer(self, proposal: Proposal, look: Look, seen: set[str]) -> str:
        """Ask once and do it; returns what is to happen next."""
        given = self._ask(_QUESTION)
        answer = "q" if given is None else given.strip().lower()[:1]
        try:
            match answer:
                case "a":
                    self._tell(self._sitting.accept(proposal.id))
                case "r":
                    self._tell(self._sitting.reject(proposal.id, self._ask("why (empty: no reason)? ") or ""))
                case "e":
                    return self._edited(proposal, look)
                case "p":
                    return self._parts(proposal, look.parts)
                case "u":
                    self._tell(self._sitting.undo())
                    seen -= {item.id for item in self._sitting.proposals()} - {proposal.id}
                    return _GO_ON
                case "s" | "q":
                    return answer
                case _:
                    return _GO_ON
        except SkilldError as error:
            self._refused(error)
            return _GO_ON
        return "done"

    def _edited(self, proposal: Proposal, look: Look) -> str:
        if not look.text:
            self._say("There is no text to edit.")
            return _GO_ON
        text = self._edit(look.text)
        if text == look.text:
            self._say("Nothing was changed.")
            return _GO_ON
        self._tell(self._sitting.accept_edited(proposal.id, text))
        return "done"

    def _parts(self, proposal: Proposal, parts: Sequence[Part]) -> str:
        if len(parts) < 2:  # noqa: PLR2004 - one part is the whole
            self._say("It is one piece.")
            return _GO_ON
        for number, part in enumerate(parts, 1):
            for line in (*(f"remove: {line}" for line in part.removed), *(f"add: {line}" for line in part.added)):
                self._say(f"  part {number}, {line}")
        given = self._ask("accept which parts (numbers with commas; the others stay open)? ") or ""
        numbers = {int(word) - 1 for word in given.replace(",", " ").split() if word.isascii() and word.isdigit()}
        if not numbers or not numbers <= set(range(len(parts))):
            self._say("That names no parts; nothing was decided.")
            return _GO_ON
        self._tell(self._sitting.accept_parts(proposal.id, numbers))
        return "done"

    def _show(self, proposal: Proposal, look: Look) -> None:
        self._say("")
        age = ago(seconds(proposal.created_at), time.time())
        self._say(f"{proposal.id}, skill {proposal.skill}, {age}, confidence {proposal.confidence:.2f}")
        self._say(f"  {Path(proposal.path).parent}")
        self._say(f"  {proposal.summary}")
        if proposal.reason:
            self._say(f"  why: {proposal.reason}")
        for number, evidence in enumerate(proposal.evidence):
            said = look.said[number] if number < len(look.said) else ()
            if not said:
                self._say(f"  you: \u201c{evidence.quote}\u201d")
            for message in said:
                who = "you" if message.by_person else "agent"
                quote = f"[[{message.quote}]]" if message.quote else ""
                self._say(f"  {who}: {message.before}{quote}{message.after}")
        for remark in look.remarks:
            self._say(f"  look: {remark}")
        for row in look.rows:
            self._say(f"  {_KINDS[row.kind]}{row.text}".rstrip())

    def _say(self, text: str) -> None:
        self._line(safe_text(text))

    def _tell(self, told: Told) -> None:
        for line in (*told.lines, *told.warnings):
            self._say(line)

    def _refused(self, error: SkilldError) -> None:
        self._say(f"Not done. {error}")
        if error.remedy:
            self._say(f"  {error.remedy}")
