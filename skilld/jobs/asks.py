"""Learnings as the person sees them: each ask once, with the current reason why it is not proposed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

from skilld.classify.said_already import is_same_change, says_same_rule
from skilld.git.same_project import is_same_project, project_root
from skilld.git.state import is_own_project
from skilld.git.top import find_top
from skilld.skills import read
from skilld.store import Store
from skilld.store.learnings import NO_FILE_REASON, Learning
from skilld.targets.find import NEVER_COMMITTED_REASON
from skilld.types import Proposal, SkillRef, State, TargetKind
from skilld.words import content_stems


def group_learnings(found: Iterable[Learning]) -> list[list[Learning]]:
    """Group learnings of one project, in any of its folders, that say the same, the newest first."""
    asks: list[list[Learning]] = []
    root = cache(lambda project: project and project_root(Path(project)))
    by_stem: dict[tuple[Path | str | None, str | None, str], list[int]] = {}  # the same ask shares stems
    for one in found:
        keys = [(root(one.project), one.skill, stem) for stem in content_stems(one.change)]
        near = sorted({number for key in keys for number in by_stem.get(key, ())})
        known = next((asks[number] for number in near if is_same_change(one.change, asks[number][0].change)), None)
        if known is not None:
            known.append(one)
            continue
        for key in keys:
            by_stem.setdefault(key, []).append(len(asks))
        asks.append([one])
    return asks


def current_asks(store: Store, found: Iterable[Learning]) -> list[list[Learning]]:
    """Group learnings like `group_learnings`, the newest of each with the reason that holds now; reads the disk."""
    standing = store.proposals.in_states([State.OPEN, State.ACCEPTED])
    asks = group_learnings(found)
    return [[replace(newest, why_kept=_reason_now(newest, standing)), *others] for newest, *others in asks]


def _reason_now(learning: Learning, standing: Sequence[Proposal]) -> str:
    """Return why a learning is not proposed; in the past tense if that has changed since it was said."""
    if made := proposal_saying(learning, standing):
        return saying_reason(made)
    why = learning.why_kept
    if why == NEVER_COMMITTED_REASON:
        here = Path(learning.project or "/")
        return "the project had no commit of yours when you said it" if is_own_project(find_top(here) or here) else why
    if NO_FILE_REASON not in why:
        return why
    name = why.rpartition(f"{NO_FILE_REASON} ")[2].partition(" yet")[0]
    text = _read_text(learning.place)
    if text is None:
        return why
    if says_same_rule(learning.change, text):
        return f"{name} now says this"
    return f"you have said it in only one session, when there was no {name}"


def proposal_saying(learning: Learning, among: Iterable[Proposal]) -> Proposal | None:
    """Return the first of these proposals that says what a learning does: it quotes it, or asks for the same.

    An accepted one counts as long as its file is there. A quote with more in it may be a request that no line repeats.
    """
    for one in among:
        quotes = [said.quote for said in one.evidence if said.turn == learning.turn_key]
        same = any(quote == learning.quote or is_same_change(quote, learning.quote) for quote in quotes)
        same = same or (_is_near(one, learning) and _asks_for(one, learning.change))
        if same and (one.state is State.OPEN or Path(one.path).is_file()):
            return one
    return None


def saying_reason(made: Proposal) -> str:
    """Return that an open or accepted proposal says what a learning does."""
    if made.state is State.ACCEPTED:
        return f"{made.skill} says this since you accepted {made.id}"
    return f"the open proposal {made.id} for {made.skill} already says this"


_STANDING = (State.OPEN, State.ACCEPTED, State.SAID)


def without_proposed(store: Store, found: Iterable[Learning]) -> list[Learning]:
    """Return what was passed over, without what a proposal quotes or an open one also asks for."""
    proposals = store.proposals.all()
    quotes: dict[str, list[str]] = {}
    for said in (said for one in proposals for said in one.evidence):
        quotes.setdefault(said.turn, []).append(said.quote)
    standing = [one for one in proposals if one.state in _STANDING]
    return [
        one
        for one in found
        if not any(one.quote in quote or quote in one.quote for quote in quotes.get(one.turn_key, ()))
        and not any(_is_near(other, one) and _asks_for(other, one.change) for other in standing)
    ]


def _is_near(proposal: Proposal, learning: Learning) -> bool:
    """Whether a proposal holds in the project of a learning."""
    if proposal.target is TargetKind.PERSONAL or proposal.path == learning.place:
        return True
    folder = proposal.repo or str(Path(proposal.path).parent)  # what is already said is in no repository of skilld's
    project = Path(learning.project or "/")
    return project.is_relative_to(folder) or is_same_project(project, Path(folder))


def _asks_for(proposal: Proposal, change: str) -> bool:
    said = [one.change for one in proposal.updates] or [proposal.summary]
    return any(is_same_change(change, one) for one in said)


def _read_text(path: str) -> str | None:
    """Return the text of a file that a learning is for; None if there is no such file, or it cannot be edited."""
    try:
        return read(SkillRef("", path)).decode("utf-8-sig") if path else None
    except (OSError, UnicodeDecodeError):
        return None
