"""An agent's questions to the person: the options of each until it is answered, and what part of the answer was typed.

Calls and results in, answers out. Between the two only hashes are kept, of the options and of the questions: a
checkpoint holds nobody's words. How a client writes answers down is a function in its table.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from skilld.agents.base import items, mapping, named_by, objects, remember, short, string
from skilld.agents.wrapped import labels_of, picks_of, typed_answer

_CALLS, _HASHES = 16, 64


@dataclass(frozen=True, slots=True)
class Reading:
    """A result: its text, and the part of the record that it stands in."""

    text: str
    part: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Question:
    """A tool that asks. `labels` yields the options of its input, `titles` its questions, `answers` what a result says.

    Where answers cannot be told from questions or from one another, `answers` yields none. `several` says that a person
    may pick more than one option.
    """

    answers: Callable[[Reading, OpenQuestion], Iterable[str]]
    labels: Callable[[Mapping[str, Any]], Iterable[str]] = lambda asked: labels_of(asked.get("questions"))
    titles: Callable[[Mapping[str, Any]], list[str]] = lambda asked: [
        string(question.get("question")) for question in objects(asked.get("questions"))
    ]
    several: bool = True


@dataclass(frozen=True, slots=True)
class OpenQuestion:
    """A question without its answer: hashes of its titles and of what a pick among its options looks like."""

    tool: str
    titles: list[str] = field(default_factory=list)
    picks: list[str] = field(default_factory=list)

    def __contains__(self, pick: object) -> bool:
        """Whether this is what a picked option looks like."""
        return named_by("label", pick) in self.picks

    def asks(self, title: str) -> bool:
        """Whether this is one of its questions."""
        return named_by("title", title) in self.titles


def quoted(result: Reading, waiting: OpenQuestion) -> Iterator[str]:
    """Yield the answers of `..."Question"="Answer", "Question"="Answer". ...`: each behind one that was asked."""
    marks = [match.start() for match in re.finditer('"="', result.text)][:_HASHES]
    starts = [match.end() for match in re.finditer('(?:^[^"]*|", )"', result.text)][:_HASHES]
    found = [(at, mark + 3) for mark in marks for at in starts if at <= mark and waiting.asks(result.text[at:mark])]
    if len(found) != len(waiting.titles):  # an answer, or an option, that quotes a question
        return
    for (_, start), (next_at, _) in zip(found, [*found[1:], (0, 0)], strict=True):
        end = next_at - len('", "') if next_at else result.text.rfind('". ')
        yield result.text[start:end] if end >= start else ""


class OpenQuestions:
    """Questions that wait for their answers, the newest few. Goes through a checkpoint."""

    def __init__(self, state: object = None) -> None:
        """Resume from a checkpoint's state; anything unusable in it is left out."""
        self._calls: dict[str, OpenQuestion] = {}
        for call, kept in mapping(state).items():
            titles, picks = (_hashes(mapping(kept).get(name)) for name in ("titles", "picks"))
            self._keep(short(call), OpenQuestion(short(mapping(kept).get("tool")), titles, picks))

    def state(self) -> dict[str, dict[str, Any]]:
        """Return the state for a checkpoint."""
        return {call: asdict(waiting) for call, waiting in self._calls.items()}

    def ask(self, call: str, tool: str, question: Question, asked: Mapping[str, Any]) -> None:
        """Note a call that asks. One with more options than are kept is left out: a pick could pass for typed."""
        picks = [named_by("label", pick) for pick in sorted(picks_of(question.labels(asked)))]
        titles = [named_by("title", title) for title in question.titles(asked)]
        if len(picks) <= _HASHES and len(titles) <= _HASHES:
            self._keep(call, OpenQuestion(tool, titles, picks))

    def answers(self, call: str, result: Reading, known: Mapping[str, Question]) -> Iterator[tuple[str, str]]:
        """Yield the number of each answer in a result, and what was typed of it: "" where it was only picked."""
        waiting = self._calls.pop(call, None)
        question = known.get(waiting.tool) if waiting else None
        if waiting is None or question is None:
            return
        for number, answer in enumerate(question.answers(result, waiting)):
            if string(answer).strip():
                yield str(number), typed_answer(string(answer), waiting, several=question.several)

    def _keep(self, call: str, waiting: OpenQuestion) -> None:
        if call:
            remember(self._calls, call, waiting, _CALLS)


def _hashes(value: object) -> list[str]:
    return [short(each) for each in items(value)][:_HASHES]
