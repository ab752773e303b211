"""Shared by accept and revert: checks the work tree, and makes a change by its lines if git's command fails.

All or nothing: after a refusal HEAD, the index and the file are unchanged, and the person gets the command to do it by
hand.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

from skilld.errors import RefusedError, SkilldError
from skilld.files import read_whole, shell_command
from skilld.git import line_diff, objects, refs, state, tree
from skilld.git.errors import GitFailedError, NotTrackedError, known_remedy
from skilld.git.managed_repos import person_git
from skilld.git.objects import Commit, Ident, merges_cleanly
from skilld.git.repo import Repo, TrackedFile, existing_parent, open_repo
from skilld.git.run import Git, PersonGit, Result, literal
from skilld.git.staging_branch import STAGING_BRANCH, STAGING_REF
from skilld.git.state import repo_lock
from skilld.proposals.file_history import path_in, renamed_since
from skilld.proposals.model import Apply, CommitMethod, DecisionCommit, at_path
from skilld.proposals.repositories import is_private, tracked_file
from skilld.proposals.whole_files import read_file, read_if_there, replace_file, write_file
from skilld.types import Proposal
from skilld.values import value_class

_ERROR_PREFIX = re.compile(r"^(?:error|fatal): ")
_SIGNING_ERROR = re.compile(r"failed to sign|signingkey|load public key|ssh-keygen")
_FILTER_HUNG_UP = "fatal: the remote end hung up unexpectedly"  # of a filter process that ended too early; no name
_MISSING_PROGRAM = re.compile(r"(?<!\S)(\S+): (?:command )?not found$", re.MULTILINE)


@value_class
class Worktree:
    """A work tree that is ready for one decision; `remedy` returns how to carry it out by hand, after a refusal.

    `retry_command` repeats the decision once the obstacle is gone. `also` has the paths in the repository of further
    files that the proposal changes, those that HEAD has.
    """

    title: str
    tracked: TrackedFile
    path: Path
    person: PersonGit
    remedy: Callable[[], str]
    retry_command: str
    also: tuple[str, ...] = ()

    @property
    def repo(self) -> Repo:
        """The repository as it was before the decision."""
        return self.tracked.repo

    def refused(self, cause: str, first: str = "") -> RefusedError:
        """Return the error that refuses this decision; `first` is what the person can do to make it possible."""
        return RefusedError(self.title, cause, f"{first}, then: {self.retry_command}" if first else self.remedy())


def manual_command(repo: Repo, *command: str) -> str:
    """Return a git command as a person would type it."""
    how = ["skilld", "git", "--root"] if repo.private else ["git", "-C"]
    return shell_command([*how, str(repo.toplevel), *command])


@contextmanager
def prepared_worktree(proposal: Proposal, title: str, command: tuple[str, ...]) -> Iterator[Worktree]:
    """Yield the work tree for a decision on a proposal, locked against other processes of ours.

    Raises RefusedError (`title`, and `git COMMAND` as the remedy) if the skill is not in the work tree or has
    uncommitted changes, an operation is in progress, HEAD is detached or the staging branch itself.
    """
    address, again = Path(proposal.repo), _retry_command(proposal, command)
    if not proposal.creates and not os.path.lexists(proposal.path):
        if not address.is_dir():
            raise RefusedError(title, f"{address} does not exist")
        if is_private(proposal.repo):
            raise RefusedError(title, f"{proposal.path} does not exist", f"Restore it, then: {again}")
        repo = open_repo(address)
        if (renamed := renamed_here(repo, proposal, command[1])) not in {"", proposal.relpath}:
            with prepared_worktree(at_path(proposal, renamed), title, command) as ready:
                yield ready
            return
        cause = f"{proposal.relpath} is not in the work tree"
        raise RefusedError(title, cause, _manual_remedy(repo, proposal, command))
    try:
        tracked = tracked_file(proposal)
    except NotTrackedError as error:
        if error.reason != "untracked":
            raise
        raise RefusedError(title, error.cause, f"Commit it, then: {again}") from error
    with repo_lock(tracked.repo.git_dir):
        if refs.read_tip(tracked.repo.git, "HEAD") != tracked.repo.head:
            tracked = tracked_file(proposal)
        person, hand = person_git(tracked.repo), partial(_manual_remedy, tracked.repo, proposal, command)
        git, commit = tracked.repo.git, tracked.repo.head
        also = tuple(one.relpath for one in proposal.also if tree.read_entry(git, commit, one.relpath) is not None)
        ready = _check_ready(Worktree(title, tracked, Path(proposal.path), person, hand, again, also))
        with _kept_git_files(ready):
            yield ready


# What git writes to the git directory before a commit fails, which nobody asked for.
_GIT_FILES = "AUTO_MERGE", "COMMIT_EDITMSG", "MERGE_MSG", "ORIG_HEAD"


@contextmanager
def _kept_git_files(work_tree: Worktree) -> Iterator[None]:
    """Restore the files that git leaves in the git directory if the branch has not moved by the end of the block."""
    files = [work_tree.repo.git_dir / name for name in _GIT_FILES]
    before = {file: file.read_bytes() if file.is_file() else None for file in files}
    try:
        yield
    finally:
        for file, data in before.items() if current_head(work_tree) == work_tree.repo.head else ():
            if data is None:
                file.unlink(missing_ok=True)
            elif not file.is_file() or file.read_bytes() != data:
                file.write_bytes(data)


def _manual_remedy(repo: Repo, proposal: Proposal, command: tuple[str, ...]) -> str:
    """Return the git command that does it by hand; if that would conflict, the verb to retry later."""
    verb, oid = command
    if not oid:
        return f"skilld show {proposal.id}"
    base, other = (f"{oid}^", oid) if verb == "cherry-pick" else (oid, f"{oid}^")
    names = [f"{commit}:{proposal.relpath}" for commit in (base, repo.head, other)]
    old, current, new = objects.read_texts(repo.git, names)
    texts = [current]
    with suppress(OSError):
        texts += [data] if (data := read_whole(proposal.path)) != current else []
    if current is None and (renamed := renamed_here(repo, proposal, oid)):
        texts = [objects.read_blob(repo.git, repo.head, renamed)]  # git follows a file that was renamed
    if all(merges_cleanly(repo.git, old, text, new) for text in texts):
        return manual_command(repo, *command)
    again = _retry_command(proposal, command)
    return f"Restore {proposal.relpath}, then: {again}" if current is None and not proposal.creates else again


def renamed_here(repo: Repo, proposal: Proposal, oid: str) -> str:
    """Return the path that HEAD has for a proposal's file since its commit `oid`; empty if it renamed it to none."""
    made = objects.read_commit(repo.git, oid) if oid else None
    return renamed_since(repo, made, proposal.relpath) if made else ""


