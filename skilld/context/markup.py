"""Markdown as agents read it: front matter, block comments, imports.

Text in, plain values out; only `add_imports` reads files.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from posixpath import dirname

from skilld.context.resolution import Resolution, View, resolve_path
from skilld.context.values import Kind, LoadedFile, LoadTime, Segment, plain_segments
from skilld.markdown.structure import blank_code
from skilld.skills.spec import Entry, entries, scalar
from skilld.values import value_class

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_COMMENT_START = re.compile(r" {0,3}<!--")
_COMMENT = re.compile(r"<!--.*?(?:-->|$)")
_PUNCTUATION = ",.;:!?)]}'\""
_FILE_NAME = re.compile(r"(?:~|\.{1,2})?/|.*\.[A-Za-z][A-Za-z0-9]{0,7}$")
_MAX_IMPORTS = 5000  # looked up for one agent: whoever writes a project decides how many it has
_LIST_ITEM = re.compile(r"\s*(?:[-+*]|\d+[.)])\s")


@value_class
class Syntax:
    """How an agent writes a reference: what may surround the name, and what it may contain.

    `comments`: references in comments count. `trims`: punctuation directly after a name is ignored.
    """

    pattern: re.Pattern[str]
    comments: bool = True
    trims: bool = False


# As in Claude Code: emphasis around a name, a part of the file after it, and escaped blanks in it are allowed.
RICH_SYNTAX = Syntax(re.compile(r"(?<![^\s*_])@((?:[^\s\\#*]|\\ )+)(?:[#*]\S*)?"), comments=False)
BARE_SYNTAX = Syntax(re.compile(r"(?<!\S)@(\S+)"))
BRACKETED_SYNTAX = Syntax(re.compile(r"(?<![^\s(])@(\S+)"), trims=True)


@value_class
class Import:
    """A reference to another file: its line, and the name as written."""

    line: int
    name: str

    @property
    def trimmed_name(self) -> str:
        """The name without the punctuation after it."""
        return self.name.rstrip(_PUNCTUATION)

    @property
    def looks_like_file(self) -> bool:
        """Whether it looks like a file's name and not like that of a person or package."""
        return bool(_FILE_NAME.match(self.trimmed_name))


def split_front_matter(text: str) -> tuple[list[str] | None, list[str]]:
    """Return the lines of the front matter (None: there is none), and all lines with the front matter blanked."""
    lines = text.split("\n")
    if not lines or lines[0].rstrip() != "---":
        return None, lines
    end = next((number for number, line in enumerate(lines[1:], 1) if line.rstrip() == "---"), None)
    return (None, lines) if end is None else (lines[1:end], [""] * (end + 1) + lines[end + 1 :])


def fence_after(line: str, fence: str) -> str:
    """Return the fence of code that is open below a line, given the one above it; empty if there is none."""
    found = _FENCE.match(line)
    if found is None or (fence and (found[1][0] != fence[0] or len(found[1]) < len(fence))):
        return fence
    return "" if fence else found[1]


def without_comments(lines: Sequence[str]) -> list[str]:
    """Return lines with the comments on their own lines blanked.

    Comments within a line, in a list, in code or never closed remain: only CommonMark's HTML blocks count.
    """
    left = list(lines)
    fence = ""
    inside = 0  # indentation of the text of a list item
    number = 0
    last = max((at for at, line in enumerate(left) if "-->" in line), default=-1)
    while number < len(left):
        line = left[number]
        before, fence = fence, fence_after(line, fence)
        listed = _LIST_ITEM.match(line)
        if listed or (line.strip() and len(line) - len(line.lstrip()) < inside):
            inside = listed.end() if listed else 0
        if not before and not fence and not inside and number <= last and _COMMENT_START.match(line):
            end = next(at for at in range(number, len(left)) if "-->" in left[at])
            rest = left[end].partition("-->")[2]
            left[number : end + 1] = [*[""] * (end - number), rest]
            number = end
        number += 1
    return left


