"""Adds skilld's entry to another program's settings and removes it, leaving every other byte unchanged. Pure.

A JSON file gets a member at its start, any other file a block of lines at its end. If the program rewrites its file,
the member is recognized by its value, and the block by its two markers.
"""

from __future__ import annotations

import json
import re
from typing import Any

from skilld.errors import SkilldError
from skilld.values import value_class

_BLANK_PATTERN = re.compile(r"[ \t\r\n]*")
_BEGIN_MARK = "# skilld statusline: begin"
_UNENDED_MARK = f"{_BEGIN_MARK} (after an unterminated line)"
_END_MARK = "# skilld statusline: end"
# The second was written by older versions.
_UNENDED_STARTS = (f"{_UNENDED_MARK}\n", f"{_BEGIN_MARK} (after a line without an end)\n")
_BLOCK_PATTERN = re.compile(
    rf"^{_BEGIN_MARK}(?: \(after (?:an unterminated line|a line without an end)\))?\n"
    rf"(?:(?!{_END_MARK}$|{_BEGIN_MARK}).*\n)*+{_END_MARK}\n?",
    re.MULTILINE,
)


@value_class
class _Member:
    key: str
    value: Any
    start: int
    end: int


def put_member(text: str | None, key: str, value: object) -> str:
    """Return the JSON object `text`, or a new one, with one more member, its first. SkilldError if it has that key."""
    written = f"{json.dumps(key)}: {json.dumps(value)}"
    if text is None:
        return f"{{\n  {written}\n}}\n"
    opened, members = _members(text)
    if any(one.key == key for one in members):
        raise SkilldError("The file was left unchanged", f"it already has its own {key}")
    blank = text[opened : members[0].start] if members else "\n  "
    return f"{text[:opened]}{blank}{written}{',' if members else ''}{text[opened:]}"


def remove_member(text: str, key: str, value: object) -> str:
    """Return the JSON object without that member, if it has this value. Raises SkilldError if it is not an object."""
    opened, members = _members(text)
    for number, one in enumerate(members):
        if (one.key, one.value) == (key, value):
            if number + 1 < len(members):
                return text[: one.start] + text[members[number + 1].start :]
            return text[: members[number - 1].end if number else opened] + text[one.end :]
    return text


def is_empty(text: str) -> bool:
    """Whether a text is a JSON object without members."""
    return not _members(text)[1]


def _members(text: str) -> tuple[int, list[_Member]]:
    """Return the offset after the object's opening brace, and its members."""
    try:
        if not isinstance(json.loads(text), dict):
            raise SkilldError("The file was left unchanged", "it is not a JSON object")
    except (ValueError, RecursionError) as error:
        raise SkilldError("The file was left unchanged", f"it is not plain JSON ({error})") from error
    decoder, at = json.JSONDecoder(), _skip_blank(text, 0) + 1
    opened, members = at, []
    while text[at := _skip_blank(text, at)] != "}":
        key, end = decoder.raw_decode(text, at)
        value, ended = decoder.raw_decode(text, _skip_blank(text, _skip_blank(text, end) + 1))  # after the colon
        members.append(_Member(key, value, at, ended))
        at = _skip_blank(text, ended)
        at += text[at] == ","
    return opened, members


def _skip_blank(text: str, at: int) -> int:
    found = _BLANK_PATTERN.match(text, at)
    return found.end() if found else at


def put_block(text: str | None, lines: str) -> str:
    """Return the text with our block of lines at its end. Raises SkilldError if it already has one."""
    before = text or ""
    if _BLOCK_PATTERN.search(before):
        raise SkilldError("The file was left unchanged", "it already contains skilld's status line")
    unended = before != "" and not before.endswith("\n")
    return f"{before}{chr(10) if unended else ''}{_UNENDED_MARK if unended else _BEGIN_MARK}\n{lines}{_END_MARK}\n"


def remove_block(text: str) -> str:
    """Return the text without our block, as it was before. Anything added after it stays."""
    if (found := _BLOCK_PATTERN.search(text)) is None:
        return text
    start, end = found.span()
    if text.startswith(_UNENDED_STARTS, start) and end == len(text):
        start -= 1  # the line end that was added to the line before
    return text[:start] + text[end:]
