"""Reads the staging branch of one repository, finds its base and rebuilds its commits. Moves no ref itself."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial

from skilld.errors import SkilldError
from skilld.files import shell_quoted
from skilld.git import line_diff, objects, refs, tree
from skilld.git.errors import GitFailedError, GitTimeoutError, RepoRefusedError
from skilld.git.line import changing, is_before, line_above
from skilld.git.objects import OWN_EMAIL, Commit
from skilld.git.repo import Repo
from skilld.git.session import cached
from skilld.git.staging_branch import PROPOSAL_REFS, STAGING_BRANCH, STAGING_REF
from skilld.proposals.file_history import path_in, read_file_on_branch, reverted_commits, with_names
from skilld.proposals.model import FOUND_NOTES, Apply, Base, StagingState, compose_subject, without_words
from skilld.proposals.refit import Edit
from skilld.types import Proposal, State
from skilld.values import value_class


@value_class
class Branch:
    """The branch as read: `commits` are those on it, oldest first; None if `held_reason` says why it cannot be rebuilt.

    `proposals` are the refs of proposals, by id.
    """

    tip: str | None
    proposals: Mapping[str, str]
    commits: list[Commit] | None
    held_reason: str = ""

    @property
    def base(self) -> str | None:
        """The commit the branch is based on: the tip if nothing is on it; None if it cannot be rebuilt."""
        if not self.commits:
            return None if self.commits is None else self.tip
        return self.commits[0].parents[0]

    @property
    def renamed(self) -> dict[str, Commit]:
        """The commits that only the refs of their proposals tell from others of the person's, by proposal."""
        return {name: commit for commit in self.commits or () if commit.renamed for name in commit.proposals}

    def edited_files(self, open_edits: Mapping[str, Edit], dropped: Collection[str]) -> dict[str, bool]:
        """Return the paths that open proposals on the branch edit, each with whether one of them creates the file."""
        on_branch = {name for commit in self.commits or () for name in commit.proposals if name not in dropped}
        files: dict[str, bool] = {}
        for name, edit in open_edits.items():
            if name in on_branch:
                path = edit.proposal.relpath
                files[path] = edit.proposal.creates or files.get(path, False)
                files |= {other: False for other in edit.also if other not in files}
        return files

    def ref_changes(self, tip: str | None, at: Mapping[str, str], dropped: Collection[str]) -> list[refs.RefChange]:
        """Return the changes that move the branch to `tip` and proposals to `at`, and delete refs of `dropped` ones.

        Git writes several refs one after the other: killed between two of them, it leaves some where they were.
        """
        changes = [refs.RefChange(STAGING_REF, tip, self.tip)] if tip != self.tip else []
        for name, oid in at.items():
            old = self.proposals.get(name)
            if oid != old and name not in dropped:
                changes.append(refs.RefChange(refs.proposal_ref(name), oid, old))
        gone = [(name, oid) for name, oid in self.proposals.items() if name in dropped]
        return changes + [refs.RefChange(refs.proposal_ref(name), None, oid) for name, oid in gone]


def read_branch(repo: Repo, open_edits: Mapping[str, Edit], bases: Collection[str] = ()) -> Branch:
    """Return the branch; without commits if it holds something that cannot be rebuilt.

    `bases` are those of proposals that are no longer open, but may still be on it.
    """
    found = refs.read_own_refs(repo.git, repo.common_dir)
    proposals = {name.removeprefix(PROPOSAL_REFS): oid for name, oid in found.items() if name != STAGING_REF}
    tip = found.get(STAGING_REF)
    if tip is None:
        return Branch(None, proposals, [])
    known = {*(edit.proposal.base for edit in open_edits.values()), *bases}
    try:
        return Branch(tip, proposals, read_staged_commits(repo, tip, sorted(known)))
    except RebuildBlockedError as error:
        return Branch(tip, proposals, None, str(error))


# The base of the staging branch is the newest commit that changed the skills it edits, so that merging it into any
# branch with that version brings in the proposals and nothing else.

# Walking 20,000 commits takes 0.06 to 0.16 s of CPU, depending on the size of their top folder and on whether git has a
# commit-graph. Reading just the list of commits takes 0.06 s of it, so a binary search along the list would save half,
# but it misses a change that was undone, and would choose the older of two commits then.
BASE_TIMEOUT_SECONDS = 3.0


