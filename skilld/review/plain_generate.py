"""The three steps of generating as questions and answers, for screen readers, dumb terminals and pipes.

`ask` returns None at the end of the input, which quits with nothing proposed, as `q` does at every question.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from skilld.classify.backends import OFFLINE
from skilld.errors import SkilldError
from skilld.mining.proposing import CandidateResult
from skilld.mining.questions import Estimate
from skilld.review.generation import Generation, KeptCandidate, Preview, SessionChoice, name_problem, quoted_parts
from skilld.review.plain_tabs import Conversation, chosen_letter, is_yes, type_one_of
from skilld.text import format_usd, pluralize, safe_text, truncate

_MAX_TITLE_CHARS = 100
_SESSIONS_QUESTION = "which sessions (such as 1,3-5 or all; /words to filter; q to quit)? "
_KEEP_QUESTION = "k keep, e edit, d drop, q quit? "
_KEEP_WORDS = {"k": "keep", "e": "edit", "d": "drop", "q": "quit"}


class _QuitError(Exception):
    """The person quit."""


class PlainGenerate:
    """The three steps as questions and answers."""

    def __init__(self, generating: Generation, talk: Conversation) -> None:
        self._generating = generating
        self._talk = talk
        self._say = talk.say

    def run(self) -> list[CandidateResult]:
        """Go through the steps; return the results for the kept candidates, none if the person quits."""
        try:
            choices = self._generating.choices(_no_progress)
            if not choices:
                self._say("No sessions to learn from. To look further back: --since DAYS")
                return []
            chosen = self._choose(choices)
            kept, result = self._review(chosen)
            return self._save(self._ask_names(kept), result) if kept else []
        except _QuitError:
            self._say("You quit; nothing was proposed.")
            return []

    def _choose(self, choices: Sequence[SessionChoice]) -> list[SessionChoice]:
        self._say(f"Step 1 of 3: choose the sessions to learn from ({len(choices)} found).")
        shown = list(enumerate(choices, 1))
        self._print_sessions(shown)
        while True:
            answer = self._ask(_SESSIONS_QUESTION)
            if answer.startswith("/"):
                shown = [(number, one) for number, one in enumerate(choices, 1) if one.has(answer[1:])]
                self._print_sessions(shown)
                continue
            numbers = {number for number, _ in shown} if answer == "all" else _parse_numbers(answer, len(choices))
            chosen = [one for number, one in enumerate(choices, 1) if number in numbers]
            if not chosen:
                self._say("That session is not on the list.")
                continue
            number = len(self._generating.find_offline(chosen).candidates)
            self._say(f"{len(chosen)} selected; the built-in rules alone may find {pluralize(number, 'pattern')}")
            if is_yes(self._ask("continue? [y/n/q] ")):
                return chosen

    def _print_sessions(self, shown: Sequence[tuple[int, SessionChoice]]) -> None:
        if not shown:
            self._say("No session contains these words.")
        for number, one in shown:
            cost = self._generating.cost(one)
            facts = [f"{number}. {one.day}", one.session.agent, one.project, pluralize(len(one.session.turns), "turn")]
            facts += [] if cost is None else [format_usd(cost)]
            self._say(f"{', '.join(facts)}: {truncate(one.title, _MAX_TITLE_CHARS)}")

    def _review(self, chosen: Sequence[SessionChoice]) -> tuple[list[KeptCandidate], Preview]:
        result = self._generating.find(chosen, self._ask_person, _no_progress)
        found = len(result.previews)
        self._say(f"Step 2 of 3: keep or drop {pluralize(found, 'candidate')}." if found else result.nothing_found)
        for one in result.already_proposed:
            self._say(f"  {one}")
        kept = [self._ask_to_keep(number, one) for number, one in enumerate(result.previews, 1)]
        return [one for one in kept if one is not None], result

    def _ask_person(self, expected: Estimate, dollars: Callable[[], float | None]) -> bool:
        self._say(f"Ask {self._generating.model}? This takes {expected.told(dollars)}.")
        return is_yes(self._ask("y yes, n no (use only the built-in rules), q quit? "))

    def _ask_to_keep(self, number: int, one: CandidateResult) -> KeptCandidate | None:
        candidate, text = one.candidate, one.text
        self._say("", f"{number}. {candidate.action} {candidate.name}: {', '.join(candidate.dimensions)}")
        for said, words in quoted_parts(candidate):
            self._say(f"  it would say: {said}", *(f"    {line}" for line in words))
        if one.why_not:
            self._say(f"  It cannot be proposed: {one.why_not}")
            return None
        self._show_text(text)
        own = ""
        while True:
            match chosen_letter(self._ask(_KEEP_QUESTION), _KEEP_WORDS):
                case "k":
                    return KeptCandidate(candidate, candidate.name, own)
                case "d":
                    return None
                case "e" if text:
                    own = self._edited(own or text, text)
                    self._show_text(own or text)
                case "e":
                    self._say("You can edit only new skills here.")
                case _:
                    self._say(type_one_of(_KEEP_WORDS))

    def _edited(self, text: str, offered: str) -> str:
        """Return a text as the person edited it; empty if it is the `offered` one."""
        try:
            text = self._talk.edit(text)
        except SkilldError as error:
            self._talk.show_error(error)
        return text if text != offered else ""

    def _show_text(self, text: str) -> None:
        self._say(*(f"  | {line}".rstrip() for line in text.splitlines()))

    def _ask_names(self, kept: Sequence[KeptCandidate]) -> list[KeptCandidate]:
        self._say(f"Step 3 of 3: name and propose {pluralize(len(kept), 'candidate')}.")
        named: list[KeptCandidate] = []
        for one in kept:
            taken = {other.name for other in named}
            question = f"name (Enter for {one.name})? "
            given = one.name
            while one.candidate.creates:
                given = self._ask(question, quits=False) or one.name
                if not (why := name_problem(given, taken)):
                    break
                self._say(f"{given} cannot be used: {why}.")
            named.append(replace(one, name=given))
        edits = sum(not one.candidate.creates for one in named)
        if edits and self._generating.model != OFFLINE:
            self._say(f"skilld will ask {self._generating.model} for {pluralize(edits, 'edit')} to existing skills.")
        if not is_yes(self._ask(f"propose {', '.join(one.name for one in named)}? [y/n] ")):
            raise _QuitError
        return named

    def _save(self, kept: Sequence[KeptCandidate], result: Preview) -> list[CandidateResult]:
        """Propose the kept candidates; a new skill that cannot be proposed is retried under names the person gives."""
        became: list[CandidateResult] = []
        while kept:
            again: list[KeptCandidate] = []
            for keep, one in zip(kept, self._generating.save(kept, result, _no_progress), strict=True):
                name = self._ask_other_name(one) if one.why_not and one.candidate.creates else ""
                again += [replace(keep, name=name)] if name else []
                became += [] if name else [one]
            kept = again
        return became

    def _ask_other_name(self, one: CandidateResult) -> str:
        """Ask for another name for a skill that was not proposed; empty to skip it."""
        self._say(f"{one.candidate.name} was not proposed: {one.why_not}.")
        ask = partial(self._talk.ask, "another name (Enter to skip it)? ")
        while (given := (ask() or "").strip()) and (why := name_problem(given, [one.candidate.name])):
            self._say(f"{given} cannot be used: {why}.")
        return given

    def _ask(self, question: str, *, quits: bool = True) -> str:
        answer = self._talk.ask(safe_text(question))
        if answer is None or (quits and answer.strip().lower() in {"q", "quit"}):
            raise _QuitError
        return answer.strip()


def _parse_numbers(given: str, highest: int) -> set[int]:
    """Parse numbers from 1 such as `1, 3-5`, up to `highest`."""
    numbers: set[int] = set()
    for word in given.replace(",", " ").split():
        first, _, last = word.partition("-")
        if first.isdecimal() and (last or first).isdecimal():
            numbers |= set(range(int(first), min(int(last or first), highest) + 1))
    return numbers


def _no_progress(step: str, done: int, total: int) -> None:
    del step, done, total
