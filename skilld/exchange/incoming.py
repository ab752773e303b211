"""What was found at a source, as a proposal that makes a skill: parsed, judged, marked as imported. Pure.

Bytes and names enter; a proposal for a path leaves, or a refusal with its reason. Staging it is the program's.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from skilld.classify.backends import OFFLINE
from skilld.consolidate.match import best, described
from skilld.draft import Draft, SkillKind, faults, read, write
from skilld.draft.values import of_kind
from skilld.edit.lint import Finding, Severity, lint
from skilld.errors import RefusedError, SkilldError
from skilld.exchange import document
from skilld.exchange.document import from_document
from skilld.exchange.sources import Found
from skilld.redact import Finding as Secret
from skilld.skills import Places, Skill
from skilld.skills.frontmatter import entries, front_lines
from skilld.skills.write import landing
from skilld.text import cut
from skilld.types import Kind, Op, Operation, Proposal, State

# May an imported skill be staged? Nothing of it was said by the person, so the linter gets no words to go by. Pure.
#
# A draft enters, its SKILL.md and the flags that a person must see leave, or a refusal. That a command, path or
# address was not typed would refuse nearly every honest skill (60 of 62 real ones; 7 by all other rules), so this
# alone is shown as a flag; such a proposal is never applied by itself.

_TITLE = "The skill was not imported"
_UNTYPED = "foreign-"


@dataclass(frozen=True, slots=True)
class Passed:
    """A skill that may be staged, with what a person must see before accepting it."""

    text: str
    flags: tuple[str, ...]


def judge(draft: Draft, secrets: Callable[[str], Sequence[Secret]]) -> Passed:
    """Return the SKILL.md of a draft and its flags.

    Raises RefusedError for what the linter refuses, for a secret, and where the draft is not what its kind says;
    SkilldError where the specification accepts no such skill.
    """
    wrong = faults(draft)
    if wrong:
        raise RefusedError(_TITLE, "; ".join(wrong))
    text = write(draft)
    found = secrets(text)
    if found:
        raise RefusedError(_TITLE, f"it holds what looks like a secret ({found[0].kind})")
    findings = lint(b"", _all_said(draft).encode("utf-8", "replace"), "")
    refused = [one for one in findings if one.severity is Severity.REFUSE and not _only_untyped(one)]
    if refused:
        raise RefusedError(_TITLE, " ".join(one.sentence for one in refused))
    return Passed(text, tuple(_flags(findings)))


def _flags(findings: Sequence[Finding]) -> Iterator[str]:
    """Yield one sentence for each rule: a whole skill can give dozens, and nobody reads those."""
    by_rule: dict[str, list[str]] = {}
    for one in findings:
        by_rule.setdefault(one.rule, []).append(one.sentence)
    for first, *more in by_rule.values():
        yield f"{first} (and more of the kind)" if set(more) - {first} else first


def _only_untyped(finding: Finding) -> bool:
    return finding.rule.startswith(_UNTYPED)


def _all_said(draft: Draft) -> str:
    """Return every text of a draft that an agent may come to read, as paragraphs of one body."""
    told = [text for one in draft.variables for text in (one.name, one.type, one.description) if text]
    said = [draft.description, draft.body, *told, draft.project, draft.team, draft.author, *draft.tags]
    return "\n\n".join([*(text for text in said if text), *_strings(draft.schema)])


def _strings(value: object) -> list[str]:
    """Return the keys and texts in a value of JSON."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for pair in value.items() for one in pair for text in _strings(one)]
    return [text for one in value for text in _strings(one)] if isinstance(value, list) else []


IMPORTED = "imported"
_SUMMARY = 300
_KEPT = frozenset({"name", "description", "metadata"})
_USERINFO = re.compile(r"(?<=://)[^/@\s]+@")


@dataclass(frozen=True, slots=True)
class Incoming:
    """A skill as it may be staged. `left_out` names the keys and files of it that do not come along."""

    draft: Draft
    text: str
    flags: tuple[str, ...]
    left_out: tuple[str, ...]


