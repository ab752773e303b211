"""The program's own source, read and parsed once for each process of tests."""

from __future__ import annotations

import ast
import gc
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TypeVar, cast

ROOT = Path(__file__).resolve().parents[2]
_SMALL = (ast.expr_context, ast.operator, ast.boolop, ast.unaryop, ast.cmpop, ast.Name, ast.Constant, ast.arg)
_Node = TypeVar("_Node", bound=ast.AST)


@cache
def paths() -> Mapping[str, Path]:
    """Return the file of every module by dotted name; a package goes by its own name."""
    return {
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
        for path in sorted((ROOT / "skilld").rglob("*.py"))
    }


@cache
def sources() -> Mapping[str, str]:
    """Return the source of every module by dotted name."""
    return {name: path.read_text("utf-8") for name, path in paths().items()}


@cache
def trees() -> Mapping[str, ast.Module]:
    """Return the syntax tree of every module by dotted name."""
    try:
        gc.disable()  # it would look again and again through what stays
        return {name: ast.parse(source, name) for name, source in sources().items()}
    finally:
        gc.freeze()
        gc.enable()


@cache
def _by_kind(tree: ast.Module) -> Mapping[type, list[ast.AST]]:
    found: dict[type, list[ast.AST]] = {}
    for node in ast.walk(tree):
        if not isinstance(node, _SMALL):
            found.setdefault(type(node), []).append(node)
    return found


def nodes(tree: ast.Module, *kinds: type[_Node]) -> list[_Node]:
    """Return all nodes of some kinds in a module, which is walked once."""
    return [cast("_Node", node) for kind in kinds for node in _by_kind(tree).get(kind, ())]
