"""What was found at a source, as a proposal that makes a skill: parsed, judged, marked as imported. Pure.

Bytes and names enter; a proposal for a path leaves, or a refusal with its reason. Staging it is the program's.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from skilld.classify.backends import OFFLINE
from skilld.draft import Draft, SkillKind, read
from skilld.draft.values import of_kind
from skilld.errors import SkilldError
from skilld.exchange import yaml_text
from skilld.exchange.judge import judge
from skilld.exchange.parsed import from_document
from skilld.exchange.sources import Found
from skilld.redact import Finding as Secret
from skilld.skills.front import entries, front_lines
from skilld.text import cut
from skilld.types import Kind, Op, Operation, Proposal, State

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
    draft, unknown = from_document(yaml_text.load(found.data)) if found.is_yaml else _from_skill(found)
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
