"""When a notice is due, its text and its buttons: counts and names of skills. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from skilld.clock import day, minute_of_day
from skilld.text import counted, cut, fold, safe_text
from skilld.types import Proposal

_DAY_SECONDS = 86400.0
_EARLY_SECONDS = 120.0  # a reminder comes so many seconds early, so that none is missed where quiet hours begin


@dataclass(frozen=True, slots=True)
class Rules:
    """What the person asked for.

    `quiet` are two minutes of their day, from 0: no notice from the first up to the second, over midnight where the
    first is later. `snoozed_until` is a Unix time.
    """

    per_day: int = 12
    minutes_between: float = 15
    quiet: tuple[int, int] | None = None
    snoozed_until: float = 0.0


@dataclass(frozen=True, slots=True)
class PastNotice:
    """A notice that was shown at a Unix time: of which proposals it told, and of which causes of trouble."""

    at: float
    proposals: frozenset[str]
    causes: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Digest:
    """What to tell now: ids of proposals and causes of trouble."""

    proposals: tuple[str, ...]
    causes: tuple[str, ...]


def due(
    proposals: Sequence[str], causes: Sequence[str], shown: Sequence[PastNotice], rules: Rules, now: float
) -> Digest | None:
    """Return what to tell now (Unix time), or None.

    `proposals` are the ids of all that wait to be looked at, `causes` names of troubles of today, `shown` the notices
    of the last days in any order. What the clock says was shown later than now counts for its day only.
    """
    if not proposals and not causes:
        return None
    told = frozenset().union(*(notice.proposals for notice in shown))
    today = [notice for notice in shown if day(notice.at) == day(now)]
    past = [notice for notice in shown if notice.at <= now]
    new_causes = tuple(cause for cause in dict.fromkeys(causes) if not any(cause in notice.causes for notice in today))
    if not (set(proposals) - told or new_causes or _is_forgotten(proposals, past, now)):
        return None
    last = max((notice.at for notice in past), default=0.0)
    waits = now < rules.snoozed_until or is_quiet(rules.quiet, now) or now - last < rules.minutes_between * 60
    if waits or len(today) >= rules.per_day:
        return None
    return Digest(tuple(dict.fromkeys(proposals)), new_causes)


def is_quiet(hours: tuple[int, int] | None, now: float) -> bool:
    """Whether a Unix time is in the person's quiet hours."""
    if hours is None:
        return False
    start, end = hours
    minute = minute_of_day(now)
    return start <= minute < end if start < end else minute >= start or minute < end


def _is_forgotten(proposals: Collection[str], past: Sequence[PastNotice], now: float) -> bool:
    """Whether proposals wait of which the last notice is a day old."""
    told = [notice.at for notice in past if not notice.proposals.isdisjoint(proposals)]
    return bool(proposals) and now - max(told, default=0.0) >= _DAY_SECONDS - _EARLY_SECONDS


# What a notice says: counts and names of skills; the words of a person only where their settings ask for it. Desktops
# may read it as markup, so what comes from outside is made harmless for terminals and escaped.

WAITING = "waiting"  # the cause of a notice about what waits for a place
REVIEW, ACCEPT, REJECT = "review", "accept", "reject"
CANNOT_STORE = "skilld cannot write to its database (disk full?) and will keep trying."
CANNOT_JUDGE = "skilld could not judge what you said and will try again. For details, run: skilld status"
SETTINGS_CHANGED = "Your skilld settings changed. If that was not you, run: skilld config"
_TITLES = {REVIEW: "Review", ACCEPT: "Accept", REJECT: "Reject"}
_NAMES = 6
_MAX_LENGTH = 200
_ESCAPED = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;"})


@dataclass(frozen=True, slots=True)
class Notice:
    """One notice: its text, and its buttons as (action, title)."""

    message: str
    buttons: tuple[tuple[str, str], ...] = ()


def buttons(waiting: Sequence[Proposal]) -> tuple[tuple[str, str], ...]:
    """Return the buttons of a notice about these open proposals.

    What a button decides is one proposal: with several there is none but Review. One with a flag, or a whole new
    skill, is to be looked at before it is accepted.
    """
    if not waiting:
        return ()
    actions = [REVIEW]
    if len(waiting) == 1:
        actions += [REJECT] if waiting[0].flags or waiting[0].creates else [ACCEPT, REJECT]
    return tuple((action, _TITLES[action]) for action in actions)


def escaped(text: str) -> str:
    """Return text from outside as one harmless line of bounded length, fit for markup."""
    return cut(safe_text(fold(text)), _MAX_LENGTH).translate(_ESCAPED)


def about_proposals(names: Sequence[str], *, skills: bool = True) -> str:
    """Return what a notice says of proposals to these files, all `skills` or not: counts, no words of a transcript."""
    counts = Counter(_name(name) for name in names)
    parts = [f"{name} ({count})" if count > 1 else name for name, count in counts.items()]
    rest = (
        f" and {counted(len(parts) - _NAMES, 'other skill' if skills else 'other file')}" if len(parts) > _NAMES else ""
    )
    number = sum(counts.values())
    to_look_at = f"{counted(number, 'skill update' if skills else 'update')} to review"
    return f"{to_look_at}: {', '.join(parts[:_NAMES])}{rest}. Run: skilld review"


def about_waiting(number: int) -> str:
    """Return what a notice says about lasting things that were kept, and not proposed: each for a reason of its own."""
    return f"Kept but not proposed: {counted(number, 'learning')}. To see why, run: skilld learnings"


def about_applied(applied: Sequence[tuple[str, str]]) -> str:
    """Return what a notice says about proposals that were applied unasked, given as (skill, id)."""
    names = ", ".join(dict.fromkeys(_name(skill) for skill, _ in applied))
    return f"Applied to {names}. To undo it: skilld revert {' '.join(proposal for _, proposal in applied)}"


def about_words(proposal: Proposal) -> str:
    """Return the change and the quote of a proposal, for those who want them in a notice."""
    said = [f" \u2014 you: \u201c{escaped(first.quote)}\u201d" for first in proposal.evidence[:1]]
    return "".join([escaped(proposal.summary), *said])


def about_budget(why: str) -> str:
    """Return what a notice says when today's budget is spent."""
    return f"Today's budget is spent: {why}. The rest is on hold until tomorrow. For details, run: skilld cost"


def about_dead(why: str) -> str:
    """Return what a notice says when nothing could be judged for a day."""
    return f"skilld has not been able to judge anything for a day: {escaped(why)}. For details, run: skilld status"


def about_failure(action: str, why: str) -> str:
    """Return what a notice says when a button did not do what it says."""
    return f"{_TITLES[action]} failed: {escaped(why)}"


def _name(skill: str) -> str:
    return safe_text(fold(skill))[:64].translate(_ESCAPED)
