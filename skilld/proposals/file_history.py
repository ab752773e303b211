"""Reads the commits of a branch that touch one file: which proposals each names, what it reverts and changes.

A file that was renamed is followed, where git says that it was.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import PurePosixPath

from skilld.git import line_diff, objects, refs, tree
from skilld.git.errors import RepoRefusedError
from skilld.git.line import changing, line_since
from skilld.git.line_diff import split_lines
from skilld.git.objects import OWN_EMAIL, Commit
from skilld.git.repo import Repo
from skilld.git.run import Git
from skilld.git.staging_branch import PROPOSAL_REFS, STAGING_REF
from skilld.values import value_class

Signature = tuple[tuple[str, ...], tuple[str, ...]]


@value_class
class SkillCommit:
    """A commit that touches the skill: the proposals it names, the commits it reverts, what it changes.

    `reverts` includes the commits of a reverted merge; `undoes` has the proposals that the reverted commits name,
    and the one whose lines the commit says it takes out.
    `before` and `text` are the skill in the first parent and in the commit itself, None if it is absent.
    """

    oid: str
    proposals: tuple[str, ...]
    reverts: frozenset[str]
    undoes: frozenset[str]
    signature: Signature
    before: bytes | None
    text: bytes | None


# The hash is short with `revert.reference`.
_REVERT_PATTERN = re.compile(r"^[ \t>*-]*This reverts commit ([0-9a-f]{7,64})", re.MULTILINE)
REVERTS_TRAILER = "Skilld-Reverts"  # names a proposal whose lines the commit removes, and not a commit
_MAX_COUNT = "--max-count=300"
_MAX_RENAMES = 10  # of a file that are followed: each takes two git processes


def read_history(repo: Repo, tip: str, relpath: str, since: int | None) -> tuple[SkillCommit, ...]:
    """Return what the commits of `commits_touching` do, oldest first."""
    found: tuple[SkillCommit, ...] = ()
    for _ in range(_MAX_RENAMES):
        more, tip, relpath = _read_until_renamed(repo, tip, relpath, since)
        found = more + found
        if not tip:
            break
    return found


def read_path_history(repo: Repo, tip: str, relpath: str, since: int | None) -> tuple[SkillCommit, ...]:
    """Return what the commits of `commits_touching` do at one path, oldest first, whatever file was there."""
    oids = commits_touching(repo, tip, relpath, since)
    commits = [commit for commit in objects.read_commits(repo.git, oids[::-1]) if commit is not None]
    names = [f"{oid}:{relpath}" for commit in commits for oid in (commit.oid, *commit.parents[:1])]
    texts = dict(zip(names, objects.read_texts(repo.git, names), strict=True))
    return tuple(_skill_commit(repo, commit, relpath, texts) for commit in commits)


def _read_until_renamed(
    repo: Repo, tip: str, relpath: str, since: int | None
) -> tuple[tuple[SkillCommit, ...], str, str]:
    """Return the commits since the file was renamed to `relpath`, and the commit and the path to read on from."""
    found = read_path_history(repo, tip, relpath, since)
    made = next((at for at, one in reversed([*enumerate(found)]) if one.before is None and one.text is not None), None)
    if made is None or (commit := objects.read_commit(repo.git, found[made].oid)) is None or not commit.parents:
        return found, "", ""
    came = found[made]
    parent, old = commit.parents[0], _renamed_from(repo.git, came.oid, relpath)
    before = objects.read_blob(repo.git, parent, old) if old else None
    if before is None:
        return found, "", ""
    moved = replace(came, before=before, signature=line_diff.signature(before, came.text or b""))
    return (moved, *found[made + 1 :]), parent, old


@value_class
class FileOnBranch:
    """A file on a branch: its path and text there (None if it has none), and its commits as `read_history` does."""

    relpath: str
    text: bytes | None
    commits: tuple[SkillCommit, ...]


def read_file_on_branch(repo: Repo, tip: str, relpath: str, since: int | None) -> FileOnBranch:
    """Return the file that is, or was, at `relpath` on the branch with this tip, by the path that it has there now."""
    tried: set[str] = set()
    first = found = FileOnBranch(
        relpath, objects.read_blob(repo.git, tip, relpath), read_history(repo, tip, relpath, since)
    )
    while found.relpath not in tried and len(tried) < _MAX_RENAMES:
        tried.add(found.relpath)
        left = (one for one in reversed(found.commits) if one.before is not None)
        away = next((one for one in left if _is_other_text(one.before, one.text)), None)
        if away is None or away.before is None or not _is_replaced(away.before, found.text):
            break
        if not (new := _renamed_to(repo.git, away.oid, found.relpath)):
            break
        text = objects.read_blob(repo.git, tip, new)
        found = FileOnBranch(new, text, read_history(repo, tip, new, since))
    return found if found.text is not None else first


def path_in(repo: Repo, commit: Commit, relpath: str) -> str:
    """Return the path of a file in a commit that changes it, which may be older than a rename to `relpath`.

    One that was amended may change another file instead, which is no older name of it.
    """
    if not commit.parents:
        return relpath
    changed = {*tree.changed_files(repo.git, commit.parents[0], commit.oid)}
    mine = changed.difference(commit.trailers.get("Skilld-Also", "").split(", "))
    if relpath in changed or len(mine) != 1 or not may_follow(path := mine.pop(), relpath):
        return relpath
    names = [f"{one}:{name}" for one in (commit.parents[0], repo.head) for name in (relpath, path)]
    there, old, here, now = objects.read_texts(repo.git, names)
    if old is None:  # the commit creates it
        return path if there is None and (here, now) != (None, None) else relpath
    if commit.committer.email == OWN_EMAIL:  # whatever its proposal's path is now
        return path
    return path if there is None or _is_other_text(old, now) else relpath


def commits_touching(repo: Repo, tip: str, relpath: str, since: int | None) -> list[str]:
    """Return the newest 300 commits of `tip` that touch a file, newest first: all, or those since a Unix time."""
    line, found = line_since(repo.git, tip, since), changing(repo.git, tip, [relpath])
    if line is not None and found is not None:
        return [oid for oid in found if any(one.oid == oid for one in line)]
    # No option for "always": git 2.39 reads --since=0 as now, which hides every commit.
    dated = () if since is None else (f"--since={since}",)
    limits = "--full-history", "--topo-order", _MAX_COUNT, *dated
    return objects.list_ids(repo.git, *limits, tip, "--", relpath)


def commits_of(repo: Repo, proposal: str, *where: str) -> list[Commit]:
    """Return the newest commits that name a proposal, ten at most, among those that arguments of rev-list select."""
    named = "--fixed-strings", f"--grep=Skilld-Proposal: {proposal}", "--max-count=10"
    return [commit for commit in objects.list_commits(repo.git, *named, *where) if proposal in commit.proposals]


def renamed_since(repo: Repo, commit: Commit, relpath: str) -> str:
    """Return HEAD's path of the file that a commit changes, at `relpath` or an older path; empty if it has none."""
    if not commit.parents:
        return ""
    old = path_in(repo, commit, relpath)
    if old != relpath and objects.read_blob(repo.git, repo.head, old) is not None:
        return old  # it was renamed back, or is not renamed on this branch
    return _renamed_between(repo.git, commit.parents[0], repo.head, old)


