"""The few facts of a SKILL.md's front matter that a list of skills shows.

Text in, plain texts out. Not a YAML parser, so that no front matter can do anything to us: it reads keys at the start
of a line with a plain, quoted or block scalar behind them, and one level of `metadata`; of anything else it sees
nothing. https://agentskills.io/specification names the keys.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

_MOST = 64 * 1024
_KEY = re.compile(r"(?P<key>[A-Za-z][\w-]{0,63})[ \t]*:(?:[ \t]+(?P<value>.*))?$")
_BLOCK = re.compile(r"(?P<style>[|>])[-+0-9]{0,2}[ \t]*(?:#.*)?$")
_COMMENT = re.compile(r"[ \t]+#.*$")
_ESCAPES = {'"': '"', "\\": "\\", "n": "\n", "t": "\t", "/": "/"}


@dataclass(frozen=True, slots=True)
class Front:
    """What the front matter says; empty where it says nothing that is understood."""

    name: str = ""
    description: str = ""
    metadata: dict[str, str] = field(default_factory=dict)


def front(text: str) -> Front:
    """Return the facts in the front matter of a SKILL.md's text. Never raises."""
    lines = text.removeprefix("\ufeff")[:_MOST].splitlines()
    if not lines or lines[0].rstrip() != "---":
        return Front()
    end = next((i for i, line in enumerate(lines[1:], 1) if line.rstrip() == "---"), None)
    if end is None:
        return Front()
    top = _entries(lines[1:end])
    metadata = {key: _scalar(value, rest) for key, value, rest in _entries(_dedent(_rest(top, "metadata")))}
    facts = {key: _scalar(value, rest) for key, value, rest in top if key in {"name", "description"}}
    return Front(facts.get("name", ""), facts.get("description", ""), metadata)


_Entry = tuple[str, str, Sequence[str]]


def _entries(lines: Sequence[str]) -> list[_Entry]:
    """Return (key, what stands behind it, the deeper lines below it) of every key at the start of a line."""
    found: list[tuple[str, str, list[str]]] = []
    for line in lines:
        key = _KEY.match(line)
        if key:
            found.append((key["key"], (key["value"] or "").strip(), []))
        elif found and (not line.strip() or line[0] in " \t"):
            found[-1][2].append(line)
    return list(found)


def _rest(entries: Sequence[_Entry], wanted: str) -> Sequence[str]:
    return next((rest for key, value, rest in entries if key == wanted and not value), ())


def _dedent(lines: Sequence[str]) -> list[str]:
    depth = min((len(line) - len(line.lstrip(" ")) for line in lines if line.strip()), default=0)
    return [line[depth:] for line in lines]


def _scalar(value: str, rest: Sequence[str]) -> str:
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
