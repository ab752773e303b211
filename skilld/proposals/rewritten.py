"""Finds what became of lines that are no longer in their file: reworded there, or moved to another file.

They are those of a proposal, or those around its place. Also finds what the person wrote in place of a proposal.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress

from skilld.errors import SkilldError
from skilld.git import line_diff, objects, tree
from skilld.git.objects import OWN_EMAIL, Commit
from skilld.git.repo import Repo
from skilld.proposals.file_history import FileOnBranch, SkillCommit, may_follow, path_in, read_file_on_branch
from skilld.proposals.model import CHANGED_NOTE, EDITED_NOTE, said_updates
from skilld.proposals.overtaken import adds_rules
from skilld.proposals.refit import Edit
from skilld.proposals.repositories import repo_at
from skilld.proposals.whereabouts import Change, read_change
from skilld.text import compare_lines
from skilld.types import Proposal, State
from skilld.words import content_stems

_MARKS = re.compile(r"[*_`~]+")  # "set this in bold", which may be another proposal, changes no word
_MAX_FILES = 50  # of a commit, in which moved lines are looked for


def rewritten_note(subject: Change, commits: Sequence[SkillCommit], text: bytes) -> str:
    """Return how a change whose lines are all gone from `text` was rewritten; empty if its lines were deleted."""
    edited, changed = _wordings(subject, commits)
    present = set(_words_of(line_diff.split_lines(text))) - _lines_before(subject)
    return EDITED_NOTE if edited & present else CHANGED_NOTE if changed & present else ""


def _wordings(subject: Change, commits: Sequence[SkillCommit]) -> tuple[set[str], set[str]]:
    """Return the lines in which a person has put a change so far, and its own lines with those that came of them.

    What the commit that names it alone adds instead is the person's wording of it, and so is what a later one has in
    place of its lines, if both have a word in common.
    """
    edited, changed = set[str](), {*_words_of(subject.signature[1])} - _lines_before(subject)
    for one in commits if changed else ():
        if one.before is None or one.text is None:
            continue
        if one.proposals == (subject.id,) and not one.reverts and not subject.holds(one.text):
            edited |= {*_words_of(one.signature[1])} - subject.others
        for hunk in line_diff.hunks(one.before, one.text):
            for known in (edited, changed):
                stems = [content_stems(line) for line in _words_of(hunk.removed) if line in known]
                new = {*_words_of(hunk.added)} - subject.others
                known.update(line for line in new if any(content_stems(line) & mine for mine in stems))
                bare = {_MARKS.sub("", line) for line in _words_of(hunk.removed) if line in known}
                known.update(line for line in _words_of(hunk.added) if _MARKS.sub("", line) in bare)
    return edited, changed


def _lines_before(subject: Change) -> set[str]:
    return set(_words_of(line_diff.split_lines(subject.before or b"")))


def is_rewritten_here(proposal: Proposal) -> bool:
    """Whether an accepted proposal is in the file of its work tree in other words than its own."""
    if proposal.state is not State.ACCEPTED or proposal.note not in {EDITED_NOTE, CHANGED_NOTE}:
        return False
    repo = repo_at(proposal.repo)
    change = read_change(repo, proposal)
    found = read_file_on_branch(repo, repo.head, proposal.relpath, None)
    return change.is_known and found.text is not None and bool(rewritten_note(change, found.commits, found.text))


def find_by_hand(proposal: Proposal, change: Change, file: FileOnBranch) -> tuple[int, bool]:
    """Return the number of a line in the file that a recent commit without a proposal wrote, and that says it; else 0.

    Also whether such lines say all that the proposal adds, rather than some of several rules. One that the person has
    decided on and wants open is left alone, as is one that changes other lines.
    """
    if proposal.decided_at or not adds_rules(proposal):
        return 0, False
    # What was there before the proposal was compared with it when it was made.
    commits = [one for one in file.commits if not (one.proposals or one.undoes)]
    rules = said_updates(proposal)
    new = {line for one in commits for line in one.signature[1]} - change.others
    lines = (file.text or b"").decode("utf-8", "replace").splitlines() if new else []
    if new.isdisjoint(map(str.strip, lines)):
        return 0, False
    from skilld.classify.said_already import find_line  # rarely needed

    text = "\n".join(line for line in lines if line.strip() in new or line.startswith("#"))
    found = [line.strip().split("\n")[0] for update in rules if (line := find_line(update, text))]
    at = (number for number, line in enumerate(lines, 1) if found and found[0] in line and line.strip() in new)
    return next(at, 0), len(found) == len(rules)


def _words_of(lines: Iterable[str]) -> list[str]:
    """Return lines without blank ones, headings and outer white space."""
    return [line.strip() for line in lines if line.strip() and not line.strip().startswith("#")]


def find_moved(repo: Repo, change: Change, commits: Sequence[SkillCommit], tip: str) -> tuple[str, bool]:
    """Return the path of the file to which a commit moved the lines of a change, which the branch with a tip has there.

    Also whether they are its own lines, rather than another wording. The path is empty if they were only taken out.
    """
    edited, changed = _wordings(change, commits)
    known = edited | changed

    def has(text: bytes | None) -> bool:
        return text is not None and not known.isdisjoint(_words_of(line_diff.split_lines(text)))

    left = (one for one in reversed(commits) if has(one.before) and not has(one.text))
    made = objects.read_commit(repo.git, away.oid) if (away := next(left, None)) else None
    if made is None or not made.parents:
        return "", False
    came = next((objects.read_commit(repo.git, one.oid) for one in commits if has(one.text) > has(one.before)), None)
    # Together with taking them out, or else by a copy before.
    for path, oid in [*_changed(repo, change, made, made), *_changed(repo, change, came or made, made)]:
        old, new = objects.read_texts(repo.git, [f"{one}:{path}" for one in (oid, made.oid)])
        if change.came_with(old, new) or has(new) > has(old):
            found = read_file_on_branch(repo, tip, path, None)
            if change.is_in(found.text) or has(found.text):
                return found.relpath, change.is_in(found.text)
    return "", False


def _changed(repo: Repo, change: Change, first: Commit, last: Commit) -> list[tuple[str, str]]:
    """Return the files to which a change may have gone in the commits from one to another, each with the one before."""
    if not first.parents:
        return []
    changes = tree.changed_files(repo.git, first.parents[0], last.oid).items()
    paths = [path for path, (_, now) in changes if now and path != change.relpath and may_follow(change.relpath, path)]
    return [(path, first.parents[0]) for path in paths[:_MAX_FILES]]


def find_section(repo: Repo, proposal: Proposal, change: Change, places: Mapping[str, str]) -> str:
    """Return the path of the file to which the lines around an undecided proposal's change moved; empty if to none.

    `places` has the path of its file in each tip that counts: all must have moved the lines to the same file.
    """
    if change.own is None or change.own.committer.email != OWN_EMAIL or not change.is_known:
        return ""
    found = {_section_at(repo, proposal, change, path, tip) for tip, path in places.items()}
    return found.pop() if len(found) == 1 else ""


def _section_at(repo: Repo, proposal: Proposal, change: Change, relpath: str, tip: str) -> str:
    """Return the one file that gained since the proposal's base the lines around its change, which its file lost.

    Or the file that the proposal was made for, to which they went back.
    """
    before, after = change.before or b"", change.after or b""
    old_path = path_in(repo, change.own, relpath) if change.own else relpath
    was, text = objects.read_texts(repo.git, [f"{proposal.base}:{old_path}", f"{tip}:{relpath}"])
    around = _lines_around(before, after) & _lines_of(was)
    if not around or not around.isdisjoint(_lines_of(text)):
        return ""
    changes = tree.changed_files(repo.git, proposal.base, tip).items()
    paths = [path for path, (_, now) in changes if now and may_follow(relpath, path)][:_MAX_FILES]
    found = []
    for path in {old_path, *paths} - {relpath}:
        old, new = objects.read_texts(repo.git, [f"{one}:{path}" for one in (proposal.base, tip)])
        if around <= _lines_of(new) - (_lines_of(old) if path != old_path else set()):
            with suppress(SkilldError):
                Edit(proposal).refit_from(before, after, new or b"", lambda: was)
                found.append(path)
    return found[0] if len(found) == 1 else ""


def _lines_around(before: bytes, after: bytes) -> set[str]:
    """Return the lines that a change removes or has next to it in their section, without headings."""
    old = line_diff.split_lines(before)
    pieces = [one for one in compare_lines(old, line_diff.split_lines(after)) if not one.equal]
    start, end = (pieces[0].old_start, pieces[-1].old_end) if pieces else (0, 0)
    found = old[start:end]
    for way in (old[:start][::-1], old[end:]):
        found += next(([line] for line in way if line.strip()), [])
    return {*_words_of(found)}


def _lines_of(text: bytes | None) -> set[str]:
    return set(_words_of(line_diff.split_lines(text or b"")))
