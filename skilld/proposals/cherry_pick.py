"""Accepts or reverts one proposal: `git cherry-pick` and `git revert` in the person's name, all or nothing."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

from skilld.errors import RefusedError, SkilldError
from skilld.files import shell_command
from skilld.git import line_diff, objects, refs, state, tree
from skilld.git.errors import GitTimeoutError
from skilld.git.line_diff import undo
from skilld.git.objects import Commit
from skilld.git.repo import Repo
from skilld.git.run import PersonGit, literal
from skilld.proposals import whole_files, worktree
from skilld.proposals.branch import current_message, needed_first, write_again
from skilld.proposals.file_history import REVERTS_TRAILER, commits_of, path_in, read_history, reverted_commits
from skilld.proposals.model import MOVED_TO, Apply, CommitMethod, DecisionCommit, top_folder
from skilld.proposals.person_text import further_files, name_files, refuse_amended_secrets
from skilld.proposals.refit import Edit, has_same_lines
from skilld.proposals.repositories import repo_at
from skilld.proposals.rewritten import is_rewritten_here
from skilld.proposals.taking_out import describe_rest, headings_in_use, lines_of_others, take_out
from skilld.proposals.whereabouts import Change, find_amended_commit, find_branch, read_change, short_name
from skilld.proposals.worktree import (
    Worktree,
    commit_by_lines,
    current_head,
    manual_command,
    prepared_worktree,
    read_own_commit,
    read_versions,
    would_merge,
    written_side_edits,
)
from skilld.types import Proposal


def try_git_command(work_tree: Worktree, *args: str) -> DecisionCommit | None:
    """Run a cherry-pick or revert; return None and leave no trace if it made no commit.

    A command that turns out to change nothing counts as done. Raises RefusedError if the commit cannot be made in
    another way either.
    """
    paths = {work_tree.tracked.relpath: work_tree.path} | {
        relpath: work_tree.repo.toplevel / relpath for relpath in work_tree.also
    }
    before = {relpath: whole_files.read_if_there(path) for relpath, path in paths.items()}

    def put_back() -> None:
        for relpath, path in paths.items():
            _restore_file(work_tree, relpath, path, before[relpath])

    command, *rest = args
    try:  # no comment may be stripped from a message of skilld's
        result = work_tree.person.call(command, "--cleanup=verbatim", *rest)
    except GitTimeoutError:
        _take_back(work_tree, command, put_back)
        raise
    if current_head(work_tree) != work_tree.repo.head:
        _forget_pick(work_tree)  # git leaves it where packed-refs is locked (2.39)
        return DecisionCommit(current_head(work_tree), CommitMethod.GIT)
    empty = state.in_progress(work_tree.repo.git_dir) is not None and _has_nothing_to_commit(work_tree.person)
    _take_back(work_tree, command, put_back)
    if empty:
        return DecisionCommit(work_tree.repo.head, CommitMethod.NOTHING)
    if failure := worktree.outside_failure(work_tree, result):
        raise failure
    return None


def _has_nothing_to_commit(person: PersonGit) -> bool:
    if person.run("ls-files", "--unmerged", "-z"):
        return False
    return person.call("diff-index", "--cached", "--quiet", "HEAD").status == 0


def _take_back(work_tree: Worktree, command: str, put_back: Callable[[], None]) -> None:
    """Undo a cherry-pick or revert that made no commit. Git's own abort is a reset, which HEAD's reflog tells."""
    if state.in_progress(work_tree.repo.git_dir) is None:
        put_back()
        return
    with suppress(SkilldError):
        put_back()
        if _has_nothing_to_commit(work_tree.person):  # git starts only where the index is as HEAD
            _forget_pick(work_tree)
    if state.in_progress(work_tree.repo.git_dir) is not None:
        work_tree.person.call(command, "--abort")
    left = state.in_progress(work_tree.repo.git_dir)
    if left is not None or current_head(work_tree) != work_tree.repo.head:
        undo = manual_command(work_tree.repo, command, "--abort")
        raise SkilldError(work_tree.title, f"git {command} stopped halfway and could not be aborted", undo)


def _forget_pick(work_tree: Worktree) -> None:
    for name in ("CHERRY_PICK_HEAD", "REVERT_HEAD"):
        (work_tree.repo.git_dir / name).unlink(missing_ok=True)


def _restore_file(work_tree: Worktree, relpath: str, path: Path, before: bytes | None) -> None:
    """Restore a file and its index entry if git left them changed with nothing in progress.

    Git does so if a hook refuses every ref update, including those of its own CHERRY_PICK_HEAD, or if it cannot read an
    object (measured, git 2.39).
    """
    if not work_tree.person.run("status", "--porcelain=v1", "-z", "--untracked-files=no", "--", literal(relpath)):
        return
    whole_files.write_file(path, whole_files.read_if_there(path), before, work_tree.repo.toplevel)
    tree.update_index(work_tree.repo.git, {relpath: tree.read_entry(work_tree.repo.git, work_tree.repo.head, relpath)})


# Accepting a proposal: a `git cherry-pick` in the person's name, or the same edit by its anchors if that conflicts.
# Author, message and trailers stay skilld's; the person is the committer, and their hooks and signing apply.

_TITLE = "The proposal was not accepted"


def accept(edit: Edit) -> DecisionCommit:
    """Bring a proposal into the branch that is checked out in its skill's work tree.

    A proposal whose edit is already there counts as accepted. Raises RefusedError and changes nothing for a dirty
    skill, an operation in progress or a detached HEAD, each with the command to do it by hand, and if the edit has no
    certain place.
    """
    proposal = edit.proposal
    with prepared_worktree(proposal, _TITLE, ("cherry-pick", proposal.commit)) as work_tree:
        return _apply_commit(work_tree, proposal, edit)


def _apply_commit(work_tree: Worktree, proposal: Proposal, edit: Edit) -> DecisionCommit:
    edited = find_amended_commit(work_tree.repo, proposal)
    commit = edited or read_own_commit(work_tree.repo, proposal.id, proposal.commit)
    commit = commit or _earlier_landing(work_tree, proposal, edit)
    if commit is None:
        cause = "its commit is no longer in the repository"
        raise RefusedError(
            _TITLE, cause, f"To write the file without committing: skilld accept --worktree {proposal.id}"
        )
    commit = _to_commit(work_tree.repo, commit, proposal)
    before, after = read_versions(work_tree, commit)
    more = further_files(work_tree.repo, proposal, commit)
    for relpath in ("", *more):
        refuse_amended_secrets(_TITLE, proposal, *read_versions(work_tree, commit, relpath))
    is_here = path_in(work_tree.repo, commit, work_tree.tracked.relpath) == work_tree.tracked.relpath
    merges = is_here and would_merge(work_tree, before, after) and _sides_merge(work_tree, commit)
    if merges and (edited is not None or not _would_misnumber(work_tree, before, after, edit)):
        done = try_git_command(work_tree, "cherry-pick", commit.oid)
        if done is not None:
            _write_sparse_file(work_tree, after)
            return done
    else:  # a cherry-pick by hand would conflict, or give a step the number that another one has
        work_tree = replace(work_tree, remedy=lambda: _way_to_accept(work_tree.repo, proposal, change))
    if more:  # lines are committed for the proposal's own files
        cause = f"its commit, which also changes {name_files(more)}, does not apply cleanly"
        raise RefusedError(_TITLE, cause, manual_command(work_tree.repo, "cherry-pick", commit.oid))

    def common() -> bytes | None:  # at the merge base of the checked-out branch and the one below the proposal
        git, head = work_tree.repo.git, work_tree.repo.head
        return objects.read_common_version(git, head, commit.parents[0], work_tree.tracked.relpath)

    def change(current: bytes) -> bytes:
        return edit.place(before, after, current, common, amended=edited is not None)

    with written_side_edits(work_tree, edit.also):
        return commit_by_lines(work_tree, change, commit.message, commit.author)


def _way_to_accept(repo: Repo, proposal: Proposal, fit: Apply) -> str:
    """Return what to do about a proposal that git cannot pick and whose edit has no place: accept others before it."""
    current = objects.read_blob(repo.git, repo.head, proposal.relpath) or b""
    if names := needed_first(repo, proposal, current, fit):
        both = " ".join([*names, proposal.id])
        return f"Its lines belong to those of {' and '.join(names)}; to accept them in order: skilld accept {both}"
    return f"Edit {proposal.relpath} yourself; to see the change: skilld show {proposal.id}"


def _to_commit(repo: Repo, commit: Commit, proposal: Proposal) -> Commit:
    """Return the commit as it is brought in: with its trailers, and with a message that is up to date."""
    message = current_message(repo, commit, proposal if commit.proposals == (proposal.id,) else None)
    if message == commit.message and not commit.renamed:
        return commit
    made = replace(commit, message=message, renamed=False)
    oid = write_again(repo, made)
    repo.git.write()
    return replace(made, oid=oid)


def _earlier_landing(work_tree: Worktree, proposal: Proposal, edit: Edit) -> Commit | None:
    """Return the commit of HEAD that brought in exactly this edit before; git may have pruned the proposal's own."""
    landing = _find_landing_commit(work_tree, proposal)
    if landing is not None:
        before, after = read_versions(work_tree, landing)
        with suppress(SkilldError):
            return landing if edit(before) == after else None
    return None


