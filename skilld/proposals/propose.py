"""Proposes one edit, and rebuilds the staging branch after a decision.

All that is read is read once per try; all refs move in one transaction, each only from the value that was read. A lost
race starts over. Nothing in the work tree, the index or HEAD is ever written.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from skilld.errors import SkilldError
from skilld.git import objects, refs, state, tree
from skilld.git.errors import LostRaceError, StagingBusyError
from skilld.git.managed_repos import open_any, track
from skilld.git.objects import EMAIL, Commit
from skilld.git.repo import Repo, Tracked, open_repo
from skilld.git.run import one_command
from skilld.git.staging_branch import PROPOSALS, SHARES, STAGING, STAGING_BRANCH
from skilld.git.state import in_turn
from skilld.proposals import model
from skilld.proposals.branch import (
    Branch,
    HeldError,
    Rebuilt,
    branches_over,
    describe,
    find_base,
    read_branch,
    rebuild_line,
    same_files,
    side_files,
    skilld_ident,
    with_files,
)
from skilld.proposals.model import (
    EditConflict,
    Line,
    Misfit,
    Proposed,
    ProposeOutcome,
    Request,
    Rest,
    Standing,
    Unchanged,
    Waiting,
)

# Finding a proposal that an earlier try made already: a retried job returns it instead of making another.
#
# Looked for on its own ref, on the staging branch by its trailers, and in what was merged since.

_MARGIN = 86400  # seconds: clocks of two machines


def found_again(request: Request, tracked: Tracked, branch: Branch) -> Proposed | None:
    """Return the proposal where an earlier try made it: on its ref, on the branch, or merged already."""
    repo, relpath = tracked.repo, tracked.relpath
    oid = branch.proposals.get(request.id) if not request.restored else None
    commit = objects.read_commit(repo.git, oid) if oid else None
    if commit is None:
        commit = next((item for item in branch.line or () if _is_same(repo, request, item, relpath)), None)
    if commit is None and not request.restored:
        commit = _merged_already(repo, request, relpath)
    if commit is None:
        return None
    name = commit.trailers.get("Skilld-Proposal", request.id)
    base = branch.base or repo.head
    stands = {name: item.oid for item in branch.line or () for name in item.proposals}
    moved: dict[str, str] = {}
    for other in request.standing:  # the word of where that try moved them to was lost with it
        moved |= other.news(stands.get(other.id, other.commit))
    line = Line(branch.tip, describe(repo, base), moved)
    return Proposed(name, commit.oid, base, STAGING_BRANCH, str(repo.address), relpath, line, fresh=False)


def _is_same(repo: Repo, request: Request, commit: Commit, relpath: str) -> bool:
    if request.id in commit.proposals:
        return True
    # One that comes back is known by its id: what was split off it is of the same batch.
    of_batch = not request.restored and commit.trailers.get("Skilld-Batch") == request.batch_id
    return of_batch and relpath in tree.changed(repo.git, commit.parents[0], commit.oid)


def _merged_already(repo: Repo, request: Request, relpath: str) -> Commit | None:
    named = "--fixed-strings", f"--grep=Skilld-Proposal: {request.id}"
    limits = f"--since={request.epoch - _MARGIN}", "--max-count=1"
    tips = [repo.head, *(repo.default.tips if repo.default else ())]
    oid = repo.git.run("rev-list", *named, *limits, *tips, "--", relpath).decode().strip()
    found = objects.read_commit(repo.git, oid) if oid else None
    return found if found is not None and request.id in found.proposals else None


_TRIES = 20


@one_command()
def propose(request: Request) -> ProposeOutcome:
    """Commit an edit on the staging branch, on top of the open proposals.

    Raises NotTrackedError if git does not hold the skill and no repository of skilld's own may, StagingBusyError and
    other RefusedErrors where the repository is in a state we do not write in, RetryError for locks and lost races. An
    edit that was proposed by an earlier try is found and returned, never made twice.
    """
    for _ in range(_TRIES):
        try:
            return _propose(request)
        except LostRaceError:
            continue
    raise LostRaceError("Could not write the proposal", f"the staging branch moved {_TRIES} times in the meantime")


@one_command()
def rebuild(
    address: Path, standing: Sequence[Standing], dropped: Collection[str] = (), private: Path | None = None
) -> Line:
    """Rebuild the staging branch as a straight line of the open proposals, and let go of the `dropped` ones.

    `address` is that of the repository (`Proposed.repo`), `private` the folder of skilld's own ones. Dropped proposals
    lose their place on the branch and their ref. Open ones that the person took off the branch are not put back. Where
    the branch is the person's for the moment, or holds commits of theirs that do not fit any more, only the refs of
    dropped proposals go, and `held` says why.
    """
    for _ in range(_TRIES):
        try:
            repo = open_any(address, private)
            with in_turn(repo.common_dir):
                return _rebuild(repo, standing, dropped)
        except LostRaceError:
            continue
    raise LostRaceError("The staging branch was not rebuilt", f"it moved {_TRIES} times in the meantime")


def _propose(request: Request) -> ProposeOutcome:
    tracked = track(request.path, request.private, new=request.creates)
    with in_turn(tracked.repo.common_dir):
        return _propose_in_turn(request, tracked)


def _propose_in_turn(request: Request, tracked: Tracked) -> ProposeOutcome:
    repo, relpath = tracked.repo, tracked.relpath
    own_ref = refs.proposal_ref(request.id)
    refs.check_plain(repo.common_dir, [STAGING, own_ref])
    refs.mend(repo.git, repo.common_dir)
    branch = read_branch(repo, request.standing)
    done = found_again(request, tracked, branch)
    if done is not None:
        return done
    holder = state.staging_holder(repo.common_dir)
    if holder is not None:
        raise StagingBusyError(
            "The proposal is on hold",
            f"{STAGING_BRANCH} is {holder}",
            "Switch to another branch, or finish what is in progress.",
        )
    misfit = _misfit(request, tracked)
    if misfit is not None:
        return misfit
    rebuilt, rest, held = _line_for(request, tracked, branch)
    before = objects.read_blob(repo.git, rebuilt.tip, relpath)
    if before is None and request.creates:
        before = b""
    try:
        after = (
            _edited(request, objects.read_blob(repo.git, repo.head, relpath), before) if before is not None else None
        )
    except SkilldError as error:
        return EditConflict(_opponents(request, repo, rebuilt, rest, relpath), str(error))
    if before is None or after is None:  # the branch cannot be made again now, and rests on a commit without the skill
        return Waiting(f"on hold: {held or f'{relpath} is not on {STAGING_BRANCH}'}")
    if after == before:
        return Unchanged()
    ident = skilld_ident(request.epoch)
    commit = objects.write_commit(
        repo.git,
        tree=with_files(repo, rebuilt.tip, side_files(repo, rebuilt.tip, request.also) | {relpath: after}),
        parents=[rebuilt.tip],
        message=_message(request, private=repo.remote and not request.share_quote),
        author=ident,
        committer=ident,
    )
    rebuilt.at[request.id] = commit
    _move(repo, branch, commit, rebuilt, request.dropped)
    line = _line(commit, rest, rebuilt, held)
    return Proposed(request.id, commit, rest.commit, STAGING_BRANCH, str(repo.address), relpath, line)


def _edited(request: Request, seen: bytes | None, below: bytes) -> bytes:
    """Return the skill as it stands on the branch with the edit, which was made for HEAD's version, `seen`."""
    if request.refit is not None and seen is not None and seen != below:
        with suppress(SkilldError):
            return request.refit(seen, request.apply(seen), below)
    return request.apply(below)


