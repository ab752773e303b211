"""Plots as inline SVG: bars by week, lines by week, one bar in parts. Pure.

Only shapes are SVG, and stretch to the available width; labels are HTML beside them, so that they keep their size. The
title of a week's bar says what it stands for.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date

from skilld.report.markup import Markup, join, tag
from skilld.report.wording import MONTHS
from skilld.values import value_class

_STEP, _BAR, _HEIGHT = 10, 8, 100  # width of a week, width of its bar, height of the plot
_MAX_LABEL_POSITION = 0.96  # of the width, so that the name of a month does not overflow on the right
_GAP = 0.8  # between the parts of one bar


@value_class
class Series:
    """Values of one colour, which is a class in the style sheet; None means no bar."""

    colour: str
    values: Sequence[float | None]


def bars(series: Sequence[Series], titles: Sequence[str], *, highest: float, peak: str, about: str) -> Markup:
    """Return stacked bars; `highest` is the value at the top of the plot, `peak` its label; each bar has a title."""
    bottoms = [0.0] * len(titles)
    scale = _HEIGHT / highest if highest else 0.0
    drawn = []
    for one in series:
        path = []
        for place, value in enumerate(one.values):
            if value:
                height, left = value * scale, place * _STEP + (_STEP - _BAR) / 2
                top = _HEIGHT - bottoms[place] - height
                gap = min(_GAP, height / 2) if bottoms[place] else 0.0
                path.append(f"M{left:g} {top:.2f}h{_BAR}v{height - gap:.2f}h-{_BAR}z")
                bottoms[place] += height
        drawn.append(tag("path", class_=one.colour, d="".join(path)))
    hits = [
        tag("rect", tag("title", title), x=str(place * _STEP), width=str(_STEP), height=str(_HEIGHT))
        for place, title in enumerate(titles)
    ]
    shapes = _svg(len(titles) * _STEP, _HEIGHT, about, *drawn, tag("g", *hits, class_="hits"))
    return tag("div", tag("span", peak, class_="peak"), shapes, class_="plot")


def line(values: Sequence[int | None], highest: int, about: str) -> Markup:
    """Return a stepped line with a filled area down to 0; `highest` is the value at the top of the plot."""
    scale = (_HEIGHT - 8) / highest
    points = [(place * _STEP, _HEIGHT - value * scale) for place, value in enumerate(values) if value is not None]
    steps = "".join(f"L{left} {top:.1f}h{_STEP}" for left, top in points)
    start = points[0][0] if points else 0
    edge = f"M{start} {points[0][1]:.1f}{steps}" if points else ""
    below = f"M{start} {_HEIGHT}{steps}V{_HEIGHT}z" if points else ""
    shapes = tag("path", class_="below", d=below), tag("path", class_="line", d=edge)
    return _svg(len(values) * _STEP, _HEIGHT, about, *shapes)


def strip(parts: Iterable[tuple[str, int]], about: str) -> Markup:
    """Return one horizontal bar, its parts by colour."""
    present = [(colour, number) for colour, number in parts if number]
    left, total, drawn = 0.0, sum(number for _, number in present), []
    for colour, number in present:
        width = 1000 * number / total
        drawn.append(tag("path", class_=colour, d=f"M{left:.1f} 0h{max(width - 3, 1):.1f}v10H{left:.1f}z"))
        left += width
    return _svg(1000, 10, about, *drawn)


def months(mondays: Sequence[str]) -> Markup:
    """Return the names of the months, below the weeks in which they begin."""
    named, labelled = [], date.fromisoformat(mondays[0]).month
    for place, monday in enumerate(mondays):
        month = date.fromisoformat(monday).month
        if month != labelled and place < _MAX_LABEL_POSITION * len(mondays):
            named.append((place, month))
        labelled = month
    lefts = [f"left:{100 * place / len(mondays):.2f}%" for place, _ in named]
    labels = [
        tag("span", MONTHS[month - 1], class_="odd" if number % 2 else "", style=lefts[number])
        for number, (_, month) in enumerate(named)
    ]
    return tag("div", *labels, class_="months", aria_hidden="true")


def _svg(width: int, height: int, about: str, *shapes: Markup) -> Markup:
    box = {"viewBox": f"0 0 {width} {height}", "preserveAspectRatio": "none"}
    return tag("svg", join(*shapes), role="img", aria_label=about, **box)