def find_base(repo: Repo, relpaths: Sequence[str], absent: Sequence[str] = ()) -> Base:
    """Return the base: the first of three candidates whose files equal HEAD's.

    They are the newest commit that changed any of the files, or deleted an `absent` one (skipped if the walk takes too
    long), the merge base with the default branch, and HEAD. HEAD must have all files, and none of the absent ones.
    """

    def has_same(rest: Base | None) -> bool:
        return (
            rest is not None
            and have_same_files(repo, rest.commit, repo.head, relpaths)
            and not any(objects.read_objects(repo.git, [f"{rest.commit}:{relpath}" for relpath in absent]))
        )

    rest = _newest_change(repo, [*relpaths, *absent]) if relpaths or absent else None
    if not has_same(rest):
        rest = _merge_base(repo)
    return rest if rest is not None and has_same(rest) else describe_base(repo, repo.head)


def have_same_files(repo: Repo, one: str, other: str, relpaths: Sequence[str]) -> bool:
    """Whether both commits have all the files, with the same bytes."""
    names = [f"{commit}:{relpath}" for relpath in relpaths for commit in (one, other)]
    oids = [item.oid if item is not None else None for item in objects.read_objects(repo.git, names)]
    return None not in oids and oids[0::2] == oids[1::2]


def describe_base(repo: Repo, commit: str) -> Base:
    """Return a base commit with the number of commits that merging it would add to the default branch."""
    if repo.default is None or commit in repo.default.tips:
        return _base_on_default(repo, commit)
    ahead = _count_ahead(repo, commit)
    if not ahead:
        return _base_on_default(repo, commit)
    over = branches_containing(repo, commit)
    branch = repo.branch if repo.branch in over else next(iter(over), None)
    return Base(commit, branch.removeprefix("refs/heads/") if branch else None, repo.default.name, ahead)


def _count_ahead(repo: Repo, commit: str) -> int:
    tips = repo.default.tips if repo.default else ()
    if any(is_before(repo.git, commit, tip) for tip in tips):
        return 0
    if (known := line_above(repo.git, commit, tips)) is not None:
        return len(known)
    given = commit, *_not_default(repo)
    return cached((repo.common_dir, "ahead", *given), lambda: int(repo.git.run("rev-list", "--count", *given)))


def is_on(repo: Repo, commit: str, tip: str) -> bool:
    """Whether a commit is `tip` or an ancestor of it; of the default branch it is asked as `describe_base` asks."""
    if repo.default is not None and {*repo.default.tips} == {tip}:
        return commit == tip or not _count_ahead(repo, commit)
    return refs.is_reachable(repo.git, commit, tip)


def branches_containing(repo: Repo, commit: str) -> dict[str, str]:
    """Return the branches that contain a commit, except the staging branch: full name -> tip."""
    form = "--format=%(refname) %(objectname)"
    rows = repo.git.lines("for-each-ref", f"--contains={commit}", form, "refs/heads")
    return {name: oid for name, oid in (row.split(" ") for row in rows) if name != STAGING_REF}


def _base_on_default(repo: Repo, commit: str) -> Base:
    return Base(commit, default=repo.default.name if repo.default else None)


def _not_default(repo: Repo) -> list[str]:
    return [f"^{tip}" for tip in repo.default.tips] if repo.default else []


def _newest_change(repo: Repo, relpaths: Sequence[str]) -> Base | None:
    """Return the newest commit that changed one of the files, as `git log -1 HEAD -- FILES` finds it.

    Whether the default branch has it is looked up among the commits that only HEAD has: counting from an old commit
    would walk everything once more.
    """
    tips = repo.default.tips if repo.default else ()
    try:
        found = next(iter(changing(repo.git, repo.head, relpaths) or ()), "")
        if not found:
            asked = "rev-list", "--max-count=1", repo.head, "--", *relpaths
            found = repo.git.run(*asked, seconds=BASE_TIMEOUT_SECONDS).decode().strip()
        if not found:
            return None
        if not tips or repo.head in tips or any(is_before(repo.git, found, tip) for tip in tips):
            return _base_on_default(repo, found)
        own = line_above(repo.git, repo.head, tips)
        if own is None:
            asked = "rev-list", repo.head, *_not_default(repo)
            own = repo.git.run(*asked, seconds=BASE_TIMEOUT_SECONDS).decode().split()
    except GitTimeoutError:
        return None
    return describe_base(repo, found) if found in own else _base_on_default(repo, found)


def _merge_base(repo: Repo) -> Base | None:
    if repo.default is None:
        return None
    # Status 1 without output: no common commit.
    found = repo.git.call("merge-base", repo.head, repo.default.tips[0]).out.decode().strip()
    return _base_on_default(repo, found) if found else None


