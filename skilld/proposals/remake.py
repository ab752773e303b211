"""Regenerates a proposal from the person's words when its edit no longer fits the skill.

Without a configured model, this happens in code while reading git; with one, a job of its own asks the model
(`skilld.jobs.remake`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from skilld.classify.backends import OFFLINE, Backend, Spec, make_backend
from skilld.classify.said_already import says_already
from skilld.classify.verify import VerifiedUpdate
from skilld.edit.operations import apply
from skilld.edit.refit import refit
from skilld.errors import SkilldError
from skilld.paths import places
from skilld.pipeline.documents import TargetDocument
from skilld.pipeline.edits import check_edit, only_adds
from skilld.pipeline.judge import Judge
from skilld.proposals.model import CREATABLE, REMEDY_PREFIX
from skilld.proposals.refit import GONE_NOTE, REMADE_NOTE
from skilld.redact import Redactor
from skilld.redact.key import load_key
from skilld.types import Kind, Message, Operation, Proposal, SkillDoc, SkillRef, State, Update
from skilld.values import value_class

_TITLE = "Could not regenerate the edit"


def remake_proposal(
    proposal: Proposal, before: bytes | None, current: bytes | None, backend: Backend | None = None
) -> Proposal:
    """Return the proposal with operations for the skill's `current` text, None if they are to create the file.

    `before` is the text that its operations were made for, if it can still be read: those with a certain place go
    there, and each update that none of them carries is made again separately, by `backend` or by code. The edit must
    include all updates. Raises SkilldError if no edit passes the checks, RetryError for temporary problems.
    """
    updates = _known_updates(proposal)
    if current is None and not all(only_adds(VerifiedUpdate(update)) for update in updates):
        raise SkilldError(_TITLE, f"{proposal.relpath} is gone")
    created = proposal.creates and proposal.target in CREATABLE
    if not updates or proposal.creates != created or proposal.batch_id.startswith(REMEDY_PREFIX):
        raise SkilldError(_TITLE, "the messages it was based on were not kept")
    judge_by = backend or make_backend(Spec(OFFLINE))
    try:
        is_one = len(updates) == len(proposal.evidence) == 1
        placed = (
            _Placement(current or b"") if is_one or created or current is None else _place(proposal, before, current)
        )
        operations, flags = _compose_edit(proposal, updates, placed, current, judge_by)
    except UnicodeDecodeError as error:
        raise SkilldError(_TITLE, "the file is not valid UTF-8") from error
    if not operations:
        raise SkilldError(_TITLE, "the file already says this")
    if backend is None and not set(flags) <= set(proposal.flags):
        raise SkilldError(_TITLE, "the new edit has warnings that you have not seen")  # accepting may be the next step
    flags = tuple(dict.fromkeys((*proposal.flags, *flags)))
    made = replace(proposal, operations=operations, flags=flags, model=judge_by.name)
    note = "" if created else GONE_NOTE if current is None else REMADE_NOTE
    return replace(made, state=State.OPEN, commit="", base="", note=note)


def _known_updates(proposal: Proposal) -> list[Update]:
    """Return a proposal's updates with their turns numbered from 1; nothing if they were not stored."""
    known = list(proposal.updates)
    if not known and len(proposal.evidence) == 1:
        quote = proposal.evidence[0].quote
        known = [Update(1, "", proposal.summary, proposal.reason, proposal.kind, 1, quote, proposal.confidence)]
    turns = list(dict.fromkeys(update.turn for update in known))
    return [replace(update, skill=1, turn=turns.index(update.turn) + 1) for update in known]


@value_class
class _Placement:
    """A skill's text with the `operations` placed in it, made from those `kept`; those `lost` had no place."""

    text: bytes
    operations: tuple[Operation, ...] = ()
    kept: tuple[Operation, ...] = ()
    lost: tuple[Operation, ...] = ()

    def has(self, update: Update) -> bool:
        """Whether the text already has an update, from an operation or written by the person."""
        if update.kind is Kind.REMOVE_STEP:
            return bool(self.kept) and all(operation.text for operation in self.lost)
        return bool(self.kept or self.lost) and says_already(update.change, self.text.decode("utf-8-sig"))


def _place(proposal: Proposal, before: bytes | None, current: bytes) -> _Placement:
    """Put each operation at its certain place in `current`, and leave out those that have none."""
    placed = _Placement(current)
    if before is None:
        return replace(placed, lost=proposal.operations)
    for operation in proposal.operations:
        try:
            after = apply(before, [operation], limited=False)
            steps = refit(before, after, placed.text)
            text = apply(placed.text, steps)
        except SkilldError:
            placed = replace(placed, lost=(*placed.lost, operation))
            continue
        before = after
        placed = replace(placed, text=text, operations=(*placed.operations, *steps), kept=(*placed.kept, operation))
    return placed


def _compose_edit(
    proposal: Proposal, updates: Sequence[Update], placed: _Placement, current: bytes | None, backend: Backend
) -> tuple[tuple[Operation, ...], tuple[str, ...]]:
    """Return the operations and flags of the whole edit. Raises SkilldError if a check fails."""
    missing = [update for update in updates if not placed.has(update)]
    if placed.lost and not missing:
        raise SkilldError(_TITLE, "it changes something you did not mention")
    redact = Redactor(load_key(places().redaction_key)).redact
    quotes_by_turn: dict[int, list[str]] = {}
    for update in updates:
        quotes_by_turn.setdefault(update.turn, []).append(update.quote)
    messages = [Message("\n".join(dict.fromkeys(quotes)), turn, str(turn)) for turn, quotes in quotes_by_turn.items()]
    typed = "\n".join(message.text for message in messages)
    operations = placed.operations
    flags: tuple[str, ...] = ()
    if missing:
        loaded = _target_document(proposal, placed.text if current is not None else None)
        judge = Judge(backend, messages, [loaded], "", redact)
        composed = judge.edit(loaded, [VerifiedUpdate(update) for update in missing], typed=typed)
        if composed.left_out:
            raise SkilldError(_TITLE, "part of it could not be generated")
        operations, flags = (*operations, *composed.operations), composed.flags
    whole = check_edit(
        operations, [VerifiedUpdate(update) for update in updates], _target_document(proposal, current), typed, redact
    )
    return whole.operations, (*flags, *whole.flags)


def _target_document(proposal: Proposal, found: bytes | None) -> TargetDocument:
    text = found or b""
    doc = SkillDoc(1, proposal.skill, proposal.path, text.decode("utf-8-sig"))
    kind, agents = proposal.target, proposal.agents
    return TargetDocument(
        SkillRef(proposal.skill, proposal.path, kind=kind, agents=agents, absent=found is None), text, doc
    )
