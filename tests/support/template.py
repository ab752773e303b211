"""A folder of homes and repositories that is created once, and copied to the same path for each test."""

from __future__ import annotations

import copy
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Generic, TypeVar

T = TypeVar("T")


class Template(Generic[T]):
    """The result of `make`, which fills a folder below `below`, together with that folder."""

    def __init__(self, below: Path, make: Callable[[Path], T]) -> None:
        self._there, self._kept = below / "there", below / "kept"
        self._there.mkdir()
        self._made = make(self._there)
        self._there.rename(self._kept)

    @contextmanager
    def copy(self) -> Iterator[T]:
        """Yield a copy in its original state."""
        shutil.copytree(self._kept, self._there, symlinks=True)
        try:
            yield copy.deepcopy(self._made)
        finally:
            shutil.rmtree(self._there)