def reverted_commits(commit: Commit) -> list[str]:
    """Return the commits that a message says it reverts, as it names them."""
    return _REVERT_PATTERN.findall(commit.text)


def left_standing(commits: Sequence[Commit]) -> set[str]:
    """Return the proposals that commits, oldest first, name and do not revert afterwards."""
    effects: dict[str, tuple[set[str], set[str]]] = {}
    standing: set[str] = set()
    for commit in commits:
        brings, takes = {*commit.proposals}, set[str]()
        for short in reverted_commits(commit):
            undone, redone = next((both for oid, both in effects.items() if oid.startswith(short)), (set(), set()))
            brings, takes = brings | redone, takes | undone
        effects[commit.oid] = brings, takes
        standing = (standing | brings) - takes
    return standing


def _skill_commit(repo: Repo, commit: Commit, relpath: str, texts: dict[str, bytes | None]) -> SkillCommit:
    text = texts[f"{commit.oid}:{relpath}"]
    before = texts[f"{commit.parents[0]}:{relpath}"] if commit.parents else None
    # A commit that creates the file adds all of its lines, one that deletes it removes them.
    signature = line_diff.signature(before or b"", text or b"") if len(commit.parents) == 1 else ((), ())
    reverted: set[str] = set()
    undone = set(filter(None, [commit.trailers.get(REVERTS_TRAILER)]))
    for oid in reverted_commits(commit):
        taken = objects.read_commit(repo.git, oid)
        reverted |= _brought_in(repo, taken) if taken else {oid}
        undone |= set(taken.proposals) if taken else set()
    reverts = frozenset(reverted)
    return SkillCommit(commit.oid, commit.proposals, reverts, frozenset(undone), signature, before, text)


def _brought_in(repo: Repo, commit: Commit) -> set[str]:
    """Return a commit and, if it is a merge, all commits that it brought in."""
    if len(commit.parents) < 2:  # noqa: PLR2004 - a merge has two parents or more
        return {commit.oid}
    return {commit.oid, *objects.list_ids(repo.git, "--max-count=1000", commit.oid, f"^{commit.parents[0]}")}


# The other path of a file that a commit renamed, as git's rename detection tells it.

_TEXTS = ".md", ".mdc"
_HOW = "--no-ext-diff", "--no-textconv", "--name-status", "-r", "-z"


def _is_other_text(old: bytes | None, new: bytes | None) -> bool:
    """Whether a file is gone, or nothing of its old text is left in it: it became a link, or an import."""
    if old is None or new is None:
        return new is None
    return {*map(str.strip, split_lines(old))}.isdisjoint({*map(str.strip, split_lines(new))} - {""})


def _is_replaced(old: bytes, new: bytes | None) -> bool:
    """Whether a file is gone, or has less than half of the lines of its old text."""
    lines = [line.strip() for line in split_lines(old) if line.strip()]
    left = {line.strip() for line in split_lines(new or b"")}
    return new is None or 2 * sum(line in left for line in lines) < len(lines)