def _retry_command(proposal: Proposal, command: tuple[str, ...]) -> str:
    return f"skilld {'accept' if command[0] == 'cherry-pick' else command[0]} {proposal.id}"


NEEDS_BRANCH = "Check out a branch"


def find_obstacle(repo: Repo) -> tuple[str, str]:
    """Return why no decision can be committed in a work tree, and what to do first; both empty if it can."""
    if busy := state.in_progress(repo.git_dir):
        return f"{busy} is in progress in {repo.toplevel}", "Finish or abort it"
    if repo.branch is None:
        return f"no branch is checked out in {repo.toplevel}", NEEDS_BRANCH
    if repo.branch == STAGING_REF:
        return f"{STAGING_BRANCH} itself is checked out in {repo.toplevel}", "Switch to another branch"
    return "", ""


def _check_ready(work_tree: Worktree) -> Worktree:
    tracked, (cause, first) = work_tree.tracked, find_obstacle(work_tree.repo)
    if cause:
        refusal = work_tree.refused(cause, first)
        if first == NEEDS_BRANCH and (hand := work_tree.remedy()) != work_tree.retry_command:
            refusal.remedy += f"; or by hand: {hand}"
        raise refusal
    _require_room(work_tree)
    limits = "--porcelain=v1", "-z", "--untracked-files=no"
    for relpath in (tracked.relpath, *work_tree.also):
        if work_tree.person.run("status", *limits, "--", literal(relpath)):
            raise work_tree.refused(f"{relpath} has uncommitted changes", "Commit or stash it")
        _require_no_hidden_changes(work_tree, relpath)
    return work_tree


