"""Checks a SKILL.md against the Agent Skills specification: its text in, its faults out. Pure.

The rules are those of https://agentskills.io/specification. Only the plain YAML that all clients read alike is parsed
(`read_front`); anything else is a fault, so that a text without faults is understood everywhere.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import field
from itertools import pairwise

from skilld.values import value_class

# Not a YAML parser, so that front matter can do no harm: it reads keys at the start of a line, each with a plain,
# quoted or block scalar, and one level of `metadata`; it ignores everything else.

MAX_BYTES = 64 * 1024
KEY_PATTERN = re.compile(r"(?P<key>[A-Za-z][\w-]{0,63})[ \t]*:(?:[ \t]+(?P<value>.*))?$")
_BLOCK_PATTERN = re.compile(r"(?P<style>[|>])[-+0-9]{0,2}[ \t]*(?:#.*)?$")
_COMMENT_PATTERN = re.compile(r"(?<![ \t])[ \t]++#.*$")
_ESCAPES = {'"': '"', "\\": "\\", "n": "\n", "t": "\t", "/": "/"}


@value_class
class FrontMatter:
    """The facts in the front matter; empty if it cannot be read."""

    name: str = ""
    description: str = ""
    metadata: dict[str, str] = field(default_factory=dict)


def read_front(text: str) -> FrontMatter:
    """Return the facts in the front matter of a SKILL.md's text. Never raises."""
    top = entries(front_lines(text) or ())
    metadata = {key: scalar(value, rest) for key, value, rest in entries(metadata_lines(top))}
    facts = {key: scalar(value, rest) for key, value, rest in top if key in {"name", "description"}}
    return FrontMatter(facts.get("name", ""), facts.get("description", ""), metadata)


Entry = tuple[str, str, Sequence[str]]


def front_lines(text: str) -> list[str] | None:
    """Return the lines between the fences of the front matter; None if it is missing, open or too long."""
    lines = text.removeprefix("\ufeff")[:MAX_BYTES].splitlines()
    if not lines or lines[0].rstrip() != "---":
        return None
    end = next((i for i, line in enumerate(lines[1:], 1) if line.rstrip() == "---"), None)
    return None if end is None else lines[1:end]


def entries(lines: Sequence[str]) -> list[Entry]:
    """Return (key, value, indented lines below) for every key at the start of a line."""
    found: list[tuple[str, str, list[str]]] = []
    for line in lines:
        if key := KEY_PATTERN.match(line):
            value = (key["value"] or "").strip()
            found.append((key["key"], "" if value.startswith("#") else value, []))
        elif found and (not line.strip() or line[0] in " \t"):
            found[-1][2].append(line)
    return list(found)


def metadata_lines(top: Sequence[Entry]) -> list[str]:
    """Return the lines below `metadata`, dedented."""
    lines = next((rest for key, value, rest in top if key == "metadata" and not value), ())
    depth = min((len(line) - len(line.lstrip(" ")) for line in lines if line.strip()), default=0)
    return [line[depth:] for line in lines]


def scalar(value: str, rest: Sequence[str]) -> str:
    """Return the text of a plain, quoted or block scalar from a key's value and the indented lines below it."""
    if block := _BLOCK_PATTERN.match(value):
        joined = "\n" if block["style"] == "|" else " "
        return joined.join(line.strip() for line in rest).strip()
    whole = " ".join([value, *(line.strip() for line in rest)]).strip()
    if whole[:1] == "'":
        match = re.match(r"'((?:[^']|'')*)'", whole)
        return match[1].replace("''", "'") if match else ""
    if whole[:1] == '"':
        match = re.match(r'"((?:[^"\\]|\\.)*)"', whole)
        return re.sub(r"\\(.)", lambda found: _ESCAPES.get(found[1], found[0]), match[1]) if match else ""
    return _COMMENT_PATTERN.sub("", whole).strip()


MAX_NAME = 64
MAX_DESCRIPTION = 1024
MAX_COMPATIBILITY = 500
MAX_LINES = 500

