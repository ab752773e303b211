"""Transcripts that are being read: of each its parser and how far it came, of the newest few only."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from skilld.crash import report
from skilld.intake.agents.base import Parser, skimming
from skilld.intake.block import Block
from skilld.intake.source import Cursor
from skilld.store.files import StoredFile
from skilld.types import Event, RawLine


class ParsingError(Exception):
    """An adapter failed on a line, which it never should. The text says so, and nothing of the line."""


@dataclass
class Opened:
    """One file in memory. `cursor` may be ahead of the stored one while lines wait for their outcome."""

    file: StoredFile
    parser: Parser
    cursor: Cursor | None
    mtime: float = 0.0

    @property
    def waits(self) -> bool:
        """Whether a line was read whose outcome only a later line, or idleness, decides."""
        return self.cursor is not None and self.parser.checkpoint(self.cursor.offset)[0] < self.cursor.offset

    def feed(self, part: Block | RawLine) -> list[Event]:
        """Return the events of some lines, or of one. Raises ParsingError."""
        if isinstance(part, RawLine):
            return _guarded(lambda: self.parser.feed(part))
        return _guarded(lambda: skimming(self.parser)(part))

    def flush(self) -> list[Event]:
        """Return the events that waited for lines which will not come. Raises ParsingError."""
        return _guarded(self.parser.flush)


class OpenFiles:
    """The files that were read last, at most `most` beside those in which something waits."""

    def __init__(self, most: int = 64) -> None:
        self._most = most
        self._files: OrderedDict[str, Opened] = OrderedDict()

    def get(self, path: str) -> Opened | None:
        """Return an open file."""
        if path in self._files:
            self._files.move_to_end(path)
        return self._files.get(path)

    def add(self, path: str, opened: Opened) -> None:
        """Keep a file open, and close those that nothing waits in and that were not used for longest."""
        self._files.pop(path, None)
        while len(self._files) >= self._most:
            idle = next((name for name, other in self._files.items() if not other.waits), None)
            if idle is None:
                break
            del self._files[idle]
        self._files[path] = opened

    def forget(self, path: str) -> None:
        """Close a file: what its parser was fed and the store does not have will be read again."""
        self._files.pop(path, None)

    def idle(self, since: float) -> list[tuple[str, Opened]]:
        """Return the files that did not grow since a Unix time."""
        return [(path, opened) for path, opened in self._files.items() if opened.cursor and opened.mtime <= since]


def _guarded(parse: Callable[[], list[Event]]) -> list[Event]:
    try:
        return parse()
    except Exception as error:  # noqa: BLE001 - our own bug; one transcript must not stop the others
        report(error, ["run"])
        raise ParsingError(f"a bug in skilld: {type(error).__name__}") from None
