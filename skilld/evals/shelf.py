"""Where a skill's cases are kept: next to it, or in skilld's own data if others could read them there.

What a person asked is theirs. A repository that has a remote is pushed sooner or later, so its cases stay on this
machine unless the person says otherwise. A file beside the skill is a proposal like any other; one in skilld's own data
is the person's to edit, and what they take out of it does not come back.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from skilld.classify.backends import OFFLINE
from skilld.clock import rfc3339
from skilld.edit.from_file import operations_from
from skilld.errors import SkilldError
from skilld.evals.book import MOST_BYTES, PLACE, Case, added, read
from skilld.evals.grow import GrownCases
from skilld.files import read_plain, write_whole
from skilld.git.errors import NotTrackedError
from skilld.git.repo import open_repo
from skilld.paths import places, private_dir
from skilld.proposals.amend import stage_and_store
from skilld.proposals.explain import read_versions
from skilld.proposals.model import EVALS_PREFIX
from skilld.skills import Skill, Source, opt_out
from skilld.store import Store
from skilld.text import counted
from skilld.types import Kind, Op, Operation, Proposal, TargetKind

_OFFERED = "evals_offered"  # in the store's meta: which cases were written down or proposed before, by skill


@dataclass(frozen=True, slots=True)
class Place:
    """The two files that may hold the cases of a skill, and which of them new ones go to.

    `why_own` says why that is the one in skilld's own data; empty if it is the one next to the skill.
    """

    skill: Skill
    beside: Path
    own: Path
    why_own: str

    @property
    def goes_to(self) -> Path:
        """The file that new cases go to."""
        return self.own if self.why_own else self.beside


@dataclass(frozen=True, slots=True)
class Kept:
    """A case that is to be run, and the file that it is in; `proposal` is that of the file, while it is open."""

    case: Case
    file: str
    proposal: str = ""


def place_of(skill: Skill, allowed: Collection[TargetKind], *, into_repository: bool) -> Place:
    """Return where the cases of a skill are; `allowed` are the kinds of files that the person wants edited."""
    beside = skill.path.parent / PLACE
    own = places().evals / hashlib.sha256(os.fsencode(skill.path)).hexdigest()[:16] / "evals.json"
    return Place(skill, beside, own, _own_data_reason(skill, beside, allowed, into_repository=into_repository))


def _own_data_reason(skill: Skill, beside: Path, allowed: Collection[TargetKind], *, into_repository: bool) -> str:
    if skill.source is Source.PLUGIN:
        return "the skill belongs to a plugin"
    if TargetKind.EVALS not in allowed:
        return "your `targets` setting excludes evals"
    if why := opt_out(beside, skill.name, TargetKind.EVALS):
        return why
    try:
        remote = open_repo(skill.path.parent).remote
    except NotTrackedError:
        return ""  # skilld's own repository takes it, which is pushed nowhere
    except SkilldError:
        return "the skill's repository cannot be read"
    return (
        "the repository has a remote; to propose the cases there, use --into-repository"
        if remote and not into_repository
        else ""
    )


def kept(store: Store, place: Place) -> list[Kept]:
    """Return the cases next to the skill, as proposed, and in skilld's own data. SkilldError for a damaged file."""
    waiting = open_proposal(store, place)
    found: dict[tuple[str, ...], Kept] = {}
    for path in (place.beside, place.own):
        proposal = waiting if waiting is not None and path == place.beside else None
        text = _proposed(proposal) if proposal is not None else text_of(path)
        for one in _read(text, path) if text.strip() else ():
            found.setdefault(one.content, Kept(one, str(path), proposal.id if proposal else ""))
    return list(found.values())


def open_proposal(store: Store, place: Place) -> Proposal | None:
    """Return the open proposal that is about the cases of a skill, the newest if several are."""
    found = [one for one in store.proposals.open() if one.path == str(place.beside)]
    return found[-1] if found else None


