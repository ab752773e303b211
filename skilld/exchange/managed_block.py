"""The managed block in someone else's text file: inserted, updated, and removed without a trace.

Bytes in, bytes out. The first marker carries a hash of what was written and how the block was joined to the text
before it, so that an edited block is noticed and taking it out gives the file's own bytes back. Markers count only on
lines of their own outside fenced code: a file may show them as an example (SAFETY T-35).
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass

from skilld.errors import SkilldError

_START = re.compile(rb"<!-- skilld:skills:start join=(new|[012]) hash=([0-9a-f]{16}) \S.*-->[ \t]*")
_ANY_START = re.compile(rb"<!--[ \t]*skilld:skills:start\b")
_END = re.compile(rb"<!-- skilld:skills:end -->[ \t]*")
_ANY_END = re.compile(rb"<!--[ \t]*skilld:skills:end\b")
_LINE = re.compile(rb"([^\r\n]*)(\r\n|\n|\r|\Z)")
# https://spec.commonmark.org/0.31.2/#fenced-code-blocks
_FENCE = re.compile(rb" {0,3}(`{3,}(?=[^`]*$)|~{3,})(.*)")


class BlockError(SkilldError):
    """The file is not in a state in which the block can be touched; it stays as it is."""

    def __init__(self, cause: str, remedy: str = "") -> None:
        super().__init__("The file was left unchanged", cause, remedy)


@dataclass(frozen=True, slots=True)
class _Block:
    """Where a block stands: `start` to `end` with its markers, and the body between them."""

    start: int
    body: int
    body_end: int
    end: int
    join: bytes
    hash: bytes


def put(data: bytes | None, body: str) -> bytes:
    """Return the file with the block holding `body` (lines ended by a newline); `data` is None if there is no file.

    A block that is there is renewed in its place, else it is put at the end. Raises BlockError if a block was
    edited, is not whole or not the only one, where the file is no UTF-8, or ends inside fenced code.
    """
    if data is None:
        return _block(body, b"new", b"\n")
    block = _find(data)
    if block is not None:
        _check_unedited(data, block)
        ending = _ending(data[block.start :])
        return data[: block.start] + _block(body, block.join, ending) + data[block.end :]
    ending = _ending(data)
    join = 0 if not data else 1 if data.endswith(b"\n") else 2
    return data + ending * join + _block(body, b"%d" % join, ending)


def take_out(data: bytes) -> bytes | None:
    """Return the file without the block, as it was before: None if there was none. Raises BlockError as `put`."""
    block = _find(data, for_removal=True)
    if block is None:
        return data
    _check_unedited(data, block)
    before, after = data[: block.start], data[block.end :]
    if block.join == b"new":
        return before + after or None
    # Whoever wrote on below the block wrote on a line of its own.
    kept = 1 if after and block.join == b"2" else 0
    return before[: len(before) - len(_ending(data[block.start :])) * (int(block.join) - kept)] + after


def body_of(data: bytes) -> str | None:
    """Return what the block holds, newlines bare; None if there is no block. Raises BlockError as `put`."""
    block = _find(data, for_removal=True)
    return None if block is None else _bare(data[block.body : block.body_end]).decode("utf-8")


def _block(body: str, join: bytes, ending: bytes) -> bytes:
    text = body.encode("utf-8")
    start = b"<!-- skilld:skills:start join=%b hash=%b written by `skilld sync`, not to be edited -->\n"
    whole = start % (join, _hash(text)) + text + b"<!-- skilld:skills:end -->\n"
    return whole.replace(b"\n", ending)


def _find(data: bytes, *, for_removal: bool = False) -> _Block | None:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        raise BlockError("it is not UTF-8 text") from None
    if b"\0" in data:
        raise BlockError("it contains a NUL byte, so it is not text")
    lines, open_fence = _outside_code(data)
    starts = [found for found in lines if _ANY_START.match(found[0])]
    ends = [found for found in lines if _ANY_END.match(found[0])]
    if not starts and not ends:
        if open_fence and not for_removal:
            raise BlockError("it ends inside an unclosed code fence", "Close the fence.")
        return None
    if len(starts) != 1 or len(ends) != 1 or ends[0][1] < starts[0][2]:
        raise BlockError(
            "it must have exactly one start marker and one end marker for the skilld block",
            "Remove the markers and the lines between them by hand.",
        )
    (first, start, body), (last, body_end, end) = starts[0], ends[0]
    match = _START.fullmatch(first)
    if match is None or not _END.fullmatch(last):
        raise BlockError("a marker of its skilld block was edited", "Remove the block by hand, then sync again.")
    return _Block(start, body, body_end, end, match[1], match[2])


def _outside_code(data: bytes) -> tuple[list[tuple[bytes, int, int]], bool]:
    """Return each line outside fenced code with its start and end, and whether a fence is still open at the end."""
    lines = []
    fence = b""
    for match in _LINE.finditer(data):
        if not match[0]:
            break
        line = match[1].removeprefix(b"\xef\xbb\xbf") if match.start() == 0 else match[1]
        mark = _FENCE.fullmatch(line)
        if fence:
            if mark and mark[1].startswith(fence) and not mark[2].strip():
                fence = b""
        elif mark:
            fence = mark[1]
        else:
            lines.append((line, match.start(), match.end()))
    return lines, bool(fence)


def _check_unedited(data: bytes, block: _Block) -> None:
    if _hash(_bare(data[block.body : block.body_end])) != block.hash:
        raise BlockError(
            "its skilld block was edited by hand", "Move your text out of the block, then remove the block."
        )


def _hash(text: bytes) -> bytes:
    return hashlib.sha256(text).hexdigest()[:16].encode()


def _bare(data: bytes) -> bytes:
    """Return the bytes with bare newlines: git may have changed the others meanwhile."""
    return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")


def _ending(data: bytes) -> bytes:
    """Return the line ending that a block is written with: the file's first one, never a bare CR."""
    first = re.search(rb"\r?\n", data)
    return first[0] if first else b"\n"


# Which file of a project an agent reads its standing instructions from. Data, from the agents' own documentation.


@dataclass(frozen=True, slots=True)
class Target:
    """A file below a project. `front` is what a file of our own begins with, empty if the file is the person's."""

    path: str
    front: str = ""


_AGENTS = Target("AGENTS.md")
TARGETS: Mapping[str, Target] = {
    "claude-code": Target("CLAUDE.md"),
    "codex": _AGENTS,
    "opencode": _AGENTS,
    "pi": _AGENTS,
    "gemini-cli": Target("GEMINI.md"),
    "qwen-code": Target("QWEN.md"),
    "copilot-cli": Target(".github/copilot-instructions.md"),
    "cursor": Target(
        ".cursor/rules/skilld.mdc", "---\ndescription: Skills of this project\nalwaysApply: true\n---\n\n"
    ),
}
