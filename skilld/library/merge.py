"""What merging two skills would add to the one that is kept, and what would be lost. Pure.

Two SKILL.md files in, operations on the one that stays out, with every line that does not come along and why. Nothing
is reworded: what is carried over are lines of the other file, one operation each, so that a person can take some of
them. A merge that would pass the bounds of one edit is split; each part fits the file without the others.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from skilld.classify.contradiction import contradicted_block
from skilld.classify.offline.sections import Block, Lines, body_of, sections
from skilld.classify.said_already import says_already
from skilld.classify.support import exact_tokens
from skilld.edit.change import Severity
from skilld.edit.insertion_point import insert_bullet
from skilld.edit.lint import lint
from skilld.edit.operations import anchored, apply
from skilld.errors import RefusedError, SkilldError
from skilld.library.merge_places import among_steps, indent_of, over, says_less, whole_blocks
from skilld.markdown import structure
from skilld.markdown.skill_file import parse
from skilld.skills.spec import entries, front, front_lines, scalar
from skilld.text import fold, folded
from skilld.types import Op, Operation

_SENTENCE = re.compile(r"(?<=[.!?。！？])\s+(?=\W*[A-ZÀ-ÞА-Я\d`])")
_NO_WORDS = re.compile(r"[\W_]*")


@dataclass(frozen=True, slots=True)
class Passage:
    """`lines` as they stand, less the indentation and marker of the first; `whole` keeps them together as a block.

    `text` is what is compared: the words on one line. A `step` is numbered.
    """

    section: str
    lines: tuple[str, ...]
    whole: bool = False
    step: bool = False

    @property
    def text(self) -> str:
        """The words of the passage on one line."""
        return fold(" ".join(self.lines))


def passages(text: str) -> list[Passage]:
    """Return the list items, sentences, code and tables of a SKILL.md in order; none if it cannot be taken apart."""
    body = body_of(text)
    return [passage for section in sections(text) for passage in _of_section(section.heading, section.blocks, body)]


def _of_section(title: str, blocks: Sequence[Lines], body: Sequence[str]) -> Iterator[Passage]:
    for block, last in whole_blocks(blocks, body):
        lines = body[block.first : last + 1]
        if block.kind is Block.ITEM:
            yield Passage(title, _item(block, lines), step=block.marker[:1].isdigit())
        elif block.kind is Block.PARAGRAPH:
            yield from (Passage(title, (part,)) for part in _SENTENCE.split(fold(block.text)))
        elif block.kind is Block.OTHER and not _NO_WORDS.fullmatch(block.text) and "<!--" not in block.text:
            yield Passage(title, tuple(lines), whole=True)


def _item(item: Lines, lines: Sequence[str]) -> tuple[str, ...]:
    """Return the lines of a list item and of what belongs to it, less its marker and their indentation."""
    first = lines[0][len(item.indent + item.marker + item.gap) :].strip()
    depth = min((indent_of(line) for line in lines[1:] if line.strip()), default=0)
    return first, *(line[depth:].rstrip() for line in lines[1:])


MERGED_FROM = "skilld-merged-from"
NO_MARK = "the front matter cannot record where these lines come from"
MAX_PARTS = 5
Redact = Callable[[str], str]


class TooMuchError(SkilldError):
    """The two are alike, and yet one says so much besides that nobody could review the merge."""


@dataclass(frozen=True, slots=True)
class Omission:
    """One thing of the merged skill that does not come along, and why."""

    what: str
    why: str


@dataclass(frozen=True, slots=True)
class Portion:
    """One proposal: its operations, the file as it would be, what it carries over, what a person should look at."""

    data: bytes
    operations: tuple[Operation, ...] = ()
    carried: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Merge:
    """What one skill would take from another, in one part or several; none if it says all of it already."""

    parts: tuple[Portion, ...]
    left: tuple[Omission, ...]


def merge(keep: bytes, away: bytes, name: str, redact: Redact) -> Merge:
    """Return what the skill `keep` would take from `away`, called `name`. `redact` takes secrets out of a text.

    Raises SkilldError if one of them cannot be taken apart, TooMuchError if it would take more than MAX_PARTS.
    """
    for data in (keep, away):
        parse(data)
    said = away.decode("utf-8-sig")
    ground = own = keep.decode("utf-8-sig")
    parts = [Portion(keep)]
    left: list[Omission] = []
    mine, theirs, told = titled(own), titled(said), passages(said)
    if mine and theirs:  # what is right below the title of the one stands below that of the other
        told = [replace(one, section=mine) if one.section == theirs else one for one in told]
    for number, passage in enumerate(told):
        if _stands_in(passage, ground):
            continue
        why = _omission(passage, own, redact)
        if not why:
            try:
                parts = _with(_Placed(passage, told[:number], told[number + 1 :]), parts, keep, said)
            except TooMuchError:
                raise
            except SkilldError as error:
                why = error.cause or error.title
        if why:
            left.append(Omission(passage.text, why))
        else:
            ground += "\n\n" + "\n".join(passage.lines)
    made = tuple(part for part in parts if part.operations)
    return Merge(_marked(made, keep, name), (*left, *_front(keep, away)))


def titled(text: str) -> str:
    """Return the title of a skill's text: its first heading, where that is of the first level; else ""."""
    first = next((section for section in sections(text) if section.level), None)
    return first.heading if first and first.level == 1 else ""


