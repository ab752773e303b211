"""The other tabs of the review as questions and answers, and `Conversation`, which does their input and output."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from skilld.clock import time_ago
from skilld.errors import SkilldError
from skilld.library.rows import LibraryRow, matches_search
from skilld.report.lines import report_lines
from skilld.review.controller import ReviewSession, forget_question, no_skills_text, switched_text
from skilld.skills.set_aside import command_out_of_trash
from skilld.text import pluralize, safe_text
from skilld.values import value_class

TAB_NAMES: Mapping[str, str] = {"2": "your skills", "3": "sessions", "4": "learnings", "5": "the report"}
_SKILL_QUESTION = "which skill (a number; /words to search; n: new skills from past sessions; q: back)? "
_SKILL_ACTIONS = "e edit, x on/off, d delete, b back? "
_SKILL_WORDS = {"e": "edit", "x": "on/off", "d": "delete", "b": "back", "q": "quit"}
_LEARNING_QUESTION = "p propose, f forget, s skip, q quit? "
_LEARNING_WORDS = {"p": "propose", "f": "forget", "s": "skip", "q": "quit"}


def chosen_letter(given: str, words: Mapping[str, str]) -> str:
    """Return the letter that an answer means: a letter of `words` or its word, in any case; empty for anything else."""
    if given in words:
        return given
    return next((letter for letter, word in words.items() if given.lower() in {letter, word}), "")


def is_yes(given: str) -> bool:
    """Whether an answer is yes, and nothing more."""
    return given.lower() in {"y", "yes"}


def type_one_of(words: Mapping[str, str]) -> str:
    """Return what to say about an answer that is not one of these letters."""
    return f"Type one of {', '.join(words)}."


class Edit(Protocol):
    """Returns a text as edited in the person's editor, in a file called `name`."""

    def __call__(self, text: str, *, name: str = ...) -> str:
        """Open the editor and wait for it."""


@value_class
class Conversation:
    """Lines out, answers in, and an editor. `ask` returns None at the end of the input."""

    line: Callable[[str], None]
    ask: Callable[[str], str | None]
    edit: Edit

    def say(self, *texts: str) -> None:
        """Print each text as one line, safe for the terminal."""
        for text in texts:
            self.line(safe_text(text))

    def ask_line(self, question: str) -> str:
        """Ask a question; the end of the input counts as q."""
        given = self.ask(safe_text(question))
        return "q" if given is None else given.strip()

    def ask_yes_no(self, question: str) -> bool:
        """Ask a yes-or-no question."""
        return is_yes(self.ask_line(f"{question.replace(chr(10), ' ')} [y/N] "))

    def ask_letter(self, question: str, words: Mapping[str, str]) -> str:
        """Ask until the answer is a letter of `words`, its word, or empty; return that letter."""
        while (given := self.ask_line(question)) and not chosen_letter(given, words):
            self.say(type_one_of(words))
        return chosen_letter(given, words)

    def show_error(self, error: SkilldError) -> None:
        """Print what failed, and what to do about it."""
        self.say(f"Error: {error}", *([f"  {error.remedy}"] if error.remedy else []))


