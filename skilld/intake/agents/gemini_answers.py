"""Answers to the questions of an agent: Gemini CLI's `ask_user` and Qwen Code's `ask_user_question`.

Calls and results in, answers out, each with whether it was only picked. Seen: Gemini CLI 0.61.0 (question and answer in
one record) and Qwen Code 0.15.10 (in two; of the question only hashes are kept in between).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from skilld.intake.agents.fields import mapping, named_by, objects, read_object, short, string
from skilld.text import fold

_CALLS = 16
_HASHES = 64  # of one call
_TITLE = re.compile(r"(?:\A|\n)\*\*([^\n]+?)\*\*: ")
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
        for number, question in enumerate(questions):
            text = string(answers.get(str(number)))
            if text.strip():
                yield Answer(str(number), text, _is_picked(text, {*_PICKED, *_labels(question)}))


class QwenQuestions:
    """Questions that wait for their answers. Goes through a checkpoint: ids, and hashes of titles and labels."""

    def __init__(self, state: object = None) -> None:
        """Resume from a checkpoint's state; anything unusable in it is left out."""
        self._calls: dict[str, list[str]] = {}
        for call, hashes in mapping(state).items():
            self._keep(short(call), [short(each) for each in hashes] if isinstance(hashes, list) else [])

    def state(self) -> dict[str, list[str]]:
        """Return the state for a checkpoint."""
        return {call: list(hashes) for call, hashes in self._calls.items()}

    def ask(self, call: Mapping[str, Any]) -> None:
        """Note a tool call if it is a question."""
        if call.get("name") == "ask_user_question":
            questions = objects(mapping(call.get("args")).get("questions"))
            titles = [named_by("title", fold(string(question.get("header")))) for question in questions]
            labels = [named_by("label", fold(label)) for question in questions for label in _labels(question)]
            self._keep(short(call.get("id")), [*titles, *labels])

    def answers(self, response: Mapping[str, Any]) -> Iterator[Answer]:
        """Yield the answers in the result of a question call."""
        known = self._calls.pop(short(response.get("id")), [])
        output = string(mapping(response.get("response")).get("output"))
        if not known or not output.startswith(_PREFIX):
            return
        text = output.removeprefix(_PREFIX)
        titles = [found for found in _TITLE.finditer(text) if named_by("title", fold(found[1])) in known]
        ends = [*(title.start() for title in titles[1:]), len(text)]
        for number, (title, end) in enumerate(zip(titles, ends, strict=True)):
            words = text[title.end() : end]
            parts = [words, *words.split(", ", _HASHES)]
            picked = {part for part in parts if named_by("label", fold(part)) in known}
            yield Answer(str(number), words, _is_picked(words, picked))

    def _keep(self, call: str, hashes: list[str]) -> None:
        if call and hashes:
            self._calls[call] = hashes[:_HASHES]
            while len(self._calls) > _CALLS:
                del self._calls[next(iter(self._calls))]


def _labels(question: Mapping[str, Any]) -> Iterator[str]:
    return (string(option.get("label")) for option in objects(question.get("options")))


def _is_picked(text: str, labels: Collection[str]) -> bool:
    known = {fold(label) for label in labels}
    return fold(text) in known or all(fold(part) in known for part in text.split(", "))