# Rebuilding: our commits are made again from their operations; a person's commits (their own, or ours that they amended
# or rebased) are carried over by a three-way merge of the files they change.

_MAX_COMMITS = 500  # commits on the branch alone
_SAID = State.ACCEPTED, FOUND_NOTES[0]  # the skill says it


class RebuildBlockedError(Exception):
    """The branch cannot be rebuilt without losing something of the person's; the text says what."""


def read_staged_commits(repo: Repo, tip: str, bases: Iterable[str]) -> list[Commit]:
    """Return the commits that are only on the staging branch, oldest first.

    `bases` are as in `range_above`. Raises RebuildBlockedError for too many commits, or if a person merged something
    into the branch, RepoRefusedError if objects are missing.
    """
    out = list_staged(repo, tip, bases)[::-1]
    if len(out) >= _MAX_COMMITS:
        raise RebuildBlockedError(f"{STAGING_BRANCH} has more than {_MAX_COMMITS} commits that are on no other branch")
    commits = [commit for commit in objects.read_commits(repo.git, out) if commit is not None]
    merged = next((commit for commit in commits if len(commit.parents) != 1), None)
    if merged is not None:
        raise RebuildBlockedError(f"{STAGING_BRANCH} contains a merge or root commit of yours: {merged.subject}")
    return with_names(repo, commits)


def list_staged(repo: Repo, tip: str, bases: Iterable[str]) -> list[str]:
    """Return the IDs of the commits that are only on the staging branch, the newest 1,000, newest first.

    `bases` are as in `range_above`. Raises RepoRefusedError if objects are missing.
    """
    below = range_above(repo, bases)
    if (known := line_above(repo.git, tip, [name[1:] for name in below])) is not None:
        return known
    try:
        return objects.list_ids(repo.git, "--topo-order", "--max-count=1000", tip, *below)
    except GitFailedError as error:
        if error.status < 0:  # killed: that says nothing of the branch
            raise
        raise RepoRefusedError(
            "Cannot read the staging branch", f"{STAGING_BRANCH} is damaged: {error.stderr}", _repair_command(repo)
        ) from error


def range_above(repo: Repo, bases: Iterable[str]) -> list[str]:
    """Return what a walk down the staging branch must leave out, as arguments of rev-list.

    That is what HEAD, the default branch or one of the known `bases` of the open proposals reaches; a HEAD that is on
    the staging branch itself does not count. A base may be on no branch any more, and commits below it name proposals.
    """
    known = [*(repo.default.tips if repo.default else ()), *filter(None, bases)]
    if repo.branch != STAGING_REF or not known:
        known.append(repo.head)
    present = objects.read_objects(repo.git, sorted({*known}))
    return [f"^{item.oid}" for item in present if item is not None]


def needed_first(repo: Repo, proposal: Proposal, current: bytes, fit: Callable[[bytes], bytes]) -> list[str]:
    """Return the open proposals for the same file with which `fit` finds a place in its text; none if none helps.

    One alone if that is enough, else all that are below the proposal on the staging branch.
    """
    commits = objects.list_commits(repo.git, "--topo-order", f"{proposal.commit}^", *range_above(repo, [proposal.base]))
    below: list[tuple[str, bytes, bytes]] = []
    for one in commits:
        old, new = (objects.read_blob(repo.git, oid, proposal.relpath) or b"" for oid in (one.parents[0], one.oid))
        below += [(name, old, new) for name in one.proposals[:1] if old != new]
    for chosen in [*([one] for one in below), below[::-1]]:
        text = current
        try:
            for _, old, new in chosen:
                text = line_diff.merge_change(old, text, new)
            fit(text)
        except (SkilldError, line_diff.MergeConflictError):
            continue
        return [name for name, *_ in chosen] if chosen else []
    return []


def find_missing_object(repo: Repo) -> tuple[str, str] | None:
    """Return which object the staging branch lacks, and the command to repair it; None if it lacks none."""
    tip = refs.read_refs(repo.git, [STAGING_REF]).get(STAGING_REF)
    lost = _missing_object_error(repo, tip) if tip else ""
    return (f"{STAGING_BRANCH} in {repo.address} is damaged: {lost}", _repair_command(repo)) if lost else None


