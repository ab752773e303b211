"""Builds requests to a model: rules, then the skill, then the messages, so that providers can cache the prefix.

Everything from a transcript or a repository is data: it is sent as JSON strings in which `<` and `>` are escaped, so
that no text can close its block. The messages are between tags with a random mark, so that no text can even imitate
their end. Pure except for that mark, which comes after everything that can be cached. The wording is versioned; a
verdict has the version.
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Sequence
from importlib import resources
from itertools import groupby, pairwise

from skilld.classify.offline.likely import weighed_clauses
from skilld.classify.offline.provenance import own_words
from skilld.text import sentence_starts, truncate
from skilld.types import Message, SkillDoc, Update
from skilld.values import value_class
from skilld.words import stems

# Bump it whenever the text of a request changes, here or in a file of prompts/ (those of evaluations have their own
# version, in trial_prompt.py): the answers that `mine` stores are looked up by it. Answers stored in files
# (docs/scoring.md) are looked up by the request's exact text.
VERSION = "9"
MESSAGE_LIMIT = 500  # characters sent of each message

EXCERPT_LIMIT = 4000  # characters sent of a file other than a skill
INSTRUCTIONS_LIMIT = 1500  # characters sent of other loaded files; the checks after the model see all of them
_GAP = " … "
_LINE_BREAK = re.compile(r"\n+")
_MIN_LIKELY = 0.2  # of a sentence that comes before those at the ends
_HEADING = re.compile(r"^(?=#{1,6} )", re.MULTILINE)
MARK_BYTES = 6  # nobody guesses such a mark while the request is on its way
_BRACKETS = {ord(char): f"\\u{ord(char):04x}" for char in "<>\uff1c\uff1e\u2039\u203a\u3008\u3009"}
# Opening, closing and similar tags: a model is not strict about blanks, case or the width of a bracket.
_RESERVED_TAG = re.compile(
    r"[<\uff1c\u2039\u3008](?=[\s/\\\uff0f]*(?:skill_definition|current_skill_file|standing_instructions|recent_messages|"
    r"improvements|updates|operations|updated_file|new_skill|titles|foreign_changes|doubtful_changes|verdicts)\b)",
    re.IGNORECASE,
)


@value_class
class Prompt:
    """One request: the system prompt and the question."""

    system: str
    user: str


def detection(messages: Sequence[Message], skills: Sequence[SkillDoc], instructions: str = "") -> Prompt:
    """Ask what, if anything, the skills should remember. Messages must be redacted; each is cut to MESSAGE_LIMIT."""
    said = stems(" ".join(message.text for message in messages if message.by_person))
    parts = [_skill(skill, excerpt(skill.text, said) if skill.excerpt else skill.text) for skill in skills]
    if instructions.strip():
        standing = as_data(relevant_lines(instructions, said))
        parts.append(f"<standing_instructions>\n{standing}\n</standing_instructions>")
    lines = [_message(message) for message in messages]
    mark = secrets.token_hex(MARK_BYTES)
    parts.append(f'<recent_messages mark="{mark}">\n' + "\n".join(lines) + f'\n</recent_messages mark="{mark}">')
    parts.append(load_text("detect_question"))
    return Prompt(load_text("detect_system"), "\n\n".join(parts))


def retry(request: Prompt, fault: str) -> Prompt:
    """Ask again because of a `fault` of the answer, after the prefix that can be cached."""
    return Prompt(request.system, f"{request.user}\n\n{load_text('again').format(fault=fault)}")


def edit(updates: Sequence[Update], skill: SkillDoc) -> Prompt:
    """Ask for the operations that put the updates into one skill."""
    wanted = [{"section": update.section, "kind": update.kind.value, "change": update.change} for update in updates]
    return Prompt(
        load_text("edit_system"),
        "\n\n".join(
            (
                "<current_skill_file>\n" + escape_tags(skill.text) + "\n</current_skill_file>",
                "<improvements>\n" + as_data(wanted) + "\n</improvements>",
                load_text("edit_question"),
            )
        ),
    )


def _skill(skill: SkillDoc, text: str) -> str:
    name, body = as_data(skill.name), escape_tags(text)
    return f'<skill_definition number="{skill.number}" name={name}>\n{body}\n</skill_definition>'


def excerpt(text: str, said: frozenset[str]) -> str:
    """Return a text's headings, with those sections that share the most words with what was `said`."""
    if len(text) <= EXCERPT_LIMIT:
        return text
    parts = _HEADING.split(text)
    order = sorted(range(len(parts)), key=lambda number: -len(said & stems(parts[number])))
    left, whole = EXCERPT_LIMIT, set[int]()
    for number in order:
        if len(parts[number]) <= left:
            whole.add(number)
            left -= len(parts[number])
    heads = (part.partition("\n")[0] + "\n[...]\n" for part in parts)
    return "".join(
        part if number in whole else head for number, (part, head) in enumerate(zip(parts, heads, strict=True))
    )


