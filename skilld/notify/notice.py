"""When a notice is due, its text and its buttons. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence

from skilld.clock import local_day, minute_of_day
from skilld.text import fold, pluralize, safe_text, truncate
from skilld.types import Proposal
from skilld.values import value_class

_DAY_SECONDS = 86400.0
_EARLY_SECONDS = 120.0  # reminders come early by this, so that none is lost when quiet hours begin


@value_class
class NoticeRules:
    """The person's settings for notices.

    `quiet` are two minutes of the day, from 0: no notices from the first up to the second, across midnight if the first
    is later. `snoozed_until` is a Unix time.
    """

    per_day: int = 12
    minutes_between: float = 15
    quiet: tuple[int, int] | None = None
    snoozed_until: float = 0.0


@value_class
class PastNotice:
    """A notice shown at a Unix time, with its proposals and its causes of trouble."""

    at: float
    proposals: frozenset[str]
    causes: frozenset[str] = frozenset()


@value_class
class Digest:
    """The content of a notice: IDs of proposals and causes of trouble."""

    proposals: tuple[str, ...]
    causes: tuple[str, ...]


def next_digest(
    proposals: Sequence[str], causes: Sequence[str], shown: Sequence[PastNotice], rules: NoticeRules, now: float
) -> Digest | None:
    """Return the notice that is due now (a Unix time), or None.

    `proposals` are the IDs of all that wait for a decision, `causes` names of today's troubles, `shown` the notices of
    the last days in any order. A notice dated after now, by a clock that was wrong, counts only towards its day.
    """
    if not proposals and not causes:
        return None
    announced = frozenset().union(*(notice.proposals for notice in shown))
    today = [notice for notice in shown if local_day(notice.at) == local_day(now)]
    past = [notice for notice in shown if notice.at <= now]
    new_causes = tuple(cause for cause in dict.fromkeys(causes) if not any(cause in notice.causes for notice in today))
    if not (set(proposals) - announced or new_causes or _needs_reminder(proposals, past, now)):
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


def _needs_reminder(proposals: Collection[str], past: Sequence[PastNotice], now: float) -> bool:
    """Whether the last notice about any of these proposals is a day old."""
    times = [notice.at for notice in past if not notice.proposals.isdisjoint(proposals)]
    return bool(proposals) and now - max(times, default=0.0) >= _DAY_SECONDS - _EARLY_SECONDS


# The text of a notice: counts and names of skills; the person's words only if their settings ask for it. Desktops may
# interpret it as markup, so text from outside is escaped, and made safe for terminals.

WAITING = "waiting"  # the cause of a notice about learnings without a file
REVIEW, ACCEPT, REJECT = "review", "accept", "reject"
CANNOT_STORE = "skilld cannot write to its database (disk full?) and will keep trying."
CANNOT_JUDGE = "skilld could not judge what you said and will try again. For details, run: skilld status"
SETTINGS_CHANGED = "Your skilld settings changed. If that was not you, run: skilld config"
_BUTTON_TITLES = {REVIEW: "Review", ACCEPT: "Accept", REJECT: "Reject"}
_MAX_NAMES = 6
_MAX_LENGTH = 200
_MARKUP_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;"})


@value_class
class Notice:
    """One notice: its text, and its buttons as (action, title)."""

    message: str
    buttons: tuple[tuple[str, str], ...] = ()


def buttons(waiting: Sequence[Proposal]) -> tuple[tuple[str, str], ...]:
    """Return the buttons of a notice about these open proposals.

    Accept and Reject decide on a single proposal: with several there is only Review. A proposal with a flag, or of a
    whole new skill, has no Accept: it should be reviewed first.
    """
    if not waiting:
        return ()
    actions = [REVIEW]
    if len(waiting) == 1:
        actions += [REJECT] if waiting[0].flags or waiting[0].creates else [ACCEPT, REJECT]
    return tuple((action, _BUTTON_TITLES[action]) for action in actions)


def escape(text: str) -> str:
    """Return text from outside as one line of bounded length, safe for terminals and escaped for markup."""
    return truncate(safe_text(fold(text)), _MAX_LENGTH).translate(_MARKUP_ESCAPES)


def about_proposals(names: Sequence[str], *, skills: bool = True) -> str:
    """Return the text about proposals for these files (`skills`: all are skills): counts and names only."""
    counts = Counter(_escape_name(name) for name in names)
    parts = [f"{name} ({count})" if count > 1 else name for name, count in counts.items()]
    left, other = len(parts) - _MAX_NAMES, "other skill" if skills else "other file"
    rest = f" and {pluralize(left, other)}" if left > 0 else ""
    number = sum(counts.values())
    to_look_at = f"{pluralize(number, 'skill update' if skills else 'update')} to review"
    return f"{to_look_at}: {', '.join(parts[:_MAX_NAMES])}{rest}. Run: skilld review"


def about_waiting(number: int) -> str:
    """Return the text about learnings that were kept but not proposed."""
    return f"Kept but not proposed: {pluralize(number, 'learning')}. To see why, run: skilld learnings"


def about_applied(applied: Sequence[tuple[str, str]]) -> str:
    """Return the text about proposals that were applied automatically, given as (skill, ID)."""
    names = ", ".join(dict.fromkeys(_escape_name(skill) for skill, _ in applied))
    return f"Applied to {names}. To undo it: skilld revert {' '.join(proposal for _, proposal in applied)}"


def about_change(proposal: Proposal) -> str:
    """Return the text with the change and the quote of a proposal, for people who want them in a notice."""
    quotes = [f" \u2014 you: \u201c{escape(first.quote)}\u201d" for first in proposal.evidence[:1]]
    return "".join([escape(proposal.summary), *quotes])


def about_budget(why: str) -> str:
    """Return the text for when today's budget is spent."""
    return f"Today's budget is spent: {why}. The rest is on hold until tomorrow. For details, run: skilld cost"


def about_stall(why: str) -> str:
    """Return the text for when nothing could be judged for a day."""
    return f"skilld has not been able to judge anything for a day: {escape(why)}. For details, run: skilld status"


def about_failure(action: str, why: str) -> str:
    """Return the text for when a button's action failed."""
    return f"{_BUTTON_TITLES[action]} failed: {escape(why)}"


def _escape_name(skill: str) -> str:
    return safe_text(fold(skill))[:64].translate(_MARKUP_ESCAPES)
