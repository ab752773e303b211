"""Removes the line of a skill that a person's words take back: "you can drop prettier again"."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from skilld.classify.offline.choices import chosen_part, refused_part
from skilld.classify.offline.grammar import STRENGTH, Cue
from skilld.classify.offline.phrasing import as_sentence
from skilld.classify.offline.provenance import own_words
from skilld.classify.offline.release import Release, condition_of, releases
from skilld.classify.offline.sections import BlockKind, ProseBlock, body_lines, sections
from skilld.text import fold
from skilld.types import Kind, Message, Op, Operation, SkillDoc, Update
from skilld.words import content_stems, has_negation, stems


def with_removals(updates: Sequence[Update], messages: Sequence[Message], skills: Sequence[SkillDoc]) -> list[Update]:
    """Return `updates`, with a removal instead of those that only say that a line of a skill holds no longer."""
    removals = list({(one.turn, one.skill, one.change): one for one in _removals(messages, skills)}.values())
    taking = [(one.turn, one.quote) for one in removals]
    others = [
        one
        for one in updates
        if not any(turn == one.turn and (quote in one.quote or one.quote in quote) for turn, quote in taking)
    ]
    return [*others, *removals]


def removal(quote: str, skill: SkillDoc) -> Operation | None:
    """Return the operation that deletes the line that `quote` takes back, if any."""
    for clause in releases(quote):
        if found := _released(clause, skill.text):
            _, block = found
            lines = body_lines(skill.text)[block.first : block.last + 1]
            return Operation(Op.DELETE, "\n".join(lines))
    return None


def _removals(messages: Sequence[Message], skills: Sequence[SkillDoc]) -> Iterator[Update]:
    for place, message in enumerate(messages):
        agent = [one.text for one in messages[:place] if not one.by_person]
        said = [one.text for one in messages[:place] if one.by_person]
        for clause in releases(own_words(message.text, agent)) if message.turn else ():
            if any(clause.fits(one) for one in said):
                continue  # it may mean what was said just before
            for skill in skills:
                if found := _released(clause, skill.text):
                    heading, _ = found
                    yield Update(
                        skill=skill.number,
                        section=heading,
                        change=as_sentence(fold(clause.clause)),
                        reason="You said that this no longer holds.",
                        kind=Kind.REMOVE_STEP,
                        turn=message.turn or 0,
                        quote=clause.clause,
                        confidence=STRENGTH[Cue.STOP],
                    )


def _released(clause: Release, text: str) -> tuple[str, ProseBlock] | None:
    """Return the heading and the block of the skill `text` that a clause takes back; None if it may be several.

    The block is about what the clause names, and has more of its words than any other.
    """
    if not clause.lasting or clause.replaced:
        return None
    named = [
        (clause.named(block.text), section.heading, block)
        for section in sections(text)
        for block in section.blocks
        if block.kind is not BlockKind.OTHER
        and clause.is_subject_of(block.text)
        and not clause.keeps(block.text)
        and (not clause.of_order or _asks_for_it(clause, block.text))
    ]
    most = max((count for count, _, _ in named), default=0)
    best = [(heading, block) for count, heading, block in named if count == most]
    return best[0] if len(best) == 1 else None


def _asks_for_it(clause: Release, text: str) -> bool:
    """Whether a rule asks for what a clause lets go of: "use pnpm, not npm" asks for pnpm."""
    if condition := condition_of(text):
        return clause.fits(text) and bool(stems(clause.clause) & stems(condition))
    chosen = chosen_part(text)
    refused = content_stems(refused_part(text)) - content_stems(chosen)
    return not has_negation(chosen) and clause.fits(chosen) and not refused & content_stems(clause.clause)
