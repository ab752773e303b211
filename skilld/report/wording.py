"""The report's words, shared by the page and the lines; each number is one of its own values. Pure."""

from __future__ import annotations

from datetime import date

from skilld.clock import local_date
from skilld.effect.figures import MIN_SESSIONS
from skilld.files import below_home
from skilld.report.values import Report, Share
from skilld.text import format_usd, pluralize, truncate

MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
DESTINATIONS = {
    "skill": "to skills",
    "instructions": "to project instructions",
    "rules": "to rule files",
    "personal": "to your own instructions",
    "waiting": "not in a file yet",
    "said": "already in a file",
}
STATES = ("accepted", "open", "dropped", "rejected", "reverted", "replaced", "superseded", "stale")
RULES = {"repeated": "repeated", "holds": "followed", "unknown": "too early to tell", "unused": "never needed"}
NO_SESSION = "skilld has not read any sessions yet. Start with: skilld run --backfill 7"
MAX_PATH = 60  # characters of a path
_HOUR_DAYS, _TEN_MINUTES_DAYS = 0.042, 0.007  # days


def number(given: float) -> str:
    """Return a number with its thousands apart."""
    return f"{given:,}"


def percent(given: int | None) -> str:
    """Format a percentage; None is a dash."""
    return "–" if given is None else f"{given}%"


def amount(given: float, unit: str) -> str:
    """Return an amount of money, or of tokens where no price is known."""
    return f"{given:,.0f} tokens" if unit == "tokens" else format_usd(given)


def change(given: int) -> str:
    """Format a change in size, with its sign."""
    return f"{given:+,}".replace("-", "−") if given else "0"


def day(iso: str) -> str:
    """Format a date, or the local day of a time, such as 3 May."""
    at = date.fromisoformat(local_date(iso))
    return f"{at.day} {MONTHS[at.month - 1]}"


def period(report: Report) -> str:
    """Describe the period of the report."""
    first, last = map(local_date, (report.since, report.made_at))
    if first == last:
        return f"{day(first)} {first[:4]}"
    return f"{day(first)} {first[:4]} to {day(last)} {last[:4]}"


def short_path(path: str, home: str, limit: int = MAX_PATH) -> str:
    """Return a path with the home folder as ~; of one over `limit` the last parts that fit, at least the name."""
    shown = below_home(path, home)
    top, *parts = shown.split("/")
    while len(shown) > limit and len(parts) > 1:
        parts = parts[1:]
        shown = "/".join((top, "…", *parts))
    return truncate(shown, limit, tail_share=0.7)


def nothing_to_show(report: Report, why: str) -> str:
    """Describe why a part of the report is empty."""
    return f"Nothing to show, because {why if report.has_news else NO_SESSION}"


def taught(report: Report) -> str:
    """Describe how much was taught."""
    sessions, unjudged = pluralize(report.sessions, "session"), report.taught.unjudged
    waiting = pluralize(unjudged, "message is", "messages are")
    more = f" {waiting} not judged yet (why: skilld doctor)." if unjudged else ""
    if not report.taught.total:
        yet = " yet" if unjudged else ""
        found = f"skilld has found no lasting instructions in {sessions}{yet}.{more}" if report.sessions else NO_SESSION
        return nothing_to_show(report, found)
    where = sessions if report.sessions else "past sessions"
    return f"skilld found {pluralize(report.taught.total, 'lasting instruction')} in {where}.{more}"


def decided(report: Report) -> str:
    """Describe the decisions on proposals."""
    if not sum(report.decided.states.values()):
        return nothing_to_show(report, "no edits have been proposed.")
    if report.decided.percent is None:
        return "You have not decided on any proposals yet. To review them: skilld review"
    days = report.decided.days
    when = ""
    if days is not None:
        brief = "a day" if days > _HOUR_DAYS else "an hour" if days > _TEN_MINUTES_DAYS else "ten minutes"
        took = f"{number(days)} days" if days > 1 else brief
        when = f"; half of the decisions were made within {took}"
    return f"Of the proposals you decided on, {percent(report.decided.percent)} were accepted and not reverted{when}."


def repeats(report: Report) -> str:
    """Describe how often rules had to be stated, before they were added and since."""
    before, after = report.again.before, report.again.after
    if not report.again.rules:
        none = "no edit that you accepted added a rule that is still there, and you did not repeat any other."
        return nothing_to_show(report, _unread(report) or none)
    if before.percent is None and after.percent is None:
        return "skilld has not read any sessions in which a rule applied."
    several = bool(report.again.rules[1:])
    noun, each = ("case", " A case is one rule in one session.") if several else ("session", "")
    clause = f"Before a rule was added, you said it in {sessions(before, noun)} where it applied"
    if not after.sessions:
        return f"{clause}; there have been no such {noun}s since.{each}"
    repeated = f"you repeated it in {sessions(after, noun)} where it applied.{each}"
    return f"{clause}. Since then, {repeated}" if before.sessions else f"After a rule was added, {repeated}"


def sessions(share: Share, noun: str = "session") -> str:
    """Describe in how many of the sessions, or whatever `noun` says, a rule was stated."""
    text = f"{number(share.repeats)} of {number(share.sessions)} {noun}{'' if share.sessions == 1 else 's'}"
    few = share.sessions < MIN_SESSIONS or share.repeats in {0, share.sessions}
    return text if few else f"{text} ({percent(share.percent)})"


def brief(share: Share) -> str:
    """Return a share of sessions as a percentage; as the two numbers if there are too few sessions for one."""
    few = 0 < share.sessions < MIN_SESSIONS
    return f"{number(share.repeats)} of {number(share.sessions)}" if few else percent(share.percent)


def _unread(report: Report) -> str:
    return "some transcripts have not been read yet. To read them: skilld effect" if report.again.unread else ""


def weight(report: Report) -> str:
    """Describe the table of files."""
    if not report.weight:
        gone = "none of the instruction files or skills loaded in a session still exist."
        return nothing_to_show(report, _unread(report) or (gone if report.sessions else NO_SESSION))
    return "Tokens that your agents load, largest files first, at about four characters per token."


def cost(report: Report) -> str:
    """Describe what was spent, in total and for each accepted edit."""
    spent = report.cost
    if not spent.calls:
        return nothing_to_show(report, "no model was used; judging offline costs nothing.")
    total = f"{amount(spent.usd, 'usd')}, " if spent.unit == "usd" else ""
    text = f"{total}{pluralize(spent.tokens, 'token')} in {pluralize(spent.calls, 'model call')}"
    if not spent.accepted:
        return f"{text}; nothing has been accepted yet."
    if spent.per_accepted is None:  # calls that were not answered cost nothing
        return f"{text}."
    each = "the accepted edit" if spent.accepted == 1 else f"each of {number(spent.accepted)} accepted edits"
    return f"{text}, or {amount(spent.per_accepted, spent.unit)} for {each}."