def incoming(
    found: Found,
    source: str,
    secrets: Callable[[str], Sequence[Secret]],
    *,
    name: str = "",
    kind: SkillKind | None = None,
) -> Incoming:
    """Return what a source's file comes to, under another name or as another kind where they are given.

    Raises SkilldError where it cannot be read or is no skill, RefusedError where it may not be proposed.
    """
    if found.why:
        raise SkilldError("The skill was not imported", found.why)
    draft, unknown = from_document(document.load(found.data)) if found.is_yaml else _from_skill(found)
    draft = replace(draft, name=name or draft.name, sessions=(), origin=IMPORTED)
    wanted = kind or draft.kind
    draft = of_kind(draft, wanted) if wanted else draft
    judged = judge(draft, secrets)
    flags = (f"imported from {shown(source)}", *judged.flags)
    return Incoming(draft, judged.text, flags, (*unknown, *found.beside))


def proposal(taken: Incoming, path: Path, at: str, tries: int) -> Proposal:
    """Return the open proposal that makes the skill at `path` (its SKILL.md to be), not staged yet.

    `tries` counts the proposals there were for this path. The time is no part of the id: an import that was killed
    before it was kept is found again by the next one, and not in its way.
    """
    name = hashlib.sha256(f"{path}\n{tries}\n{taken.text}".encode()).hexdigest()[:8]
    return Proposal(
        id=name,
        batch_id=f"import-{name}",
        state=State.OPEN,
        skill=taken.draft.name,
        path=str(path),
        operations=(Operation(Op.CREATE, "", taken.text),),
        summary=cut(taken.draft.description, _SUMMARY),
        reason="Imported: nothing in it was said by you.",
        kind=Kind.FACT,
        evidence=(),
        confidence=0.0,
        agent="",
        session_id="",
        model=OFFLINE,
        created_at=at,
        flags=taken.flags,
    )


def shown(source: str) -> str:
    """Return a source as it may be told: without a login in its address."""
    return _USERINFO.sub("", source)


def _from_skill(found: Found) -> tuple[Draft, tuple[str, ...]]:
    try:
        text = found.data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise SkilldError("The skill was not imported", "it is not UTF-8") from None
    draft = read(text)
    unknown = [key for key, _, _ in entries(front_lines(text) or ()) if key not in _KEPT]
    return (draft if draft.name else replace(draft, name=found.folder)), tuple(unknown)


# The person's own skills beside one that comes in: a name that is taken, a task one of them is for. Looks only.


def place(
    name: str,
    project: Path | None,
    *,
    skills: Iterable[Skill],
    waiting: Iterable[Proposal],
    places: Mapping[str, Places],
    home: Path,
) -> Path:
    """Return where the SKILL.md of an imported skill goes: into a project, or to the person's own.

    `skills` are those it will stand beside, `waiting` the open proposals. Raises SkilldError with the remedy where the
    name is taken or proposed already, and as `landing` does.
    """
    known = next((skill for skill in skills if skill.name.casefold() == name.casefold()), None)
    if known is not None:
        raise SkilldError(_TITLE, f"you have a skill called {name}: {known.path}", f"Give another: --name {name}-2")
    path = landing(name, [project.resolve()] if project else [], [], places, home)
    if proposed := next((one for one in waiting if one.path == str(path)), None):
        raise SkilldError(_TITLE, f"{proposed.id}, which is open, proposes a skill there", "Decide on it first.")
    return path


def alike(taken: Incoming, texts: Mapping[str, str]) -> tuple[str, ...]:
    """Return a flag where one of the person's skills, given as name -> text, is for the same task."""
    mine = [described(name, name, text) for name, text in texts.items()]
    match = best(described("", taken.draft.name, taken.text), mine)
    return (f"much like your skill {match.other.name}: {match.why}",) if match else ()
