"""Takes over the text that a person gives a proposal: in an editor, or by amending its commit on the staging branch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from skilld.edit.derive_operations import operations_between
from skilld.edit.insertion_point import adds_heading
from skilld.edit.operations import apply, create_file
from skilld.edit.renumber import new_lines
from skilld.edit.secrets import refuse_secrets
from skilld.edit.separate import separate_items
from skilld.errors import SkilldError
from skilld.git import line_diff, objects, tree
from skilld.git.objects import Commit
from skilld.git.repo import Repo
from skilld.markdown.skill_file import parse
from skilld.markdown.structure import list_item
from skilld.pipeline.edits import REMOVED_PREFIX
from skilld.proposals.file_history import path_in
from skilld.proposals.model import EDITED_NOTE
from skilld.proposals.refit import Edit
from skilld.skills.spec import read_front
from skilld.text import fold, join_sentences, safe_text, truncate
from skilld.types import Op, Operation, Proposal, TargetKind, Update
from skilld.words import content_stems, matching_share

_TITLE = "The proposal was not changed"
_NOT_TAKEN_OVER = "Its commit on the staging branch has text that skilld does not use"
_CONFLICT_MARKERS = "<<<<<<< ", ">>>>>>> "
ALSO_CHANGES = "Its commit also changes "  # begins a flag; the files follow
_MAX_MORE = 3  # further files of a commit that are named
_MAX_SUMMARY = 300
_MIN_SHARE = 0.4  # of the words of a line in what a person said: with fewer, it says something else


def with_text(proposal: Proposal, before: bytes, text: str) -> Proposal:
    """Return a proposal with operations and a summary for a person's own text of its file. Raises SkilldError."""
    if proposal.creates:
        anchor = proposal.operations[0].anchor  # empty for a skill, which alone has a form of its own
        create_file(b"", text, skill=not anchor)
        said, was = (_description(proposal, one, anchor) for one in (text, proposal.operations[0].text))
        summary = truncate(said, _MAX_SUMMARY) if said != was and said else proposal.summary
        return replace(proposal, operations=(Operation(Op.CREATE, anchor, text),), summary=summary)
    operations = operations_between(before, text)
    if proposal.target is TargetKind.EVALS:
        return replace(proposal, operations=tuple(operations))
    new = new_lines(*line_diff.signature(before, apply(before, operations)))
    summary = summarize_change(((), new)) if new else proposal.summary
    return replace(proposal, operations=tuple(operations), summary=summary)


def _description(proposal: Proposal, text: str, anchor: str) -> str:
    """Return what a new file says: a skill by its description, another by its rules; empty for one that has none."""
    if not anchor:
        return read_front(text).description
    lines = [] if proposal.target is TargetKind.EVALS else [line.text for line in parse(text.encode()).body]
    return summarize_change(((), lines)) if any(line.strip() for line in lines) else ""


def summarize_change(*changes: tuple[Sequence[str], Sequence[str]]) -> str:
    """Return what changes say, each of which has the lines that it removes, and those that it adds."""
    orders: list[str] = []
    for removed, added in changes:
        new, gone = new_lines(removed, added), new_lines(added, removed)
        rules = [line for line in new if not line.startswith("#")] or new
        orders += map(without_marker, rules) if rules else [f"{REMOVED_PREFIX}{without_marker(one)}" for one in gone]
    return truncate(fold(join_sentences(orders)), _MAX_SUMMARY)


def without_marker(line: str) -> str:
    """Return a line without the marker of its list item: a bullet, or the number of a step."""
    text = line.strip()
    item = list_item(text)
    return text[len(f"{item.marker}{item.gap}{item.box}") :] if item else text


def adopt_amended(repo: Repo, proposal: Proposal, commit: str) -> Proposal | None:
    """Return an open proposal with the text of its commit that the person amended on the staging branch.

    An agent may have done that, so it has flags as any proposal: for what the linter finds, for further files, and for
    a text that no proposal may have, such as one with a secret. None if nothing of it changes.
    """
    made = objects.read_commit(repo.git, commit)
    if made is None or not made.parents:
        return None
    kept = tuple(one for one in proposal.flags if not one.startswith("Its commit "))
    changed = _with_text_of(repo, replace(proposal, flags=kept), made)
    more = further_files(repo, proposal, made)
    flags = (*changed.flags, *([f"{ALSO_CHANGES}{name_files(more)}"] if more else []))
    changed = replace(changed, flags=tuple(dict.fromkeys(flags)))
    return None if changed == proposal else changed


def further_files(repo: Repo, proposal: Proposal, commit: Commit) -> list[str]:
    """Return the paths that a proposal's commit changes and the proposal does not: the person amended it."""
    own = {path_in(repo, commit, proposal.relpath), *(one.relpath for one in proposal.also)}
    return sorted({*tree.changed_files(repo.git, commit.parents[0], commit.oid)} - own) if commit.parents else []


