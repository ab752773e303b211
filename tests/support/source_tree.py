"""The program's own source, read and parsed once for each process of tests."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@cache
def sources() -> Mapping[str, str]:
    """Return the source of every module by dotted name; a package goes by its own name."""
    return {
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path.read_text("utf-8")
        for path in sorted((ROOT / "skilld").rglob("*.py"))
    }


@cache
def trees() -> Mapping[str, ast.Module]:
    """Return the syntax tree of every module by dotted name."""
    return {name: ast.parse(source, name) for name, source in sources().items()}
