"""Which part of an answer was only picked: an agent's own labels never pass for a person's words.

Labels and answers in, what was typed out. Clients trim labels, fold their blanks and join several by a comma, and a
label may itself hold commas, so a part of an answer that is a part of any label counts as picked. Knows no agent.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Container, Iterable, Iterator

from skilld.agents.base import mapping, objects, string
from skilld.text import folded

_INVISIBLE = frozenset({"Cc", "Cf", "Cs", "Co", "Cn"})


def plain(text: str) -> str:
    """Return what is compared of a label or an answer: without width, case, invisible characters and extra blanks."""
    shown = unicodedata.normalize("NFKC", text)
    if not shown.isascii() or not shown.isprintable():
        shown = "".join(c for c in shown if c.isspace() or unicodedata.category(c) not in _INVISIBLE)
    return folded(shown)


def labels_of(questions: object) -> Iterator[str]:
    """Yield the labels of the options of questions; an option is a string or an object with a `label`."""
    for question in objects(questions):
        options = question.get("options")
        for option in options if isinstance(options, list) else []:
            yield string(option) or string(mapping(option).get("label"))


def picks_of(labels: Iterable[str]) -> set[str]:
    """Return what a pick may look like in an answer: each label, and of one with commas each part of it."""
    picks = {plain(part) for label in labels for part in (label, *label.split(","))}
    return picks - {""}


def typed_answer(answer: str, picks: Container[str], *, several: bool) -> str:
    """Return what was typed of an answer, "" where it was only picked.

    Where `several` may be picked they are joined by a comma, with what was typed among them.
    """
    if plain(answer) in picks:
        return ""
    parts = answer.split(",")
    typed = [i for i, part in enumerate(parts) if (shown := plain(part)) and shown not in picks]
    if not typed or not several:
        return answer if typed else ""
    return ",".join(parts[typed[0] : typed[-1] + 1]).strip()
