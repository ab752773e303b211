"""Merges one skill into another that is kept. Pure.

Two SKILL.md files in, operations on the one to keep out, and every line that is left out with the reason. Nothing is
reworded: each operation carries over lines of the other file, so that a person can accept some of them. A merge that
would exceed the limits of one edit is split; each part fits the file without the others.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from skilld.classify.contradiction import contradicted_block
from skilld.classify.offline.sections import BlockKind, ProseBlock, body_lines, sections
from skilld.classify.said_already import says_already
from skilld.classify.support import exact_tokens
from skilld.edit.change import Severity
from skilld.edit.insertion_point import insert_bullet
from skilld.edit.lint import lint
from skilld.edit.operations import anchor_operation, apply
from skilld.errors import RefusedError, SkilldError
from skilld.library.merge_places import find_shorter_item, insert_step, replace_item, whole_blocks
from skilld.markdown import structure
from skilld.markdown.skill_file import parse
from skilld.skills.spec import entries, front_lines, read_front, scalar
from skilld.text import Redact, fold, fold_case, indentation
from skilld.types import Op, Operation

_SENTENCE_PATTERN = re.compile(r"(?<=[.!?。！？])\s+(?=\W*[A-ZÀ-ÞА-Я\d`])")
_NO_WORDS_PATTERN = re.compile(r"[\W_]*")


@dataclass(frozen=True, slots=True)
class Passage:
    """Lines of a skill without the indentation and marker of the first. `whole`: a block; `step`: a numbered item."""

    section: str
    lines: tuple[str, ...]
    whole: bool = False
    step: bool = False

    @property
    def text(self) -> str:
        """The passage on one line, for comparison."""
        return fold(" ".join(self.lines))


def find_passages(text: str) -> list[Passage]:
    """Return the list items, sentences, code and tables of a SKILL.md in order; none if it cannot be parsed."""
    body = body_lines(text)
    return [one for section in sections(text) for one in _section_passages(section.heading, section.blocks, body)]


def _section_passages(title: str, blocks: Sequence[ProseBlock], body: Sequence[str]) -> Iterator[Passage]:
    for block, last in whole_blocks(blocks, body):
        lines = body[block.first : last + 1]
        if block.kind is BlockKind.ITEM:
            yield Passage(title, _item_lines(block, lines), step=block.marker[:1].isdigit())
        elif block.kind is BlockKind.PARAGRAPH:
            yield from (Passage(title, (part,)) for part in _SENTENCE_PATTERN.split(fold(block.text)))
        elif block.kind is BlockKind.OTHER and not _NO_WORDS_PATTERN.fullmatch(block.text) and "<!--" not in block.text:
            yield Passage(title, tuple(lines), whole=True)


def _item_lines(item: ProseBlock, lines: Sequence[str]) -> tuple[str, ...]:
    """Return the lines of a list item and its nested blocks, without its marker and their indentation."""
    first = lines[0][len(item.indent + item.marker + item.gap) :].strip()
    depth = min((indentation(line) for line in lines[1:] if line.strip()), default=0)
    return first, *(line[depth:].rstrip() for line in lines[1:])


MERGED_FROM = "skilld-merged-from"
NO_MARK_FLAG = "the front matter cannot record where these lines come from"
MAX_PARTS = 5


class TooMuchError(SkilldError):
    """The skills are similar, but one says so much more that nobody could review the merge."""


@dataclass(frozen=True, slots=True)
class Omission:
    """One thing of the merged skill that is left out, and why."""

    what: str
    why: str


@dataclass(frozen=True, slots=True)
class Portion:
    """One proposal: the new file, the operations, what is carried over, and what a person should look at."""

    data: bytes
    operations: tuple[Operation, ...] = ()
    carried: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Merge:
    """What one skill takes from another, in one or several parts; no parts if it already says everything."""

    parts: tuple[Portion, ...]
    left: tuple[Omission, ...]


def merge_skills(keep: bytes, away: bytes, name: str, redact: Redact) -> Merge:
    """Return what the skill `keep` takes from `away`, called `name`. `redact` removes secrets from a text.

    Raises SkilldError if one of them cannot be parsed, TooMuchError if more than MAX_PARTS would be needed.
    """
    for data in (keep, away):
        parse(data)
    source = away.decode("utf-8-sig")
    ground = own = keep.decode("utf-8-sig")
    parts = [Portion(keep)]
    left: list[Omission] = []
    mine, theirs, passages = title_of(own), title_of(source), find_passages(source)
    if mine and theirs:  # text directly below one title belongs below the other
        passages = [replace(one, section=mine) if one.section == theirs else one for one in passages]
    for number, passage in enumerate(passages):
        if _is_said_in(passage, ground):
            continue
        why = _omission_reason(passage, own, redact)
        if not why:
            try:
                parts = _add_passage(
                    _PassageInContext(passage, passages[:number], passages[number + 1 :]), parts, keep, source
                )
            except TooMuchError:
                raise
            except SkilldError as error:
                why = error.cause or error.title
        if why:
            left.append(Omission(passage.text, why))
        else:
            ground += "\n\n" + "\n".join(passage.lines)
    made = tuple(part for part in parts if part.operations)
    return Merge(_with_origin_mark(made, keep, name), (*left, *_front_matter_omissions(keep, away)))


def title_of(text: str) -> str:
    """Return a skill's title: its first heading if that is of level 1, or ""."""
    first = next((section for section in sections(text) if section.level), None)
    return first.heading if first and first.level == 1 else ""


