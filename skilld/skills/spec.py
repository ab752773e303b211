"""Checks a SKILL.md against the Agent Skills specification: its text in, its faults out. Pure.

Rules of https://agentskills.io/specification. Reads the plain YAML that all clients read alike (`front`); what it
cannot read counts as a fault, so that a text without faults is understood everywhere.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

# Not a YAML parser, so that no front matter can do anything to us: it reads keys at the start of a line with a plain,
# quoted or block scalar behind them, and one level of `metadata`; of anything else it sees nothing.

MAX_BYTES = 64 * 1024
KEY = re.compile(r"(?P<key>[A-Za-z][\w-]{0,63})[ \t]*:(?:[ \t]+(?P<value>.*))?$")
_BLOCK = re.compile(r"(?P<style>[|>])[-+0-9]{0,2}[ \t]*(?:#.*)?$")
_COMMENT = re.compile(r"(?<![ \t])[ \t]++#.*$")
_ESCAPES = {'"': '"', "\\": "\\", "n": "\n", "t": "\t", "/": "/"}


@dataclass(frozen=True, slots=True)
class Front:
    """What the front matter says; empty if it says nothing that is understood."""

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
    """Return the lines between the fences of the front matter; None if it is missing, open or too long."""
    lines = text.removeprefix("\ufeff")[:MAX_BYTES].splitlines()
    if not lines or lines[0].rstrip() != "---":
        return None
    end = next((i for i, line in enumerate(lines[1:], 1) if line.rstrip() == "---"), None)
    return None if end is None else lines[1:end]


def entries(lines: Sequence[str]) -> list[Entry]:
    """Return (key, what is behind it, the deeper lines below it) of every key at the start of a line."""
    found: list[tuple[str, str, list[str]]] = []
    for line in lines:
        if key := KEY.match(line):
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
    """Return the text of a plain, quoted or block scalar: what is behind a key, and the deeper lines below it."""
    if block := _BLOCK.match(value):
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


MAX_NAME = 64
MAX_DESCRIPTION = 1024
MAX_COMPATIBILITY = 500
MAX_LINES = 500

NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_KEYS = frozenset({"name", "description", "license", "compatibility", "metadata", "allowed-tools"})
_NO_PLAIN = tuple("[]{}&*!|>%@`,\"'#")  # what no plain scalar starts with (YAML 1.2, 5.3)
_NO_ITEM = re.compile(r"[-?:](?:\s|$)")
_QUOTED = re.compile(r"""(?:'(?:[^']|'')*'|"(?:[^"\\]|\\["\\/abefnrtv0 N_LP]|\\x[0-9A-Fa-f]{2}|\\u[0-9A-Fa-f]{4})*")""")
_REMARK = re.compile(r"(?<!\s)\s++#.*$")
_CONTROL = re.compile(r"[\x00-\x09\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
_BLOCK_SCALAR = re.compile(r"[|>](?:[-+]?[1-9]?|[1-9][-+])(?:\s+#.*)?")


def faults(text: str, folder_name: str) -> tuple[str, ...]:
    """Return what keeps a SKILL.md in a folder of this name from being a skill: clauses for the person, none if fit.

    An unquoted number or date in `metadata` counts as text, as it does for the specification's own validator.
    """
    return tuple(_faults(text, folder_name))


def _faults(text: str, folder_name: str) -> Iterator[str]:
    if "\0" in text or any("\ud800" <= char <= "\udfff" for char in text):
        yield "it contains characters that are not allowed in a text file"
        return
    lines = front_lines(text)
    if lines is None:
        yield f"it does not start with front matter (two lines of three hyphens, at most {MAX_BYTES} characters apart)"
        return
    whole = text.removeprefix("\ufeff").splitlines(keepends=True)
    if _CONTROL.search("".join(whole[: len(lines) + 1])):
        yield "its front matter contains tabs or control characters"
        return
    top = entries(lines)
    yield from _unread(lines, top)
    yield from _keys(top)
    said = {key: scalar(value, rest) for key, value, rest in top}
    yield from _name(said.get("name", ""), folder_name)
    yield from _length("description", said.get("description", ""), MAX_DESCRIPTION)
    if "compatibility" in said:
        yield from _length("compatibility", said["compatibility"], MAX_COMPATIBILITY)
    yield from _metadata(top)
    if not any(line.strip() for line in whole[len(lines) + 2 :]):
        yield "it has no text after its front matter"
    if len(whole) > MAX_LINES:
        yield f"it has {len(whole)} lines; the limit is {MAX_LINES}"


def _unread(lines: Sequence[str], top: Sequence[Entry]) -> Iterator[str]:
    """Yield faults for lines of the front matter that belong to no key, and for values that are no text."""
    if _is_stray(lines):
        yield "its front matter has lines that belong to no key"
    for key, value, rest in top:
        if key != "metadata" and not _is_text(value, rest):
            yield f"its {key} is not text"


def _is_stray(lines: Sequence[str]) -> bool:
    """Whether some line belongs to no key, or a remark parts it from its key."""
    said = ["#", *(line for line in lines if line.strip())]
    is_below = any(one.startswith("#") and other.startswith(" ") for one, other in pairwise(said))
    return is_below or any(not line.startswith((" ", "#")) and not KEY.match(line) for line in said)


def _keys(top: Sequence[Entry]) -> Iterator[str]:
    for key, times in Counter(key for key, _, _ in top).items():
        if key not in _KEYS:
            yield f"its key {key} is not in the specification"
        if times > 1:
            yield f"it has the key {key} twice"


def _name(name: str, folder_name: str) -> Iterator[str]:
    if not name:
        yield "it has no name"
    elif not NAME.fullmatch(name):
        yield "its name can contain only lowercase letters, digits and single hyphens"
    if len(name) > MAX_NAME:
        yield f"its name is {len(name)} characters long; the limit is {MAX_NAME}"
    if name and name != folder_name:
        yield "its name does not match its folder's name"


def _length(key: str, said: str, most: int) -> Iterator[str]:
    if not said.strip():
        yield f"it has no {key}"
    elif len(said) > most:
        yield f"its {key} is {len(said)} characters long; the limit is {most}"


def _metadata(top: Sequence[Entry]) -> Iterator[str]:
    found = next(((value, rest) for key, value, rest in top if key == "metadata"), None)
    if found is None:
        return
    lines = below(top, "metadata")
    inner = entries(lines)
    if found[0] or not inner or _is_stray(lines):
        yield "its metadata is not a mapping"
    for key, value, rest in inner:
        if not _is_text(value, rest):
            yield f"the value of {key} in its metadata is not text"
    for key, times in Counter(key for key, _, _ in inner).items():
        if times > 1:
            yield f"its metadata has the key {key} twice"


def _is_text(value: str, rest: Sequence[str]) -> bool:
    """Whether YAML reads one scalar there."""
    if _BLOCK_SCALAR.fullmatch(value):
        return True
    said = [line.strip() for line in (value, *rest) if line.strip()]
    whole = " ".join(said)
    if whole[:1] in {"'", '"'}:
        return bool(_QUOTED.fullmatch(_after_quoted(whole)))
    if not whole or whole.startswith(_NO_PLAIN) or _NO_ITEM.match(whole):
        return False
    parts = [_REMARK.sub("", line) for line in said]
    if any(part != line for part, line in zip(parts[:-1], said[:-1], strict=True)):
        return False  # a remark ends a plain scalar, so what is below it stands alone
    return not any(": " in f"{part} " or part.startswith("#") for part in parts)


def _after_quoted(whole: str) -> str:
    """Return a quoted scalar without the remark behind it."""
    found = _QUOTED.match(whole)
    tail = whole[found.end() :] if found else ""
    return whole[: len(whole) - len(tail)] if _REMARK.fullmatch(tail) else whole