def _sides_merge(work_tree: Worktree, commit: Commit, *, back: bool = False) -> bool:
    """Whether a commit's changes to further files, or with `back` their reverse, merge into HEAD's versions of them."""
    both = {relpath: read_versions(work_tree, commit, relpath) for relpath in work_tree.also}
    return all(would_merge(work_tree, *(pair[::-1] if back else pair), relpath) for relpath, pair in both.items())


def _would_misnumber(work_tree: Worktree, before: bytes, after: bytes, edit: Edit) -> bool:
    """Whether a clean cherry-pick would leave an added step with another number than it has, or double a line."""
    current = objects.read_blob(work_tree.repo.git, work_tree.repo.head, work_tree.tracked.relpath)
    if current is None:
        return False
    try:
        merged, fitted = line_diff.merge(before, current, after), edit.refit_exactly(before, after, current)
    except (SkilldError, line_diff.MergeConflictError):
        return False
    return not has_same_lines(merged, fitted)


def _write_sparse_file(work_tree: Worktree, data: bytes) -> None:
    """Write a new skill that git left out of a sparse work tree; git treats a file that exists as wanted."""
    is_new = work_tree.tracked.entry is None and not os.path.lexists(work_tree.path)
    if is_new and objects.read_blob(work_tree.repo.git, current_head(work_tree), work_tree.tracked.relpath) == data:
        whole_files.create_file(work_tree.path, data)