def _rebuild(repo: Repo, standing: Sequence[Standing], dropped: Collection[str]) -> Line:
    refs.check_plain(repo.common_dir, [STAGING, PROPOSALS.rstrip("/")])
    refs.mend(repo.git, repo.common_dir)
    branch = read_branch(repo, standing)
    holder = state.staging_holder(repo.common_dir)
    held = f"{STAGING_BRANCH} is {holder}" if holder is not None else branch.held
    if branch.tip is not None and not held and branch.line is not None:
        known = {item.id: item for item in standing}
        rest = _rest_for(repo, branch, known, dropped)
        try:
            rebuilt = rebuild_line(repo, rest.commit, branch.line, known, dropped)
        except HeldError as error:
            held = str(error)
        else:
            tip = rebuilt.tip if rebuilt.tip != rest.commit else None
            _move(repo, branch, tip, rebuilt, dropped)
            return _line(tip, rest if tip else None, rebuilt)
    refs.move(repo.git, repo.common_dir, branch.moves(branch.tip, {}, dropped))
    return Line(branch.tip, describe(repo, branch.base) if branch.base else None, held=held)


def _move(repo: Repo, branch: Branch, tip: str | None, rebuilt: Rebuilt, dropped: Collection[str]) -> None:
    """Move the refs. Those of proposals that came to an end go first, in a transaction of their own.

    One that is off the branch and still has its ref was taken off by the person. Killed after the first step, the
    branch has it still and is made again; killed after the second, the missing ref tells (skilld.proposals.observe).
    """
    refs.move(repo.git, repo.common_dir, branch.moves(branch.tip, {}, rebuilt.ended))
    refs.move(repo.git, repo.common_dir, branch.moves(tip, rebuilt.at, {*dropped} - rebuilt.ended))


