"""Gather a session's records if it is not a file of lines but a JSON document.

Takes an adapter's `base.SessionFiles`; yields records as JSON, the head of the session first. A document is never held
in full: its values are read one by one, each up to a maximum length.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from pathlib import PurePath
from typing import Any

from skilld.agents.base import SessionFiles, TruncatedFileError
from skilld.values import value_class

_MAX_LENGTH = 8 << 20  # characters of one value of a document
_BLANK = re.compile(r"[\s,:]*")
_DECODER = json.JSONDecoder()


@value_class
class Document:
    """A JSON object that is rewritten as a whole, with the records in its list `array`; the `head` keys come first."""

    array: str
    head: tuple[str, ...] = ()

    def __call__(self, path: PurePath, files: SessionFiles) -> Iterator[bytes]:
        """Yield the head, then the records; no records if the file is not such a document."""
        head = {}
        for key, value in _values(files.pieces(path.name), self.array):
            if key in self.head:
                head[key] = value
            if len(head) == len(self.head):
                break
        yield json.dumps({"head": head}).encode()
        for key, value in _values(files.pieces(path.name), self.array):
            if key == self.array and isinstance(value, dict):
                yield json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")


def _values(pieces: Iterator[bytes], array: str) -> Iterator[tuple[str, Any]]:
    """Yield key and value of each entry of a JSON object; for the list `array`, each element with its key.

    Raises TruncatedFileError if the file ends before the object does.
    """
    window = _Window(pieces)
    if window.peek() != "{":
        return
    window.at += 1
    while (mark := window.peek()) == '"':
        key = window.value()
        if key != array or window.peek() != "[":
            yield str(key), window.value()
            continue
        window.at += 1
        while (mark := window.peek()) not in ("]", ""):
            yield array, window.value()
        if mark == "":
            raise TruncatedFileError
        window.at += 1
    if mark != "}":
        raise TruncatedFileError


class _Window:
    """A part of a text that is read only as far as needed."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self.text = ""
        self.at = 0

    def peek(self) -> str:
        """Return the next character that is not a blank, comma or colon, "" at the end."""
        while True:
            blank = _BLANK.match(self.text, self.at)
            self.at = blank.end() if blank else self.at
            if self.at < len(self.text) or not self._read_more():
                return self.text[self.at : self.at + 1]

    def value(self) -> Any:  # noqa: ANN401 - JSON
        """Return the JSON value that starts here. Raises TruncatedFileError if invalid, incomplete or too long."""
        self.peek()
        while True:
            try:
                found, end = _DECODER.raw_decode(self.text, self.at)
            except (ValueError, RecursionError):
                if len(self.text) - self.at > _MAX_LENGTH or not self._read_more():
                    raise TruncatedFileError from None
                continue
            if end == len(self.text) and not isinstance(found, dict | list | str) and self._read_more():
                continue  # a number may continue
            self.at = end
            return found

    def _read_more(self) -> bool:
        """Read about as much again; return whether there was more."""
        parts, size, wanted = [self.text[self.at :]], 0, max(1 << 16, len(self.text) - self.at)
        while size < wanted and (piece := next(self._pieces, None)) is not None:
            parts.append(self._decoder.decode(piece))
            size += len(piece)
        self.text, self.at = "".join(parts), 0
        return size > 0