def _missing_object_error(repo: Repo, commit: str) -> str:
    """Return git's message if a commit, or one below it, lacks an object; empty if none does."""
    result = repo.git.call("rev-list", "--objects", "--missing=allow-promisor", commit, f"^{repo.head}")
    if result.status:
        return result.err.split("\n")[0].partition(": ")[2]
    ((_, _, size),) = repo.git.sizes([commit.encode()])  # git 2.55 accepts that the commit itself is missing
    return f"bad object {commit}" if size < 0 else ""


def _repair_command(repo: Repo) -> str:
    """Return the command that moves the branch to the newest intact commit of a proposal, or deletes it."""
    form = "--format=%(objectname)"
    oids = repo.git.run("for-each-ref", form, PROPOSAL_REFS.rstrip("/")).decode().split()
    whole = [oid for oid in oids if not _missing_object_error(repo, oid)]
    newest = repo.git.run("rev-list", "--topo-order", "--max-count=1", *whole).decode().split() if whole else []
    change = [STAGING_REF, *newest] if newest else ["-d", STAGING_REF]
    return " ".join(map(shell_quoted, ["git", "-C", str(repo.address), "update-ref", *change]))


def replay_commits(
    repo: Repo,
    rest: Base,
    commits: Iterable[Commit],
    open_edits: Mapping[str, Edit],
    dropped: Collection[str],
) -> StagingState:
    """Rebuild `commits` on a base without the `dropped` proposals; commits that are already in place are kept.

    A revert of commits that are left out is left out too, and one of a rewritten commit names the new one. If the
    repository has a remote, and had none when a commit was made, the person's words leave its message. Raises
    RebuildBlockedError if a person's commit no longer fits.
    """
    staging = StagingState(None, rest)
    new_oids: dict[str, str] = {}  # by the old ones, "" for a commit that is left out
    for commit in commits:
        reverted = [(short, oid) for short in reverted_commits(commit) for oid in new_oids if oid.startswith(short)]
        undone = reverted and not any(new_oids[oid] for _, oid in reverted)
        new_oids[commit.oid] = ""
        if undone or (commit.proposals and all(name in dropped for name in commit.proposals)):
            continue
        mine = [open_edits[name] for name in commit.proposals if name in open_edits]
        alone = mine[0] if len(commit.proposals) == len(mine) == 1 else None
        message = current_message(repo, commit, alone.proposal if alone else None)
        for short, oid in reverted:
            message = message.replace(short.encode(), (new_oids[oid] or oid)[: len(short)].encode())
        in_place = commit.parents == (staging.top,)
        if in_place and message == commit.message and not commit.renamed:
            staging.tip = commit.oid
            for edit in mine:
                staging.moved |= edit.new_commit(commit.oid)
        else:
            root = commit.tree if in_place else _replay_tree(repo, commit, alone, staging)
            if root is None:
                continue
            staging.tip = write_again(repo, replace(commit, message=message), root, staging.top)
            staging.moved |= dict.fromkeys((edit.proposal.id for edit in mine), staging.top)
        new_oids[commit.oid] = staging.top
        staging.at |= dict.fromkeys((edit.proposal.id for edit in mine), staging.top)
    return staging


def current_message(repo: Repo, commit: Commit, proposal: Proposal | None) -> bytes:
    """Return the message with which a commit is made again; `proposal` is the only one that it is of, if any.

    No words are in it if the repository has got a remote. Where the person amended the text and kept skilld's subject,
    that follows the text.
    """
    message = without_words(commit.message) if repo.remote else commit.message
    if proposal is None or commit.committer.email == OWN_EMAIL:
        return message
    known = objects.read_commit(repo.git, refs.proposal_ref(proposal.id))
    if known is None or known.subject != commit.subject or not commit.subject.startswith("skilld("):
        return message
    subject = compose_subject(proposal.skill, proposal.summary).encode("utf-8", "backslashreplace")
    return message.replace(commit.subject.encode("utf-8", "surrogateescape"), subject, 1)


def write_again(repo: Repo, commit: Commit, root: str = "", parent: str = "") -> str:
    """Queue a commit as it was read, perhaps with another tree on another parent, and return its id."""
    return objects.add_commit(
        repo.git,
        tree=root or commit.tree,
        parents=[parent] if parent else commit.parents,
        message=commit.message,
        author=commit.author,
        committer=commit.committer,
    )