NAME_PATTERN = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_KEYS = frozenset({"name", "description", "license", "compatibility", "metadata", "allowed-tools"})
_NO_PLAIN_STARTS = tuple("[]{}&*!|>%@`,\"'#")  # no plain scalar starts with one (YAML 1.2, 5.3)
_INDICATOR_PATTERN = re.compile(r"[-?:](?:\s|$)")
_QUOTED_PATTERN = re.compile(
    r"""(?:'(?:[^']|'')*'|"(?:[^"\\]|\\["\\/abefnrtv0 N_LP]|\\x[0-9A-Fa-f]{2}|\\u[0-9A-Fa-f]{4})*")"""
)
_REMARK_PATTERN = re.compile(r"(?<!\s)\s++#.*$")
_CONTROL_PATTERN = re.compile(r"[\x00-\x09\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
_BLOCK_SCALAR_PATTERN = re.compile(r"[|>](?:[-+]?[1-9]?|[1-9][-+])(?:\s+#.*)?")


def find_faults(text: str, folder_name: str) -> tuple[str, ...]:
    """Return why a SKILL.md in a folder of this name is invalid, as clauses for the person; none if it is valid.

    An unquoted number or date in `metadata` counts as text, as it does for the specification's own validator.
    """
    return tuple(_all_faults(text, folder_name))


def load_fault(text: str) -> str:
    """Return why an agent cannot load a SKILL.md, or does not know when to; "" if it can."""
    lines = front_lines(text)
    if not text.strip():
        return "it is empty"
    if lines is None:
        return "it does not start with front matter between two lines of three hyphens"
    top = entries(lines)
    about = next(((value, rest) for key, value, rest in top if key == "description"), ("", []))
    if _has_stray_lines([line for line in lines if not line.startswith("- ")]):  # YAML lets a key's list begin there
        return "its front matter has lines that belong to no key"
    if about[1] and not _is_text(*about):  # a colon in a single line is read by all the same
        return "its description is not text"
    return "" if scalar(*about).strip() else "it has no description"


def _all_faults(text: str, folder_name: str) -> Iterator[str]:
    if "\0" in text or any("\ud800" <= char <= "\udfff" for char in text):
        yield "it contains characters that are not allowed in a text file"
        return
    lines = front_lines(text)
    if lines is None:
        yield f"it does not start with front matter (two lines of three hyphens, at most {MAX_BYTES} characters apart)"
        return
    whole = text.removeprefix("\ufeff").splitlines(keepends=True)
    if _CONTROL_PATTERN.search("".join(whole[: len(lines) + 1])):
        yield "its front matter contains tabs or control characters"
        return
    top = entries(lines)
    yield from _value_faults(lines, top)
    yield from _key_faults(top)
    values = {key: scalar(value, rest) for key, value, rest in top}
    yield from _name_faults(values.get("name", ""), folder_name)
    yield from _length_faults("description", values.get("description", ""), MAX_DESCRIPTION)
    if "compatibility" in values:
        yield from _length_faults("compatibility", values["compatibility"], MAX_COMPATIBILITY)
    yield from _metadata_faults(top)
    if not any(line.strip() for line in whole[len(lines) + 2 :]):
        yield "it has no text after its front matter"
    if len(whole) > MAX_LINES:
        yield f"it has {len(whole)} lines; the limit is {MAX_LINES}"


def _value_faults(lines: Sequence[str], top: Sequence[Entry]) -> Iterator[str]:
    """Yield faults for lines of the front matter that belong to no key, and for values that are not text."""
    if _has_stray_lines(lines):
        yield "its front matter has lines that belong to no key"
    for key, value, rest in top:
        if key != "metadata" and not _is_text(value, rest):
            yield f"its {key} is not text"


def _has_stray_lines(lines: Sequence[str]) -> bool:
    """Whether some line belongs to no key, or a comment separates it from its key."""
    pending = ["#", *(line for line in lines if line.strip())]
    is_below = any(one.startswith("#") and other.startswith(" ") for one, other in pairwise(pending))
    return is_below or any(not line.startswith((" ", "#")) and not KEY_PATTERN.match(line) for line in pending)


def _key_faults(top: Sequence[Entry]) -> Iterator[str]:
    for key, times in Counter(key for key, _, _ in top).items():
        if key not in _KEYS:
            yield f"its key {key} is not in the specification"
        if times > 1:
            yield f"it has the key {key} twice"


def _name_faults(name: str, folder_name: str) -> Iterator[str]:
    if not name:
        yield "it has no name"
    elif not NAME_PATTERN.fullmatch(name):
        yield "its name can contain only lowercase letters, digits and single hyphens"
    if len(name) > MAX_NAME:
        yield f"its name is {len(name)} characters long; the limit is {MAX_NAME}"
    if name and name != folder_name:
        yield "its name does not match its folder's name"


def _length_faults(key: str, value: str, limit: int) -> Iterator[str]:
    if not value.strip():
        yield f"it has no {key}"
    elif len(value) > limit:
        yield f"its {key} is {len(value)} characters long; the limit is {limit}"


def _metadata_faults(top: Sequence[Entry]) -> Iterator[str]:
    found = next(((value, rest) for key, value, rest in top if key == "metadata"), None)
    if found is None:
        return
    lines = metadata_lines(top)
    inner = entries(lines)
    if found[0] or not inner or _has_stray_lines(lines):
        yield "its metadata is not a mapping"
    for key, value, rest in inner:
        if not _is_text(value, rest):
            yield f"the value of {key} in its metadata is not text"
    for key, times in Counter(key for key, _, _ in inner).items():
        if times > 1:
            yield f"its metadata has the key {key} twice"


def _is_text(value: str, rest: Sequence[str]) -> bool:
    """Whether YAML reads the value as one scalar."""
    if _BLOCK_SCALAR_PATTERN.fullmatch(value):
        return True
    lines = [line.strip() for line in (value, *rest) if line.strip()]
    whole = " ".join(lines)
    if whole[:1] in {"'", '"'}:
        return bool(_QUOTED_PATTERN.fullmatch(_without_remark(whole)))
    if not whole or whole.startswith(_NO_PLAIN_STARTS) or _INDICATOR_PATTERN.match(whole):
        return False
    parts = [_REMARK_PATTERN.sub("", line) for line in lines]
    if any(part != line for part, line in zip(parts[:-1], lines[:-1], strict=True)):
        return False  # a comment ends a plain scalar, so the lines below it belong to nothing
    return not any(": " in f"{part} " or part.startswith("#") for part in parts)


def _without_remark(text: str) -> str:
    found = _QUOTED_PATTERN.match(text)
    tail = text[found.end() :] if found else ""
    return text[: len(text) - len(tail)] if _REMARK_PATTERN.fullmatch(tail) else text


def valid_name(name: str) -> str:
    """Return the nearest valid name, such as add-uber for AddÜber; "" if there is none."""
    parted = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", unicodedata.normalize("NFKD", name))
    plain = "".join(char for char in parted.casefold() if not unicodedata.combining(char))
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:MAX_NAME].rstrip("-")
