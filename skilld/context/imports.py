"""Files that others import with `@path`, for the agents that support it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from posixpath import dirname

from skilld.context import markup
from skilld.context.gather import Resolution, View, target
from skilld.context.values import Kind, LoadedFile, LoadTime, plain


@dataclass(frozen=True, slots=True)
class Imports:
    """The rules of one agent: how many deep; what `refuses` says of an importing file, a path and the real path.

    That is why it is not loaded, a clause, or empty. Files that end in one of `passes_over` are none to import.
    """

    hops: int
    refuses: Callable[[LoadedFile, str, str], str]
    syntax: markup.Syntax
    view: View = plain
    passes_over: tuple[str, ...] = ()


def follow(found: Resolution, file: LoadedFile, rules: Imports) -> None:
    """Take what a file imports, and what that imports, and note what is not loaded."""
    for one in markup.imports(_lines(file), rules.syntax) if "@" in file.text else ():
        name = one.tidy if rules.syntax.trims else one.name
        path = target(name, dirname(file.path), found.where.home)
        there = None if path.lower().endswith(rules.passes_over) else found.where.files.read(path)
        if there is None:
            why = _dead_reason(found, one, path, file, rules)
        elif there.real in found.taken:
            why = ""
        elif rules.hops == 0:
            why = "is not loaded: imports are nested too deeply"
        else:
            why = rules.refuses(file, path, there.real)
            if not why:
                on_use = file.base if file.loaded is LoadTime.ON_USE else ""
                inner = found.add(path, file.scope, view=rules.view, folder=on_use, paths=file.paths, via=file.path)
                if inner:
                    follow(found, inner, replace(rules, hops=rules.hops - 1))
        if why:
            found.tell(Kind.DEAD, file.path, f"@{one.name} {why}", line=one.line)


def _dead_reason(found: Resolution, one: markup.Import, path: str, file: LoadedFile, rules: Imports) -> str:
    if one.tidy != one.name and not rules.syntax.trims:
        bare = target(one.tidy, dirname(file.path), found.where.home)
        if found.where.files.read(bare):
            return f"is not loaded: its name is followed directly by '{one.name[len(one.tidy) :]}'"
    return "does not exist" if one.means_a_file and not found.where.files.exists(path) else ""


def _lines(file: LoadedFile) -> list[str]:
    """Return the lines that the agent sees, each where it is in the file."""
    lines: list[str] = []
    for segment in file.segments:
        lines += [""] * (segment.line - 1 - len(lines)) + segment.text.split("\n")
    return lines
