"""An agent's questions to the person: their options until they are answered, and what part of an answer was typed.

Calls and results in, answers out. In between, only hashes of options and questions are kept: a checkpoint holds
nobody's words. How a client writes answers is a function in its format.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, field
from typing import Any

from skilld.agents.base import hash_name, items, mapping, objects, remember, short, string
from skilld.agents.wrappers import option_labels, possible_picks, typed_answer
from skilld.values import value_class

_MAX_CALLS, _MAX_HASHES = 16, 64


@value_class
class ToolOutput:
    """A tool's result: its text, and the part of the record that it is in."""

    text: str
    part: Mapping[str, Any]


@value_class
class Question:
    """A tool that asks. `labels` yields the options in its input, `titles` its questions, `answers` those in a result.

    If answers cannot be distinguished from questions or from each other, `answers` yields none. `several` says that a
    person may pick more than one option.
    """

    answers: Callable[[ToolOutput, OpenQuestion], Iterable[str]]
    labels: Callable[[Mapping[str, Any]], Iterable[str]] = lambda asked: option_labels(asked.get("questions"))
    titles: Callable[[Mapping[str, Any]], list[str]] = lambda asked: [
        string(question.get("question")) for question in objects(asked.get("questions"))
    ]
    several: bool = True


@value_class
class OpenQuestion:
    """A question without its answer: hashes of its titles and of what picked options look like."""

    tool: str
    titles: list[str] = field(default_factory=list)
    picks: list[str] = field(default_factory=list)

    def __contains__(self, pick: object) -> bool:
        """Whether this looks like a picked option."""
        return hash_name("label", pick) in self.picks

    def asks(self, title: str) -> bool:
        """Whether this is one of its questions."""
        return hash_name("title", title) in self.titles


def quoted_answers(result: ToolOutput, waiting: OpenQuestion) -> Iterator[str]:
    """Yield the answers in `..."Question"="Answer", "Question"="Answer". ...`: each after a question that was asked."""
    marks = [match.start() for match in re.finditer('"="', result.text)][:_MAX_HASHES]
    starts = [match.end() for match in re.finditer('(?:^[^"]*|", )"', result.text)][:_MAX_HASHES]
    found = [(at, mark + 3) for mark in marks for at in starts if at <= mark and waiting.asks(result.text[at:mark])]
    if len(found) != len(waiting.titles):  # an answer, or an option, that quotes a question
        return
    for (_, start), (next_at, _) in zip(found, [*found[1:], (0, 0)], strict=True):
        end = next_at - len('", "') if next_at else result.text.rfind('". ')
        yield result.text[start:end] if end >= start else ""


class OpenQuestions:
    """The newest questions that wait for their answers. Saved in checkpoints."""

    def __init__(self, state: object = None) -> None:
        """Resume from a checkpoint's state; unusable entries are ignored."""
        self._calls: dict[str, OpenQuestion] = {}
        for call, kept in mapping(state).items():
            titles, picks = (
                [short(each) for each in items(mapping(kept).get(name))][:_MAX_HASHES] for name in ("titles", "picks")
            )
            self._add(short(call), OpenQuestion(short(mapping(kept).get("tool")), titles, picks))

    def state(self) -> dict[str, dict[str, Any]]:
        """Return the state for a checkpoint."""
        return {call: asdict(waiting) for call, waiting in self._calls.items()}

    def add(self, call: str, tool: str, question: Question, asked: Mapping[str, Any]) -> None:
        """Add a call that asks. One with too many options to keep is left out: a pick could pass for typed."""
        picks = [hash_name("label", pick) for pick in sorted(possible_picks(question.labels(asked)))]
        titles = [hash_name("title", title) for title in question.titles(asked)]
        if len(picks) <= _MAX_HASHES and len(titles) <= _MAX_HASHES:
            self._add(call, OpenQuestion(tool, titles, picks))

    def answers(self, call: str, result: ToolOutput, known: Mapping[str, Question]) -> Iterator[tuple[str, str]]:
        """Yield the number of each answer in a result, and what of it was typed: "" if it was only picked."""
        waiting = self._calls.pop(call, None)
        question = known.get(waiting.tool) if waiting else None
        if waiting is None or question is None:
            return
        for number, answer in enumerate(question.answers(result, waiting)):
            if string(answer).strip():
                yield str(number), typed_answer(string(answer), waiting, several=question.several)

    def _add(self, call: str, waiting: OpenQuestion) -> None:
        if call:
            remember(self._calls, call, waiting, _MAX_CALLS)
