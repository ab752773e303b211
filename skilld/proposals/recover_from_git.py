"""Recovers proposals from the repositories for a store that lost them. Writes nothing.

Open proposals have refs of their own; accepted ones are named by trailers in the history of their skill. What a commit
does not say (the turn's key, the agent) stays empty.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from skilld.clock import rfc3339
from skilld.edit.derive_operations import operations_between
from skilld.errors import SkilldError
from skilld.git import objects, refs, tree
from skilld.git.managed_repos import list_roots
from skilld.git.objects import OWN_EMAIL, Commit
from skilld.git.repo import Repo, existing_parent
from skilld.git.session import shared_git
from skilld.git.staging_branch import PROPOSAL_REFS, STAGING_BRANCH
from skilld.paths import places
from skilld.pipeline.edits import REMOVED_PREFIX
from skilld.proposals.contradictions import CONTRADICTION_PREFIX
from skilld.proposals.repositories import find_file, repo_at
from skilld.protocol import RecoverProposals, RecoveryResult
from skilld.skills.find import FILE
from skilld.text import fold
from skilld.types import Evidence, Kind, Operation, Outcome, Proposal, SideEdit, State, TargetKind

RECOVERED_FLAG = "recovered from git after the database was damaged"
_MAX_HISTORY = 500  # commits of a skill that are searched for accepted proposals
_MAX_STAGED_PROPOSALS = 50  # how far down the staging branch its base is looked for
_EVALS = "evals/evals.json"
_BULLET_CHARACTERS = "-*+.0123456789 "
_BAR_PATTERN = re.compile(r"^\| ", re.MULTILINE)  # of lines that a program could misread (skilld.proposals.model)


@shared_git()
def recover_proposals(job: RecoverProposals) -> RecoveryResult:
    """Return the readable proposals in the repositories of the job's skills and folders."""
    found: dict[str, Proposal] = {}
    trouble: list[str] = []
    for repo, relpaths in _find_repos(job.paths, job.folders, trouble):
        try:
            for proposal in _read_proposals(repo, relpaths):
                found.setdefault(proposal.id, proposal)
        except SkilldError as error:
            trouble.append(str(error))
    return RecoveryResult(outcome=Outcome.NOTHING, detail="; ".join(trouble), proposals=tuple(found.values()))


def _find_repos(paths: Sequence[str], folders: Sequence[str], trouble: list[str]) -> list[tuple[Repo, list[str]]]:
    repos: dict[Path, tuple[Repo, list[str]]] = {}
    for path in paths:
        try:
            tracked = find_file(Path(path))
        except (OSError, SkilldError) as error:
            trouble.append(str(error))
            continue
        repos.setdefault(tracked.repo.address, (tracked.repo, []))[1].append(tracked.relpath)
    for repo in _repos_of_folders(folders):
        repos.setdefault(repo.address, (repo, []))
    return list(repos.values())


def _repos_of_folders(folders: Iterable[str]) -> Iterator[Repo]:
    """Yield the repositories around folders, and skilld's own: they may hold only proposals of new skills."""
    addresses = (existing_parent(Path(folder) / "skills") for folder in folders if Path(folder).is_absolute())
    for address in dict.fromkeys((*addresses, *list_roots(places().repositories).values())):
        with suppress(OSError, RuntimeError, SkilldError):
            yield repo_at(address.resolve())


def _read_proposals(repo: Repo, relpaths: list[str]) -> Iterator[Proposal]:
    own = refs.read_tips(repo.git, [PROPOSAL_REFS.rstrip("/")])
    for ref, oid in own.items():
        commit = objects.read_commit(repo.git, oid)
        if commit is not None and commit.proposals == (ref.removeprefix(PROPOSAL_REFS),):
            yield from _build_proposal(repo, commit, State.OPEN)
    tips = [repo.head, *(repo.default.tips if repo.default else ())]
    if not relpaths:
        return
    limits = f"--max-count={_MAX_HISTORY}", "--fixed-strings", "--grep=Skilld-Proposal: "
    for commit in objects.list_commits(repo.git, *limits, *tips, "--", *relpaths):
        if len(commit.proposals) == 1 and len(commit.parents) == 1:
            yield from _build_proposal(repo, commit, State.ACCEPTED)