def may_follow(old: str, new: str) -> bool:
    """Whether an edit of the file at one path may follow it to another one, where agents read it and git can name it.

    What became a script or a setting is no text for agents any more.
    """
    try:
        tree.check_relpath(old)
        tree.check_relpath(new)
    except RepoRefusedError:
        return False
    return PurePosixPath(new).suffix in {PurePosixPath(old).suffix, *_TEXTS}


def _renamed_to(git: Git, commit: str, relpath: str) -> str:
    """Return the new path of the file that a commit moved away from `relpath`; empty if it renamed it to none."""
    return next((new for old, new in _renames(git, commit) if old == relpath and _has_left(git, commit, old)), "")


def _renamed_from(git: Git, commit: str, relpath: str) -> str:
    """Return the old path of the file that a commit moved to `relpath`; empty if it renamed none."""
    return next((old for old, new in _renames(git, commit) if new == relpath and _has_left(git, commit, old)), "")


def _renamed_between(git: Git, old: str, new: str, relpath: str) -> str:
    """Return the path in commit `new` of the file that `old` has at `relpath`, as git's cherry-pick finds it."""
    how = *_HOW, "--find-renames", "--diff-filter=R"
    return next((after for before, after in _rows(git, *how, old, new) if before == relpath), "")


def _renames(git: Git, commit: str) -> list[tuple[str, str]]:
    """Return the old and the new path of each file that a commit renamed, or copied from one that it changed."""
    parent = f"{commit}^"
    if objects.read_commit(git, parent) is None:
        return []
    changed = tree.changed_files(git, parent, commit).values()
    if all(was is None for was, _ in changed) or all(was is not None for was, _ in changed):
        return []  # no need to ask git
    return _rows(git, *_HOW, "--find-renames", "--find-copies", "--diff-filter=RC", parent, commit)


def _has_left(git: Git, commit: str, relpath: str) -> bool:
    """Whether a commit left nothing of a file: a copy of one that became a link to the copy was renamed as well."""
    return _is_other_text(*objects.read_texts(git, [f"{one}:{relpath}" for one in (f"{commit}^", commit)]))


def _rows(git: Git, *options: str) -> list[tuple[str, str]]:
    rows = git.run("diff-tree", *options).decode("utf-8", "surrogateescape").split("\0")
    return [(old, new) for old, new in zip(rows[1::3], rows[2::3], strict=False) if may_follow(old, new)]


# Commits on the staging branch whose message the person replaced, trailers and all. An amend keeps the author with the
# date, the file and mostly the parent.

_TRAILERS = re.compile(r"(?:[A-Za-z0-9-]+: .*(?:\n|$))+")


def with_names(repo: Repo, commits: Sequence[Commit]) -> list[Commit]:
    """Return the commits, each that must be a proposal's with its trailers again, as `Commit.renamed`.

    One that may be several proposals', and a proposal that may be several commits, are left alone.
    """
    unnamed = [one for one in commits if one.author.email == OWN_EMAIL and len(one.parents) == 1 and not one.proposals]
    if not unnamed:
        return [*commits]
    named = {name for commit in commits for name in commit.proposals}
    tips = refs.read_own_refs(repo.git, repo.common_dir)
    names = [ref for ref in tips if ref != STAGING_REF and ref.removeprefix(PROPOSAL_REFS) not in named]
    own = zip(names, objects.read_commits(repo.git, names), strict=True)
    known = {ref.removeprefix(PROPOSAL_REFS): one for ref, one in own if one is not None and one.parents}
    found = {one.oid: name for one in unnamed if (name := _name_of(repo, one, known))}
    times = Counter(found.values())
    return [
        _with_trailers(one, found[one.oid], known[found[one.oid]]) if times[found.get(one.oid, "")] == 1 else one
        for one in commits
    ]


def _name_of(repo: Repo, commit: Commit, known: dict[str, Commit]) -> str:
    """Return the ID of the only proposal that a commit can be; empty if none or several are possible."""
    files = _files(repo, commit)
    same = [name for name, one in known.items() if one.author == commit.author and files & _files(repo, one)]
    there = [name for name in same if known[name].parents == commit.parents]
    return next(iter(there if len(same) > 1 else same), "") if 1 in {len(same), len(there)} else ""


def _files(repo: Repo, commit: Commit) -> set[str]:
    return {*tree.changed_files(repo.git, commit.parents[0], commit.oid)}


def _with_trailers(commit: Commit, name: str, own: Commit) -> Commit:
    """Return a commit with the trailers of a proposal's own commit below its message."""
    text = commit.text.rstrip("\n")
    head, _, last = text.rpartition("\n\n")
    gap = "\n" if head and _TRAILERS.fullmatch(last) else "\n\n"
    rows = "\n".join(f"{key}: {value}" for key, value in ({"Skilld-Proposal": name} | own.trailers).items())
    return replace(commit, message=f"{text}{gap}{rows}\n".encode("utf-8", "surrogateescape"), renamed=True)