def _line(tip: str | None, rest: Rest | None, rebuilt: Rebuilt, held: str = "") -> Line:
    return Line(tip, rest, rebuilt.moved, rebuilt.stale, tuple(rebuilt.present), tuple(rebuilt.doubled), held)


def _line_for(request: Request, tracked: Tracked, branch: Branch) -> tuple[Rebuilt, Rest, str]:
    """Return the line that the new commit goes on, made again where the base moved, and why it was not if so."""
    repo = tracked.repo
    known = {item.id: item for item in request.standing}
    files = branch.files(known, request.dropped) | {
        **dict.fromkeys(request.also, False),
        tracked.relpath: request.creates,
    }
    present = [path for path in sorted(files) if _in_head(repo, path)]
    absent = [path for path, made in files.items() if made and path not in present]
    rest = find_base(repo, [*present, *_carried(repo, branch, known, request.dropped)], absent)
    held = branch.held
    if branch.line is not None:
        try:
            return rebuild_line(repo, rest.commit, branch.line, known, request.dropped), rest, ""
        except HeldError as error:
            held = str(error)
    tip = branch.tip or rest.commit
    # Never the tip: what is known as a base is taken for no part of the branch.
    return Rebuilt(tip, tip), describe(repo, branch.base) if branch.base else rest, held


def _rest_for(repo: Repo, branch: Branch, standing: Mapping[str, Standing], dropped: Collection[str]) -> Rest:
    """Return where a rebuilt branch rests: where it does now, unless its skills moved on meanwhile.

    They have where neither the default branch nor the one that is checked out has the base's version of them any more;
    a branch that never had it does not count.
    """
    base = branch.base or repo.head
    waiting = [path for path, made in branch.files(standing, dropped).items() if made and not _in_head(repo, path)]
    files = sorted(set(branch.files(standing, dropped)).difference(waiting))
    if files and _moved_on(repo, base, files) and all(_in_head(repo, path) for path in files):
        return find_base(repo, [*files, *_carried(repo, branch, standing, dropped)], waiting)
    return describe(repo, base)


def _carried(repo: Repo, branch: Branch, known: Mapping[str, Standing], dropped: Collection[str]) -> list[str]:
    """Return what HEAD has of the files that the other commits of the branch change: a base must be as new as these.

    They are the person's, and those of a job that was killed before its result was kept.
    """
    others = [item for item in branch.line or () if known.keys().isdisjoint(item.proposals)]
    others = [item for item in others if not item.proposals or not {*item.proposals} <= {*dropped}]
    found = {path for item in others for path in tree.changed(repo.git, item.parents[0], item.oid)}
    return sorted(path for path in found if _in_head(repo, path))


def _moved_on(repo: Repo, base: str, files: Sequence[str]) -> bool:
    if all(same_files(repo, base, tip, files) for tip in {repo.head, *(repo.default.tips if repo.default else ())}):
        return False
    return not any(same_files(repo, base, tip, files) for tip in _tips_that_count(repo, base))


def _tips_that_count(repo: Repo, base: str) -> Sequence[str]:
    """Return the tips of the default branch and of HEAD that have `base`; where none has, those of the other branches.

    Of the default branch's two tips the one that is behind the other says nothing of its own.
    """
    tips = list(dict.fromkeys((*(repo.default.tips if repo.default else ()), repo.head)))
    over = [tip for tip in tips if repo.git.call("merge-base", "--is-ancestor", base, tip).status == 0]
    defaults = [tip for tip in over if repo.default and tip in repo.default.tips]
    behind = {
        tip
        for tip in defaults
        for other in defaults
        if tip not in {other, repo.head} and repo.git.call("merge-base", "--is-ancestor", tip, other).status == 0
    }
    return [tip for tip in over if tip not in behind] or [*branches_over(repo, base).values()]


def _in_head(repo: Repo, relpath: str) -> bool:
    return objects.read_blob(repo.git, repo.head, relpath) is not None


