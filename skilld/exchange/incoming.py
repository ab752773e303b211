"""Turns a skill at a source into a proposal for a new skill: parsed, checked, and marked as imported.

The caller reads the source (`source_skills`) and stages the proposal.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from skilld.classify.backends import OFFLINE
from skilld.edit.lint import Finding, Severity, lint
from skilld.edit.tokens import FILE_ENDING
from skilld.errors import RefusedError, SkilldError
from skilld.exchange import document
from skilld.exchange.document import from_document
from skilld.exchange.outgoing import json_texts
from skilld.exchange.source_skills import SourceSkill
from skilld.library.consolidate import best_match, describe_skill
from skilld.markdown.structure import code_spans
from skilld.proposals.model import IMPORT_PREFIX
from skilld.redact import Finding as Secret
from skilld.skills import Places, Skill
from skilld.skills.draft import (
    Draft,
    SkillKind,
    as_kind,
    cut_description,
    draft_faults,
    left_out_keys,
    read_draft,
    write_draft,
)
from skilld.skills.spec import MAX_NAME, NAME_PATTERN, valid_name
from skilld.skills.write import new_skill_path
from skilld.text import safe_text, truncate, without_login
from skilld.types import Kind, Op, Operation, Proposal
from skilld.values import value_class


class NameTakenError(SkilldError):
    """There is a skill, or an open proposal of one, with the name of an imported skill."""


# The person said nothing of an imported skill, so the linter gets no typed words. Its rules about untyped commands,
# paths and addresses would refuse nearly every honest skill (60 of 62 real ones; all other rules refuse 7), so these
# only give flags; such a proposal is never applied automatically.

_DECLARE_REMEDY = "Declare each {{name}} in the file, or write it without braces."
_REFUSED_TITLE = "The skill was not imported"
_MAX_SHOWN = 10  # names of scripts
_UNTYPED_PREFIX = "foreign-"


def judge_draft(draft: Draft, secrets: Callable[[str], Sequence[Secret]]) -> tuple[str, tuple[str, ...]]:
    """Return the SKILL.md of a draft, and the flags that a person must see before accepting it.

    Raises RefusedError if the linter refuses it, if it contains a secret, or if it is invalid for its kind;
    SkilldError if it does not meet the specification.
    """
    if wrong := draft_faults(draft):
        remedy = _DECLARE_REMEDY if any(one.endswith(" without declaring it") for one in wrong) else ""
        raise RefusedError(_REFUSED_TITLE, "; ".join(wrong), remedy)
    if not NAME_PATTERN.fullmatch(draft.name) or len(draft.name) > MAX_NAME:
        # The example of the RFC is called analyze_pr, as a tool; `mcp` calls its tool so again.
        remedy = f"Import it under a valid name: --name {valid_name(draft.name) or 'NAME'}"
        raise RefusedError(_REFUSED_TITLE, _name_fault(draft.name), remedy)
    try:
        text = write_draft(draft)
    except SkilldError as error:
        raise SkilldError(_REFUSED_TITLE, error.cause, _missing_part(draft)) from error
    if found := secrets(text):
        cause = f"it contains what looks like a secret ({found[0].kind})"
        raise RefusedError(_REFUSED_TITLE, cause, "Remove it from the file first.")
    findings = lint(b"", _all_texts(draft).encode("utf-8", "replace"), "")
    if refused := [
        one for one in findings if one.severity is Severity.REFUSE and not one.rule.startswith(_UNTYPED_PREFIX)
    ]:
        raise RefusedError(_REFUSED_TITLE, "; ".join(one.sentence for one in refused))
    return text, tuple(_flag_sentences(findings))


def _missing_part(draft: Draft) -> str:
    if not draft.description:
        return "Add a description to it: what the skill does, and when to use it."
    if not draft.body:
        return "Add what the agent should do: below the front matter, or in YAML under prompt or steps."
    return ""


def _name_fault(name: str) -> str:
    if not name:
        return "it has no name"
    if len(name) > MAX_NAME:
        return f"its name is {len(name)} characters long; the limit is {MAX_NAME}"
    return f"{safe_text(name)} is not a valid name: it can contain only lowercase letters, digits and single hyphens"


def _flag_sentences(findings: Sequence[Finding]) -> Iterator[str]:
    """Yield one sentence per rule: a whole skill may have dozens, and nobody would read them."""
    by_rule: dict[str, list[str]] = {}
    for one in findings:
        by_rule.setdefault(one.rule, []).append(one.sentence)
    for first, *more in by_rule.values():
        yield f"{first} (and others like it)" if set(more) - {first} else first


def _all_texts(draft: Draft) -> str:
    """Return every text of a draft that an agent may read, as paragraphs."""
    variables = [text for one in draft.variables for text in (one.name, one.type, one.description) if text]
    texts = [draft.description, draft.body, *variables, draft.project, draft.team, draft.author, *draft.tags]
    return "\n\n".join([*(text for text in texts if text), *json_texts(draft.schema)])


IMPORTED_ORIGIN = "imported"
_MAX_SUMMARY_LENGTH = 300


@value_class
class ImportedSkill:
    """A skill that may be staged. `left_out` names its keys and files that are not imported."""

    draft: Draft
    text: str
    flags: tuple[str, ...]
    left_out: tuple[str, ...]


def import_skill(
    found: SourceSkill,
    source: str,
    secrets: Callable[[str], Sequence[Secret]],
    *,
    name: str = "",
    kind: SkillKind | None = None,
) -> ImportedSkill:
    """Return the skill of a source's file, with the given name and kind if any.

    Raises SkilldError if it cannot be read or is not a skill, RefusedError if it may not be proposed.
    """
    if found.why:
        raise SkilldError(_REFUSED_TITLE, found.why)
    draft, unknown = from_document(document.load_yaml(found.data)) if found.is_yaml else _read_draft(found)
    draft = replace(draft, name=name or draft.name, sessions=(), origin=IMPORTED_ORIGIN)
    wanted = kind or draft.kind
    draft = as_kind(draft, wanted) if wanted else draft
    if kind and (wrong := draft_faults(draft)):
        raise RefusedError(_REFUSED_TITLE, "; ".join(wrong), "To keep its own kind, leave out --as")
    text, flags = judge_draft(draft, secrets)
    flags = (f"imported from {without_login(source)}", *flags)
    return ImportedSkill(draft, text, flags, (*unknown, *found.beside))


def import_proposal(taken: ImportedSkill, path: Path, at: str, tries: int) -> Proposal:
    """Return the open proposal that creates the skill at `path` (its SKILL.md), not staged yet.

    `tries` counts earlier proposals for this path. The id does not depend on the time, so that the next import finds
    the proposal of one that was killed before it was stored.
    """
    name = hashlib.sha256(f"{path}\n{tries}\n{taken.text}".encode()).hexdigest()[:8]
    return Proposal(
        id=name,
        batch_id=f"{IMPORT_PREFIX}{name}",
        skill=taken.draft.name,
        path=str(path),
        operations=(Operation(Op.CREATE, "", taken.text),),
        summary=truncate(taken.draft.description, _MAX_SUMMARY_LENGTH),
        reason="Imported; none of it is in your own words.",
        kind=Kind.FACT,
        confidence=0.0,
        model=OFFLINE,
        created_at=at,
        flags=taken.flags,
    )


def _read_draft(found: SourceSkill) -> tuple[Draft, tuple[str, ...]]:
    try:
        text = found.data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise SkilldError(_REFUSED_TITLE, "it is not UTF-8") from None
    try:
        draft = read_draft(text)
    except SkilldError as error:
        raise SkilldError(_REFUSED_TITLE, error.cause, error.remedy) from error
    names = (draft.name, found.folder)  # agents use the folder's
    name = next(filter(NAME_PATTERN.fullmatch, names), draft.name or found.folder)
    return replace(draft, name=name), (*left_out_keys(text), *cut_description(draft.description))


# Comparing an imported skill with the person's own: a name that is taken, the same task.


def find_place(
    name: str,
    project: Path | None,
    *,
    skills: Iterable[Skill],
    waiting: Iterable[Proposal],
    places: Mapping[str, Places],
    home: Path,
) -> Path:
    """Return where the SKILL.md of an imported skill goes: into a project, or to the person's own skills.

    `skills` are the existing ones there, `waiting` the open proposals. Raises SkilldError with the remedy if the name
    is taken or already proposed, and whatever `new_skill_path` raises.
    """
    existing = next((skill for skill in skills if skill.name.casefold() == name.casefold()), None)
    if existing is not None:
        raise NameTakenError(
            _REFUSED_TITLE,
            f"you already have a skill called {name}: {existing.path}",
            f"Give it another name: --name {name}-2",
        )
    path = new_skill_path(name, [project.resolve()] if project else [], [], places, home)
    if proposed := next((one for one in waiting if one.path == str(path)), None):
        raise NameTakenError(
            _REFUSED_TITLE,
            f"the open proposal {proposed.id} already creates a skill at that path",
            f"Decide on it first: skilld review {proposed.id}",
        )
    return path


_SCRIPT_PATTERN = re.compile(r"(?:\./)?((?:[\w-][\w.-]*/)+[\w-][\w.-]*)(?=\s|$)")  # at the beginning of a command


def missing_script_flags(text: str, project: Path) -> tuple[str, ...]:
    """Return a flag if the commands of a skill begin with scripts that its new project does not have."""
    code = (span.content.strip() for line in text.splitlines() for span in code_spans(line))
    calls = (match for one in code if (match := _SCRIPT_PATTERN.match(one)) and (" " in one or FILE_ENDING.search(one)))
    missing = [name for name in dict.fromkeys(match[1] for match in calls) if not (project / name).exists()]
    return (f"It runs scripts that {project} does not have: {', '.join(missing[:_MAX_SHOWN])}",) if missing else ()


_VERY_SIMILAR = 0.5  # of the scale of `Match.score`; skills from 0.27 on may be for the same task


def similarity_flags(taken: ImportedSkill, texts: Mapping[str, str]) -> tuple[str, ...]:
    """Return a flag if one of the person's skills, given as name -> text, is for the same task."""
    mine = [describe_skill(name, name, text) for name, text in texts.items()]
    match = best_match(describe_skill("", taken.draft.name, taken.text), mine)
    how = "very similar to" if match and match.score >= _VERY_SIMILAR else "perhaps for the same task as"
    return (f"{how} your skill {match.other.name}: {match.why}",) if match else ()