def _build_proposal(repo: Repo, commit: Commit, state: State) -> Iterator[Proposal]:
    """Yield the proposal of a commit; nothing if the commit is not ours, or not a single edit of one skill."""
    changed = (
        list(tree.changed_files(repo.git, commit.parents[0], commit.oid)) if commit.author.email == OWN_EMAIL else []
    )
    sides = [path for path in commit.trailers.get("Skilld-Also", "").split(", ") if path in changed]
    changed = [path for path in changed if path not in sides]
    if len(changed) != 1:
        return
    before, after = (objects.read_blob(repo.git, oid, changed[0]) for oid in (commit.parents[0], commit.oid))
    if after is None:
        return
    try:
        operations = tuple(operations_between(before, after.decode("utf-8")))
        also = tuple(_read_side_edit(repo, commit, path) for path in sides)
        kind = Kind(commit.trailers.get("Skilld-Kind", ""))
        confidence = float(commit.trailers.get("Skilld-Confidence", "0"))
    except (SkilldError, ValueError):
        return
    said = _paragraphs(commit)
    is_skill = Path(changed[0]).name.casefold() == FILE.casefold()
    is_evals = changed[0].endswith(_EVALS)
    at = rfc3339(commit.author.seconds)
    yield Proposal(
        id=commit.proposals[0],
        batch_id=commit.trailers.get("Skilld-Batch", ""),
        state=state,
        skill=Path(changed[0]).parent.name if is_skill else changed[0],
        path=str(repo.toplevel / changed[0]),
        repo=str(repo.address),
        relpath=changed[0],
        base=_base(repo, commit),
        commit=commit.oid,
        branch=STAGING_BRANCH,
        operations=operations,
        summary=_summary(commit, operations),
        reason=" ".join(text for text in said if not text.startswith('"')),
        kind=kind,
        evidence=tuple(Evidence("", text) for text in _quotes(said)),
        confidence=confidence,
        agent="",
        session_id=commit.trailers.get("Skilld-Session", ""),
        model=commit.trailers.get("Skilld-Model", ""),
        created_at=at,
        flags=(RECOVERED_FLAG, *(_lint(repo, commit, (changed[0], *sides)) if state is State.OPEN else ())),
        landed=commit.oid if state is State.ACCEPTED else "",
        decided_at=at if state is State.ACCEPTED else "",
        target=TargetKind.SKILL if is_skill else TargetKind.EVALS if is_evals else TargetKind.INSTRUCTIONS,
        also=also,
    )


def _lint(repo: Repo, commit: Commit, paths: Iterable[str]) -> list[str]:
    """Return the linter's findings on files of a commit, which names none; without them a batch would accept it."""
    from skilld.edit.lint import lint  # its rules take 0.2 s to compile

    typed = "\n".join(_quotes(_paragraphs(commit)))
    linted = [path for path in paths if not path.endswith(_EVALS)]  # no instructions for agents
    pairs = (
        [objects.read_blob(repo.git, oid, path) or b"" for oid in (commit.parents[0], commit.oid)] for path in linted
    )
    return list(dict.fromkeys(finding.sentence for before, after in pairs for finding in lint(before, after, typed)))


def _read_side_edit(repo: Repo, commit: Commit, path: str) -> SideEdit:
    before, after = (objects.read_blob(repo.git, oid, path) or b"" for oid in (commit.parents[0], commit.oid))
    return SideEdit(str(repo.toplevel / path), tuple(operations_between(before, after.decode("utf-8"))), path)


def _summary(commit: Commit, operations: Sequence[Operation]) -> str:
    """Return the summary in the subject; if it was cut, the line of the edit that begins like it."""
    short = commit.subject.partition("): ")[2] or commit.subject
    lines = [line.lstrip(_BULLET_CHARACTERS) for operation in operations for line in operation.text.splitlines()]
    gone = (line for operation in operations for line in operation.anchor.splitlines())
    lines += [f"{REMOVED_PREFIX}{line.lstrip(_BULLET_CHARACTERS)}" for line in gone]
    beginning = short.removesuffix("…")
    return next((line for line in lines if short != beginning and line.startswith(beginning)), short)


def _paragraphs(commit: Commit) -> list[str]:
    """Return the message between its subject and trailers: the reason, and quotes in quotation marks."""
    texts = [fold(_BAR_PATTERN.sub("", text)) for text in commit.text.strip().split("\n\n")[1:-1]]
    return [text for text in texts if not text.startswith(CONTRADICTION_PREFIX)]


def _quotes(paragraphs: Iterable[str]) -> list[str]:
    return [text.strip('"') for text in paragraphs if text.startswith('"')]


def _base(repo: Repo, commit: Commit) -> str:
    """Return the newest ancestor of a proposal that is not a proposal itself."""
    for _ in range(_MAX_STAGED_PROPOSALS):
        below = objects.read_commit(repo.git, commit.parents[0])
        if below is None or below.committer.email != OWN_EMAIL or len(below.parents) != 1:
            break
        commit = below
    return commit.parents[0]
