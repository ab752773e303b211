"""The files with a skill's cases: next to the skill, or in skilld's own data if others could read them there.

Requests are private. A repository with a remote is pushed sooner or later, so its cases stay on this machine unless the
person says otherwise. Changes to the file next to the skill are ordinary proposals. The file in skilld's own data is
the person's to edit; cases that they remove from it are not added again.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Collection, Sequence
from pathlib import Path

from skilld.classify.backends import OFFLINE
from skilld.clock import rfc3339
from skilld.edit.derive_operations import operations_from_text
from skilld.errors import SkilldError
from skilld.evals.case_file import CASES_FILE, MAX_BYTES, Case, add_cases, parse_cases
from skilld.evals.grow import GrownCases
from skilld.files import read_regular, write_atomically
from skilld.git.errors import NotTrackedError
from skilld.git.repo import open_repo
from skilld.paths import places, private_dir
from skilld.proposals.amend import stage_and_store
from skilld.proposals.explain import read_versions
from skilld.proposals.model import EVALS_PREFIX
from skilld.skills import Skill, Source, opt_out
from skilld.store import Store
from skilld.text import pluralize
from skilld.types import Kind, Op, Operation, Proposal, TargetKind
from skilld.values import value_class

_OFFERED_KEY = "evals_offered"  # in the store's meta: the cases already written or proposed, by skill


@value_class
class CaseFiles:
    """The two files that may hold the cases of a skill.

    `why_own` says why new cases go to the one in skilld's own data; None if they go next to the skill.
    """

    skill: Skill
    in_skill: Path
    own: Path
    why_own: str | None

    @property
    def goes_to(self) -> Path:
        """The file that new cases go to."""
        return self.own if self.why_own else self.in_skill


@value_class
class CaseToRun:
    """A case to run and its file; `proposal` is the id of the file's open proposal, if there is one."""

    case: Case
    file: str
    proposal: str = ""


def case_files(skill: Skill, allowed: Collection[TargetKind], *, into_repository: bool) -> CaseFiles:
    """Return the case files of a skill; `allowed` are the kinds of files that may be edited."""
    in_skill = skill.path.parent / CASES_FILE
    own = places().evals / hashlib.sha256(os.fsencode(skill.path)).hexdigest()[:16] / "evals.json"
    return CaseFiles(skill, in_skill, own, _own_reason(skill, in_skill, allowed, into_repository=into_repository))


def _own_reason(skill: Skill, in_skill: Path, allowed: Collection[TargetKind], *, into_repository: bool) -> str | None:
    if skill.source is Source.PLUGIN:
        return "the skill belongs to a plugin"
    if TargetKind.EVALS not in allowed:
        return "your `targets` setting excludes evals"
    if why := opt_out(in_skill, skill.name, TargetKind.EVALS):
        return why
    try:
        remote = open_repo(skill.path.parent).remote
    except NotTrackedError:
        return None  # it goes to skilld's own repository, which is never pushed
    except SkilldError:
        return "the skill's repository cannot be read"
    if into_repository or not remote:
        return None
    return "the repository has a remote; to propose the cases there, use --into-repository"


def load_cases(store: Store, place: CaseFiles) -> list[CaseToRun]:
    """Return the cases next to the skill, as proposed, and in skilld's own data. Raises SkilldError if damaged."""
    waiting = open_proposal(store, place)
    found: dict[tuple[str, ...], CaseToRun] = {}
    for path in (place.in_skill, place.own):
        proposal = waiting if waiting is not None and path == place.in_skill else None
        text = _proposed_text(proposal) if proposal is not None else read_text(path)
        for one in _parse(text, path) if text.strip() else ():
            found.setdefault(one.content, CaseToRun(one, str(path), proposal.id if proposal else ""))
    return list(found.values())


def open_proposal(store: Store, place: CaseFiles) -> Proposal | None:
    """Return the newest open proposal for the cases of a skill."""
    found = [one for one in store.proposals.open() if one.path == str(place.in_skill)]
    return found[-1] if found else None


def new_cases(store: Store, place: CaseFiles, grown: GrownCases, known: Sequence[CaseToRun]) -> list[tuple[str, Case]]:
    """Return the grown cases that were never offered before, each with the id of its proposal."""
    seen = {*store.meta.get(_OFFERED_KEY, {}).get(str(place.skill.path), ()), *(_case_hash(one.case) for one in known)}
    return [(name, case) for name, case in grown.cases if _case_hash(case) not in seen]