def folder_omissions(files: Sequence[str], away_agents: Sequence[str], keep_agents: Sequence[str]) -> list[Omission]:
    """Return what is lost with the merged folder: its other files, and agents that see only that skill."""
    only = [agent for agent in away_agents if agent not in keep_agents]
    unseen = [Omission(agent, "this agent sees only the other skill, not the one that is kept") for agent in only]
    return [*(Omission(name, "a file in the other skill's folder; files are not copied") for name in files), *unseen]


def _is_said_in(passage: Passage, ground: str) -> bool:
    """Whether the text contains a passage: a block literally, anything else in similar words."""
    stands = {fold(line) for line in ground.splitlines()}
    if all(fold(line) in stands for line in passage.lines if line.strip()):
        return True
    if passage.whole or not all(token.casefold() in ground.casefold() for token in exact_tokens(passage.text)):
        return False  # similar words without a flag or a number say less
    return says_already(passage.text, ground)


def _omission_reason(passage: Passage, own: str, redact: Redact) -> str | None:
    if any(redact(line) != line for line in passage.lines):
        return "it contains a secret"
    block = None if passage.whole else contradicted_block(passage.text, own)
    return (
        f"the skill that is kept says the opposite; decide which of the two applies: {fold(block.text)}"
        if block
        else None
    )


@dataclass(frozen=True, slots=True)
class _PassageInContext:
    """A passage with those before and after it in its skill."""

    passage: Passage
    before: Sequence[Passage]
    behind: Sequence[Passage]


def _insert_operation(one: _PassageInContext, data: bytes) -> Operation:
    """Return the operation for a passage: it replaces a shorter item, joins the steps in order, or is appended."""
    passage = one.passage
    if passage.whole:
        return _insert_block(passage, data)
    if (less := find_shorter_item(data, passage.text)) is not None:
        return replace_item(data, less, passage.lines)
    if passage.step:
        before = [other.text for other in reversed(one.before) if other.step]
        behind = [other.text for other in one.behind if other.step]
        if (placed := insert_step(data, passage.lines, before, behind)) is not None:
            return placed
    return insert_bullet(data, passage.section, "\n".join(passage.lines))


def _add_passage(one: _PassageInContext, parts: list[Portion], keep: bytes, evidence: str) -> list[Portion]:
    """Add the passage to the last part, or to a new one if that is full."""
    try:
        return [*parts[:-1], _insert_into_part(one, parts[-1], keep, evidence)]
    except RefusedError:
        if not parts[-1].operations:
            raise
        if len(parts) == MAX_PARTS:
            raise TooMuchError(
                "The merge was not proposed",
                f"it would take more than {MAX_PARTS} proposals, which is too many to review",
            ) from None
        return [*parts, _insert_into_part(one, Portion(keep), keep, evidence)]


def _insert_into_part(one: _PassageInContext, part: Portion, keep: bytes, evidence: str) -> Portion:
    operations = (*part.operations, _insert_operation(one, part.data))
    after = apply(keep, operations)
    findings = lint(part.data, after, evidence)
    if refused := next((found for found in findings if found.severity is Severity.REFUSE), None):
        raise SkilldError("Not carried over", refused.sentence)
    flags = (*part.flags, *(found.sentence for found in findings))
    return Portion(after, operations, (*part.carried, one.passage.text), tuple(dict.fromkeys(flags)))


def _with_origin_mark(parts: tuple[Portion, ...], keep: bytes, name: str) -> tuple[Portion, ...]:
    """Record the merged skill in the front matter with the last part, if the front matter permits."""
    if not parts:
        return parts
    merged = read_front(keep.decode("utf-8", "replace")).metadata.get(MERGED_FROM, "")
    *others, last = parts
    operations = (*last.operations, Operation(Op.MARK, MERGED_FROM, ", ".join(filter(None, (merged, name)))))
    try:
        after = apply(keep, operations)
    except SkilldError:
        return (*others, replace(last, flags=(*last.flags, NO_MARK_FLAG)))
    return (*others, replace(last, data=after, operations=operations))


def _insert_block(passage: Passage, data: bytes) -> Operation:
    """Return the operation that adds code or a table at the end of its section, or of the file."""
    body = parse(data).body
    named = [part for part in structure.sections(body) if fold_case(part.title) == fold_case(passage.section)]
    end = named[0].own_end if named else len(body)
    while end and not body[end - 1].key:
        end -= 1
    title = [] if named or not passage.section else [f"## {fold(passage.section)}", ""]
    lines = ["", *title, *passage.lines, *([""] if end < len(body) and body[end].key else [])]
    return anchor_operation(body, end, end, lines)


def _front_matter_omissions(keep: bytes, away: bytes) -> Iterator[Omission]:
    """Yield the front matter fields that the kept skill has not or has with another value."""
    mine, theirs = _fields(keep), _fields(away)
    for key, value in theirs.items():
        if key != "name" and value and mine.get(key) != value:
            yield Omission(f"{key}: {value}", "the front matter of the skill that is kept is not changed")


def _fields(data: bytes) -> Mapping[str, str]:
    lines = front_lines(data.decode("utf-8", "replace")) or ()
    return {key: fold(scalar(value, rest)) for key, value, rest in entries(lines)}