def accept_worktree(proposal: Proposal, apply: Apply) -> bool:
    """Write the edit into the file and commit nothing; return whether the file changed.

    Raises SkilldError if the anchors are gone, RefusedError if the file changes meanwhile, or something already exists
    where a new skill is to be created.
    """
    path = Path(proposal.path)
    if proposal.creates and not os.path.lexists(path):
        whole_files.create_file(path, apply(b""))
        _write_side_edits(proposal, Edit(proposal).also)
        return True
    if not os.path.lexists(path):
        again = f"Restore it, then: skilld accept --worktree {proposal.id}"
        raise RefusedError(_TITLE, f"{path} does not exist", again)
    old = whole_files.read_file(path)
    try:
        new = apply(old)
    except SkilldError as error:
        if proposal.creates:
            raise RefusedError(_TITLE, error.cause) from error
        raise
    if new != old:
        whole_files.replace_file(path, old, new)
        _write_side_edits(proposal, Edit(proposal).also)
    return new != old


def _write_side_edits(proposal: Proposal, changes: Mapping[str, Apply]) -> None:
    """Write changes to further files of a proposal; a file that one does not fit stays as it is."""
    for path, change in ((top_folder(proposal) / relpath, change) for relpath, change in changes.items()):
        with suppress(SkilldError):
            if path.resolve() == path:
                old = whole_files.read_file(path)
                whole_files.replace_file(path, old, change(old))


# Reverting an accepted proposal: a `git revert` in the person's name, or removing its lines if that conflicts.
# A squashed commit, or one amended with other files, is not reverted as a commit, which would remove the rest as well.

_REVERT_TITLE = "The proposal was not reverted"
REWORDED = "its lines have been reworded since"


def revert(proposal: Proposal) -> DecisionCommit:
    """Take a proposal out of the branch that is checked out in its skill's work tree.

    An edit that is no longer there counts as reverted. Raises RefusedError as `accept` does, and for a new skill that
    was changed since.
    """
    named = proposal.landed or proposal.commit
    with prepared_worktree(proposal, _REVERT_TITLE, ("revert", named)) as work_tree:
        return _revert_commit(work_tree, proposal)


