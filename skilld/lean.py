"""Imports libraries without what they import for uses that skilld has none of: megabytes of a daemon that idles."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType


@contextmanager
def without(*names: str, **held: object) -> Iterator[None]:
    """Have these modules hold nothing but `held` for who imports them meanwhile; those that are loaded already stay."""
    absent = [name for name in names if name not in sys.modules]
    for name in absent:
        sys.modules[name] = ModuleType(name)
        vars(sys.modules[name]).update(held)
    try:
        yield
    finally:
        for name in absent:
            del sys.modules[name]
