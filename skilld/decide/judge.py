"""The rules by which the history of a branch says what became of a proposal. Pure: values in, a verdict out.

One branch is judged by its commits in order: the last landing or taking back counts. The text at its tip overrules
them, since lines can come and go in commits that name nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from skilld.decide.values import Observation, Seen
from skilld.git import lines

EDITED = "edited by you"
Signature = tuple[tuple[str, ...], tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Sighting:
    """A commit on a branch that touches the skill: the proposals it names, the commits it reverts, what it changes.

    `reverts` also holds the commits that a reverted merge had brought. `before` and `text` are the skill in its first
    parent and in itself, None where it is absent.
    """

    oid: str
    names: tuple[str, ...]
    reverts: frozenset[str]
    signature: Signature
    before: bytes | None
    text: bytes | None


@dataclass(frozen=True, slots=True)
class View:
    """One branch that counts: its commits that touch the skill, oldest first, and the skill at its tip.

    `reaches` says whether the proposal's own commit is in its history.
    """

    default: bool
    sightings: tuple[Sighting, ...]
    text: bytes | None
    reaches: bool


@dataclass(frozen=True, slots=True)
class Subject:
    """The proposal that is judged: its own commit, what that did to the skill, and where it is known to have landed.

    `creates` says that it made the skill, which was b"" before: without the file, nothing of it is left.
    """

    id: str
    commit: str
    landed: str
    before: bytes | None
    after: bytes | None
    creates: bool = False

    @property
    def signature(self) -> Signature:
        """The lines it takes away and adds; empty where its commit is gone."""
        return lines.signature(self.before, self.after) if self.before is not None and self.after is not None else _NONE


_NONE: Signature = ((), ())


def judge(subject: Subject, views: Sequence[View]) -> Observation:
    """Return LANDED, REVERTED or NOTHING.

    The default branch's word goes first; among the others one branch that has the proposal is enough.
    """
    for default, order in ((True, (Seen.REVERTED, Seen.LANDED)), (False, (Seen.LANDED, Seen.REVERTED))):
        verdicts = [judge_view(subject, view) for view in views if view.default is default]
        found = next((verdict for seen in order for verdict in verdicts if verdict.seen is seen), None)
        if found is not None:
            return found
    return Observation(subject.id, Seen.NOTHING)


def judge_view(subject: Subject, view: View) -> Observation:
    """Return what one branch says."""
    verdict = _by_commits(subject, view)
    text = b"" if view.text is None and subject.creates else view.text
    if text is None or subject.before is None or subject.after is None:
        return verdict
    if verdict.seen is not Seen.LANDED:
        bringer = _bringer(subject, view) if _holds(subject, text) else ""
        return Observation(subject.id, Seen.LANDED, bringer, "lines") if bringer else verdict
    if lines.gone(text, subject.before, subject.after):
        return Observation(subject.id, Seen.REVERTED, _remover(subject, view), "lines gone")
    if not _holds(subject, text):
        return replace(verdict, note=EDITED)
    return verdict


def _by_commits(subject: Subject, view: View) -> Observation:
    verdict = Observation(subject.id, Seen.NOTHING)
    if view.reaches:
        verdict = Observation(subject.id, Seen.LANDED, subject.commit, "merged")
    landings, takings = {subject.commit} if view.reaches else set[str](), set[str]()
    for sighting in view.sightings:
        how = "restored" if sighting.reverts & takings else _landing(subject, sighting)
        if how:
            landings.add(sighting.oid)
            edited = how == "named" and sighting.names == (subject.id,) and sighting.signature != subject.signature
            verdict = Observation(subject.id, Seen.LANDED, sighting.oid, how, EDITED if edited else "")
        elif sighting.reverts & landings:
            takings.add(sighting.oid)
            verdict = Observation(subject.id, Seen.REVERTED, sighting.oid, "reverted")
    return verdict


def _landing(subject: Subject, sighting: Sighting) -> str:
    if sighting.oid == subject.commit:
        return "merged"
    if subject.id in sighting.names:
        return "named"
    if sighting.oid == subject.landed:
        return "known"
    return "same change" if sighting.signature == subject.signature != _NONE else ""


def _bringer(subject: Subject, view: View) -> str:
    """Return the newest commit that made the text hold the change; empty where it did so before the proposal.

    A commit that made the file cannot have taken lines out of it.
    """
    adds = bool(subject.signature[1])
    changes = [sighting for sighting in reversed(view.sightings) if adds or sighting.before is not None]
    return next((s.oid for s in changes if _holds(subject, s.text) > _holds(subject, s.before)), "")


def _remover(subject: Subject, view: View) -> str:
    """Return the newest commit after which the text no longer held the change, or the empty string."""
    return next((s.oid for s in reversed(view.sightings) if _holds(subject, s.text) < _holds(subject, s.before)), "")


def _holds(subject: Subject, text: bytes | None) -> bool:
    return text is not None and lines.holds(text, subject.before or b"", subject.after or b"")