def revert_worktree(proposal: Proposal) -> None:
    """Take a proposal out of its file, and its further files, where it was written but not committed.

    Raises RefusedError and changes nothing if its lines cannot be found there, or if it is a new file that was changed.
    """
    repo = repo_at(proposal.repo)
    change = read_change(repo, proposal)
    if change.before is None or change.after is None:
        raise RefusedError(_REVERT_TITLE, "its commit is no longer in the repository", _by_hand(proposal))
    old = whole_files.read_if_there(Path(proposal.path))
    if old is None or not (proposal.creates or change.is_in(old)):
        _require_on_no_other_branch(repo, proposal, change)
    if old is not None:
        _take_out_of_file(proposal, change.before, change.after, old)
    if change.own is not None:
        oids = change.own.parents[0], change.own.oid
        texts = {
            one.relpath: objects.read_texts(repo.git, [f"{oid}:{one.relpath}" for oid in oids]) for one in proposal.also
        }
        back = {relpath: partial(undo, *(text or b"" for text in both)) for relpath, both in texts.items()}
        _write_side_edits(proposal, back)


def _by_hand(proposal: Proposal) -> str:
    return f"Edit {proposal.path} yourself; to see the change: skilld show {proposal.id}"


def _take_out_of_file(proposal: Proposal, before: bytes, after: bytes, old: bytes) -> None:
    path = Path(proposal.path)
    if proposal.creates and old == after:
        whole_files.remove_file(path, old, top_folder(proposal))
    elif proposal.creates:
        raise RefusedError(_REVERT_TITLE, f"{proposal.relpath} has changed since it was created", f"Delete {path}")
    elif not line_diff.is_change_gone(old, before, after):
        try:
            whole_files.replace_file(path, old, take_out(before, after, old))
        except line_diff.ChangeNotFoundError as error:
            cause = describe_rest(before, after, old, proposal.relpath) or error.cause
            raise RefusedError(_REVERT_TITLE, cause, _by_hand(proposal)) from error


def _revert_commit(work_tree: Worktree, proposal: Proposal) -> DecisionCommit:
    landing = _find_landing_commit(work_tree, proposal)
    own = read_own_commit(work_tree.repo, proposal.id, proposal.commit)
    source = landing or own
    if source is None:
        raise work_tree.refused("its commit is no longer in the repository")
    before, after = read_versions(work_tree, source)
    current = objects.read_blob(work_tree.repo.git, work_tree.repo.head, work_tree.tracked.relpath)
    if line_diff.is_change_gone(current or b"", before, after):
        _require_nowhere(work_tree, proposal, landing, (before, after))
    if proposal.creates and current is None:
        return DecisionCommit(work_tree.repo.head, CommitMethod.NOTHING)
    kept = lines_of_others(read_versions(work_tree, own), (before, after)) if own else set[str]()
    if proposal.creates and (current != after or kept):
        raise _changed_since_error(work_tree, proposal, source)
    mixed = kept or headings_in_use(before, after, current or b"")
    merges = not mixed and would_merge(work_tree, after, before)
    if landing is not None and merges and _sides_merge(work_tree, landing, back=True):
        done = try_git_command(work_tree, "revert", "--no-edit", landing.oid)
        if done is not None and done.method is not CommitMethod.NOTHING:
            return done
    message = _revert_message(work_tree, proposal, landing, source)

    def taken_out(text: bytes) -> bytes:
        try:
            return take_out(before, after, text, kept)
        except line_diff.ChangeNotFoundError as error:
            cause = describe_rest(before, after, text, work_tree.tracked.relpath) or error.cause
            raise RefusedError(_REVERT_TITLE, cause) from error

    sides = {relpath: partial(undo, *read_versions(work_tree, source, relpath)) for relpath in work_tree.also}
    by_hand = f"Edit {work_tree.path} yourself and commit that; to see the change: skilld show {proposal.id}"
    with written_side_edits(work_tree, sides):
        if proposal.creates:
            return commit_by_lines(work_tree, lambda _: None, message, None)
        return commit_by_lines(replace(work_tree, remedy=lambda: by_hand), taken_out, message, None)


def _require_nowhere(
    work_tree: Worktree, proposal: Proposal, landing: Commit | None, texts: tuple[bytes, bytes]
) -> None:
    """Raise RefusedError if a proposal that is not in HEAD's file is there in other words, or on another branch."""
    if is_rewritten_here(proposal):
        raise RefusedError(_REVERT_TITLE, REWORDED, _by_hand(proposal))
    if proposal.note.startswith(MOVED_TO) and not proposal.note.endswith(proposal.relpath):
        raise RefusedError(
            _REVERT_TITLE, f"its lines have been reworded and {proposal.note}", "Edit that file yourself"
        )
    if landing is None:
        change = replace(read_change(work_tree.repo, proposal), before=texts[0], after=texts[1])
        _require_on_no_other_branch(work_tree.repo, proposal, change)


