"""The few facts of a SKILL.md's front matter that a list of skills shows.

Text in, plain texts out. Not a YAML parser, so that no front matter can do anything to us: it reads keys at the start
of a line with a plain, quoted or block scalar behind them, and one level of `metadata`; of anything else it sees
nothing. https://agentskills.io/specification names the keys.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

MAX_BYTES = 64 * 1024
KEY = re.compile(r"(?P<key>[A-Za-z][\w-]{0,63})[ \t]*:(?:[ \t]+(?P<value>.*))?$")
_BLOCK = re.compile(r"(?P<style>[|>])[-+0-9]{0,2}[ \t]*(?:#.*)?$")
_COMMENT = re.compile(r"(?<![ \t])[ \t]++#.*$")
_ESCAPES = {'"': '"', "\\": "\\", "n": "\n", "t": "\t", "/": "/"}


@dataclass(frozen=True, slots=True)
class Front:
    """What the front matter says; empty where it says nothing that is understood."""

    name: str = ""
    description: str = ""
    metadata: dict[str, str] = field(default_factory=dict)


def front(text: str) -> Front:
    """Return the facts in the front matter of a SKILL.md's text. Never raises."""
    top = entries(front_lines(text) or ())
    metadata = {key: scalar(value, rest) for key, value, rest in entries(below(top, "metadata"))}
    facts = {key: scalar(value, rest) for key, value, rest in top if key in {"name", "description"}}
    return Front(facts.get("name", ""), facts.get("description", ""), metadata)


Entry = tuple[str, str, Sequence[str]]


def front_lines(text: str) -> list[str] | None:
    """Return the lines between the fences of the front matter; None where it is missing, open or too long."""
    lines = text.removeprefix("\ufeff")[:MAX_BYTES].splitlines()
    if not lines or lines[0].rstrip() != "---":
        return None
    end = next((i for i, line in enumerate(lines[1:], 1) if line.rstrip() == "---"), None)
    return None if end is None else lines[1:end]


def entries(lines: Sequence[str]) -> list[Entry]:
    """Return (key, what stands behind it, the deeper lines below it) of every key at the start of a line."""
    found: list[tuple[str, str, list[str]]] = []
    for line in lines:
        key = KEY.match(line)
        if key:
            value = (key["value"] or "").strip()
            found.append((key["key"], "" if value.startswith("#") else value, []))
        elif found and (not line.strip() or line[0] in " \t"):
            found[-1][2].append(line)
    return list(found)


def below(top: Sequence[Entry], wanted: str) -> list[str]:
    """Return the lines below a key that has nothing behind it, as if they stood at the start of a line."""
    return _dedent(next((rest for key, value, rest in top if key == wanted and not value), ()))


def _dedent(lines: Sequence[str]) -> list[str]:
    depth = min((len(line) - len(line.lstrip(" ")) for line in lines if line.strip()), default=0)
    return [line[depth:] for line in lines]


def scalar(value: str, rest: Sequence[str]) -> str:
    """Return the text of a plain, quoted or block scalar: what stands behind a key, and the deeper lines below it."""
    block = _BLOCK.match(value)
    if block:
        joined = "\n" if block["style"] == "|" else " "
        return joined.join(line.strip() for line in rest).strip()
    whole = " ".join([value, *(line.strip() for line in rest)]).strip()
    quote = whole[:1]
    if quote == "'":
        return _single(whole)
    if quote == '"':
        return _double(whole)
    return _COMMENT.sub("", whole).strip()


def _single(text: str) -> str:
    match = re.match(r"'((?:[^']|'')*)'", text)
    return match[1].replace("''", "'") if match else ""


def _double(text: str) -> str:
    match = re.match(r'"((?:[^"\\]|\\.)*)"', text)
    return re.sub(r"\\(.)", lambda found: _ESCAPES.get(found[1], found[0]), match[1]) if match else ""