def _replay_tree(repo: Repo, commit: Commit, edit: Edit | None, staging: StagingState) -> str | None:
    """Return the tree of a commit made again on the branch's new tip, or None if there is nothing to commit."""
    if edit is not None and commit.committer.email == OWN_EMAIL:
        return _reapply_tree(repo, commit, edit, staging)
    try:
        root = merge_tree(repo, commit, staging.top)
    except line_diff.MergeConflictError as error:
        if edit is None:
            raise RebuildBlockedError(f"your commit on {STAGING_BRANCH} no longer applies: {commit.subject}") from error
    else:
        if edit is None or root is not None or not commit.renamed:
            return root
    return _reapply_tree(repo, commit, edit, staging)


def _reapply_tree(repo: Repo, commit: Commit, edit: Edit, staging: StagingState) -> str | None:
    proposal, path = edit.proposal, edit.proposal.relpath
    if not proposal.creates and objects.read_blob(repo.git, staging.base, path) is None:
        path = read_file_on_branch(repo, staging.base, path, None).relpath
    names = [f"{parent}:{path}" for parent in (staging.base, staging.top)]
    names += [f"{oid}:{path_in(repo, commit, path)}" for oid in (commit.parents[0], commit.oid)]
    absent = b"" if proposal.creates else None
    skill, current, before, after = (found.data if found else absent for found in objects.read_objects(repo.git, names))
    if skill is None or current is None:
        staging.ended[proposal.id] = State.STALE, f"{path} is gone"
        return None
    if before is not None and after is not None and line_diff.is_change_made(current, before, after):
        is_said = line_diff.is_change_made(skill, before, after)
        staging.ended[proposal.id] = _SAID if is_said else (State.SUPERSEDED, "another proposal already says this")
        return None
    try:
        if before is None or after is None:
            edited = edit(current)
        else:
            base = partial(objects.read_common_version, repo.git, commit.parents[0], staging.base, path)
            edited = _refit(edit, before, after, current, base)
    except SkilldError as error:
        staging.ended[proposal.id] = State.STALE, error.cause or error.title
        return None
    if edited == current:
        staging.ended[proposal.id] = _SAID
        return None
    return with_files(repo, staging.top, side_files(repo, staging.top, edit.also) | {path: edited})


def _refit(edit: Edit, before: bytes, after: bytes, current: bytes, base: Callable[[], bytes | None]) -> bytes:
    """Return `current` with the edit at a certain place, else wherever it fits. Raises SkilldError."""
    with suppress(SkilldError):
        return edit.refit_from(before, after, current, base)
    return edit.refit_loosely(before, after, current)


def side_files(repo: Repo, commit: str, edits: Mapping[str, Apply]) -> dict[str, bytes]:
    """Return the new bytes of further files whose edits fit their version in `commit`."""
    files = {}
    for relpath, edit in edits.items():
        with suppress(SkilldError):
            if (old := objects.read_blob(repo.git, commit, relpath)) is not None:
                files[relpath] = edit(old)
    return files


def with_files(repo: Repo, commit: str, files: Mapping[str, bytes]) -> str:
    """Return the tree of `commit` with the bytes of some files set; existing files keep their modes."""
    entries: dict[str, tree.Entry | None] = {}
    for relpath, data in files.items():
        old = tree.read_entry(repo.git, commit, relpath)
        mode = old.mode if old is not None and old.mode in tree.FILE_MODES else "100644"
        entries[relpath] = tree.Entry(mode, repo.git.add("blob", data))
    return tree.rewrite_tree(repo.git, commit, entries)


def merge_tree(repo: Repo, commit: Commit, onto: str) -> str | None:
    """Return the tree of `onto` with the changes of `commit`, or None if it has them already.

    Raises MergeConflictError if both changed the same lines.
    """
    changes: dict[str, tree.Entry | None] = {}
    for path, (was, now) in tree.changed_files(repo.git, commit.parents[0], commit.oid).items():
        current = tree.read_entry(repo.git, onto, path)
        if current == now:
            continue
        changes[path] = now if current == was else _merge_entry(repo, was, current, now)
    return tree.rewrite_tree(repo.git, onto, changes) if changes else None


def _merge_entry(repo: Repo, was: tree.Entry | None, current: tree.Entry | None, now: tree.Entry | None) -> tree.Entry:
    if was is None or current is None or now is None:
        raise line_diff.MergeConflictError
    found = objects.read_objects(repo.git, [was.oid, current.oid, now.oid])
    old, ours, theirs = (item.data if item is not None and item.kind == "blob" else None for item in found)
    if old is None or ours is None or theirs is None or any(b"\0" in data for data in (old, ours, theirs)):
        raise line_diff.MergeConflictError
    return tree.Entry(now.mode, repo.git.add("blob", line_diff.merge(old, ours, theirs)))