def segments(lines: Sequence[str], whole: Sequence[str] = ()) -> tuple[Segment, ...]:
    """Return the runs of lines between blank ones.

    Lines of the `whole` text that are blank now were a comment; the blank lines below it are dropped with it.
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
    """Yield the references to other files outside of code and comments."""
    fence = ""
    before_is_blank, in_list = True, False
    for number, line in enumerate(lines, 1):
        before, fence = fence, fence_after(line, fence)
        if not before and not fence and line.strip():
            indented = line.startswith(("    ", "\t")) and before_is_blank and not in_list
            in_list = bool(_LIST_ITEM.match(line)) or (in_list and line[0] in " \t")
            if not indented:
                bare = blank_code(line) if syntax.comments else _COMMENT.sub(" ", blank_code(line))
                yield from (Import(number, found[1].replace("\\ ", " ")) for found in syntax.pattern.finditer(bare))
                before_is_blank = False
            continue
        before_is_blank = not line.strip()


def front_entries(text: str) -> dict[str, Entry]:
    """Return the entries of a text's front matter by key; empty if it has none."""
    return {entry[0]: entry for entry in entries(split_front_matter(text)[0] or ())}


def list_values(front: Mapping[str, Entry], key: str) -> list[str] | None:
    """Return the values of a YAML list or of a comma-separated one; none without the key, None if it is not closed."""
    _, value, rest = front.get(key, (key, "", ()))
    below = [line.strip() for line in rest if line.strip()]
    if not value and all(line.startswith("-") for line in below):
        return [scalar(line[1:].strip(), ()) for line in below]
    whole = " ".join([value, *below])
    if whole[:1] == "[":
        if not whole.endswith("]"):
            return None
        return [scalar(part, ()) for part in _split_commas(whole[1:-1])]
    if whole[:1] in {'"', "'"} and (whole.count(whole[0]) == 1 or whole[-1] != whole[0]):
        return None
    return _split_commas(scalar(value, rest))


def _split_commas(text: str) -> list[str]:
    """Split at commas, except those in braces."""
    cuts, depth = [-1], 0
    for at, letter in enumerate(text):
        depth += {"{": 1, "}": -1}.get(letter, 0)
        if letter == "," and depth <= 0:
            cuts.append(at)
    parts = (text[start + 1 : end].strip() for start, end in pairwise([*cuts, len(text)]))
    return [part for part in parts if part]


# Files imported with `@path`, for the agents that support it.


@value_class
class ImportRules:
    """One agent's rules for imports: how deep they go (`hops`), and which are refused.

    `refusal` takes the importing file, a path and its real path, and returns why it is not loaded (a clause), or None.
    Names that end in one of `passes_over` are not imports.
    """

    hops: int
    refusal: Callable[[LoadedFile, str, str], str | None]
    syntax: Syntax
    view: View = plain_segments
    passes_over: tuple[str, ...] = ()


def add_imports(found: Resolution, file: LoadedFile, rules: ImportRules) -> None:
    """Add what a file imports, recursively, and a surprise for each import that is not loaded."""
    for one in imports(_visible_lines(file), rules.syntax) if "@" in file.text else ():
        found.imports += 1
        if found.imports > _MAX_IMPORTS:
            cut = f"imports after the first {_MAX_IMPORTS:,} are not followed here"
            found.add_surprise(Kind.DEAD, file.path, cut, line=one.line)
            return
        name = one.trimmed_name if rules.syntax.trims else one.name
        path = resolve_path(name, dirname(file.path), found.where.home)
        there = None if path.lower().endswith(rules.passes_over) else found.where.files.read(path)
        if there is None:
            why = _dead_reason(found, one, path, file, rules)
        elif there.real in found.real_paths:
            why = None
        elif rules.hops == 0:
            why = "is not loaded because imports are nested too deeply"
        else:
            why = rules.refusal(file, path, there.real)
            if not why:
                on_use = file.base if file.loaded is LoadTime.ON_USE else ""
                inner = found.add(path, file.scope, view=rules.view, folder=on_use, paths=file.paths, via=file.path)
                if inner:
                    add_imports(found, inner, replace(rules, hops=rules.hops - 1))
        if why:
            found.add_surprise(Kind.DEAD, file.path, f"@{one.name} {why}", line=one.line)


def _dead_reason(found: Resolution, one: Import, path: str, file: LoadedFile, rules: ImportRules) -> str | None:
    if one.trimmed_name != one.name and not rules.syntax.trims:
        bare = resolve_path(one.trimmed_name, dirname(file.path), found.where.home)
        if found.where.files.read(bare):
            return f"is not loaded because its name is followed directly by '{one.name[len(one.trimmed_name) :]}'"
    return "does not exist" if one.looks_like_file and not found.where.files.exists(path) else None


def _visible_lines(file: LoadedFile) -> list[str]:
    """Return the lines that the agent sees, at their positions in the file."""
    lines: list[str] = []
    for segment in file.segments:
        lines += [""] * (segment.line - 1 - len(lines)) + segment.text.split("\n")
    return lines
