"""What a merge of two skills would bring into the one that stays, and what would be lost. Pure.

Two SKILL.md files in, operations on the one that stays out, with every line that does not come along and why. Nothing
is reworded: what is carried over are lines of the other file, one operation each, so that a person can take some of
them. A merge that would pass the bounds of one edit is split; each part fits the file without the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from skilld.classify.offline.said import contradicted, says_already
from skilld.edit.anchors import anchored
from skilld.edit.findings import Verdict
from skilld.edit.lint import lint
from skilld.edit.operations import apply
from skilld.edit.place import insert_bullet
from skilld.errors import RefusedError, SkilldError
from skilld.lifecycle.passages import Passage, passages
from skilld.markdown.skill_file import parse
from skilld.markdown.structure import sections
from skilld.skills.front import entries, front_lines, scalar
from skilld.text import fold
from skilld.types import Operation

Redact = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Left:
    """One thing of the merged skill that does not come along, and why."""

    what: str
    why: str


@dataclass(frozen=True, slots=True)
class Merge:
    """`parts` are the operations of each proposal, `carried` what they add; `flags` what a person should look at."""

    parts: tuple[tuple[Operation, ...], ...]
    carried: tuple[str, ...]
    left: tuple[Left, ...]
    flags: tuple[str, ...]


@dataclass
class _Part:
    """One proposal in the making: the file as it would be, and the operations that lead there."""

    data: bytes
    operations: tuple[Operation, ...] = ()


def merge(keep: bytes, away: bytes, redact: Redact) -> Merge:
    """Return what the skill `keep` would take from `away`. `redact` takes secrets out of a text.

    Raises SkilldError where one of them cannot be taken apart.
    """
    parse(away)
    said = away.decode("utf-8-sig")
    parts = [_Part(keep)]
    carried: list[str] = []
    left: list[Left] = []
    flags: list[str] = []
    ground = keep.decode("utf-8-sig")
    for passage in passages(said):
        if _stands_in(passage, ground):
            continue
        why = _why_left(passage, ground, redact)
        if not why:
            try:
                flags += _put(passage, parts, keep, said)
            except SkilldError as error:
                why = error.cause or error.title
        if why:
            left.append(Left(passage.text, why))
        else:
            carried.append(passage.text)
            ground += "\n\n" + "\n".join(passage.lines)
    made = tuple(part.operations for part in parts if part.operations)
    return Merge(made, tuple(carried), (*left, *_front(keep, away)), tuple(dict.fromkeys(flags)))


def beside(files: Sequence[str], agents_of_away: Sequence[str], agents_of_keep: Sequence[str]) -> list[Left]:
    """Return what is lost with the folder: its other files, and the agents that see only that one."""
    only = [agent for agent in agents_of_away if agent not in agents_of_keep]
    unseen = [Left(agent, "it sees only this skill, and not the one that stays") for agent in only]
    return [*(Left(name, "a file of the folder, which is not copied") for name in files), *unseen]


def _stands_in(passage: Passage, ground: str) -> bool:
    """Whether the text says it: a block by its lines as they are, all else also in nearly the same words."""
    stands = {fold(line) for line in ground.splitlines()}
    if all(fold(line) in stands for line in passage.lines if line.strip()):
        return True
    return not passage.whole and says_already(passage.text, ground)


def _why_left(passage: Passage, ground: str, redact: Redact) -> str:
    if any(redact(line) != line for line in passage.lines):
        return "it holds a secret"
    block = None if passage.whole else contradicted(passage.text, ground)
    return f"the one that stays says otherwise: {fold(block.text)}" if block is not None else ""


def _put(passage: Passage, parts: list[_Part], keep: bytes, evidence: str) -> list[str]:
    """Add the passage to the last part, or to a new one where that is full; return the linter's remarks."""
    try:
        after, operations, flags = _inserted(passage, parts[-1].data, parts[-1].operations, keep, evidence)
    except RefusedError:
        if not parts[-1].operations:
            raise
        after, operations, flags = _inserted(passage, keep, (), keep, evidence)
        parts.append(_Part(keep))
    parts[-1] = _Part(after, operations)
    return flags


def _inserted(
    passage: Passage, data: bytes, before: tuple[Operation, ...], keep: bytes, evidence: str
) -> tuple[bytes, tuple[Operation, ...], list[str]]:
    operation = _block(passage, data) if passage.whole else insert_bullet(data, passage.section, _joined(passage))
    operations = (*before, operation)
    after = apply(keep, operations)
    findings = lint(data, after, evidence)
    if refused := next((found for found in findings if found.verdict is Verdict.REFUSE), None):
        raise SkilldError("Not carried over", refused.sentence)
    return after, operations, [found.sentence for found in findings]


def _joined(passage: Passage) -> str:
    return "\n".join(passage.lines)


def _block(passage: Passage, data: bytes) -> Operation:
    """Return the operation that puts code or a table at the end of the section of its name, else of the file."""
    body = parse(data).body
    named = [part for part in sections(body) if fold(part.title).casefold() == fold(passage.section).casefold()]
    end = named[0].own_end if named else len(body)
    while end and not body[end - 1].key:
        end -= 1
    title = [] if named or not passage.section else [f"## {fold(passage.section)}", ""]
    lines = ["", *title, *passage.lines, *([""] if end < len(body) and body[end].key else [])]
    return anchored(body, end, end, lines)


def _front(keep: bytes, away: bytes) -> Iterator[Left]:
    """Yield the fields of the front matter that the one that stays does not have in the same words."""
    mine, theirs = _fields(keep), _fields(away)
    for key, value in theirs.items():
        if key != "name" and value and mine.get(key) != value:
            yield Left(f"{key}: {value}", "front matter: that of the one that stays is not changed")


def _fields(data: bytes) -> Mapping[str, str]:
    lines = front_lines(data.decode("utf-8", "replace")) or ()
    return {key: fold(scalar(value, rest)) for key, value, rest in entries(lines)}
