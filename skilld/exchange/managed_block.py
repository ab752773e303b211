"""Inserts, updates and removes skilld's managed block in another program's text file. Bytes in, bytes out.

The first marker has a hash of the content and how the block was joined to the text before it, so that an edited block
is detected and removing it restores the original bytes. Markers count only on their own lines outside fenced code: a
file may show them as an example (SAFETY T-35).
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping

from skilld.errors import SkilldError
from skilld.values import value_class

_START_PATTERN = re.compile(rb"<!-- skilld:skills:start join=(new|[012]) hash=([0-9a-f]{16}) \S.*-->[ \t]*")
_ANY_START_PATTERN = re.compile(rb"<!--[ \t]*skilld:skills:start\b")
_END_PATTERN = re.compile(rb"<!-- skilld:skills:end -->[ \t]*")
_ANY_END_PATTERN = re.compile(rb"<!--[ \t]*skilld:skills:end\b")
_LINE_PATTERN = re.compile(rb"([^\r\n]*)(\r\n|\n|\r|\Z)")
# https://spec.commonmark.org/0.31.2/#fenced-code-blocks
_FENCE_PATTERN = re.compile(rb" {0,3}(`{3,}(?=[^`]*$)|~{3,})(.*)")


class BlockError(SkilldError):
    """The block cannot be changed; the file stays unchanged."""

    def __init__(self, cause: str, remedy: str = "") -> None:
        super().__init__("The file was left unchanged", cause, remedy)


@value_class
class _Block:
    """The position of a block: `start` to `end` with its markers, and the body between them."""

    start: int
    body: int
    body_end: int
    end: int
    join: bytes
    hash: bytes


def put_block(data: bytes | None, body: str) -> bytes:
    """Return the file with a block of `body` (lines ending with a newline); `data` is None if there is no file.

    An existing block is replaced, a new one is appended. Raises BlockError if a block was edited, is incomplete or not
    the only one, or if the file is not UTF-8 or ends inside fenced code.
    """
    if data is None:
        return _build_block(body, b"new", b"\n")
    block = _find_block(data)
    if block is not None:
        _check_unedited(data, block)
        ending = _line_ending(data[block.start :])
        return data[: block.start] + _build_block(body, block.join, ending) + data[block.end :]
    ending = _line_ending(data)
    join = 0 if not data else 1 if data.endswith(b"\n") else 2
    return data + ending * join + _build_block(body, b"%d" % join, ending)


def remove_block(data: bytes) -> bytes | None:
    """Return the original file without the block, None if there was no file. Raises BlockError like `put_block`."""
    block = _find_block(data, for_removal=True)
    if block is None:
        return data
    _check_unedited(data, block)
    before, after = data[: block.start], data[block.end :]
    if block.join == b"new":
        return before + after or None
    # Text added below the block begins on a line of its own.
    kept = 1 if after and block.join == b"2" else 0
    return before[: len(before) - len(_line_ending(data[block.start :])) * (int(block.join) - kept)] + after


def read_block(data: bytes) -> str | None:
    """Return the block's content with bare newlines, None if there is no block. Raises BlockError like `put_block`."""
    block = _find_block(data, for_removal=True)
    return None if block is None else _with_bare_newlines(data[block.body : block.body_end]).decode("utf-8")


def _build_block(body: str, join: bytes, ending: bytes) -> bytes:
    text = body.encode("utf-8")
    start = b"<!-- skilld:skills:start join=%b hash=%b written by `skilld sync`, not to be edited -->\n"
    whole = start % (join, _hash(text)) + text + b"<!-- skilld:skills:end -->\n"
    return whole.replace(b"\n", ending)


def _find_block(data: bytes, *, for_removal: bool = False) -> _Block | None:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        raise BlockError("it is not UTF-8 text") from None
    if b"\0" in data:
        raise BlockError("it contains a NUL byte, so it is not text")
    lines, open_fence = _lines_outside_code(data)
    starts = [found for found in lines if _ANY_START_PATTERN.match(found[0])]
    ends = [found for found in lines if _ANY_END_PATTERN.match(found[0])]
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
    match = _START_PATTERN.fullmatch(first)
    if match is None or not _END_PATTERN.fullmatch(last):
        raise BlockError("a marker of its skilld block was edited", "Remove the block by hand, then sync again.")
    return _Block(start, body, body_end, end, match[1], match[2])


def _lines_outside_code(data: bytes) -> tuple[list[tuple[bytes, int, int]], bool]:
    """Return each line outside fenced code with its start and end, and whether a fence is still open at the end."""
    lines = []
    fence = b""
    for match in _LINE_PATTERN.finditer(data):
        if not match[0]:
            break
        line = match[1].removeprefix(b"\xef\xbb\xbf") if match.start() == 0 else match[1]
        mark = _FENCE_PATTERN.fullmatch(line)
        if fence:
            if mark and mark[1].startswith(fence) and not mark[2].strip():
                fence = b""
        elif mark:
            fence = mark[1]
        else:
            lines.append((line, match.start(), match.end()))
    return lines, bool(fence)


def _check_unedited(data: bytes, block: _Block) -> None:
    if _hash(_with_bare_newlines(data[block.body : block.body_end])) != block.hash:
        raise BlockError(
            "its skilld block was edited by hand", "Move your text out of the block, then remove the block."
        )


def _hash(text: bytes) -> bytes:
    return hashlib.sha256(text).hexdigest()[:16].encode()


def _with_bare_newlines(data: bytes) -> bytes:
    """Return the bytes with bare newlines: git may have changed the line endings."""
    return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")


def _line_ending(data: bytes) -> bytes:
    """Return the line ending for the block: the file's first one, never a bare CR."""
    first = re.search(rb"\r?\n", data)
    return first[0] if first else b"\n"


# The file of a project from which each agent reads standing instructions, from the agents' documentation.


@value_class
class InstructionFile:
    """A file in a project. `front` is the start of a file that skilld creates, "" if the file is the person's."""

    path: str
    front: str = ""


_AGENTS_FILE = InstructionFile("AGENTS.md")
INSTRUCTION_FILES: Mapping[str, InstructionFile] = {
    "claude-code": InstructionFile("CLAUDE.md"),
    "codex": _AGENTS_FILE,
    "opencode": _AGENTS_FILE,
    "pi": _AGENTS_FILE,
    "gemini-cli": InstructionFile("GEMINI.md"),
    "qwen-code": InstructionFile("QWEN.md"),
    "copilot-cli": InstructionFile(".github/copilot-instructions.md"),
    "cursor": InstructionFile(
        ".cursor/rules/skilld.mdc", "---\ndescription: Skills of this project\nalwaysApply: true\n---\n\n"
    ),
}
