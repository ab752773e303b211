"""What was typed of a prompt to Gemini CLI or Qwen Code: the clients append the files that an `@path` names.

Content of a message in, the person's part of it out. Seen: the appended text is parts of its own (Gemini CLI 0.61.0,
Qwen Code 0.15.10); where older files join them it stands at the end, between two marks. It is behind the prompt always,
so the first mark that opens it is the client's, or comes before it.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping
from dataclasses import asdict, dataclass
from itertools import takewhile
from typing import Any

from skilld.agents.base import mapping, named_by, objects, read_object, short, string
from skilld.agents.wrapped import Wrappers, labels_of, picks_of, typed_answer
from skilld.text import fold

_FILES = "\n--- Content from referenced files ---"
WRAPPERS = Wrappers(opens=_FILES, closes="--- End of content ---", before=False)


def typed_text(content: object) -> str:
    """Return what was typed of a message's content: a string, a part, or a list of parts; thoughts are left out."""
    if isinstance(content, str):
        return WRAPPERS.typed(string(content))
    return "".join(takewhile(lambda text: not text.startswith(_FILES), map(_text, _parts(content))))


def whole_text(content: object) -> str:
    """Return all of a message's text."""
    return string(content) if isinstance(content, str) else "".join(map(_text, _parts(content)))


def _parts(content: object) -> list[Mapping[str, Any]]:
    return objects([content] if isinstance(content, dict) else content)


def _text(part: Mapping[str, Any]) -> str:
    return "" if part.get("thought") else string(part.get("text"))


# Answers to the questions of an agent: Gemini CLI's `ask_user` and Qwen Code's `ask_user_question`.
#
# Calls and results in, answers out, each with whether it was only picked. Seen: Gemini CLI 0.61.0 (question and
# answer in one record) and Qwen Code 0.15.10 (in two; of the question only hashes are kept in between).

_CALLS = 16
_HASHES = 64  # of one call
_TITLE = re.compile(r"(?:\A|\n)\*\*([^\n]+?)\*\*: ")
_TITLE_MARK = "**: "
_PREFIX = "User has provided the following answers:\n\n"
_PICKED = ("Yes", "No")


@dataclass(frozen=True, slots=True)
class Answer:
    """What was answered to question `name` of a call; `picked` if it is one of the agent's options, or some of them."""

    name: str
    text: str
    picked: bool


def gemini_answers(call: Mapping[str, Any]) -> Iterator[Answer]:
    """Yield the answers in an entry of `toolCalls`; nothing for another tool or a call that did not end well."""
    if call.get("name") != "ask_user" or call.get("status") != "success":
        return
    questions = objects(mapping(call.get("args")).get("questions"))
    for part in objects(call.get("result")):
        response = mapping(mapping(part.get("functionResponse")).get("response"))
        answers = mapping((read_object(string(response.get("output"))) or {}).get("answers"))
        picks = picks_of([*_PICKED, *labels_of(questions)])
        for number, question in enumerate(questions):
            text = string(answers.get(str(number)))
            if text.strip():
                yield _answer(str(number), text, picks, several=question.get("multiSelect") is True)


class QwenQuestions:
    """Questions that wait for their answers. Goes through a checkpoint: ids, and hashes of titles and labels."""

    def __init__(self, state: object = None) -> None:
        """Resume from a checkpoint's state; anything unusable in it is left out."""
        self._calls: dict[str, _Asked] = {}
        for call, asked in mapping(state).items():
            titles, picks = (_hashes(mapping(asked).get(name)) for name in ("titles", "picks"))
            self._keep(short(call), _Asked(titles, picks, several=mapping(asked).get("several") is True))

    def state(self) -> dict[str, dict[str, Any]]:
        """Return the state for a checkpoint."""
        return {call: asdict(asked) for call, asked in self._calls.items()}

    def ask(self, call: Mapping[str, Any]) -> None:
        """Note a tool call if it is a question. One whose labels could pass for the title of an answer is left out."""
        if call.get("name") != "ask_user_question":
            return
        questions = objects(mapping(call.get("args")).get("questions"))
        titles = [fold(string(question.get("header"))) for question in questions]
        labels = list(labels_of(questions))
        if not any(_TITLE_MARK in label for label in labels):
            picks = [named_by("label", pick) for pick in sorted(picks_of(labels))]
            several = any(question.get("multiSelect") is True for question in questions)
            asked = _Asked([named_by("title", title) for title in titles], picks, several=several)
            self._keep(short(call.get("id")), asked)

    def answers(self, response: Mapping[str, Any]) -> Iterator[Answer]:
        """Yield the answers in the result of a question call; none where they cannot be told from one another."""
        asked = self._calls.pop(short(response.get("id")), _Asked([], [], several=False))
        output = string(mapping(response.get("response")).get("output"))
        if not asked.titles or not output.startswith(_PREFIX):
            return
        text = output.removeprefix(_PREFIX)
        found = [(title, named_by("title", fold(title[1]))) for title in _TITLE.finditer(text)]
        titles = [title for title, mark in found if mark in asked.titles]
        marks = [mark for _, mark in found if mark in asked.titles]
        if len(set(marks)) < len(marks):
            return
        ends = [*(title.start() for title in titles[1:]), len(text)]
        for number, (title, end) in enumerate(zip(titles, ends, strict=True)):
            yield _answer(str(number), text[title.end() : end], _Hashed(asked.picks), several=asked.several)

    def _keep(self, call: str, asked: _Asked) -> None:
        if call and asked.titles:
            self._calls[call] = _Asked(asked.titles[:_HASHES], asked.picks[:_HASHES], several=asked.several)
            while len(self._calls) > _CALLS:
                del self._calls[next(iter(self._calls))]


@dataclass(frozen=True, slots=True)
class _Asked:
    """Hashes of the titles of one call's questions, of what a pick among their options looks like; `several` may be."""

    titles: list[str]
    picks: list[str]
    several: bool


@dataclass(frozen=True, slots=True)
class _Hashed:
    """Picks of which only hashes were kept."""

    hashes: list[str]

    def __contains__(self, pick: object) -> bool:
        return named_by("label", pick) in self.hashes


def _answer(name: str, text: str, picks: Container[str], *, several: bool) -> Answer:
    typed = typed_answer(text, picks, several=several)
    return Answer(name, typed or text, not typed)


def _hashes(value: object) -> list[str]:
    return [short(each) for each in value] if isinstance(value, list) else []