class PlainTabs:
    """The tabs beside the proposals. `turns` make a batch; `generate` creates skills from past sessions."""

    def __init__(self, session: ReviewSession, turns: int, talk: Conversation, generate: Callable[[], None]) -> None:
        self._session = session
        self._turns = turns
        self._talk = talk
        self._say = talk.say
        self._generate = generate

    def show(self, number: str) -> bool:
        """Show the tab with this number; return whether there is one."""
        match number:
            case "2":
                self._show_skills()
            case "3":
                self._show_sessions()
            case "4":
                if self.go_through_learnings() is None:
                    self._say("There are no learnings.")
            case "5":
                self._say(*report_lines(self._session.report(), str(self._session.home)))
            case _:
                return False
        return True

    def go_through_learnings(self) -> bool | None:
        """Go through the learnings; return whether the person went through all, None if there are none."""
        asks = self._session.waiting_learnings()
        for ask in asks:
            self._say("", f"learning: {ask[0].change}", f"  not proposed: {ask[0].why_kept}")
            self._say(*(f"  you: \u201c{one.quote}\u201d" for one in ask))
            try:
                match self._talk.ask_letter(_LEARNING_QUESTION, _LEARNING_WORDS):
                    case "p":
                        made = self._session.propose(ask)
                        self._say(f"Proposed {made.id} for {made.skill}: {made.summary}")
                    case "f" if self._talk.ask_yes_no(forget_question(ask)):
                        self._session.forget(ask)
                        self._say("Forgotten.")
                    case "q":
                        return False
            except SkilldError as error:
                self._talk.show_error(error)
        self._say(*filter(None, [self._session.not_shown]))
        return True if asks else None

    def _show_sessions(self) -> None:
        found = self._session.sessions()
        now = time.time()
        for one in found:
            skills = ", ".join(reversed(one.skills)) or "no skill in use"
            collected = f"{one.waiting} not judged yet (judged after {self._turns}, or when the session ends)"
            until = "ended" if one.ended else "all judged" if one.judged else collected
            facts = one.agent, pluralize(one.turns, "turn"), until, time_ago(one.last_activity, now), skills
            self._say(", ".join(facts), f"  {self._session.short_path(one.cwd or 'unknown folder')}")
        if not found:
            self._say("No sessions in the last day.")

    def _show_skills(self) -> None:
        words = ""
        while True:
            shown = [one for one in self._session.skills() if matches_search(one, words)]
            self._print_skills(shown, has_any=bool(shown or self._session.skills()))
            given = self._talk.ask_line(_SKILL_QUESTION)
            if given.startswith("/"):
                words = given[1:].strip()
            elif given == "n":
                self._generate()
            elif given.isdecimal() and 1 <= int(given) <= len(shown):
                self._open_skill(shown[int(given) - 1])
            elif given in {"", "q", "b"}:
                return
            else:
                self._say("That skill is not on the list.")

    def _print_skills(self, shown: Sequence[LibraryRow], *, has_any: bool) -> None:
        now = time.time()
        for number, one in enumerate(shown, 1):
            facts = [f"{number}. {one.name}", one.group, *one.marks]
            facts += [pluralize(one.uses.number, "use")] if one.uses.number else []
            facts += [f"{pluralize(one.corrections, 'edit')} proposed from what you said"] if one.corrections else []
            facts += [] if one.uses.success is None else [f"went well {one.uses.success:.0%} of the time"]
            facts += [f"edited {time_ago(one.edited_at, now)}"] if one.edited_at else []
            self._say(", ".join(facts))
        if not shown:
            self._say(no_skills_text(has_any=has_any))

    def _open_skill(self, skill: LibraryRow) -> None:
        self._say(f"{skill.name}: to use it, type {skill.invocation}", f"  {self._session.short_path(skill.path)}")
        try:
            match self._talk.ask_letter(_SKILL_ACTIONS, _SKILL_WORDS):
                case "e":
                    changed = self._session.edit_skill(skill, self._talk.edit)
                    self._say(f"Changed {skill.name}." if changed else "You made no changes.")
                case "x":
                    offered = self._session.switch_skill(skill)
                    self._say(f"{switched_text(skill, offered=offered)}.")
                case "d":
                    folder = self._session.short_path(skill.path.parent)
                    self._say(f"Move {folder} to the trash? Nothing will be committed.")
                    if self._talk.ask_line(f"type {skill.name} to confirm: ") == skill.name:
                        place = self._session.delete_skill(skill)
                        self._say(f"Moved to {self._session.short_path(place)}.")
                        self._say(f"To get it back: {command_out_of_trash(place, skill.path.parent)}")
                    else:
                        self._say("Nothing was moved.")
        except SkilldError as error:
            self._talk.show_error(error)
