"""Lines of other files that contradict a proposal: changed with it, by a linked proposal, or only named.

Text of another repository, a personal file or one outside any repository is never quoted in a commit.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from skilld.errors import SkilldError
from skilld.git import objects
from skilld.git.repo import TrackedFile, find_for_new, find_tracked
from skilld.redact import KEY_BYTES, Redactor
from skilld.targets.contradicted import contradicted_rules
from skilld.text import fold, truncate
from skilld.types import ContradictingLine, Kind, Op, Operation, Proposal, SideEdit, SkillRef

CONTRADICTION_PREFIX = "Contradicts it: "
_MAX_QUOTE = 120  # characters of a line in a message
_MAX_RULE = 300  # characters of a reported line


def rules_added_since(proposal: Proposal, text: str) -> list[ContradictingLine]:
    """Return the rules of the proposal's file, now `text`, that contradict it and were written after it was proposed.

    None if it changes or removes lines: these may be the ones.
    """
    if any(step.op is not Op.INSERT_AFTER for step in proposal.operations):
        return []
    redact, known = Redactor(os.urandom(KEY_BYTES)).redact, {one.text for one in proposal.conflicts}
    against = {rule.line: rule.text for rule in contradicted_rules(proposal.updates, text, 1)}
    found = [
        ContradictingLine(proposal.path, line, truncate(redact(fold(rule)), _MAX_RULE))
        for line, rule in against.items()
    ]
    return [one for one in found if one.text not in known]


def split_edits(
    proposal: Proposal, edits: Sequence[tuple[SkillRef, tuple[Operation, ...]]]
) -> tuple[Proposal, list[Proposal]]:
    """Return the proposal with the edits in its own repository, and a linked proposal for each of the others."""
    tracked = _find_tracked(Path(proposal.path), creates=proposal.creates)
    also: list[SideEdit] = []
    others: list[Proposal] = []
    for ref, operations in edits:
        there = _find_tracked(Path(ref.path)) if tracked else None
        if tracked and there and there.repo.address == tracked.repo.address:
            also.append(SideEdit(ref.path, operations, there.relpath))
        else:
            others.append(_linked_proposal(proposal, ref, operations))
    return replace(proposal, also=tuple(also), linked=tuple(other.id for other in others)), others


def _find_tracked(path: Path, *, creates: bool = False) -> TrackedFile | None:
    """Return where git tracks a file; None if it does not, and one of skilld's own repositories will."""
    try:
        return find_for_new(path) if creates else find_tracked(path)
    except (OSError, SkilldError):
        return None


def _linked_proposal(proposal: Proposal, ref: SkillRef, operations: tuple[Operation, ...]) -> Proposal:
    return replace(
        proposal,
        id=hashlib.sha256(f"{proposal.batch_id}\n{ref.path}".encode()).hexdigest()[:8],
        skill=ref.name,
        path=ref.path,
        operations=operations,
        reason="The current text says the opposite of what you said.",
        kind=Kind.CHANGE_STEP,
        flags=(),
        updates=tuple(replace(update, kind=Kind.CHANGE_STEP) for update in proposal.updates),
        target=ref.kind,
        agents=ref.agents,
        conflicts=(),
        linked=(proposal.id,),
    )


def describe_contradictions(proposal: Proposal, tracked: TrackedFile) -> str:
    """Describe contradicting lines for the commit message, quoting only text committed in the same repository."""
    parts: dict[str, None] = {}
    texts: dict[str, str] = {}
    for conflict in proposal.conflicts:
        parts[_describe_line(conflict, tracked, texts)] = None
    return f"{CONTRADICTION_PREFIX}{'; '.join(parts)}" if parts else ""


def _describe_line(conflict: ContradictingLine, tracked: TrackedFile, texts: dict[str, str]) -> str:
    relpath = _relative_path(conflict.path, tracked)
    if relpath is None:
        return conflict.whose
    if relpath not in texts:
        found = objects.read_blob(tracked.repo.git, tracked.repo.head, relpath)
        texts[relpath] = fold(found.decode("utf-8", "replace")) if found else ""
    if not texts[relpath]:
        return conflict.whose
    if conflict.text not in texts[relpath]:  # a secret was taken out of it, or it is not committed yet
        return relpath
    return f'{relpath}:{conflict.line} "{truncate(conflict.text, _MAX_QUOTE)}"'


def _relative_path(path: str, tracked: TrackedFile) -> str | None:
    try:
        return Path(path).resolve().relative_to(tracked.repo.toplevel).as_posix()
    except (OSError, RuntimeError, ValueError):
        return None