_FREE_BYTES = 1 << 20  # git needs far less for a commit of one file, and to take that back


def _require_room(work_tree: Worktree) -> None:
    """Refuse what git could neither finish nor take back, since a disk is full or a folder cannot be written."""
    repo = work_tree.repo
    index = repo.git_dir / "index"
    needed = _FREE_BYTES + 2 * (index.stat().st_size if index.exists() else 0)  # it is rewritten each time
    for folder in (repo.common_dir / "objects", repo.git_dir, existing_parent(work_tree.path)):
        if not os.access(folder, os.W_OK):
            raise work_tree.refused(f"{folder} cannot be written", "Make it writable")
        facts = os.statvfs(folder)
        if facts.f_bavail * facts.f_frsize < needed:
            raise work_tree.refused(f"the disk of {folder} is full", "Free some space there")


def _require_no_hidden_changes(work_tree: Worktree, relpath: str) -> None:
    """Refuse a file with changes that git was told to ignore: a cherry-pick commits them, a revert loses them."""
    repo, path = work_tree.repo, work_tree.repo.toplevel / relpath
    with suppress(SkilldError):  # too large a file may have some
        if not os.path.lexists(path) or read_file(path) == objects.read_blob(repo.git, repo.head, relpath):
            return
    tag = work_tree.person.run("ls-files", "-v", "-z", "--", literal(relpath))[:1].decode()
    if tag == "S" or tag.islower():
        flag = "skip-worktree" if tag == "S" else "assume-unchanged"
        shown = manual_command(repo, "update-index", f"--no-{flag}", relpath)
        raise work_tree.refused(f"{relpath} has uncommitted changes that git ignores ({flag})", shown)


def read_versions(work_tree: Worktree, commit: Commit, relpath: str = "") -> tuple[bytes, bytes]:
    """Return the skill, or a further file, before and after a commit; empty if it did not exist.

    Raises RefusedError if it exists but cannot be read: if treated as empty, it would be emptied.
    """
    relpath = relpath or path_in(work_tree.repo, commit, work_tree.tracked.relpath)
    before = _read_version(work_tree, commit.parents[0], relpath) if commit.parents else b""
    return before, _read_version(work_tree, commit.oid, relpath)


def _read_version(work_tree: Worktree, commit: str, relpath: str) -> bytes:
    git = work_tree.repo.git
    try:
        found = objects.read_blob(git, commit, relpath)
        if found is not None or tree.read_entry(git, commit, relpath) is None:
            return found or b""
    except GitFailedError:  # a partial clone that has not fetched it
        pass
    cause = f"{relpath} in commit {commit[:10]} cannot be read"
    raise RefusedError(
        work_tree.title, cause, f"To list damaged or missing objects: {manual_command(work_tree.repo, 'fsck')}"
    )


def would_merge(work_tree: Worktree, old: bytes, new: bytes, relpath: str = "") -> bool:
    """Whether the change from `old` to `new` merges into HEAD's version of the skill, or of a further file.

    Checked before running git: a conflict and its abort would leave traces (ORIG_HEAD, the times of files).
    """
    current = objects.read_blob(work_tree.repo.git, work_tree.repo.head, relpath or work_tree.tracked.relpath)
    if current is None:
        return not old
    try:
        line_diff.merge_change(old, current, new)
    except line_diff.MergeConflictError:
        return False
    return True


