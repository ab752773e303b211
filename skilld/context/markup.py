"""Markdown as agents read it: front matter, block comments, imports.

Text in, plain values out; only `follow` reads files.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from posixpath import dirname

from skilld.context.gather import Resolution, View, target
from skilld.context.values import Kind, LoadedFile, LoadTime, Segment, plain
from skilld.markdown.structure import blank_code
from skilld.skills.spec import Entry, entries, scalar

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_OPENS = re.compile(r" {0,3}<!--")
_COMMENT = re.compile(r"<!--.*?(?:-->|$)")
_PUNCTUATION = ",.;:!?)]}'\""
_FILE = re.compile(r"(?:~|\.{1,2})?/|.*\.[A-Za-z][A-Za-z0-9]{0,7}$")
_LISTED = re.compile(r"\s*(?:[-+*]|\d+[.)])\s")


@dataclass(frozen=True, slots=True)
class Syntax:
    """How an agent writes a reference: what may stand around the name, and in it.

    With `comments` those within comments count. `trims`: punctuation directly behind a name does no harm.
    """

    pattern: re.Pattern[str]
    comments: bool = True
    trims: bool = False


# Emphasis may stand around a name, a part of the file behind it and an escaped blank in it, as Claude Code has it.
RICH = Syntax(re.compile(r"(?<![^\s*_])@((?:[^\s\\#*]|\\ )+)(?:[#*]\S*)?"), comments=False)
BARE = Syntax(re.compile(r"(?<!\S)@(\S+)"))
BRACKETED = Syntax(re.compile(r"(?<![^\s(])@(\S+)"), trims=True)


@dataclass(frozen=True, slots=True)
class Import:
    """A reference to another file: its line, and the name as it stands there."""

    line: int
    name: str

    @property
    def tidy(self) -> str:
        """The name without the punctuation behind it."""
        return self.name.rstrip(_PUNCTUATION)

    @property
    def means_a_file(self) -> bool:
        """Whether it looks like a file, and not like a person's or a package's name."""
        return bool(_FILE.match(self.tidy))


def split_front(text: str) -> tuple[list[str] | None, list[str]]:
    """Return the lines of the front matter (None: there is none) and all lines, the front matter's left blank."""
    lines = text.split("\n")
    if not lines or lines[0].rstrip() != "---":
        return None, lines
    end = next((number for number, line in enumerate(lines[1:], 1) if line.rstrip() == "---"), None)
    return (None, lines) if end is None else (lines[1:end], [""] * (end + 1) + lines[end + 1 :])


def without_comments(lines: Sequence[str]) -> list[str]:
    """Return lines without the comments that stand by themselves, which are left blank.

    One in a line, in a list, in code or never closed is none of them: CommonMark's HTML blocks.
    """
    left = list(lines)
    fence = ""
    inside = 0  # how far the text of a list's item is indented
    number = 0
    last = max((at for at, line in enumerate(left) if "-->" in line), default=-1)
    while number < len(left):
        line = left[number]
        opened = _FENCE.match(line)
        listed = _LISTED.match(line)
        if listed or (line.strip() and len(line) - len(line.lstrip()) < inside):
            inside = listed.end() if listed else 0
        if opened and not fence:
            fence = opened[1]
        elif opened and fence and opened[1][0] == fence[0] and len(opened[1]) >= len(fence):
            fence = ""
        elif not fence and not inside and number <= last and _OPENS.match(line):
            end = next(at for at in range(number, len(left)) if "-->" in left[at])
            rest = left[end].partition("-->")[2]
            left[number : end + 1] = [*[""] * (end - number), rest]
            number = end
        number += 1
    return left


def segments(lines: Sequence[str], whole: Sequence[str] = ()) -> tuple[Segment, ...]:
    """Return the runs of lines between two blank ones.

    Lines of the `whole` text that are blank now were a comment, which takes the blank lines below it along.
    """
    found: list[Segment] = []
    start = above = 0
    left_out = False
    for number, line in enumerate([*lines, ""]):
        if line.strip():
            continue
        if number > start:
            found.append(Segment(start + 1, "\n".join(lines[start:number]), above))
            above, left_out = 0, False
        start = number + 1
        left_out = left_out or (number < len(whole) and bool(whole[number].strip()))
        above += not left_out
    return tuple(found)