def beside(files: Sequence[str], agents_of_away: Sequence[str], agents_of_keep: Sequence[str]) -> list[Omission]:
    """Return what is lost with the folder: its other files, and the agents that see only that one."""
    only = [agent for agent in agents_of_away if agent not in agents_of_keep]
    unseen = [Omission(agent, "this agent sees only the other skill, not the one that is kept") for agent in only]
    return [*(Omission(name, "a file in the other skill's folder; files are not copied") for name in files), *unseen]


def _stands_in(passage: Passage, ground: str) -> bool:
    """Whether the text says it: a block by its lines as they are, all else also in nearly the same words."""
    stands = {fold(line) for line in ground.splitlines()}
    if all(fold(line) in stands for line in passage.lines if line.strip()):
        return True
    if passage.whole or not all(token.casefold() in ground.casefold() for token in exact_tokens(passage.text)):
        return False  # the same in nearly all words, but for a flag or a number, says less
    return says_already(passage.text, ground)


def _omission(passage: Passage, own: str, redact: Redact) -> str | None:
    if any(redact(line) != line for line in passage.lines):
        return "it contains a secret"
    block = None if passage.whole else contradicted_block(passage.text, own)
    return (
        f"the skill that is kept says the opposite; decide which of the two applies: {fold(block.text)}"
        if block
        else None
    )


@dataclass(frozen=True, slots=True)
class _Placed:
    """A passage with those that came before and after it in the skill that is merged."""

    passage: Passage
    before: Sequence[Passage]
    behind: Sequence[Passage]


def _operation(one: _Placed, data: bytes) -> Operation:
    """Return the operation that brings a passage in: over an item that says less, a step in its order, else added."""
    passage = one.passage
    if passage.whole:
        return _block(passage, data)
    if (less := says_less(data, passage.text)) is not None:
        return over(data, less, passage.lines)
    if passage.step:
        before = [other.text for other in reversed(one.before) if other.step]
        behind = [other.text for other in one.behind if other.step]
        if (placed := among_steps(data, passage.lines, before, behind)) is not None:
            return placed
    return insert_bullet(data, passage.section, "\n".join(passage.lines))


def _with(one: _Placed, parts: list[Portion], keep: bytes, evidence: str) -> list[Portion]:
    """Return the parts with the passage in the last one, or in a new one where that is full."""
    try:
        return [*parts[:-1], _inserted(one, parts[-1], keep, evidence)]
    except RefusedError:
        if not parts[-1].operations:
            raise
        if len(parts) == MAX_PARTS:
            raise TooMuchError(
                "The merge was not proposed",
                f"it would take more than {MAX_PARTS} proposals, which is too many to review",
            ) from None
        return [*parts, _inserted(one, Portion(keep), keep, evidence)]


def _inserted(one: _Placed, part: Portion, keep: bytes, evidence: str) -> Portion:
    operations = (*part.operations, _operation(one, part.data))
    after = apply(keep, operations)
    findings = lint(part.data, after, evidence)
    if refused := next((found for found in findings if found.severity is Severity.REFUSE), None):
        raise SkilldError("Not carried over", refused.sentence)
    flags = (*part.flags, *(found.sentence for found in findings))
    return Portion(after, operations, (*part.carried, one.passage.text), tuple(dict.fromkeys(flags)))


def _marked(parts: tuple[Portion, ...], keep: bytes, name: str) -> tuple[Portion, ...]:
    """Have the last part write down whose content it is; front matter that has no place for it goes without."""
    if not parts:
        return parts
    said = front(keep.decode("utf-8", "replace")).metadata.get(MERGED_FROM, "")
    *others, last = parts
    operations = (*last.operations, Operation(Op.MARK, MERGED_FROM, ", ".join(filter(None, (said, name)))))
    try:
        after = apply(keep, operations)
    except SkilldError:
        return (*others, replace(last, flags=(*last.flags, NO_MARK)))
    return (*others, replace(last, data=after, operations=operations))


def _block(passage: Passage, data: bytes) -> Operation:
    """Return the operation that puts code or a table at the end of the section of its name, else of the file."""
    body = parse(data).body
    named = [part for part in structure.sections(body) if folded(part.title) == folded(passage.section)]
    end = named[0].own_end if named else len(body)
    while end and not body[end - 1].key:
        end -= 1
    title = [] if named or not passage.section else [f"## {fold(passage.section)}", ""]
    lines = ["", *title, *passage.lines, *([""] if end < len(body) and body[end].key else [])]
    return anchored(body, end, end, lines)


def _front(keep: bytes, away: bytes) -> Iterator[Omission]:
    """Yield the fields of the front matter that the one that stays does not have in the same words."""
    mine, theirs = _fields(keep), _fields(away)
    for key, value in theirs.items():
        if key != "name" and value and mine.get(key) != value:
            yield Omission(f"{key}: {value}", "the front matter of the skill that is kept is not changed")


def _fields(data: bytes) -> Mapping[str, str]:
    lines = front_lines(data.decode("utf-8", "replace")) or ()
    return {key: fold(scalar(value, rest)) for key, value, rest in entries(lines)}
