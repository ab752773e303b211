"""The report as lines for a terminal: at most thirty at 80 columns. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from textwrap import wrap

from skilld.report import say
from skilld.report.values import Group, Report
from skilld.text import counted

WIDTH = 78  # where nobody says how wide it may be
_BLOCKS = "▁▂▃▄▅▆▇█"
_BY_WEEK = "by week: "
_ROWS = 2  # of a list
_INDENT = " " * 10


def lines(report: Report, home: str, width: int = WIDTH) -> list[str]:
    """Return the report; paths below `home` begin with a tilde. Text from outside is as it is."""
    return list(_lines(report, home, width))


def _lines(report: Report, home: str, width: int) -> Iterator[str]:
    weeks = f" ({counted(report.weeks_since, 'week')})" if report.weeks_since > 1 else ""
    yield f"{say.period(report)}{weeks}: {counted(report.sessions, 'session')}"
    if not report.has_news:
        yield from wrap(say.nothing(report, ""), width)
        return
    yield from _named(width, "taught", say.taught(report), *_taught(report, home))
    states = [f"{say.number(count)} {state}" for state in say.STATES if (count := report.decided.states[state])]
    yield from _named(width, "decided", say.decided(report), ", ".join(states))
    yield from _named(width, "repeated", say.again(report), *_again(report, home))
    files = (
        f"{say.short(one.path, home)}: {say.number(one.now)} tokens"
        + (f" ({say.change(one.change)})" * bool(one.change))
        for one in report.weight[:_ROWS]
    )
    yield from _named(width, "tokens", say.weight(report), *files)
    yield from _named(width, "cost", say.cost(report), _blocks(report, report.cost.per_week))
    for name, groups in (("agents", report.agents), ("projects", report.projects)):
        yield from _named(width, name, *(_group(group, home) for group in groups[:_ROWS]))


def _named(width: int, name: str, *said: str) -> Iterator[str]:
    """Yield what is said below a name, each in lines of its own."""
    first = f"{name:{len(_INDENT)}}"
    for one in filter(None, said):
        if one.startswith(_BY_WEEK):
            bars = one.removeprefix(_BY_WEEK)
            yield (first + _BY_WEEK + bars[-(width - len(_INDENT) - len(_BY_WEEK)) :]).rstrip()
        else:
            yield from wrap(one, width, initial_indent=first, subsequent_indent=_INDENT, break_on_hyphens=False)
        first = _INDENT


def _taught(report: Report, home: str) -> Iterator[str]:
    taught = report.taught
    yield _blocks(report, [sum(week) for week in zip(*taught.per_week.values(), strict=True)])
    yield ", ".join(f"{say.number(count)} {say.WHERE[name]}" for name, count in taught.where.items() if count)
    for one in taught.files[:_ROWS]:
        yield f"{say.short(one.path, home)}: {one.taught} taught, {one.accepted} accepted"


def _again(report: Report, home: str) -> Iterator[str]:
    again = report.again
    if not again.rules:
        return
    yield _blocks(report, again.per_week["after"])
    yield "rules: " + ", ".join(f"{count} {say.RULES[state]}" for state, count in again.states.items() if count)
    for rule in [one for one in again.rules if one.state == "repeated"][:_ROWS]:
        yield f"{say.short(rule.path, home)}:{rule.line}: repeated in {say.sessions(rule.after)}"


def _group(group: Group, home: str) -> str:
    name = say.short(group.name, home) or "unknown"
    return f"{name}: {counted(group.sessions, 'session')}, {group.taught} taught, {group.repeats} repeated"


def _blocks(report: Report, values: Sequence[float]) -> str:
    """Return a bar for each week since there is anything to tell; nothing for a single week, or if all are 0."""
    most = max(values, default=0)
    bars = [_BLOCKS[round((len(_BLOCKS) - 1) * one / most)] if one else " " for one in values if most]
    return _BY_WEEK + "".join(bars[-report.weeks_since :]) if len(bars) > 1 < report.weeks_since else ""