def commit_by_lines(
    work_tree: Worktree, change: Callable[[bytes], bytes | None], message: bytes, author: Ident | None
) -> DecisionCommit:
    """Make a change in the skill's file and commit that file alone; other staged changes stay staged.

    `change` gets b"" if there is no file yet, and returns None to remove it. `author` is None for the person
    themselves. Raises RefusedError and restores the file if the change does not fit or the commit fails (a hook, no
    identity).
    """
    git, relpath, path = work_tree.repo.git, work_tree.tracked.relpath, work_tree.path
    old = read_file(path) if work_tree.tracked.entry is not None else None
    try:
        new = change(old or b"")
    except SkilldError as error:
        raise work_tree.refused(error.cause or error.title) from error
    if new == old:
        return DecisionCommit(work_tree.repo.head, CommitMethod.NOTHING)

    def put_back() -> list[str]:
        """Restore the file and its entry; if a hook changed it, store its version as an object and name it."""
        found = read_if_there(path)
        try:
            if old is None:
                tree.update_index(git, {relpath: None})
        finally:  # another program may hold the index
            write_file(path, found, old, work_tree.repo.toplevel)
        if found in (None, old, new):
            return []
        return [
            f"The text that a hook wrote to {relpath} is kept as git object {objects.write_blob(git, found or b'')}"
        ]

    write_file(path, old, new, work_tree.repo.toplevel)
    try:
        if old is None:
            tree.update_index(git, {relpath: tree.Entry("100644", objects.write_blob(git, new or b""))})
    except BaseException:
        put_back()
        raise
    return _commit_file(work_tree, message, author, put_back)


@contextmanager
def written_side_edits(work_tree: Worktree, changes: Mapping[str, Apply]) -> Iterator[None]:
    """Write changes to further files, those that fit; the files are restored if no commit is made."""
    done: list[tuple[Path, bytes, bytes]] = []
    try:
        for relpath, change in changes.items():
            path = work_tree.repo.toplevel / relpath
            if path.resolve() != path:
                continue  # a folder on the way has become a link
            with suppress(SkilldError):
                old = read_file(path)
                new = change(old)
                if new != old:
                    replace_file(path, old, new)
                    done.append((path, old, new))
        yield
    finally:
        for path, old, new in done if current_head(work_tree) == work_tree.repo.head else ():
            with suppress(SkilldError):
                replace_file(path, new, old)


def _commit_file(
    work_tree: Worktree, message: bytes, author: Ident | None, put_back: Callable[[], list[str]]
) -> DecisionCommit:
    """Commit the skill's file alone as it is in the work tree, or its removal; other staged changes stay staged.

    `author` is None for the person themselves. If no commit is made, `put_back` is called, which returns sentences for
    the person, and RefusedError is raised.
    """
    who = [f"--author={author.name} <{author.email}>", f"--date=@{author.seconds} {author.zone}"] if author else []
    fixed = "--quiet", "--only", "--cleanup=verbatim", "--file=-"
    kept: list[str] = []
    paths = map(literal, (work_tree.tracked.relpath, *work_tree.also))
    written = _message_time(work_tree)
    try:
        result = work_tree.person.call("commit", *fixed, *who, "--", *paths, stdin=message)
    finally:
        if current_head(work_tree) == work_tree.repo.head:
            kept = put_back()
    if result.status == 0:
        return DecisionCommit(current_head(work_tree), CommitMethod.ANCHORS)
    if failure := outside_failure(work_tree, result, kept):
        raise failure
    hooks = _refusing_hooks(work_tree, result, since=written)
    lines = [line for line in result.err.splitlines() if line.strip()] or ["it did not say why"]
    cause, remedy = lines[0] if result.err else "git commit failed", known_remedy(result.err)
    if hooks:
        cause = f"the {' or '.join(hooks)} hook refused the commit: {lines[-1]}"
        remedy = f"Fix that, then: {work_tree.retry_command}"
        if "commit-msg" in hooks:  # the message is skilld's
            verb, _, name = work_tree.retry_command.rpartition(" ")
            remedy = f"To change the file and commit it under your own subject: {verb} --worktree {name}"
    elif "identity unknown" in result.err:
        remedy = "git config --global user.name NAME; git config --global user.email ADDRESS"
    raise RefusedError(work_tree.title, ". ".join([cause, *kept]), remedy or work_tree.remedy())