def fresh(store: Store, place: Place, grown: GrownCases, known: Sequence[Kept]) -> list[tuple[str, Case]]:
    """Return the grown cases that were never offered before, each with the proposal that it comes from."""
    seen = {*store.meta.get(_OFFERED, {}).get(str(place.skill.path), ()), *(_mark(one.case) for one in known)}
    return [(name, case) for name, case in grown.cases if _mark(case) not in seen]


def offer(store: Store, place: Place, new: Sequence[tuple[str, Case]]) -> tuple[Proposal | None, int]:
    """Write new cases down: as a proposal, which is returned, or into skilld's own data; and how many that were.

    One proposal takes no more than an edit may change. Raises SkilldError if none can be written down; they are
    offered again the next time.
    """
    made = None
    if place.why_own:
        _write(place.own, added(text_of(place.own), place.skill.name, [case for _, case in new]))
    elif (waiting := open_proposal(store, place)) is not None:
        raise SkilldError("Not proposed", f"proposal {waiting.id} is still open", "Decide on that proposal first.")
    else:
        new = new[: _fitting(place, new)]
        made = stage_and_store(store, _proposal(place, new))
    offered = dict(store.meta.get(_OFFERED, {}))
    offered[str(place.skill.path)] = [*offered.get(str(place.skill.path), ()), *(_mark(case) for _, case in new)]
    store.meta.set(_OFFERED, offered)
    return made, len(new)


def _fitting(place: Place, new: Sequence[tuple[str, Case]]) -> int:
    """Return how many of the new cases one edit may add; at least one is tried."""
    for number in range(len(new), 1, -1):
        try:
            _proposal(place, new[:number])
        except SkilldError:
            continue
        return number
    return 1


def text_of(path: Path) -> str:
    """Return what a file of cases says; empty if there is none. Raises SkilldError if it cannot be read."""
    try:
        return read_plain(path, MOST_BYTES)[0].decode("utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except UnicodeDecodeError:
        raise SkilldError("The cases cannot be read", f"{path} is not UTF-8") from None
    except OSError as error:
        raise SkilldError("The cases cannot be read", f"{path}: {error.strerror}") from None
    except ValueError as error:
        raise SkilldError("The cases cannot be read", f"{path}: {error}") from None


def _read(text: str, path: Path) -> list[Case]:
    try:
        return read(text)
    except SkilldError as error:
        raise SkilldError(error.title, f"{path}: {error.cause}", "Fix the file or delete it.") from None


def _proposed(proposal: Proposal) -> str:
    found = read_versions(proposal)
    return found[1].decode("utf-8", "replace") if found is not None else ""


def _write(path: Path, text: str) -> None:
    private_dir(places().data)
    private_dir(places().evals)
    private_dir(path.parent)
    try:
        write_whole(path, text.encode("utf-8"), 0o600)
    except OSError as error:
        raise SkilldError("The cases were not written", f"{path}: {error.strerror}") from error


def _proposal(place: Place, new: Sequence[tuple[str, Case]]) -> Proposal:
    cases = [case for _, case in new]
    before = text_of(place.beside)
    text = added(before, place.skill.name, cases)
    operations = (
        tuple(operations_from(before.encode("utf-8"), text))
        if before.strip()
        else (Operation(Op.CREATE, TargetKind.EVALS.value, text),)
    )
    marks = "\n".join((str(place.beside), *sorted(map(_mark, cases))))
    batch = EVALS_PREFIX + hashlib.sha256(marks.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    sources = ", ".join(dict.fromkeys(name for name, _ in new))
    return Proposal(
        id=hashlib.sha256(batch.encode()).hexdigest()[:8],
        batch_id=batch,
        skill=place.skill.name,
        path=str(place.beside),
        operations=operations,
        summary=f"Add {counted(len(cases), 'test case')} for {place.skill.name}",
        reason=f"From corrections that you accepted: {sources}.",
        kind=Kind.FACT,
        confidence=1.0,
        model=OFFLINE,
        created_at=rfc3339(time.time()),
        flags=("test cases that quote what you typed; they are not instructions for agents",),
        target=TargetKind.EVALS,
    )


def _mark(case: Case) -> str:
    return hashlib.sha256("\n\n".join(case.content).encode("utf-8", "surrogatepass")).hexdigest()[:16]
