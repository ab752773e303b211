"""Reads what a model made of drafts: for each a title, when to use it, and lines that name their evidence. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from skilld.classify import json_answer
from skilld.classify.json_answer import BadReplyError, find_array
from skilld.text import fold
from skilld.values import value_class

LINE_KINDS = ("step", "rule", "check", "pitfall")
_MAX_LINES, _MAX_TITLES = 40, 3  # of one skill
_MAX_TEXT = 400  # characters: anything longer is not a line


@value_class
class DraftLine:
    """One line: what it is, its text ("" for that of its only source), and the numbers of its sources from 1."""

    kind: str
    text: str
    sources: tuple[int, ...]


@value_class
class DraftAnswer:
    """What a model made of one draft: titles, the best first; without lines it is to be dropped.

    `unread` are the texts of lines that are not of the requested form.
    """

    titles: tuple[str, ...] = ()
    when: str = ""
    lines: tuple[DraftLine, ...] = ()
    unread: tuple[str, ...] = ()


def parse_drafts(reply: str, evidence: Sequence[int]) -> list[DraftAnswer]:
    """Return what becomes of each draft; `evidence` has the number of its lines of evidence.

    Raises BadReplyError if a draft is not judged.
    """
    found: dict[int, DraftAnswer] = {}
    for item in find_array(reply, "drafts", "draft"):
        number = json_answer.whole_number(item.get("draft")) if isinstance(item, dict) else None
        if number is None or not 1 <= number <= len(evidence) or number in found:
            raise BadReplyError("it refers to a draft that does not exist, or twice to one")
        lines = item.get("lines")
        if not isinstance(lines, list):
            raise BadReplyError("a draft has no list of lines")
        read = [(one, _line(one, evidence[number - 1])) for one in lines[:_MAX_LINES]]
        unread = (_text(one, "text") or "a line" for one, line in read if line is None and isinstance(one, dict))
        good = tuple(line for _, line in read if line)
        found[number] = DraftAnswer(_titles(item), _text(item, "when"), good, tuple(unread))
    if len(found) < len(evidence):
        raise BadReplyError("it does not judge every draft")
    return [found[number] for number in sorted(found)]


def answer_of(stored: Mapping[str, Any]) -> DraftAnswer:
    """Return an answer from its stored form, the result of `dataclasses.asdict`."""
    lines = (DraftLine(one["kind"], one["text"], tuple(one["sources"])) for one in stored["lines"])
    return DraftAnswer(tuple(stored["titles"]), stored["when"], tuple(lines), tuple(stored.get("unread", ())))


def _line(item: Any, highest: int) -> DraftLine | None:  # noqa: ANN401 - JSON is Any
    values = item.get("from") if isinstance(item, dict) else None
    numbers = [json_answer.whole_number(one) for one in values] if isinstance(values, list) else []
    sources = tuple(dict.fromkeys(number for number in numbers if number is not None and 1 <= number <= highest))
    if not sources or len(sources) < len(set(numbers)) or item.get("kind") not in LINE_KINDS:
        return None
    text = _text(item, "text").rstrip(" .")
    return DraftLine(item["kind"], text, sources) if text or len(sources) == 1 else None


def _titles(item: Mapping[str, Any]) -> tuple[str, ...]:
    given = item.get("titles")
    texts = (_text({"": one}, "").rstrip(" .") for one in (given if isinstance(given, list) else [])[:_MAX_TITLES])
    return tuple(filter(None, texts))


def _text(item: Mapping[str, Any], key: str) -> str:
    value = item.get(key) or ""
    return fold(value) if isinstance(value, str) and len(value) <= _MAX_TEXT else ""