def _failed_filter(line: str) -> tuple[str, str] | None:
    """Return the path and the filter that a line of git's names: "fatal: PATH: clean filter 'NAME' failed"."""
    head, _, name = line.removesuffix("' failed").rpartition(" filter '")
    path, _, kind = head.removeprefix("fatal: ").rpartition(": ")
    return (path, name) if kind in {"clean", "smudge"} and line.endswith("' failed") else None


def outside_failure(work_tree: Worktree, result: Result, kept: Iterable[str] = ()) -> RefusedError | None:
    """Return why no git command can commit here: signing fails, or one of the person's filters does."""
    lines = [line for line in result.err.splitlines() if line.strip()]
    if failed := next(filter(None, map(_failed_filter, lines)), None):
        relpath, name = failed
        missing = _MISSING_PROGRAM.search(result.err)
        cause = f"git's filter {name} fails on {relpath}: {lines[0]}"
        first = f"Fix it (git config --show-origin --get-regexp filter.{name})"
        if missing:
            cause = f"git's filter {name}, which changes {relpath}, needs {missing[1]}, which is not installed"
            first = f"Install {missing[1]}"
    elif _FILTER_HUNG_UP in result.err and (missing := _MISSING_PROGRAM.search(result.err)):
        cause, first = f"one of git's filters needs {missing[1]}, which is not installed", f"Install {missing[1]}"
    elif _SIGNING_ERROR.search(result.err):
        cause = f"git cannot sign the commit: {_ERROR_PREFIX.sub('', lines[0]).rstrip(':?')}"
        first = _signing_remedy(work_tree.repo.git, result.err)
    else:
        return None
    return work_tree.refused(". ".join([cause, *kept]), first)


def _signing_remedy(git: Git, err: str) -> str:
    """Return what to do if git cannot sign: a key that is set and found only waits for its passphrase or its agent."""
    is_set = bool(git.settings(r"^user\.signingkey$"))
    if not is_set or re.search(r"no secret key|public key", err, re.IGNORECASE):
        return "Set a key: git config user.signingkey KEY"
    return "Start the key's agent, or let gpg ask here: export GPG_TTY=$(tty)"


def _message_time(work_tree: Worktree) -> int:
    """Return when git last wrote the message of a commit that it was to make here, in nanoseconds; 0 if never."""
    file = work_tree.repo.git_dir / "COMMIT_EDITMSG"
    return file.stat().st_mtime_ns if file.exists() else 0


def _refusing_hooks(work_tree: Worktree, result: Result, *, since: int) -> list[str]:
    """Return the hooks that may have made `git commit` fail, if it was a hook.

    Git itself fails with another status (128), and writes the message between the first hook and the others. Its trace
    would tell the hook, but the hook would see that it is traced.
    """
    if result.status != 1:
        return []
    names = ["pre-commit"] if _message_time(work_tree) == since else ["prepare-commit-msg", "commit-msg"]
    found = work_tree.person.call("rev-parse", "--git-path", "hooks")
    folder = work_tree.repo.toplevel / os.fsdecode(found.out).removesuffix("\n")
    return [name for name in names if os.access(folder / name, os.X_OK)]


def current_head(work_tree: Worktree) -> str:
    """Return HEAD's commit as it is now."""
    return refs.read_tip(work_tree.repo.git, "HEAD") or work_tree.repo.head


def read_own_commit(repo: Repo, proposal: str, commit: str) -> Commit | None:
    """Return a proposal's own commit: the one that its ref points to, or the given one; None if both are missing."""
    return next((c for c in objects.read_commits(repo.git, [refs.proposal_ref(proposal), commit]) if c), None)
