"""Steps, tools and examples as sections at the end of a skill's body: read out of it, and laid below it again.

A section is a heading and numbered items: `1. **name** (`code`, `code`)`, the item's text indented below. Only what is
laid again to the very same text is read out; anything else stays in the prompt, so nothing is ever lost. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from skilld.draft.values import trimmed
from skilld.text import fold

_INDENT = "   "
_HEAD = re.compile(r"\d+\. \*\*(?P<name>[^*`\n]+)\*\*(?: \((?P<codes>`[^`\n]+`(?:, `[^`\n]+`)*)\))?")
_STEPS, _WORKFLOW, _EXAMPLES = "## Steps", "## Workflow", "## Examples"


@dataclass(frozen=True, slots=True)
class Item:
    """A numbered item: a name on one line, words in code behind it, and a text of any length."""

    name: str
    codes: tuple[str, ...] = ()
    text: str = ""


@dataclass(frozen=True, slots=True)
class Body:
    """A body taken apart. A step is named and has its tools as codes; an item of `workflow` is named by its tool.

    `examples` are pairs of an item Input and an item Output, with the session as the latter's code where it is known.
    """

    prompt: str
    steps: tuple[Item, ...] = ()
    workflow: tuple[Item, ...] = ()
    examples: tuple[Item, ...] = ()


def item(name: str, codes: Sequence[str] = (), text: str = "") -> Item:
    """Return an item of any texts, cleaned so that it is read again as it is."""
    plain = (fold(re.sub(r"[*`]", "", one)) for one in (name, *codes))
    title, *words = plain
    lines = [line.rstrip() for line in re.split(r"\r\n|\r|\n", text)]
    return Item(title or "Untitled", tuple(word for word in words if word), "\n".join(lines).strip("\n"))


def lay(parts: Body) -> str:
    """Return the body of these parts."""
    sections = ((_STEPS, parts.steps), (_WORKFLOW, parts.workflow), (_EXAMPLES, parts.examples))
    return "\n\n".join(
        [*([parts.prompt] if parts.prompt else []), *(_section(title, items) for title, items in sections if items)]
    )


def lift(body: str) -> Body:
    """Return the parts of a body, for which `lay` gives the same body again."""
    rest, found = body, {}
    for title in (_EXAMPLES, _WORKFLOW, _STEPS):
        rest, found[title] = _last(rest, title)
    parts = Body(rest, found[_STEPS], found[_WORKFLOW], found[_EXAMPLES])
    return parts if _regular(parts) and trimmed(rest) == rest and lay(parts) == body else Body(body)


def _regular(parts: Body) -> bool:
    """Whether codes stand only where they mean something, and inputs and outputs take turns."""
    given, made = parts.examples[::2], parts.examples[1::2]
    named = [one.name for one in parts.examples] == ["Input", "Output"] * len(made)
    return named and not any(one.codes for one in (*parts.workflow, *given)) and all(len(one.codes) < 2 for one in made)  # noqa: PLR2004 - a session, or none


def _section(title: str, items: Sequence[Item]) -> str:
    return "\n\n".join([title, *(_item(number, one) for number, one in enumerate(items, 1))])


def _item(number: int, one: Item) -> str:
    codes = f" ({', '.join(f'`{code}`' for code in one.codes)})" if one.codes else ""
    head = f"{number}. **{one.name}**{codes}"
    lines = (_INDENT + line if line else "" for line in one.text.split("\n"))
    return "\n".join([head, "", *lines]) if one.text else head


def _last(body: str, title: str) -> tuple[str, tuple[Item, ...]]:
    """Return the body without a section at its end, and the items of that; the whole body and none where it differs."""
    lines = body.split("\n")
    at = max((number for number, line in enumerate(lines) if line == title), default=None)
    if at is None:
        return body, ()
    items = _items(lines[at + 1 :])
    if not items or _section(title, items) != "\n".join(lines[at:]):
        return body, ()
    return "\n".join(lines[: max(at - 1, 0)]), items


def _items(lines: Sequence[str]) -> tuple[Item, ...]:
    found: list[tuple[re.Match[str], list[str]]] = []
    for line in lines:
        head = _HEAD.fullmatch(line)
        if head:
            found.append((head, []))
        elif found:
            found[-1][1].append(line.removeprefix(_INDENT))
    return tuple(
        item(head["name"], re.findall("`([^`]+)`", head["codes"] or ""), "\n".join(text)) for head, text in found
    )
