"""What the steps of generating show, as what Textual shows: all from outside is made harmless here, and no markup."""

from __future__ import annotations

from collections.abc import Iterator

from textual.binding import Binding
from textual.content import Content
from textual.screen import Screen

from skilld.mining.proposing import CandidateResult
from skilld.review.draw import fit, safe
from skilld.review.generate.generating import Choice, Keep, quotes
from skilld.text import safe_text

SESSION_COLUMNS = (
    ("", 4),
    ("date", 11),
    ("agent", 12),
    ("project", 14),
    ("turns", 6),
    ("cost", 7),
    ("first request", 160),
)
CANDIDATE_COLUMNS = (("", 4), ("what", 8), ("skill", 30), ("because it is", 160))
NAME_COLUMNS = (("what", 8), ("skill", 40), ("became", 160))

CSS = """
Rows { overflow-x: hidden; height: 1fr; }
#status { height: auto; border-top: solid ansi_bright_black; }
#filter, #filter:focus { border: none; padding: 0; height: 1; background: ansi_default; }
#evidence { height: 2fr; border-top: solid ansi_bright_black; }
"""


def box(chosen: bool) -> Content:  # noqa: FBT001 - it is what is drawn
    """Return a checkbox."""
    return Content("[x]" if chosen else "[ ]")


def money(cost: float | None) -> Content:
    """Return what a session cost; empty where nobody knows."""
    return Content("" if cost is None else f"${cost:.2f}")


def choice_cells(choice: Choice, cost: float | None, *, chosen: bool) -> list[Content]:
    """Return the row of a session."""
    return [
        box(chosen),
        Content(choice.day),
        Content(safe(choice.session.agent)),
        Content(fit(choice.project, 13)),
        Content(str(len(choice.session.turns))),
        money(cost),
        Content(choice.title),
    ]


def candidate_cells(one: CandidateResult, name: str, *, kept: bool) -> list[Content]:
    """Return the row of what the sessions came to."""
    what = one.candidate
    return [box(kept), Content(what.action), Content(fit(name, 29)), Content(safe(", ".join(what.dimensions)))]


def name_cells(keep: Keep, became: CandidateResult | None) -> list[Content]:
    """Return the row of what is kept, and what became of it under the name that it still has."""
    tried = became is not None and became.candidate.name == keep.name
    said = Content.styled(safe(became.why_not), "yellow") if became and tried else Content("")
    return [Content(keep.candidate.action), Content(fit(keep.name, 39)), said]


def evidence(one: CandidateResult, text: str) -> Content:
    """Return what a candidate has a skill say, with the words behind it, and the text of a new skill."""
    return Content("\n").join(_evidence(one, text))


def _evidence(one: CandidateResult, text: str) -> Iterator[Content]:
    if one.why_not:
        yield Content.styled(f"! {safe(one.why_not)}", "bold yellow")
    if not one.candidate.creates:
        yield Content.styled(safe(one.candidate.target), "dim")
    for said, words in quotes(one.candidate):
        yield Content.styled(f"+ {said}", "green")
        for line in words:
            yield Content.styled(f"    {line}", "cyan")
    if text:
        yield Content("")
        yield Content(safe_text(text, newlines=True))


# What the three steps of generating share on a screen: look, keys, and that the end of one ends those before it.

KEYS = [Binding("escape", "leave", "Leave"), Binding("q", "leave", show=False)]
BACK = Binding("b", "back", "Back")


class Step(Screen[list[CandidateResult]]):
    """One step. Dismissed with None it was left backwards, with a list everything is over."""

    CSS = CSS

    def over(self, became: list[CandidateResult] | None) -> None:
        """End with the step behind this one, unless that was left backwards."""
        if became is not None:
            self.dismiss(became)
