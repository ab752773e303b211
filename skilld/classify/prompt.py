"""Builds requests to a model: rules, then the skill, then the messages, so that providers can cache the prefix.

Everything that comes from a transcript or a repository is data: it stands as JSON strings in which `<` and `>` are
escaped, so that no text can close its block; and the messages stand between tags with a mark that is drawn again for
each request, so that no text can even look like their end. Pure but for that mark, which comes behind all that a cache
can serve. The wording is versioned; a verdict carries the version.
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources

from skilld.classify.offline.provenance import own_words
from skilld.text import cut
from skilld.types import Message, SkillDoc, Update
from skilld.words import stems

# Bump it whenever the text of a request changes, here or in a file of prompts/ (those of evaluations have a version of
# their own, in trial_prompt.py): what `mine` keeps of answers is found by it. Answers kept in files (docs/scoring.md)
# are found by the request's exact text.
VERSION = "4"
MESSAGE_LIMIT = 500  # characters of each message that are sent

EXCERPT_LIMIT = 4000  # characters of a file that is no skill
NEAR_LIMIT = 1500  # characters of what else the agent loads; the checks after the model have all of it
_HEADING = re.compile(r"^(?=#{1,6} )", re.MULTILINE)
_MARK = 6  # bytes; nobody guesses it while the request is on its way
_BRACKETS = {ord(char): f"\\u{ord(char):04x}" for char in "<>\uff1c\uff1e\u2039\u203a\u3008\u3009"}
# Opening, closing and nearly right: a model is not strict about blanks, case or the width of a bracket.
_OURS = re.compile(
    r"[<\uff1c\u2039\u3008](?=[\s/\\\uff0f]*(?:skill_definition|current_skill_file|standing_instructions|recent_messages|"
    r"improvements|updates|operations|updated_file|new_skill|titles|foreign_changes|doubtful_changes|verdicts)\b)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Prompt:
    """One request: what the model is, and what it is asked."""

    system: str
    user: str


def detection(messages: Sequence[Message], skills: Sequence[SkillDoc], instructions: str = "") -> Prompt:
    """Ask what, if anything, the skills should remember. Messages come redacted; each is cut to MESSAGE_LIMIT."""
    said = stems(" ".join(message.text for message in messages if message.by_person))
    parts = [_skill(skill, excerpt(skill.text, said) if skill.excerpt else skill.text) for skill in skills]
    if instructions.strip():
        parts.append(_block("standing_instructions", near(instructions, said)))
    lines = [_message(message) for message in messages]
    mark = secrets.token_hex(_MARK)
    parts.append(f'<recent_messages mark="{mark}">\n' + "\n".join(lines) + f'\n</recent_messages mark="{mark}">')
    parts.append(_rules("detect_question"))
    return Prompt(_rules("detect_system"), "\n\n".join(parts))


def again(request: Prompt, fault: str) -> Prompt:
    """Ask the same once more, behind all that a cache can serve; `fault` is a clause of ours."""
    return Prompt(request.system, f"{request.user}\n\n{_rules('again').format(fault=fault)}")


def reword(updates: Sequence[Update], said: Sequence[str]) -> Prompt:
    """Ask for the same changes in the person's own words; `said` is what they said in the turn of each."""
    return _about_changes("foreign_changes", "reword_question", updates, said)


def polarity(updates: Sequence[Update], said: Sequence[str]) -> Prompt:
    """Ask of each change whether it says what was meant or the opposite; `said` is the ground of each."""
    return _about_changes("doubtful_changes", "polarity_question", updates, said)


def _about_changes(block: str, question: str, updates: Sequence[Update], said: Sequence[str]) -> Prompt:
    changes = [
        {
            "kind": update.kind.value,
            "change": update.change,
            "quote": update.quote,
            "message": cut(typed, MESSAGE_LIMIT),
        }
        for update, typed in zip(updates, said, strict=True)
    ]
    return Prompt(_rules("detect_system"), f"<{block}>\n{_json(changes)}\n</{block}>\n\n{_rules(question)}")


def edit(updates: Sequence[Update], skill: SkillDoc) -> Prompt:
    """Ask for the operations that put the updates into one skill."""
    wanted = [{"section": update.section, "kind": update.kind.value, "change": update.change} for update in updates]
    return Prompt(
        _rules("edit_system"),
        "\n\n".join(
            (
                "<current_skill_file>\n" + _raw(skill.text) + "\n</current_skill_file>",
                "<improvements>\n" + _json(wanted) + "\n</improvements>",
                _rules("edit_question"),
            )
        ),
    )