def _misfit(request: Request, tracked: Tracked) -> Waiting | Misfit | Unchanged | None:
    """Return why the edit cannot be made on HEAD's version, or None if it can."""
    stored = objects.read_blob(tracked.repo.git, tracked.repo.head, tracked.relpath) or b""
    try:
        return Unchanged() if request.apply(stored) == stored else None
    except SkilldError as error:
        reason = str(error)
    try:
        request.apply(request.path.read_bytes())
    except (SkilldError, OSError):
        return Misfit(reason)
    return Waiting(f"on hold until you commit your changes to {tracked.relpath}")


def _opponents(request: Request, repo: Repo, rebuilt: Rebuilt, rest: Rest, relpath: str) -> tuple[str, ...]:
    """Return the proposals of the first commit on the line after which the edit no longer fits."""
    out = repo.git.run("rev-list", "--reverse", rebuilt.tip, f"^{rest.commit}").decode().split()
    for commit in objects.read_commits(repo.git, out):
        if commit is None:
            continue
        try:
            request.apply(objects.read_blob(repo.git, commit.oid, relpath) or b"")
        except SkilldError:
            return commit.proposals
    return ()


def _message(request: Request, *, private: bool) -> bytes:
    return model.compose(
        skill=request.skill,
        summary=request.summary,
        reason=request.reason,
        quote="" if private else request.quote,
        remark=request.remark,
        trailers={
            "Proposal": request.id,
            "Batch": request.batch_id,
            "Session": "" if private else request.session_id,
            "Kind": str(request.kind),
            "Confidence": f"{request.confidence:.2f}",
            "Model": request.model,
            "Also": ", ".join(request.also),
        },
    )


# Taking everything of skilld's out of a repository: its staging branch, the refs of proposals, what it shared.

_OURS = PROPOSALS.removesuffix("proposals/").rstrip("/")
_SHARES = SHARES.rstrip("/")


@dataclass(frozen=True, slots=True)
class Withdrawal:
    """What goes: the names of the refs. `kept` says of each branch that stays why it does."""

    refs: tuple[str, ...]
    kept: Mapping[str, str]


@one_command()
def plan(address: Path, shared: Collection[str] = ()) -> Withdrawal:
    """Return what `withdraw` would do. Raises NotTrackedError if there is no repository any more."""
    repo = open_repo(address)
    return _plan(repo, _tips(repo), shared)


@one_command()
def withdraw(address: Path, shared: Collection[str] = ()) -> Withdrawal:
    """Delete our refs in one transaction and return what was done; `shared` are the commits made for sharing.

    A branch stays where the person has it in use, or where commits of their own stand on branches of ours alone; one
    for sharing also where its newest commit is not ours. Commits that no ref holds any more are git's to collect.
    Raises as `plan`, and for locks and lost races.
    """
    repo = open_repo(address)
    with in_turn(repo.common_dir):
        tips = _tips(repo)
        planned = _plan(repo, tips, shared)
        refs.move(repo.git, repo.common_dir, [refs.Change(name, None, tips[name]) for name in planned.refs])
    return planned


def _tips(repo: Repo) -> dict[str, str]:
    return refs.tips(repo.git, [STAGING, _OURS, _SHARES])


def _plan(repo: Repo, tips: Mapping[str, str], shared: Collection[str]) -> Withdrawal:
    branches = [name for name in tips if name == STAGING or name.startswith(SHARES)]
    kept = {name: why for name in branches if (why := _reason_to_keep(repo, name, tips[name], shared))}
    return Withdrawal(tuple(name for name in tips if name not in kept), kept)


def _reason_to_keep(repo: Repo, ref: str, tip: str, shared: Collection[str]) -> str | None:
    holder = state.holder(repo.common_dir, ref)
    if holder is not None:
        return f"it is {holder}"
    ours = (STAGING, f"{_OURS}/*", f"{_SHARES}/*")
    others = "--not", *(f"--exclude={name}" for name in ours), "--all"
    alone = repo.git.run("rev-list", tip, *others).decode().split()
    newest = [tip] if ref != STAGING else []  # staging can rest on a commit of the person's, with nothing on it
    for commit in objects.read_commits(repo.git, [*newest, *alone]):
        if commit is None or not _is_ours(commit, shared):
            return f"it contains a commit of yours: {commit.subject if commit is not None else 'unreadable'}"
    return None


def _is_ours(commit: Commit, shared: Collection[str]) -> bool:
    return commit.oid in shared or commit.committer.email == EMAIL
