"""What a text says already, and what in it an instruction contradicts.

An instruction and a text in; yes or no, or the contradicted line out. Words are compared as stems, so this hears the
same rule in nearly the same words and no more.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from skilld.classify.offline.sections import Block, Lines, sections
from skilld.classify.offline.words import numbers, stems

_COVERED = 0.8  # share of an instruction's stems that one line must hold to have said it
_SAME_TOPIC = 0.5  # share of the shorter side's stems that make two rules about one thing
_DENIES = re.compile(
    r"\b(?:not|never|no|none|without|avoid|don'?t|doesn'?t|cannot|can't|mustn'?t|shouldn'?t|stop|nunca|jam[aá]s|sin|não|"
    r"jamais|sem|pas|sans|mai|non|senza|nicht|nie|niemals|kein\w*|ohne|не|никогда|без|nikdy|bez|nie|nigdy)\b"
    r"|不要|别|別|勿|禁止|不得|永远不|ない|禁止|마세요|말아|지\s?마|금지",
    re.IGNORECASE,
)
# Words of which a rule means one and not the other. A family of three or more is a choice between tools or styles.
CHOICES: tuple[frozenset[str], ...] = tuple(
    frozenset(family.split())
    for family in (
        "npm pnpm yarn bun deno",
        "node bun deno",
        "pip uv poetry conda pipenv",
        "jest vitest mocha",
        "pytest unittest nose",
        "eslint biome",
        "tabs spaces",
        "tab space",
        "single double",
        "british american us uk",
        "first last",
        "before after",
        "top bottom",
        "start end",
        "beginning end",
        "past present future",
        "ascending descending",
        "oldest newest",
        "uppercase lowercase",
        "short long",
        "squash rebase merge",
        "headless visible",
        "markdown html",
        "camelcase snake_case kebab-case",
        "english german french spanish portuguese italian russian chinese japanese korean polish czech",
        "with without",
        "include omit exclude leave",
        "singular plural",
        "light dark",
        "formal informal casual",
    )
)
_WORD = re.compile(r"[^\W_][\w-]*", re.UNICODE)


def says_already(change: str, text: str) -> bool:
    """Whether one line or item of `text` says what `change` says: its words, its numbers, the same yes or no."""
    wanted = stems(change)
    if not wanted:
        return False
    return any(
        len(wanted & stems(line)) >= _COVERED * len(wanted)
        and numbers(change) <= numbers(line)
        and bool(_DENIES.search(change)) == bool(_DENIES.search(line))
        and not _other_choice(change, line)
        for line in _rules(text)
    )


def contradicted(change: str, text: str) -> Lines | None:
    """Return the block of the skill `text` that `change` contradicts, the nearest in words, or None.

    Contradicted is a rule about the same thing with another number, another of two choices, or yes where it says no.
    """
    best: tuple[float, Lines] | None = None
    for section in sections(text):
        for block in section.blocks:
            if block.kind is Block.OTHER or len(block.text) > 400:  # noqa: PLR2004 - a longer block is no single rule
                continue
            likeness = _likeness(change, block.text)
            if likeness >= _SAME_TOPIC and _differ(change, block.text) and (best is None or likeness > best[0]):
                best = (likeness, block)
    return best[1] if best else None


def opposed(change: str, other: str) -> bool:
    """Whether two instructions are about the same thing and cannot both hold."""
    return _likeness(change, other) >= _SAME_TOPIC and _differ(change, other)


def _rules(text: str) -> Iterable[str]:
    for section in sections(text):
        for block in section.blocks:
            if block.kind is not Block.OTHER:
                yield block.text
                yield f"{section.heading} {block.text}"


def _likeness(change: str, line: str) -> float:
    mine, theirs = _topic(change), _topic(line)
    shared = len(mine & theirs)
    least = min(len(mine), len(theirs))
    if shared == 0 or (shared == 1 and least > 1 and not _other_choice(change, line)):
        return 0.0
    return shared / least


def _topic(text: str) -> frozenset[str]:
    """Return the stems of `text` with all members of a choice made one, and without numbers."""
    out = {stem for stem in stems(text) if not stem[0].isdigit()}
    for i, family in enumerate(CHOICES):
        members = {member for member in _lowered(text) if member in family}
        if members:
            out = {stem for stem in out if not any(stem in stems(member) for member in members)} | {f"choice {i}"}
    return frozenset(out)


def _differ(change: str, line: str) -> bool:
    mine, theirs = numbers(change), numbers(line)
    if mine and theirs and not mine & theirs:
        return True
    if _other_choice(change, line):
        return True
    return bool(_DENIES.search(change)) != bool(_DENIES.search(line))


def _other_choice(change: str, line: str) -> bool:
    mine, theirs = _lowered(change), _lowered(line)
    return any(family & mine and family & theirs and not family & mine & theirs for family in CHOICES)


def _lowered(text: str) -> frozenset[str]:
    return frozenset(word.lower() for word in _WORD.findall(text))