def imports(lines: Sequence[str], syntax: Syntax) -> Iterator[Import]:
    """Yield the references to other files, outside of code and comments."""
    fence = ""
    before_is_blank, in_list = True, False
    for number, line in enumerate(lines, 1):
        opened = _FENCE.match(line)
        if opened and not fence:
            fence = opened[1]
        elif opened and fence and opened[1][0] == fence[0] and len(opened[1]) >= len(fence):
            fence = ""
        elif not fence and line.strip():
            indented = line.startswith(("    ", "\t")) and before_is_blank and not in_list
            in_list = bool(_LISTED.match(line)) or (in_list and line[0] in " \t")
            if not indented:
                bare = blank_code(line) if syntax.comments else _COMMENT.sub(" ", blank_code(line))
                yield from (Import(number, found[1].replace("\\ ", " ")) for found in syntax.pattern.finditer(bare))
                before_is_blank = False
            continue
        before_is_blank = not line.strip()


def front_entries(front: Sequence[str]) -> dict[str, Entry]:
    """Return the keys of a front matter with what is behind them."""
    return {entry[0]: entry for entry in entries(front)}


def listed(entry: Entry) -> list[str] | None:
    """Return the values of a list, written as a YAML list or with commas; None if it is not closed."""
    _, value, rest = entry
    below = [line.strip() for line in rest if line.strip()]
    if not value and all(line.startswith("-") for line in below):
        return [scalar(line[1:].strip(), ()) for line in below]
    whole = " ".join([value, *below])
    if whole[:1] == "[":
        if not whole.endswith("]"):
            return None
        return [scalar(part, ()) for part in _commas(whole[1:-1])]
    if whole[:1] in {'"', "'"} and (whole.count(whole[0]) == 1 or whole[-1] != whole[0]):
        return None
    return _commas(scalar(value, rest))


def _commas(text: str) -> list[str]:
    """Return what is between commas, but not between those in braces."""
    cuts, depth = [-1], 0
    for at, letter in enumerate(text):
        depth += {"{": 1, "}": -1}.get(letter, 0)
        if letter == "," and depth <= 0:
            cuts.append(at)
    parts = (text[start + 1 : end].strip() for start, end in pairwise([*cuts, len(text)]))
    return [part for part in parts if part]


# Files that others import with `@path`, for the agents that support it.


@dataclass(frozen=True, slots=True)
class Imports:
    """The rules of one agent: how many deep; what `refuses` says of an importing file, a path and the real path.

    That is why it is not loaded, a clause, or empty. Files that end in one of `passes_over` are none to import.
    """

    hops: int
    refuses: Callable[[LoadedFile, str, str], str]
    syntax: Syntax
    view: View = plain
    passes_over: tuple[str, ...] = ()


def follow(found: Resolution, file: LoadedFile, rules: Imports) -> None:
    """Take what a file imports, and what that imports, and note what is not loaded."""
    for one in imports(_lines(file), rules.syntax) if "@" in file.text else ():
        name = one.tidy if rules.syntax.trims else one.name
        path = target(name, dirname(file.path), found.where.home)
        there = None if path.lower().endswith(rules.passes_over) else found.where.files.read(path)
        if there is None:
            why = _dead_reason(found, one, path, file, rules)
        elif there.real in found.taken:
            why = ""
        elif rules.hops == 0:
            why = "is not loaded because imports are nested too deeply"
        else:
            why = rules.refuses(file, path, there.real)
            if not why:
                on_use = file.base if file.loaded is LoadTime.ON_USE else ""
                inner = found.add(path, file.scope, view=rules.view, folder=on_use, paths=file.paths, via=file.path)
                if inner:
                    follow(found, inner, replace(rules, hops=rules.hops - 1))
        if why:
            found.tell(Kind.DEAD, file.path, f"@{one.name} {why}", line=one.line)


def _dead_reason(found: Resolution, one: Import, path: str, file: LoadedFile, rules: Imports) -> str:
    if one.tidy != one.name and not rules.syntax.trims:
        bare = target(one.tidy, dirname(file.path), found.where.home)
        if found.where.files.read(bare):
            return f"is not loaded because its name is followed directly by '{one.name[len(one.tidy) :]}'"
    return "does not exist" if one.means_a_file and not found.where.files.exists(path) else ""


def _lines(file: LoadedFile) -> list[str]:
    """Return the lines that the agent sees, each where it is in the file."""
    lines: list[str] = []
    for segment in file.segments:
        lines += [""] * (segment.line - 1 - len(lines)) + segment.text.split("\n")
    return lines
