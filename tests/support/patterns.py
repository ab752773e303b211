"""All regular expressions of the program: those held by modules, however deep, and literals in calls."""

from __future__ import annotations

import ast
import dataclasses
import functools
import importlib
import inspect
import itertools
import pkgutil
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import FunctionType, MethodType, ModuleType
from typing import Any

import skilld
from skilld.classify.backends.agent_cli import backend
from skilld.classify.offline import grammar, reported
from skilld.redact import commands, credentials
from support.source_tree import ROOT, nodes, paths, trees

_CALLS = frozenset({"compile", "search", "match", "fullmatch", "split", "findall", "finditer", "sub", "subn"})
_DEEPEST = 12

# Patterns that are kept as text until they are needed, by the function that compiles them.
COMPILED_ON_USE: dict[str, Callable[[], Iterable[str]]] = {
    "skilld.classify.backends.agent_cli.backend._find_status": lambda: [
        pattern for _, pattern in backend._STATUS_PATTERNS
    ],
    "skilld.redact.commands._command_passwords": lambda: {one for of in commands._options().values() for one in of},
    "skilld.redact.credentials.find_in_urls": lambda: [pattern for _, _, pattern in credentials._SECRET_URLS],
}
# Functions whose patterns a module holds once it is imported, or a cached function returns.
HELD = frozenset(
    {
        "skilld.agents.wrappers.__post_init__",
        "skilld.agents.claude_code.wrappers._compile_openings",
        "skilld.classify.caseless.caseless",
        "skilld.classify.offline.grammar.__init__.compiled",
        "skilld.classify.offline.reported._compiled",
        "skilld.edit.change.phrase",
        "skilld.redact.unlabelled._issuer",
        "skilld.redact.commands._programs",
        "skilld.redact.naming._field_pattern",
        "skilld.redact.naming._names_pattern",
        "skilld.redact.tokens._body_pattern",
        "skilld.redact.tokens._shape",
        "skilld.redact.tokens._prefix_pattern",
    }
)
# Literal words, escaped or our own, or one letter of a class, with nothing in them that repeats without an end.
LITERAL = frozenset(
    {
        "skilld.agents.qwen_code.__init__._is_numbered",
        "skilld.caller.programs._name_pattern",
        "skilld.classify.json_answer.find_blocks",
        "skilld.classify.contradiction.replace_numbers",
        "skilld.classify.offline.choices.described_stems",
        "skilld.classify.offline.choices.swap_choice",
        "skilld.classify.support._holds_as_written",
        "skilld.classify.support.holds_token",
        "skilld.console.message",
        "skilld.edit.operations._find_entry",
        "skilld.evals.checks._contains",
        "skilld.edit.rules.references.check_evidence",
        "skilld.edit.rules.references.known",
        "skilld.meanings.pattern",
        "skilld.mining.actions._relative_to",
        "skilld.mining.new_skill.with_relative_paths",
        "skilld.mining.procedure._replace_word",
        "skilld.mining.similarity.has_word",
        "skilld.mining.variables._nouns",
        "skilld.mining.variables.put",
        "skilld.redact.findings.outside_placeholders",
        "skilld.service.systemd._escape",
        "skilld.service.systemd.render",
        "skilld.jobs.other_projects._occurrences",
        "skilld.targets.scopes._names",
        "skilld.targets.scopes.without_files",
    }
)

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
    for place, sources in COMPILED_ON_USE.items():
        for source in sources():
            found.setdefault(re.compile(source), place)
    written = itertools.chain.from_iterable(map(_written_out, trees()))
    for pattern, where in itertools.chain(_of_languages(), written):
        found.setdefault(pattern, where)
    return found


def _of_languages() -> Iterator[tuple[AnyPattern, str]]:
    for language in grammar.languages().values():
        yield from ((pattern, f"{grammar.__name__}.{language.code}") for pattern in language.patterns())
    yield from ((pattern, f"{reported.__name__}.{name}") for name, pattern in reported.reporting().patterns().items())


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
    """Yield what a value refers to: items, fields, what a function closes over, what a cached one returns."""
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
        if _ours(value):
            yield from _returned(value)
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


def _returned(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield what a cached function returns if it takes no arguments, or only switches."""
    parameters = inspect.signature(value).parameters.values()
    if all(parameter.annotation in ("bool", bool) for parameter in parameters):
        for switches in itertools.product((False, True), repeat=len(parameters)):
            yield "()", value(**{one.name: on for one, on in zip(parameters, switches, strict=True)})


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


def compiled_in_functions() -> set[str]:
    """Return the functions that compile or use a pattern whose text is not written out in the call."""
    found: set[str] = set()
    for name, tree in trees().items():
        module = f"{name}.__init__" if paths()[name].stem == "__init__" else name
        lines = {node.lineno for node in nodes(tree, ast.Call) if _is_call(node, ast.expr)}
        for function in nodes(tree, ast.FunctionDef) if lines else ():
            if not lines.isdisjoint(range(function.lineno, (function.end_lineno or function.lineno) + 1)):
                found.add(f"{module}.{function.name}")
    return found


def _is_call(node: ast.Call, of: type[ast.expr]) -> bool:
    return (
        isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id == "re"
        and node.func.attr in _CALLS
        and bool(node.args)
        and isinstance(node.args[0], of)
        and isinstance(node.args[0], ast.Constant) == (of is ast.Constant)
    )


def _written_out(module: str) -> Iterator[tuple[AnyPattern, str]]:
    for node in nodes(trees()[module], ast.Call):
        if _is_call(node, ast.Constant) and isinstance(node.args[0], ast.Constant):
            names = {found.attr for found in ast.walk(node) if isinstance(found, ast.Attribute)}
            flags = re.RegexFlag(0)
            for name in names & {"IGNORECASE", "DOTALL", "MULTILINE", "VERBOSE", "ASCII"}:
                flags |= re.RegexFlag[name]
            source: Any = node.args[0].value
            yield (
                re.compile(source, flags),
                f"{paths()[module].relative_to(ROOT)}:{node.lineno}.{getattr(node.func, 'attr', '')}",
            )
