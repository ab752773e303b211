"""Auto mode: which new proposals are applied without asking. Off unless the settings turn it on."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from skilld.agents import ADAPTERS
from skilld.classify.clauses import has_only_own_words
from skilld.classify.polarity import reversing_words
from skilld.edit.lint import is_low_risk
from skilld.errors import RefusedError, SkilldError
from skilld.files import read_whole
from skilld.git import objects, refs, tree
from skilld.git.objects import Ident
from skilld.git.repo import TrackedFile
from skilld.git.session import shared_git
from skilld.markdown.structure import is_default_title
from skilld.proposals import whole_files, worktree
from skilld.proposals.model import heard_by
from skilld.proposals.refit import Edit
from skilld.proposals.repositories import tracked_file
from skilld.proposals.staging import restage
from skilld.proposals.staging_result import StagingResult
from skilld.proposals.worktree import read_own_commit
from skilld.protocol import AutoRules
from skilld.types import AutoApply, Op, Proposal
from skilld.words import has_negation

# Auto mode applies a proposal as a commit of its own on the checked-out branch, touching one file. It uses plumbing
# only, since no person gave a command: no hook, no signing. The file and its index entry are updated only if both equal
# HEAD's byte for byte; in any other state the proposal stays where it is. A process killed on the way leaves at most
# the edit in the file or staged, never a branch that its work tree contradicts.

_TITLE = "The proposal was not applied"


@shared_git()
def apply_unasked(edit: Edit) -> str:
    """Apply a proposal and return its commit on the branch that is checked out where its skill lives.

    Raises RefusedError and changes nothing if the file or its index entry differs from HEAD's, an operation is in
    progress, HEAD is detached or the staging branch itself, or the edit does not fit. A new skill is never applied
    unasked.
    """
    proposal = edit.proposal
    tracked = tracked_file(proposal)
    if proposal.creates or tracked.entry is None:
        raise RefusedError(_TITLE, "new skills always need your approval")
    repo, path = tracked.repo, Path(proposal.path)
    source = read_own_commit(repo, proposal.id, proposal.commit)
    if source is None:
        raise RefusedError(_TITLE, "its commit is no longer in the repository")
    if why := worktree.find_obstacle(repo)[0]:
        raise RefusedError(_TITLE, why)
    staged = tree.parse_entries(repo.git.run("ls-files", "-z", "--stage", "--", tracked.relpath))
    if staged != {tracked.relpath: tracked.entry}:
        raise RefusedError(_TITLE, f"{tracked.relpath} has staged changes")
    old = whole_files.read_file(path)
    if old != objects.read_blob(repo.git, repo.head, tracked.relpath):
        raise RefusedError(_TITLE, f"{tracked.relpath} has uncommitted changes")
    new = edit(old)
    entry = tree.Entry(tracked.entry.mode, repo.git.add("blob", new))
    commit = objects.write_commit(
        repo.git,
        tree=tree.rewrite_tree(repo.git, repo.head, {tracked.relpath: entry}),
        parents=[repo.head],
        message=source.message,
        author=source.author,
        committer=Ident("skilld", objects.OWN_EMAIL, int(time.time())),
    )
    whole_files.replace_file(path, old, new)
    try:
        _move_branch(tracked, entry, refs.RefChange(repo.branch or "", commit, repo.head), source.subject)
    except SkilldError:
        whole_files.replace_file(path, new, old)
        raise
    return commit


def _move_branch(tracked: TrackedFile, entry: tree.Entry, change: refs.RefChange, subject: str) -> None:
    repo = tracked.repo
    tree.update_index(repo.git, {tracked.relpath: entry})
    try:
        refs.move_refs(repo.git, repo.common_dir, [change], f"skilld: {subject}")
    except SkilldError:
        tree.update_index(repo.git, {tracked.relpath: tracked.entry})
        raise


# The number of a step, which skilld writes itself, as it does the heading of a new section.
_STEP_NUMBER = re.compile(r"^[^\S\n]*+\d{1,3}[.)]\s", re.MULTILINE)


@shared_git()
def apply_allowed(
    staged: StagingResult, open_proposals: Sequence[Proposal], rules: AutoRules, typed: Callable[[Proposal], str]
) -> None:
    """Apply those of the new proposals that `rules` allow; the others stay on the staging branch.

    `typed` returns what the person typed in the turns that a proposal quotes. If the state of its repository prevents
    applying it, the proposal's note says so.
    """
    for proposal in list(staged.made):
        if not (_is_allowed(proposal, rules) and _is_typed_by_person(proposal, typed)):
            continue
        try:
            commit = apply_unasked(Edit(proposal))
        except SkilldError as error:
            staged.change(replace(proposal, note=f"not applied: {error.cause or error.title}"))
            continue
        staged.applied.append(AutoApply(proposal.id, commit))
        others = [
            other
            for other in (*open_proposals, *staged.made)
            if other.id not in {one.proposal for one in staged.applied}
        ]
        try:
            restage(proposal.repo, others, staged, [proposal.id])
        except SkilldError:
            continue  # the next look at git takes it off the branch


def _is_allowed(proposal: Proposal, rules: AutoRules) -> bool:
    """Whether a proposal needs no approval: confident, unflagged, without contradictions, only adding plain text."""
    named = (rules.skills is None or proposal.skill in rules.skills) and proposal.target in rules.targets
    sure = proposal.confidence >= rules.confidence and not (proposal.flags or proposal.conflicts or proposal.linked)
    sure = sure and not any(ADAPTERS[agent].INFO.unsure for agent in heard_by(proposal) if agent in ADAPTERS)
    if not (named and sure and proposal.commit) or any(item.op is not Op.INSERT_AFTER for item in proposal.operations):
        return False
    try:
        before = read_whole(proposal.path)
        return is_low_risk(before, Edit(proposal)(before))
    except (OSError, SkilldError):
        return False


def _is_typed_by_person(proposal: Proposal, typed: Callable[[Proposal], str]) -> bool:
    """Whether the person typed, in the quoted turns, every content word that is added and every negation."""
    try:
        words = typed(proposal)
    except SkilldError:
        return False
    texts = [
        _STEP_NUMBER.sub("", "\n".join(line for line in operation.text.split("\n") if not is_default_title(line)))
        for operation in proposal.operations
    ]
    return all(
        has_only_own_words(text, words)
        and reversing_words(text) <= reversing_words(words)
        and has_negation(text) <= has_negation(words)
        for text in texts
    )