def titles(texts: Sequence[str]) -> Prompt:
    """Ask what new skills with these drafted texts are to be called, numbered from 1."""
    skills = [f'<new_skill number="{number}">\n{_raw(text)}\n</new_skill>' for number, text in enumerate(texts, 1)]
    return Prompt(_rules("title_system"), "\n\n".join([*skills, _rules("title_question")]))


def repeats(said: Sequence[str], rules: Sequence[str]) -> Prompt:
    """Ask which of some things were said because a rule was not kept; both come redacted, and are numbered from 1."""
    shown = {
        name: "\n".join(_json({"number": number, "text": text}) for number, text in enumerate(texts, 1))
        for name, texts in (("rules", rules), ("said", said))
    }
    parts = [f"<{name}>\n{lines}\n</{name}>" for name, lines in shown.items()]
    return Prompt(_rules("repeat_system"), "\n\n".join([*parts, _rules("repeat_question")]))


def matters(work: Sequence[Mapping[str, str]], rules: Sequence[str]) -> Prompt:
    """Ask which rules could matter in a session; its `work` and the rules come redacted, the rules numbered from 1."""
    shown = {
        "work": "\n".join(map(_json, work)),
        "rules": "\n".join(_json({"number": number, "text": text}) for number, text in enumerate(rules, 1)),
    }
    parts = [f"<{name}>\n{lines}\n</{name}>" for name, lines in shown.items()]
    return Prompt(_rules("matter_system"), "\n\n".join([*parts, _rules("matter_question")]))


def spare(parts: Sequence[tuple[int, str]]) -> Prompt:
    """Ask which parts of a file it can do without; they come redacted, numbered from 1, and 0 is only shown."""
    lines = "\n".join(_json({"number": number, "text": text} if number else {"text": text}) for number, text in parts)
    shown = (f"<file>\n{lines}\n</file>", _rules("spare_question"))
    return Prompt(_rules("spare_system"), "\n\n".join(shown))


def fits(work: str, skills: Sequence[str]) -> Prompt:
    """Ask which skills a piece of work is for; all come redacted, the skills numbered from 1."""
    lines = "\n".join(_json({"number": number, "text": text}) for number, text in enumerate(skills, 1))
    shown = (f"<skills>\n{lines}\n</skills>", f"<work>\n{_json(work)}\n</work>", _rules("fit_question"))
    return Prompt(_rules("fit_system"), "\n\n".join(shown))


def _skill(skill: SkillDoc, text: str) -> str:
    return f'<skill_definition number="{skill.number}" name={_json(skill.name)}>\n{_raw(text)}\n</skill_definition>'


def excerpt(text: str, said: frozenset[str]) -> str:
    """Return a text's headings, and of what is below them what shares most words with what was `said`."""
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


def near(text: str, said: frozenset[str]) -> str:
    """Return the lines of a text that share most words with what was `said`, in their order; the first, where none do.

    A gap is marked. Most of a project's instructions have nothing to do with the words of one batch.
    """
    if len(text) <= NEAR_LIMIT:
        return text
    lines = [cut(line, NEAR_LIMIT) for line in text.splitlines() if line.strip()]
    shares = [len(said & stems(line)) for line in lines]
    left, kept = NEAR_LIMIT, set[int]()
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
    shown["text"] = _person(message.text) if message.by_person else _agent(message.text)
    return _json(shown)


def _person(text: str) -> str:
    """Cut what a person said: what they pasted goes first."""
    if len(text) <= MESSAGE_LIMIT:
        return text
    own = "\n".join(line for line in own_words(text).split("\n") if line.strip())
    left_out = " [pasted text left out]" if len(own) < len(text) - text.count("\n") else ""
    return cut(own, MESSAGE_LIMIT - len(left_out)) + left_out


def _agent(text: str) -> str:
    """Cut what the agent said: it offers and asks at the end, and that is what people say yes to."""
    return cut(text, MESSAGE_LIMIT, tail_share=2 / 3)


def _block(name: str, text: str) -> str:
    return f"<{name}>\n{_json(text)}\n</{name}>"


def _raw(text: str) -> str:
    """Keep a file readable, but let it open or close no block of ours."""
    return _OURS.sub("\\\\u003c", text)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False).translate(_BRACKETS)


def _rules(name: str) -> str:
    return resources.files("skilld.classify").joinpath("prompts", f"{name}.txt").read_text("utf-8").strip()
