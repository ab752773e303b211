"""Every public function of the program that takes text, with arguments built from its type hints.

A function counts if its own annotations, or those of the values it takes, contain `str` or `bytes`. No list is kept by
hand: what cannot be called is reported with the reason.
"""

from __future__ import annotations

import ast
import dataclasses
import datetime as dt
import enum
import functools
import inspect
import io
import re
import sys
import types
import typing
from collections import Counter, abc
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path, PurePath
from types import ModuleType, SimpleNamespace
from typing import Any, TextIO

from skilld.agents import ADAPTERS
from skilld.agents.base import Parser, RecordParser
from skilld.agents.codex.user_messages import WRAPPERS
from skilld.agents.wrappers import Wrappers
from skilld.context.disk import Disk, FileText
from skilld.context.resolution import Workspace
from skilld.redact import Redactor
from skilld.scoring.secrets import TextRedactor
from skilld.settings import Settings
from support.patterns import modules

_DEEPEST = 12
_NOWHERE = Path("/nonexistent/folder/SKILL.md")


@dataclass
class _Project(Disk):
    """A project in which every file that is asked for says the same; for a resolver of what agents load."""

    text: str = ""

    def read(self, path: str) -> FileText:
        return FileText(self.text, path)

    def names(self, folder: str) -> dict[str, bool]:
        return {"SKILL.md": False, "a.md": False} if folder.endswith("/a") else {}

    def exists(self, path: str) -> bool:
        return path.endswith(".md")

    def real(self, path: str) -> str:
        return path

    def below(self, folder: str, wanted: frozenset[str]) -> Iterator[str]:
        del wanted
        yield folder


# What is no value of its own making, but stands for a text all the same.
_BY_HAND: dict[Any, Callable[[str], Any]] = {
    re.Pattern: lambda _: re.compile("a"),
    Counter: lambda text: Counter([text]),
    Exception: ValueError,
    BaseException: ValueError,
    OSError: OSError,
    TextIO: io.StringIO,
    Parser: lambda _: ADAPTERS["claude-code"].parser(_NOWHERE),
    RecordParser: lambda _: ADAPTERS["cursor"].parser(_NOWHERE),
    Wrappers: lambda _: WRAPPERS,  # a text is no pattern
    Redactor: lambda _: Redactor(bytes(32)),
    TextRedactor: lambda _: Redactor(bytes(32)),
    Disk: lambda text: _Project(text=text),
    Workspace: lambda text: Workspace(
        _Project(text=text), "/home/a/project", "/home/a", "/home/a/.agent", (), {}, (str(_NOWHERE),)
    ),
    Settings: lambda _: Settings(),
    AbstractContextManager: lambda _: nullcontext(),
}
_SEQUENCES = (list, abc.Sequence, abc.Iterable, abc.Collection, abc.MutableSequence)
_MAPPINGS = (dict, abc.Mapping, abc.MutableMapping)
_SETS = (set, frozenset, abc.Set, abc.MutableSet, abc.Container)


class NotMadeError(Exception):
    """No value of this type can be made from a text alone: it represents something in the outside world."""


@dataclass(frozen=True)
class TextFunction:
    """A public function or method; `hints` are its parameters with their types, `owner` the class of a method."""

    name: str
    call: Callable[..., Any]
    hints: Mapping[str, Any]
    owner: type | None = None

    def arguments(self, text: str) -> dict[str, Any]:
        """Return arguments, each as full of `text` as its type allows."""
        return {name: make(hint, text) for name, hint in self.hints.items()}

    def run(self, arguments: Mapping[str, Any]) -> None:
        """Call it, and exhaust what it returns if that is an iterator."""
        keyword = dict(arguments)
        own = [keyword.pop("self")] if self.owner else []
        positional = [keyword.pop(name) for name in self._positional if name in keyword]
        result = self.call(*own, *positional, **keyword)
        if isinstance(result, Iterator):
            for _ in result:
                pass

    @functools.cached_property
    def _positional(self) -> list[str]:
        found = list(inspect.signature(self.call).parameters.values())[bool(self.owner) :]
        return [one.name for one in found if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)]


