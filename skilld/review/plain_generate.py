"""The three steps of generating as questions and answers, for screen readers, dumb terminals and pipes.

`ask` returns None at the end of the input, which leaves with nothing proposed, as `q` does at every question.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from skilld.classify.backends import OFFLINE
from skilld.mining.proposing import CandidateResult
from skilld.mining.questions import Estimate
from skilld.review.generating import Choice, Generation, Keep, Preview, about, name_problem, quotes
from skilld.review.plain_tabs import Talk
from skilld.text import counted, cut, safe_text

_TITLE = 100
_WHICH = "which sessions (such as 1,3-5 or all; /words to filter; q to quit)? "
_KEEP = "k keep, e edit, d drop, q quit? "


class _LeftError(Exception):
    """The person left."""


class PlainGenerate:
    """The three steps in plain lines."""

    def __init__(self, generating: Generation, talk: Talk) -> None:
        self._generating = generating
        self._talk = talk
        self._say = talk.say

    def run(self) -> list[CandidateResult]:
        """Go through the steps; returns what became of what was kept, nothing if the person left."""
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
        self._say(f"Step 1 of 3: choose the sessions to learn from ({len(choices)} found).")
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
                self._say("That session is not on the list.")
                continue
            number = len(self._generating.expected(chosen).candidates)
            self._say(f"{len(chosen)} selected; the built-in rules alone may find {counted(number, 'pattern')}")
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
        self._say(
            f"Step 2 of 3: keep or drop {counted(found, 'candidate')}."
            if found
            else "There is not enough in these sessions to make a skill."
        )
        for one in result.waiting:
            self._say(f"  {one}")
        kept = [self._kept(number, one) for number, one in enumerate(result.previews, 1)]
        return [one for one in kept if one is not None], result

    def _agree(self, expected: Estimate, dollars: Callable[[], float | None]) -> bool:
        self._say(f"Ask {self._generating.model}? This takes {about(expected, dollars())}.")
        return self._ask("y yes, n no (use only the built-in rules), q quit? ").startswith("y")

    def _kept(self, number: int, one: CandidateResult) -> Keep | None:
        candidate, text = one.candidate, one.text
        self._say("", f"{number}. {candidate.action} {candidate.name}: {', '.join(candidate.dimensions)}")
        for said, words in quotes(candidate):
            self._say(f"  it would say: {said}", *(f"    {line}" for line in words))
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
                    edited = self._talk.edit(own or text)
                    own = edited if edited != text else ""
                    self._text(own or text)
                case _:
                    self._say("You can edit only new skills here." if not text else "Type one of these letters.")

    def _text(self, text: str) -> None:
        self._say(*(f"  | {line}".rstrip() for line in text.splitlines()))

    def _named(self, kept: Sequence[Keep]) -> list[Keep]:
        self._say(f"Step 3 of 3: name and propose {counted(len(kept), 'candidate')}.")
        named: list[Keep] = []
        for one in kept:
            name = self._name(one.name, {other.name for other in named}) if one.candidate.creates else one.name
            named.append(replace(one, name=name))
        edits = sum(not one.candidate.creates for one in named)
        if edits and self._generating.model != OFFLINE:
            self._say(f"skilld will ask {self._generating.model} for {counted(edits, 'edit')} to existing skills.")
        if not self._ask(f"propose {', '.join(one.name for one in named)}? [y/n] ").startswith("y"):
            raise _LeftError
        return named

    def _name(self, name: str, others: set[str]) -> str:
        while why := name_problem(given := self._ask(f"name (Enter for {name})? ", quits=False) or name, others):
            self._say(f"{given} cannot be used: {why}.")
        return given

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
        """Ask for another name for what was not proposed; empty if there is to be none."""
        self._say(f"{one.candidate.name} was not proposed: {one.why_not}.")
        ask = partial(self._talk.ask, "another name (Enter to skip it)? ")
        while (given := (ask() or "").strip()) and (why := name_problem(given, [one.candidate.name])):
            self._say(f"{given} cannot be used: {why}.")
        return given

    def _ask(self, question: str, *, quits: bool = True) -> str:
        answer = self._talk.ask(safe_text(question))
        if answer is None or (quits and answer.strip().lower() == "q"):
            raise _LeftError
        return answer.strip()


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
