"""The report as lines for a terminal: at most thirty at 80 columns. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
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
_LINE_NUMBER = len(":1234:")  # after a path
_MIN_PATH = 12  # characters


def report_lines(report: Report, home: str, width: int = WIDTH) -> Iterator[str]:
    """Yield the report's lines; paths below `home` begin with a tilde. Text from outside is not made safe."""
    counted = f": {pluralize(report.sessions, 'session')}" if report.sessions or not report.has_news else ""
    yield f"{wording.period(report)}{counted}"
    if not report.has_news:
        yield from wrap(wording.nothing_to_show(report, ""), width)
        return
    room = max(width - len(_INDENT) - _LINE_NUMBER, _MIN_PATH)
    short = partial(wording.short_path, home=home, limit=min(room, wording.MAX_PATH))
    yield from _labelled(width, "taught", wording.taught(report), *_taught_lines(report, short))
    outcomes = report.decided.outcomes
    states = [f"{number(outcomes[state])} {state}" for state in wording.STATES if state in outcomes]
    yield from _labelled(width, "decided", wording.decided(report), ", ".join(states))
    yield from _labelled(width, "repeated", wording.repeats(report), *_repeat_lines(report, short))
    files = [
        f"{short(one.path)}: {pluralize(one.now, 'token')}" + (f" ({wording.change(one.change)})" * bool(one.change))
        for one in report.weight
    ]
    yield from _labelled(width, "tokens", wording.weight(report), *_first(files))
    yield from _labelled(width, "cost", wording.cost(report), _blocks(report, report.cost.per_week))
    for noun, groups in (("agent", report.agents), ("project", report.projects)):
        yield from _labelled(width, f"{noun}s", *_first([_group_line(group, short) for group in groups], noun))


def _first(rows: Sequence[str], noun: str = "file") -> Iterator[str]:
    """Yield the first rows of a list, and with the last of them how many are not shown."""
    more = f" (and {pluralize(len(rows) - _MAX_ROWS, f'more {noun}')})" if len(rows) > _MAX_ROWS else ""
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


def _taught_lines(report: Report, short: Callable[[str], str]) -> Iterator[str]:
    taught = report.taught
    yield _blocks(report, [sum(week) for week in zip(*taught.per_week.values(), strict=True)])
    yield ", ".join(f"{number(count)} {wording.DESTINATIONS[name]}" for name, count in taught.where.items() if count)
    yield from _first([f"{short(one.path)}: {one.taught} taught, {one.accepted} accepted" for one in taught.files])


def _repeat_lines(report: Report, short: Callable[[str], str]) -> Iterator[str]:
    again = report.again
    if not again.rules:
        return
    yield _blocks(report, again.per_week["after"])
    yield "rules: " + ", ".join(f"{count} {wording.RULES[state]}" for state, count in again.states.items() if count)
    repeated = [one for one in again.rules if one.state == "repeated"]
    shares = (f"{one.line}: repeated in {wording.sessions(one.after)}" for one in repeated)
    yield from _first([f"{short(o.path)}:{s}" for o, s in zip(repeated, shares, strict=True)], "rule")


def _group_line(group: Group, short: Callable[[str], str]) -> str:
    name = short(group.name) or "unknown"
    sessions = f"{pluralize(group.sessions, 'session')}, " if group.sessions else ""
    again = f", {group.repeats} repeated" if group.repeats else ""
    return f"{name}: {sessions}{group.taught} taught{again}"


def _blocks(report: Report, values: Sequence[float]) -> str:
    """Return a bar for each week since the first event; empty for a single week, or if all are 0."""
    most = max(values, default=0)
    bars = [_BLOCKS[round((len(_BLOCKS) - 1) * one / most)] if one else " " for one in values if most]
    return _BY_WEEK_PREFIX + "".join(bars[-report.weeks_since :]) if len(bars) > 1 < report.weeks_since else ""