def name_files(paths: Sequence[str]) -> str:
    """Return the names of a few files for a sentence."""
    rest = f" and {len(paths) - _MAX_MORE} more" if len(paths) > _MAX_MORE else ""
    return f"{', '.join(safe_text(fold(path)) for path in paths[:_MAX_MORE])}{rest}"


def _with_text_of(repo: Repo, proposal: Proposal, made: Commit) -> Proposal:
    before, after = _versions(repo, proposal, made)
    if before is None or after is None or before == after:
        return proposal
    known = objects.read_commit(repo.git, proposal.commit) if proposal.commit != made.oid else None
    then = _versions(repo, proposal, known) if known and known.parents else (None, None)
    is_own = then[1] == after if then[0] == before else Edit(proposal).makes(before, after)
    if is_own:
        return proposal
    if len(made.proposals) > 1:  # squashed: it has the text of all of them
        return replace(proposal, flags=(*proposal.flags, *_lint(proposal, before, after)))
    _, added = line_diff.signature(before, after)
    try:
        changed = with_text(proposal, before, after.decode("utf-8-sig"))
        refuse_secrets(_TITLE, changed.operations, proposal.path)
    except (SkilldError, UnicodeDecodeError):
        changed = None
    if changed is None or any(line.startswith(_CONFLICT_MARKERS) for line in added):
        return replace(proposal, flags=(*proposal.flags, _NOT_TAKEN_OVER))
    rules = [without_marker(line) for line in added if not line.startswith("#")]
    operations = _below_own_heading(proposal, before, after) or separate_items(before, changed.operations)
    updates = _reworded(proposal.updates, rules)
    note = EDITED_NOTE if made.committer.email != objects.OWN_EMAIL else proposal.note
    kept = (one for one in proposal.flags if not one.startswith(("It ", "Its ")))  # not what was found in the old text
    flags = (*kept, *_lint(proposal, before, after))
    return replace(changed, commit=made.oid, note=note, updates=updates, operations=operations, flags=flags)


def _lint(proposal: Proposal, before: bytes, after: bytes) -> list[str]:
    """Return what the linter finds in another text of a proposal's file."""
    from skilld.edit.lint import lint  # its rules take 0.2 s to compile

    typed = "\n".join([*(one.quote for one in proposal.evidence), *(one.quote for one in proposal.updates)])
    return [] if proposal.target is TargetKind.EVALS else [one.sentence for one in lint(before, after, typed)]


def _versions(repo: Repo, proposal: Proposal, commit: Commit) -> tuple[bytes | None, bytes | None]:
    path = path_in(repo, commit, proposal.relpath)
    before, after = (objects.read_blob(repo.git, oid, path) for oid in (commit.parents[0], commit.oid))
    return b"" if before is None and proposal.creates else before, after


def _below_own_heading(proposal: Proposal, before: bytes, after: bytes) -> tuple[Operation, ...]:
    """Return operations that add the person's lines below the heading that a proposal brings itself.

    On the branch another open proposal may bring it, and without that one the lines would have no place. Nothing if
    the person's text is not just that.
    """
    own = [one for one in proposal.operations if one.op is Op.INSERT_AFTER and adds_heading(one.text.split("\n"))]
    removed, added = line_diff.signature(before, after)
    if len(own) != 1 or removed or not added:
        return ()
    lines = own[0].text.split("\n")
    start = next((at for at, line in enumerate(lines) if list_item(line)), len(lines))
    head = replace(own[0], text="\n".join([*lines[:start], added[0]]))
    below = (Operation(Op.INSERT_AFTER, anchor, text) for anchor, text in pairwise(added))
    made = replace(proposal, operations=(head, *below))
    return made.operations if Edit(made).makes(before, after) else ()


def _reworded(updates: tuple[Update, ...], rules: list[str]) -> tuple[Update, ...]:
    """Return an update for each of the person's rules, with the quote behind it; none if one says something new."""
    found: list[Update] = []
    for rule in rules:
        words = content_stems(rule)
        shares = [matching_share(words, content_stems(f"{one.change} {one.quote}")) for one in updates]
        if max(shares, default=0.0) < _MIN_SHARE:
            return ()
        found.append(replace(updates[shares.index(max(shares))], change=rule))
    return tuple(found)


def refuse_amended_secrets(title: str, proposal: Proposal, before: bytes, after: bytes) -> None:
    """Raise RefusedError, with that title, if a proposal's commit adds a secret that its operations do not."""
    if not Edit(proposal).makes(before, after):
        added = "\n".join(line_diff.signature(before, after)[1])
        refuse_secrets(title, [Operation(Op.CREATE, "", added)], proposal.path)


def require_own_text(proposal: Proposal, before: bytes, after: bytes) -> None:
    """Raise SkilldError if a proposal's commit has another text than its operations make: that has no parts."""
    if not Edit(proposal).makes(before, after):
        cause = "you changed its text on the staging branch, so it can no longer be split into parts"
        raise SkilldError(_TITLE, cause, f"To accept all of it: skilld accept {proposal.id}")