def offer_cases(store: Store, place: CaseFiles, new: Sequence[tuple[str, Case]]) -> tuple[Proposal | None, int]:
    """Propose new cases, or write them to skilld's own data; return the proposal, if any, and the number of cases.

    One proposal has no more cases than an edit may add. Raises SkilldError if none can be written; they are offered
    again the next time.
    """
    made = None
    if place.why_own:
        _write_private(place.own, add_cases(read_text(place.own), place.skill.name, [case for _, case in new]))
    elif (waiting := open_proposal(store, place)) is not None:
        raise SkilldError("Not proposed", f"proposal {waiting.id} is still open", "Decide on that proposal first.")
    else:
        new = new[: _count_fitting(place, new)]
        made = stage_and_store(store, _draft(place, new))
    offered = dict(store.meta.get(_OFFERED_KEY, {}))
    offered[str(place.skill.path)] = [*offered.get(str(place.skill.path), ()), *(_case_hash(case) for _, case in new)]
    store.meta.set(_OFFERED_KEY, offered)
    return made, len(new)


def _count_fitting(place: CaseFiles, new: Sequence[tuple[str, Case]]) -> int:
    """Return how many of the new cases fit one edit; at least one is tried."""
    for number in range(len(new), 1, -1):
        try:
            _draft(place, new[:number])
        except SkilldError:
            continue
        return number
    return 1


def read_text(path: Path) -> str:
    """Return the text of a file of cases; empty if there is none. Raises SkilldError if it cannot be read."""
    try:
        return read_regular(path, MAX_BYTES)[0].decode("utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except UnicodeDecodeError:
        raise SkilldError("The cases cannot be read", f"{path} is not UTF-8") from None
    except OSError as error:
        raise SkilldError("The cases cannot be read", f"{path}: {error.strerror}") from None
    except ValueError as error:
        raise SkilldError("The cases cannot be read", f"{path}: {error}") from None


def _parse(text: str, path: Path) -> list[Case]:
    try:
        return parse_cases(text)
    except SkilldError as error:
        raise SkilldError(error.title, f"{path}: {error.cause}", "Fix the file or delete it.") from None


def _proposed_text(proposal: Proposal) -> str:
    found = read_versions(proposal)
    return found[1].decode("utf-8", "replace") if found is not None else ""


def _write_private(path: Path, text: str) -> None:
    private_dir(places().data)
    private_dir(places().evals)
    private_dir(path.parent)
    try:
        write_atomically(path, text.encode("utf-8"), 0o600)
    except OSError as error:
        raise SkilldError("The cases were not written", f"{path}: {error.strerror}") from error


def _draft(place: CaseFiles, new: Sequence[tuple[str, Case]]) -> Proposal:
    cases = [case for _, case in new]
    before = read_text(place.in_skill)
    text = add_cases(before, place.skill.name, cases)
    operations = (
        tuple(operations_from_text(before.encode("utf-8"), text))
        if before.strip()
        else (Operation(Op.CREATE, TargetKind.EVALS.value, text),)
    )
    marks = "\n".join((str(place.in_skill), *sorted(map(_case_hash, cases))))
    batch = EVALS_PREFIX + hashlib.sha256(marks.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    sources = ", ".join(dict.fromkeys(name for name, _ in new))
    return Proposal(
        id=hashlib.sha256(batch.encode()).hexdigest()[:8],
        batch_id=batch,
        skill=place.skill.name,
        path=str(place.in_skill),
        operations=operations,
        summary=f"Add {pluralize(len(cases), 'test case')} for {place.skill.name}",
        reason=f"From corrections that you accepted: {sources}.",
        kind=Kind.FACT,
        confidence=1.0,
        model=OFFLINE,
        created_at=rfc3339(time.time()),
        flags=("test cases that quote what you typed; they are not instructions for agents",),
        target=TargetKind.EVALS,
    )


def _case_hash(case: Case) -> str:
    return hashlib.sha256("\n\n".join(case.content).encode("utf-8", "surrogatepass")).hexdigest()[:16]