def relevant_lines(text: str, said: frozenset[str]) -> str:
    """Return the lines of a text that share the most words with what was `said`, in order; gaps are marked.

    If none share any, the first lines. Most of a project's instructions have nothing to do with one batch.
    """
    if len(text) <= INSTRUCTIONS_LIMIT:
        return text
    lines = [truncate(line, INSTRUCTIONS_LIMIT) for line in text.splitlines() if line.strip()]
    shares = [len(said & stems(line)) for line in lines]
    left, kept = INSTRUCTIONS_LIMIT, set[int]()
    for number in sorted(range(len(lines)), key=lambda number: -shares[number]):
        if len(lines[number]) <= left:
            kept.add(number)
            left -= len(lines[number]) + 1
    gaps = {number for number in kept if number and number - 1 not in kept}
    return "\n".join(f"[...]\n{lines[number]}" if number in gaps else lines[number] for number in sorted(kept))


def _message(message: Message) -> str:
    shown: dict[str, object] = {"role": "user", "turn": message.turn} if message.by_person else {"role": "assistant"}
    if message.how is not None:
        shown["how"] = message.how.value
    shown["text"] = cut_person_text(message.text) if message.by_person else _cut_agent_text(message.text)
    return as_data(shown)


def cut_person_text(text: str, quote: str = "") -> str:
    """Cut a person's message to MESSAGE_LIMIT: pasted text first, then what is least likely to be lasting.

    The sentences of a `quote` stay.
    """
    if len(text) <= MESSAGE_LIMIT:
        return text
    own = "\n".join(line for line in own_words(text).split("\n") if line.strip())
    left_out = " [pasted text left out]" if len(own) < len(text) - text.count("\n") else ""
    return _best_sentences(own, quote, MESSAGE_LIMIT - len(left_out)) + left_out


def _best_sentences(text: str, quote: str, limit: int) -> str:
    """Return the sentences of a quote, those that may be lasting, the likeliest first, and those at the ends, in order.

    Head and tail alone lost three of 36 wishes of 40 written sessions: they stood in the middle of a long message.
    """
    if len(text) <= limit:
        return text
    seams = {*sentence_starts(text), *(found.end() for found in _LINE_BREAK.finditer(text))} - {len(text)}
    spans = list(pairwise([0, *sorted(seams), len(text)]))
    at = text.find(quote) if quote else -1
    weighed = weighed_clauses(text)

    def rank(place: int) -> tuple[bool, float, int]:
        start, end = spans[place]
        quoted = at >= 0 and start < at + len(quote) and at < end
        likely = [weight for one, weight in weighed if start < one.start + len(one.text) and one.start < end]
        worth = max((weight for weight in likely if weight >= _MIN_LIKELY), default=0.0)
        return not quoted, -worth, min(place, len(spans) - 1 - place)

    left, kept = limit, set[int]()
    for place in sorted(range(len(spans)), key=rank):
        start, end = spans[place]
        if end - start + len(_GAP) <= left:
            kept.add(place)
            left -= end - start + len(_GAP)
    if not kept:
        return truncate(text, limit)
    runs = groupby(range(len(spans)), key=kept.__contains__)
    return "".join("".join(text[slice(*spans[place])] for place in run) if stays else _GAP for stays, run in runs)


def _cut_agent_text(text: str) -> str:
    """Cut an agent's message, keeping more of the end, which has the offers and questions that people agree to."""
    return truncate(text, MESSAGE_LIMIT, tail_share=2 / 3)


def escape_tags(text: str, reserved: re.Pattern[str] = _RESERVED_TAG) -> str:
    """Keep a text readable, but prevent it from opening or closing a block, by a `reserved` tag."""
    return reserved.sub("\\\\u003c", text)


def escape_brackets(text: str) -> str:
    """Return a text in which nothing can open or close a block."""
    return text.translate(_BRACKETS)


def as_data(value: object) -> str:
    """Return a value as JSON in which no text can open or close a block."""
    return escape_brackets(json.dumps(value, ensure_ascii=False))


def load_text(name: str) -> str:
    """Return a file of `prompts/`, without white space at its ends."""
    return resources.files("skilld.classify").joinpath("prompts", f"{name}.txt").read_text("utf-8").strip()
