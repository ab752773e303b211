"""The review, and the steps of generating, by questions and answers: for screen readers and plain terminals."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from pathlib import Path

from skilld.classify.backends import OFFLINE
from skilld.clock import ago, seconds
from skilld.errors import SkilldError
from skilld.mining.proposing import CandidateResult
from skilld.mining.questions import Estimate
from skilld.proposals.decide import Told
from skilld.proposals.explain import Part
from skilld.review.controller import Look, ReviewSession
from skilld.review.generating import Choice, Generation, Keep, Preview, about, name_problem, quotes
from skilld.text import counted, cut, safe_text
from skilld.types import Proposal

Say = Callable[[str], None]
Ask = Callable[[str], str | None]
Edit = Callable[[str], str]

_QUESTION = "accept, reject, edit, parts, skip, undo, quit? [a/r/e/p/s/u/q] "
_WAITING = "propose, forget, skip, quit? [p/f/s/q] "
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
        if not ids and self._go_through_waiting():
            return
        self._say("No more open proposals." if seen else "No open proposals.")

    def _go_through_waiting(self) -> bool:
        """Go through what waits for a place; returns whether the person ended the review there."""
        for ask in self._sitting.waiting():
            self._say("")
            self._say(f"fits no file yet: {ask[0].change}")
            self._say(f"  not proposed: {ask[0].why_kept}")
            for one in ask:
                self._say(f"  you: \u201c{one.quote}\u201d")
            given = self._ask(_WAITING)
            answer = "q" if given is None else given.strip().lower()[:1]
            try:
                match answer:
                    case "p":
                        made = self._sitting.propose(ask)
                        self._say(f"{made.id} is open, for {made.skill}: {made.summary}")
                    case "f":
                        self._sitting.forget(ask)
                        self._say("Forgotten.")
                    case "q":
                        return True
            except SkilldError as error:
                self._refused(error)
        return False

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
                    self._tell(self._sitting.reject(proposal.id, self._ask("reason (Enter for none)? ") or ""))
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
            self._say("You changed nothing.")
            return _GO_ON
        self._tell(self._sitting.accept_edited(proposal.id, text))
        return "done"

    def _parts(self, proposal: Proposal, parts: Sequence[Part]) -> str:
        if len(parts) < 2:  # noqa: PLR2004 - one part is the whole
            self._say("This proposal has only one part.")
            return _GO_ON
        for number, part in enumerate(parts, 1):
            for line in (*(f"remove: {line}" for line in part.removed), *(f"add: {line}" for line in part.added)):
                self._say(f"  part {number}, {line}")
        given = self._ask("accept which parts (such as 1,3; the others stay open)? ") or ""
        numbers = {int(word) - 1 for word in given.replace(",", " ").split() if word.isascii() and word.isdigit()}
        if not numbers or not numbers <= set(range(len(parts))):
            self._say("Those are not parts of this proposal; nothing was decided.")
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
        self._say(f"Failed. {error}")
        if error.remedy:
            self._say(f"  {error.remedy}")


# The three steps of generating by questions and answers: for screen readers, terminals without a cursor, pipes.
#
# `ask` returns None at the end of the input, which leaves with nothing proposed, as `q` does at every question.

_TITLE = 100
_WHICH = "which sessions (such as 1,3-5 or all; /words to filter; q to quit)? "
_KEEP = "keep, edit, drop, quit? [k/e/d/q] "


class _LeftError(Exception):
    """The person left."""


class PlainGenerate:
    """The three steps in plain lines."""

    def __init__(self, generating: Generation, say: Say, ask: Ask, edit: Edit) -> None:
        self._generating = generating
        self._line = say
        self._asked = ask
        self._edit = edit

    def run(self) -> list[CandidateResult]:
        """Go through the steps; returns what became of what was kept, nothing where the person left."""
        try:
            choices = self._generating.choices(_silently)
            if not choices:
                self._say("No sessions to learn from. To look further back: --since DAYS")
                return []
            chosen = self._choose(choices)
            kept, result = self._review(chosen)
            return self._save(self._named(kept), result) if kept else []
        except _LeftError:
            self._say("You quit; nothing was proposed.")
            return []

    def _choose(self, choices: Sequence[Choice]) -> list[Choice]:
        self._say(f"Step 1 of 3: which of {counted(len(choices), 'session')} to learn from.")
        shown = list(enumerate(choices, 1))
        self._list(shown)
        while True:
            answer = self._ask(_WHICH)
            if answer.startswith("/"):
                shown = [(number, one) for number, one in enumerate(choices, 1) if one.has(answer[1:])]
                self._list(shown)
                continue
            numbers = {number for number, _ in shown} if answer == "all" else _numbers(answer, len(choices))
            chosen = [one for number, one in enumerate(choices, 1) if number in numbers]
            if not chosen:
                self._say("Those are not sessions on the list.")
                continue
            number = len(self._generating.expected(chosen).candidates)
            self._say(f"{len(chosen)} chosen; estimated patterns, by rules alone: {number}")
            if self._ask("continue? [y/n/q] ").startswith("y"):
                return chosen

    def _list(self, shown: Sequence[tuple[int, Choice]]) -> None:
        for number, one in shown:
            cost = self._generating.cost(one)
            facts = [f"{number}. {one.day}", one.session.agent, one.project, counted(len(one.session.turns), "turn")]
            facts += [] if cost is None else [f"${cost:.2f}"]
            self._say(f"{', '.join(facts)}: {cut(one.title, _TITLE)}")

    def _review(self, chosen: Sequence[Choice]) -> tuple[list[Keep], Preview]:
        result = self._generating.find(chosen, self._agree, _silently)
        found = len(result.previews)
        self._say(f"Step 2 of 3: {found} to keep or to drop." if found else "Nothing in them makes a skill.")
        kept = [self._kept(number, one) for number, one in enumerate(result.previews, 1)]
        return [one for one in kept if one is not None], result

    def _agree(self, expected: Estimate, dollars: Callable[[], float | None]) -> bool:
        self._say(f"Ask {self._generating.model} {about(expected, dollars())}?")
        return self._ask("n: use only what rules find [y/n/q] ").startswith("y")

    def _kept(self, number: int, one: CandidateResult) -> Keep | None:
        candidate, text = one.candidate, one.text
        self._say("")
        self._say(f"{number}. {candidate.action} {candidate.name}: it is {', '.join(candidate.dimensions)}")
        for said, words in quotes(candidate):
            self._say(f"  it would say: {said}")
            for line in words:
                self._say(f"    {line}")
        if one.why_not:
            self._say(f"  It cannot be proposed: {one.why_not}")
            return None
        self._text(text)
        own = ""
        while True:
            match self._ask(_KEEP)[:1]:
                case "k":
                    return Keep(candidate, candidate.name, own)
                case "d":
                    return None
                case "e" if text:
                    edited = self._edit(own or text)
                    own = edited if edited != text else ""
                    self._text(own or text)
                case _:
                    self._say("You can edit only new skills here." if not text else "Type one of these letters.")

    def _text(self, text: str) -> None:
        for line in text.splitlines():
            self._say(f"  | {line}".rstrip())

    def _named(self, kept: Sequence[Keep]) -> list[Keep]:
        self._say(f"Step 3 of 3: names for {len(kept)}, and propose them.")
        named: list[Keep] = []
        for one in kept:
            name = self._name(one.name, {other.name for other in named}) if one.candidate.creates else one.name
            named.append(replace(one, name=name))
        edits = sum(not one.candidate.creates for one in named)
        if edits and self._generating.model != OFFLINE:
            self._say(f"{self._generating.model} is asked for {edits} edits of existing skills.")
        if not self._ask(f"propose {', '.join(one.name for one in named)}? [y/n] ").startswith("y"):
            raise _LeftError
        return named

    def _name(self, name: str, others: set[str]) -> str:
        while True:
            given = self._ask(f"name (Enter for {name})? ", quits=False) or name
            why = name_problem(given, others)
            if not why:
                return given
            self._say(f"Not {given}: {why}.")

    def _save(self, kept: Sequence[Keep], result: Preview) -> list[CandidateResult]:
        """Propose what is kept; a new skill that cannot be may get another name, as long as the person gives one."""
        became: list[CandidateResult] = []
        while kept:
            again: list[Keep] = []
            for keep, one in zip(kept, self._generating.save(kept, result, _silently), strict=True):
                name = self._other_name(one) if one.why_not and one.candidate.creates else ""
                again += [replace(keep, name=name)] if name else []
                became += [] if name else [one]
            kept = again
        return became

    def _other_name(self, one: CandidateResult) -> str:
        """Ask for another name for what was not proposed; empty where there is to be none."""
        self._say(f"{one.candidate.name} was not proposed: {one.why_not}.")
        while True:
            given = (self._asked("another name (Enter to skip it)? ") or "").strip()
            why = name_problem(given, [one.candidate.name]) if given else ""
            if not why:
                return given
            self._say(f"Not {given}: {why}.")

    def _ask(self, question: str, *, quits: bool = True) -> str:
        answer = self._asked(safe_text(question))
        if answer is None or (quits and answer.strip().lower() == "q"):
            raise _LeftError
        return answer.strip()

    def _say(self, text: str) -> None:
        self._line(safe_text(text))


def _numbers(given: str, highest: int) -> set[int]:
    """Return the numbers from 1 that `1, 3-5` names, as far as there are such sessions."""
    numbers: set[int] = set()
    for word in given.replace(",", " ").split():
        first, _, last = word.partition("-")
        if first.isdecimal() and (last or first).isdecimal():
            numbers |= set(range(int(first), min(int(last or first), highest) + 1))
    return numbers


def _silently(what: str, done: int, total: int) -> None:
    del what, done, total
