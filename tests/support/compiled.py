"""Long regular expressions, each compiled by one process of a run for all: those of the languages take four seconds.

What compiling comes to is a list of numbers, which Python makes a pattern of at once. It is kept in a folder that lasts
as long as the run, so all of it was made by the same Python.
"""

from __future__ import annotations

import _sre
import hashlib
import marshal
import re
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

_LONG = 400  # characters; shorter ones compile in less time than a file is read
_compiler: Any = cast("Any", re)._compiler
_made = threading.local()


class _Machine:
    """Python's own machine for patterns, which remembers of what the last one was made."""

    def __getattr__(self, name: str) -> Any:
        return getattr(_sre, name)

    def compile(self, *parts: Any) -> Any:
        _made.parts = parts
        return cast("Any", _sre).compile(*parts)


def share_in(folder: Path) -> None:
    """Take compiled expressions from a folder from here on, and put others into it."""
    compile_it = _compiler.compile

    def compiled(pattern: Any, flags: int = 0) -> Any:
        if not isinstance(pattern, str) or len(pattern) < _LONG:
            return compile_it(pattern, flags)
        path = folder / hashlib.sha256(f"{int(flags)} {pattern}".encode("utf-8", "surrogatepass")).hexdigest()
        with suppress(FileNotFoundError):
            return cast("Any", _sre).compile(pattern, *marshal.loads(path.read_bytes()))
        found = compile_it(pattern, flags)
        _, all_flags, code, *names = _made.parts
        part = path.with_name(f"{path.name}.{threading.get_native_id()}")
        part.write_bytes(marshal.dumps((int(all_flags), [*map(int, code)], *names)))
        part.replace(path)
        return found

    _compiler._sre, _compiler.compile = _Machine(), compiled
