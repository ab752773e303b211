"""All regular expressions of the program: those its modules hold, however deep, and those written out in calls."""

from __future__ import annotations

import ast
import dataclasses
import functools
import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import FunctionType, MethodType, ModuleType
from typing import Any

import skilld

ROOT = Path(skilld.__file__).parent
_CALLS = frozenset({"compile", "search", "match", "fullmatch", "split", "findall", "finditer", "sub", "subn"})
_DEEPEST = 12

AnyPattern = re.Pattern[str] | re.Pattern[bytes]


def modules() -> list[ModuleType]:
    """Import every module of the program and return them."""
    names = (found.name for found in pkgutil.walk_packages(skilld.__path__, "skilld."))
    return [skilld, *(importlib.import_module(name) for name in names if not name.endswith("__main__"))]


@functools.cache
def patterns() -> dict[AnyPattern, str]:
    """Return every pattern, with the module and name it was first found under."""
    found: dict[AnyPattern, str] = {}
    for module in modules():
        seen: set[int] = set()
        for name, value in vars(module).items():
            if not isinstance(value, ModuleType):
                for pattern, where in _inside(value, f"{module.__name__}.{name}", seen):
                    found.setdefault(pattern, where)
    for path in sorted(ROOT.rglob("*.py")):
        for pattern, where in _written_out(path):
            found.setdefault(pattern, where)
    return found


def _inside(value: Any, where: str, seen: set[int], deep: int = 0) -> Iterator[tuple[AnyPattern, str]]:
    if isinstance(value, re.Pattern):
        yield value, where
        return
    if id(value) in seen or deep > _DEEPEST or isinstance(value, str | bytes | int | float | ModuleType):
        return
    seen.add(id(value))
    for name, part in _parts(value):
        yield from _inside(part, f"{where}{name}", seen, deep + 1)


def _parts(value: Any) -> Iterator[tuple[str, Any]]:  # noqa: C901 - one case a type
    """Yield what hangs on a value: items, fields, what a function closes over, what a cached one returns."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield "", key
            yield f"[{key!r}]" if isinstance(key, str | int) else "", item
    elif isinstance(value, list | tuple | set | frozenset):
        yield from (("", item) for item in value)
    elif isinstance(value, functools.partial):
        yield from (("", item) for item in (value.func, value.args, value.keywords))
    elif isinstance(value, MethodType):
        yield "", value.__self__
    elif isinstance(value, functools._lru_cache_wrapper):
        if _ours(value) and not inspect.signature(value).parameters:
            yield "()", value()
        yield "", value.__wrapped__
    elif isinstance(value, FunctionType):
        if _ours(value):
            yield from (("", cell.cell_contents) for cell in value.__closure__ or () if _filled(cell))
            yield "", value.__defaults__ or ()
    elif isinstance(value, type):
        if _ours(value):
            yield from ((f".{name}", item) for name, item in vars(value).items() if not name.startswith("__"))
    elif dataclasses.is_dataclass(value) or _ours(type(value)):
        names = {*getattr(value, "__dict__", ()), *_slots(type(value))}
        yield from ((f".{name}", getattr(value, name)) for name in sorted(names) if hasattr(value, name))


def _ours(value: Any) -> bool:
    return str(getattr(value, "__module__", "")).startswith("skilld")


def _filled(cell: Any) -> bool:
    try:
        return bool(cell.cell_contents is not None)
    except ValueError:
        return False


def _slots(kind: type) -> Iterator[str]:
    for base in kind.__mro__:
        slots = vars(base).get("__slots__", ())
        yield from (slots,) if isinstance(slots, str) else slots


def _written_out(path: Path) -> Iterator[tuple[AnyPattern, str]]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and isinstance(node.func.value, ast.Name)
            and node.func.value.id == "re"
            and node.func.attr in _CALLS
            and node.args
            and isinstance(node.args[0], ast.Constant)
        ):
            names = {found.attr for found in ast.walk(node) if isinstance(found, ast.Attribute)}
            flags = re.RegexFlag(0)
            for name in names & {"IGNORECASE", "DOTALL", "MULTILINE", "VERBOSE", "ASCII"}:
                flags |= re.RegexFlag[name]
            source: Any = node.args[0].value
            yield re.compile(source, flags), f"{path.relative_to(ROOT.parent)}:{node.lineno}.{node.func.attr}"