@functools.cache
def text_functions() -> list[TextFunction]:
    """Return all public functions, and public methods of public classes, that take text."""
    found: list[TextFunction] = []
    for module in modules():
        for name, value in vars(module).items():
            if name.startswith("_") or getattr(value, "__module__", "") != module.__name__:
                continue
            if inspect.isclass(value):
                found += _methods(module, value)
            elif callable(value) and not isinstance(value, typing.TypeVar):
                found += _function(f"{module.__name__}.{name}", value)
    return found


def _methods(module: ModuleType, owner: type) -> Iterator[TextFunction]:
    if issubclass(owner, enum.Enum | BaseException) or getattr(owner, "_is_protocol", False):
        return
    for name, value in vars(owner).items():
        if name.startswith("_"):
            continue
        where = f"{module.__name__}.{owner.__name__}.{name}"
        if isinstance(value, property | functools.cached_property):
            inner = value.fget if isinstance(value, property) else value.func
            if inner:
                yield from _function(where, inner, owner)
        elif isinstance(value, staticmethod | classmethod):
            yield from _function(where, getattr(owner, name))
        elif inspect.isfunction(value):
            yield from _function(where, value, owner)


def _function(name: str, value: Callable[..., Any], owner: type | None = None) -> Iterator[TextFunction]:
    try:
        hints = _hints(value)
        parameters = inspect.signature(value).parameters.values()
    except (TypeError, ValueError, NameError):
        return
    kinds = {parameter.name: parameter for parameter in parameters}
    needed = {
        key: hints[key]
        for key, one in kinds.items()
        if key in hints and one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)
    }
    if owner:
        needed = {"self": owner, **needed}
    if any(holds_text(hint) for hint in needed.values()):
        yield TextFunction(name, value, needed, owner)


def holds_text(hint: Any, deep: int = 0) -> bool:
    """Whether values of a type carry text."""
    if hint in (str, bytes, Any, object):
        return hint in (str, bytes)
    if isinstance(hint, typing.TypeVar):
        return hint.__bound__ is not None and holds_text(hint.__bound__, deep + 1)
    if deep > _DEEPEST:
        return False
    if arguments := typing.get_args(hint):
        if typing.get_origin(hint) in (abc.Callable, typing.Literal):
            return False
        return any(holds_text(argument, deep + 1) for argument in arguments)
    return any(holds_text(one, deep + 1) for one in _fields(hint).values())


def make(hint: Any, text: str, deep: int = 0) -> Any:  # noqa: C901, PLR0911, PLR0912 - one case a type
    """Return a value of a type, as full of `text` as it can be."""
    if deep > _DEEPEST:
        raise NotMadeError(hint)
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Annotated:
        return make(arguments[0], text, deep)
    if hint in (None, types.NoneType):
        return None
    if hint in (str, Any, object):
        return text
    if hint in (bytes, bytearray, memoryview):
        return hint(text.encode()) if hint is not bytes else text.encode()
    if hint in (bool, int, float):
        return hint(1)
    if hint is dt.date:
        return dt.date(2026, 1, 1)
    if origin in (typing.Union, types.UnionType):
        return _first(arguments, text, deep)
    if origin is typing.Literal:
        return arguments[0]
    if origin is tuple and arguments and arguments[-1] is not Ellipsis:
        return tuple(make(argument, text, deep + 1) for argument in arguments)
    if origin is tuple or hint is tuple:
        return tuple(_several(arguments[0] if arguments else str, text, deep))
    if origin in _SEQUENCES or hint in _SEQUENCES:
        return _several(arguments[0] if arguments else str, text, deep)
    if origin in (abc.Iterator, abc.Generator):
        return iter(_several(arguments[0], text, deep))
    if origin in _SETS or hint in _SETS:
        return (set if origin is set else frozenset)(_several(arguments[0] if arguments else str, text, deep))
    if origin in _MAPPINGS or hint in _MAPPINGS:
        key, value = arguments or (str, str)
        return {make(key, text, deep + 1): make(value, text, deep + 1)}
    if origin is abc.Callable or hint is abc.Callable:
        back = make(arguments[1], text, deep + 1) if arguments else text
        return lambda *_, **__: back
    if origin is type:
        return arguments[0]
    if isinstance(hint, typing.TypeVar):
        return make(hint.__bound__ or str, text, deep + 1)
    if isinstance(origin, type) and origin is not hint:
        return make(origin, text, deep)
    return _instance(hint, text, deep)


