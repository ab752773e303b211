"""Folders that look like work trees, for tests that start no git."""

from __future__ import annotations

from pathlib import Path


def make_top(folder: Path) -> None:
    """Make a folder, perhaps a new one, look like the top of a work tree."""
    (folder / ".git").mkdir(parents=True, exist_ok=True)
    (folder / ".git/HEAD").write_text("ref: refs/heads/main\n", encoding="utf-8")
