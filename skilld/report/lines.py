"""The report as lines for a terminal: at most thirty at 80 columns. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from textwrap import wrap

from skilld.report import wording
from skilld.report.values import Group, Report
from skilld.report.wording import number
from skilld.text import pluralize

WIDTH = 78  # the default
_BLOCKS = "▁▂▃▄▅▆▇█"
_BY_WEEK_PREFIX = "by week: "
_MAX_ROWS = 2  # per list
_INDENT = " " * 10


def report_lines(report: Report, home: str, width: int = WIDTH) -> Iterator[str]:
    """Yield the report's lines; paths below `home` begin with a tilde. Text from outside is not made safe."""
    yield f"{wording.period(report)}: {pluralize(report.sessions, 'session')}"
    if not report.has_news:
        yield from wrap(wording.nothing_to_show(report, ""), width)
        return
    yield from _labelled(width, "taught", wording.taught(report), *_taught_lines(report, home))
    states = [f"{number(count)} {state}" for state in wording.STATES if (count := report.decided.states[state])]
    yield from _labelled(width, "decided", wording.decided(report), ", ".join(states))
    yield from _labelled(width, "repeated", wording.repeats(report), *_repeat_lines(report, home))
    files = [
        f"{wording.short_path(one.path, home)}: {pluralize(one.now, 'token')}"
        + (f" ({wording.change(one.change)})" * bool(one.change))
        for one in report.weight
    ]
    yield from _labelled(width, "tokens", wording.weight(report), *_first(files))
    yield from _labelled(width, "cost", wording.cost(report), _blocks(report, report.cost.per_week))
    for name, groups in (("agents", report.agents), ("projects", report.projects)):
        yield from _labelled(width, name, *_first([_group_line(group, home) for group in groups]))


def _first(rows: Sequence[str]) -> Iterator[str]:
    """Yield the first rows of a list, and with the last of them how many are not shown."""
    more = f" ({len(rows) - _MAX_ROWS} more not shown)" if len(rows) > _MAX_ROWS else ""
    for place, row in enumerate(rows[:_MAX_ROWS], 1):
        yield f"{row}{more}" if place == _MAX_ROWS else row


def _labelled(width: int, name: str, *said: str) -> Iterator[str]:
    """Yield the lines of a labelled part, each text starting on a new line."""
    first = f"{name:{len(_INDENT)}}"
    for one in filter(None, said):
        if one.startswith(_BY_WEEK_PREFIX):
            bars = one.removeprefix(_BY_WEEK_PREFIX)
            yield (first + _BY_WEEK_PREFIX + bars[-(width - len(_INDENT) - len(_BY_WEEK_PREFIX)) :]).rstrip()
        else:
            yield from wrap(one, width, initial_indent=first, subsequent_indent=_INDENT, break_on_hyphens=False)
        first = _INDENT


def _taught_lines(report: Report, home: str) -> Iterator[str]:
    taught = report.taught
    yield _blocks(report, [sum(week) for week in zip(*taught.per_week.values(), strict=True)])
    yield ", ".join(f"{number(count)} {wording.DESTINATIONS[name]}" for name, count in taught.where.items() if count)
    yield from _first(
        [f"{wording.short_path(one.path, home)}: {one.taught} taught, {one.accepted} accepted" for one in taught.files]
    )


def _repeat_lines(report: Report, home: str) -> Iterator[str]:
    again = report.again
    if not again.rules:
        return
    yield _blocks(report, again.per_week["after"])
    yield "rules: " + ", ".join(f"{count} {wording.RULES[state]}" for state, count in again.states.items() if count)
    repeated = [one for one in again.rules if one.state == "repeated"]
    shares = (f"{one.line}: repeated in {wording.sessions(one.after)}" for one in repeated)
    yield from _first([f"{wording.short_path(o.path, home)}:{s}" for o, s in zip(repeated, shares, strict=True)])


def _group_line(group: Group, home: str) -> str:
    name = wording.short_path(group.name, home) or "unknown"
    again = f", {group.repeats} repeated" if group.repeats else ""
    return f"{name}: {pluralize(group.sessions, 'session')}, {group.taught} taught{again}"


def _blocks(report: Report, values: Sequence[float]) -> str:
    """Return a bar for each week since the first event; empty for a single week, or if all are 0."""
    most = max(values, default=0)
    bars = [_BLOCKS[round((len(_BLOCKS) - 1) * one / most)] if one else " " for one in values if most]
    return _BY_WEEK_PREFIX + "".join(bars[-report.weeks_since :]) if len(bars) > 1 < report.weeks_since else ""