def _first(hints: tuple[Any, ...], text: str, deep: int) -> Any:
    """Return a value of the first type of a union that carries text, else of the first that can be made."""
    for hint in sorted(hints, key=lambda one: (not holds_text(one), one is types.NoneType)):
        try:
            return make(hint, text, deep + 1)
        except NotMadeError:
            continue
    raise NotMadeError(hints)


def _several(hint: Any, text: str, deep: int) -> list[Any]:
    """Return the text whole and line by line: what grows may be one part, or the number of parts."""
    if hint in (str, bytes):
        lines: list[Any] = text.split("\n")
        return lines if hint is str else [line.encode() for line in lines]
    return [make(hint, text, deep + 1)]


def _instance(hint: Any, text: str, deep: int) -> Any:
    if not inspect.isclass(hint):
        raise NotMadeError(hint)
    if issubclass(hint, PurePath):
        return _NOWHERE
    if hint in _BY_HAND:
        return _BY_HAND[hint](text)
    if issubclass(hint, enum.Enum):
        return next(iter(hint))
    if fields := _fields(hint):  # type: ignore[arg-type]  # mypy: a class is hashable
        within = {name for name, one in fields.items() if hint in typing.get_args(one)}  # holds more of its kind: none
        made = {name: () if name in within else make(one, text, deep + 1) for name, one in fields.items()}
        if getattr(hint, "_is_protocol", False):
            return SimpleNamespace(**made)
        return hint(**made)
    if hint.__module__.startswith("skilld") and not inspect.isabstract(hint) and not getattr(hint, "_is_protocol", 0):
        signature = _hints(hint.__init__)
        signature.pop("return", None)
        return hint(**{name: make(one, text, deep + 1) for name, one in signature.items()})
    raise NotMadeError(hint)


def _hints(value: Any) -> dict[str, Any]:
    """Return the types that a function or a class names, including those its module imports only for type checkers."""
    return typing.get_type_hints(value, localns=_for_checkers(getattr(value, "__module__", "")))


@functools.cache
def _for_checkers(module: str) -> dict[str, Any]:
    """Return what a module imports below `if TYPE_CHECKING:`."""
    found: dict[str, Any] = {}
    if not module.startswith("skilld"):
        return found
    source = inspect.getsource(sys.modules[module])
    for node in ast.parse(source).body if "if TYPE_CHECKING:" in source else ():
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            for each in node.body:
                with suppress(ModuleNotFoundError):  # `_typeshed`, of type checkers alone
                    exec(ast.unparse(each), found)  # noqa: S102 - the program's own imports
    return found


@functools.cache
def _fields(hint: Any) -> dict[str, Any]:
    """Return what a value of a type consists of: the fields of a dataclass or named tuple, a protocol's attributes."""
    if not inspect.isclass(hint) or not hint.__module__.startswith("skilld"):
        return {}
    if dataclasses.is_dataclass(hint):
        try:
            hints = _hints(hint)
        except TypeError:  # a type that can be written, but not evaluated
            return {}
        return {one.name: hints[one.name] for one in dataclasses.fields(hint) if one.init}
    if getattr(hint, "_is_protocol", False):
        own = {key: one for key, one in vars(hint).items() if not key.startswith("_")}
        made = {
            key: _hints(one.fget).get("return", str)
            for key, one in own.items()
            if isinstance(one, property) and one.fget
        }
        return {**_hints(hint), **made}
    if hasattr(hint, "_fields") and hasattr(hint, "__annotations__"):
        return _hints(hint)
    return {}
