"""Words of which a rule means one and not the others: tools of one kind, styles, before and after.

Text in, the choices it makes out. A small table of the trade, no more.
"""

from __future__ import annotations

import re

_FAMILIES: tuple[frozenset[str], ...] = tuple(
    frozenset(family.split())
    for family in (
        "npm pnpm yarn bun",
        "node deno",
        "pip uv poetry conda pipenv",
        "jest vitest mocha",
        "pytest unittest nose",
        "eslint biome",
        "tabs spaces tab space",
        "single double",
        "british american",
        "first last",
        "before after",
        "top bottom start end beginning",
        "past present future imperative",
        "ascending descending",
        "oldest newest",
        "uppercase lowercase",
        "short long",
        "squash rebase",
        "headless visible",
        "markdown html",
        "camelcase snake_case kebab-case",
        "english german french spanish portuguese italian russian chinese japanese korean polish czech",
        "with without",
        "include omit exclude",
        "singular plural",
        "formal informal casual",
        "active passive",
        "daily weekly monthly",
    )
)
_WORD = re.compile(r"[^\W_](?:[\w-]*[^\W_])?", re.UNICODE)


def choices(text: str) -> dict[int, frozenset[str]]:
    """Return, by family, the members that `text` names."""
    words = frozenset(word.lower() for word in _WORD.findall(text))
    return {number: words & family for number, family in enumerate(_FAMILIES) if words & family}


def changed_choice(change: str, other: str) -> bool:
    """Whether `change` chooses another member of a family than `other` does."""
    mine, theirs = choices(change), choices(other)
    return any(not mine[family] & theirs[family] for family in mine.keys() & theirs.keys())


def same_choice(change: str, other: str) -> bool:
    """Whether `other` makes no other choice than `change`."""
    return not changed_choice(change, other)


def swapped(change: str, line: str) -> str | None:
    """Return `line` with the choice of `change` in place of its own, or None where that is not one word for one."""
    mine, theirs = choices(change), choices(line)
    for family in mine.keys() & theirs.keys():
        if mine[family] & theirs[family]:
            continue
        if len(mine[family]) != 1 or len(theirs[family]) != 1:
            return None
        (new,), (old,) = mine[family], theirs[family]
        line = re.sub(rf"(?<![\w-]){re.escape(old)}(?![\w-])", new, line, flags=re.IGNORECASE)
    return line