def _revert_message(work_tree: Worktree, proposal: Proposal, landing: Commit | None, source: Commit) -> bytes:
    """Return the message of a revert by lines; of a commit with more than the proposal, it reverts only a part."""
    git, head = work_tree.repo.git, work_tree.repo.head
    what = f"This reverts commit {source.oid}."
    if landing is None and not refs.is_reachable(git, source.oid, head):
        squashed = [one.oid for one in commits_of(work_tree.repo, proposal.id, head, "--", work_tree.tracked.relpath)]
        bringer = squashed[0] if squashed else _find_bringer(work_tree, proposal)
        part = f"It removes what commit {bringer} added for this proposal.\n\n" if bringer else ""
        what = f"{part}{REVERTS_TRAILER}: {proposal.id}"
    return f'Revert "{source.subject}"\n\n{what}\n'.encode()


def _find_bringer(work_tree: Worktree, proposal: Proposal) -> str:
    """Return the newest commit of HEAD that brought in the lines of a proposal without naming it; empty if none."""
    change = read_change(work_tree.repo, proposal)
    history = read_history(work_tree.repo, work_tree.repo.head, work_tree.tracked.relpath, None)
    return next((one.oid for one in reversed(history) if change.holds(one.text) > change.holds(one.before)), "")


def _require_on_no_other_branch(repo: Repo, proposal: Proposal, change: Change) -> None:
    """Raise RefusedError if a proposal never was in HEAD's history, and another branch has it: it would come back."""
    history = [
        one for one in read_history(repo, repo.head, change.relpath, None) if one.before is not None or proposal.creates
    ]
    if any(proposal.id in one.proposals or change.holds(one.text) > change.holds(one.before) for one in history):
        return  # it was taken out here, by whatever commit
    found = find_branch(repo, change, None)
    if found is None:
        return
    ref, commit = found
    cause = f"it is on the branch {short_name(ref)} ({commit.oid[:10]})"
    heads = state.other_heads(repo.common_dir, repo.git_dir)
    there = next((place for place, head in heads if head == ref), None)
    first = "Check that out" if ref.startswith("refs/heads/") else "Merge it, or check it out"
    remedy = f"{first}, then: skilld revert {proposal.id}"
    if there is not None and commit.proposals == (proposal.id,):
        remedy = shell_command(["git", "-C", str(there), "revert", commit.oid])
    elif there is not None:
        remedy = f"Edit {there / change.relpath} yourself and commit that; to see the change: skilld show {proposal.id}"
    raise RefusedError(_REVERT_TITLE, cause, remedy)


def _changed_since_error(work_tree: Worktree, proposal: Proposal, source: Commit) -> RefusedError:
    """Return why a file that a proposal created is not removed: what changed it since, and how to remove it."""
    repo, relpath = work_tree.repo, work_tree.tracked.relpath
    commits = objects.list_commits(repo.git, "--no-merges", f"{source.oid}..{repo.head}", "--", relpath)
    reverted = tuple(oid for commit in commits for oid in reverted_commits(commit))
    left = [commit for commit in commits if not commit.oid.startswith(reverted) and not reverted_commits(commit)]
    names = list(dict.fromkeys(name for commit in left for name in commit.proposals if name != proposal.id))
    cause = f"{relpath} has changed since it was created"
    if names and all(commit.proposals for commit in left):
        others = f"{cause}, by {', '.join(names)}"
        return RefusedError(_REVERT_TITLE, others, f"To undo all of it: skilld revert {' '.join(names)} {proposal.id}")
    commands = ("rm", relpath), ("commit", "-m", f"Remove {relpath}")
    remedy = " && ".join(manual_command(repo, *command) for command in commands)
    return RefusedError(_REVERT_TITLE, cause, f"To remove it with these changes: {remedy}")


def _find_landing_commit(work_tree: Worktree, proposal: Proposal) -> Commit | None:
    """Return the newest commit of HEAD that brought in this proposal and nothing else, or None."""
    repo, relpath = work_tree.repo, work_tree.tracked.relpath
    for commit in commits_of(repo, proposal.id, "--full-history", "--no-merges", "HEAD", "--", relpath):
        if commit.proposals != (proposal.id,) or len(commit.parents) != 1:
            continue
        changed = tree.changed_files(repo.git, commit.parents[0], commit.oid).keys()
        if relpath in changed and changed <= {relpath, *work_tree.also}:
            return commit
    return None
