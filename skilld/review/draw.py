"""Values as Textual content: cells, and a proposal's details. Only styles from the terminal's own palette.

Everything from outside is made safe for the terminal here, and becomes text, never markup.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from textual.content import Content

from skilld import console
from skilld.clock import local_date
from skilld.files import below_home
from skilld.library.rows import LibraryRow
from skilld.mining.proposing import CandidateResult
from skilld.proposals.model import project_name
from skilld.review.controller import ProposalView
from skilld.review.diff import DiffRow
from skilld.review.excerpts import Excerpt
from skilld.review.generation import KeptCandidate, SessionChoice, quoted_parts
from skilld.store.learnings import Learning
from skilld.store.overview import LiveSession
from skilld.text import format_usd, pluralize
from skilld.text import safe_text as safe
from skilld.types import Proposal, State

AGE = "age"
PROPOSAL_COLUMNS = (("ID", 9), ("file or skill", 14), ("project", 10), (AGE, 4), ("", 2), ("what", 160))
SKILL_COLUMNS = (("skill", 20), ("from", 9), ("uses", 5), ("edits", 6), ("well", 5), ("edited", 7), ("where", 160))
WAITING_COLUMNS = (("said", 5), ("project", 14), ("what", 160))
SESSION_COLUMNS = (("agent", 12), ("project", 20), ("turns", 6), ("state", 7), ("last", 6), ("skills", 80))

_STYLES = {"-": "red", "+": "green", "@": "dim", " ": ""}
_UNITS = (("d", 86400), ("h", 3600), ("m", 60))


def can_show(text: str) -> bool:
    """Whether a text can be edited on this screen: it has no characters that a terminal would interpret or hide."""
    plain = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\t", " ")
    return safe(plain, newlines=True) == plain


def proposal_cells(proposal: Proposal, made_at: float | None, now: float) -> list[Content]:
    """Return the row of a proposal that was made at a Unix time."""
    return [
        Content(proposal.id),
        Content(truncate(proposal.skill, 13)),
        Content(truncate(project_name(proposal), 9)),
        Content(age(made_at, now)),
        Content.styled("!" if proposal.flags else "", "bold yellow"),
        Content(safe("".join(_summary_prefix(proposal)) + proposal.summary)),
    ]


def _summary_prefix(proposal: Proposal) -> Iterator[str]:
    """Yield what a row shows before a proposal's summary, which may be truncated before its second part."""
    if proposal.state is not State.OPEN:
        yield f"[{proposal.state.value}] "
    if proposal.operations[1:]:
        yield f"{len(proposal.operations)} parts: "


def skill_cells(skill: LibraryRow, home: Path, now: float) -> list[Content]:
    """Return the row of a skill; `home` is the person's."""
    marks = (*skill.marks, *([f"from {pluralize(skill.origins, 'session')}"] if skill.origins else []))
    return [
        Content(truncate(skill.name, 19)),
        Content.styled(skill.group, "cyan"),
        Content(str(skill.uses.number or "")),
        Content(str(skill.corrections or "")),
        Content("" if skill.uses.success is None else f"{skill.uses.success:.0%}"),
        Content(age(skill.edited_at or None, now)),
        Content.styled(safe(", ".join((*marks, below_home(skill.path, home)))), "dim"),
    ]


def skill_detail(skill: LibraryRow, home: Path) -> Content:
    """Return the details of a skill, for which its row has no room."""
    marks = f" ({', '.join(skill.marks)})" if skill.marks else ""
    return Content.assemble((safe(skill.name), "bold"), safe(marks), "\n", (safe(below_home(skill.path, home)), "dim"))


def session_detail(session: LiveSession, turns: int, home: Path) -> Content:
    """Return the details of a session, for which its row has no room; `turns` make a batch."""
    skills = ", ".join(reversed(session.skills)) or "no skill in use"
    folder = safe(below_home(Path(session.cwd or ""), home))
    when = f"judged after {turns} turns, or when the session ends" * (not session.ended and not session.judged)
    above = "\n".join(filter(None, (safe(skills), when)))
    return Content.assemble(above, "\n", (folder, "dim"))


def session_cells(session: LiveSession, turns: int, now: float) -> list[Content]:
    """Return the row of a session; `turns` make a batch."""
    folder = (session.cwd or "").rstrip("/").rpartition("/")[2]
    over = "ended" if session.ended else "judged" if session.judged else ""
    return [
        Content(session.agent),
        Content(truncate(folder, 19)),
        Content(str(session.turns)),
        Content.styled(over or f"{session.waiting} of {turns}", "dim" if over else "bold"),
        Content(age(session.last_activity, now)),
        Content(safe(", ".join(reversed(session.skills)))),
    ]


def waiting_cells(ask: Sequence[Learning]) -> list[Content]:
    """Return the row of a learning."""
    folder = (ask[0].project or "").rstrip("/").rpartition("/")[2]
    return [Content(str(len(ask))), Content(truncate(folder, 13)), Content(safe(ask[0].change))]


def waiting_detail(ask: Sequence[Learning], not_shown: str = "") -> Content:
    """Return why a learning was not proposed, and each time that it was said; then how to see those `not_shown`."""
    lines = [Content.styled(safe(ask[0].change), "bold"), Content(safe(f"not proposed: {ask[0].why_kept}"))]
    lines += [_draw_person("", one.quote, f"  ({local_date(one.created_at)})") for one in ask]
    lines += [Content.styled(f"\n{not_shown}", "dim")] if not_shown else []
    return Content("\n").join(lines)


def report_content(lines: Iterable[str]) -> Content:
    """Return the report's lines, with this screen's keys in place of commands, and how to get the full report."""
    more = Content.styled("\nFor the full report: skilld report --html FILE", "dim")
    return Content("\n").join([*(Content(safe(line.replace("skilld review", "press 1"))) for line in lines), more])


def age(at: float | None, now: float) -> str:
    """Return how long ago a Unix time was, in at most four characters or so; empty for None."""
    if at is None:
        return ""
    passed = max(0.0, now - at)
    return next((f"{int(passed // size)}{unit}" for unit, size in _UNITS if passed >= size), "now")


def proposal_detail(proposal: Proposal, view: ProposalView | None, home: Path) -> Content:
    """Return the details of a proposal; without a `view`, what the store knows. `home` is the person's."""
    path = below_home(Path(proposal.path), home)
    lines = [Content.styled(safe(proposal.summary), "bold"), Content.styled(safe(path), "dim")]
    remarks = view.remarks if view else proposal.flags
    lines += [Content.styled(f"! {console.message(remark)}", "bold yellow") for remark in remarks]
    lines += [Content.styled(f"note: {console.message(note)}", "cyan") for note in (view.notes if view else ())]
    lines.append(Content(""))
    lines += [_draw_row(row) for row in view.rows] if view else [Content.styled("loading ...", "dim")]
    for name, rows in view.beside if view else ():
        lines += [Content.styled(f"in {safe(name)}:", "dim"), *map(_draw_row, rows)]
    lines.append(Content(""))
    for number, evidence in enumerate(proposal.evidence):
        excerpts = view.excerpts[number] if view and number < len(view.excerpts) else ()
        lines += [*_draw_excerpts(excerpts)] if excerpts else [_draw_person("", evidence.quote, "")]
    if proposal.reason:
        lines.append(Content(f"why:   {safe(proposal.reason)}"))
    facts = (proposal.id, proposal.agent, proposal.model, f"confidence {proposal.confidence:.2f}")
    lines.append(Content.styled(safe("  ".join(facts)), "dim"))
    return Content("\n").join(lines)


def _draw_excerpts(excerpts: Sequence[Excerpt]) -> Iterator[Content]:
    for message in excerpts:
        if message.gap:
            yield Content.styled("       ...", "dim")
        if message.by_person:
            yield _draw_person(message.before, message.quote, message.after)
        else:
            yield Content.styled(f"agent: {message.before}", "dim")


def _draw_person(before: str, quote: str, after: str) -> Content:
    marked = (safe(quote), "bold underline")
    return Content.assemble(("you:   ", "cyan"), safe(before), marked, safe(after))


def _draw_row(row: DiffRow) -> Content:
    if row.kind == "@":
        return Content.styled("  ...", "dim")
    style = _STYLES[row.kind]
    parts = [(text, f"{style} bold reverse" if differs else style) for text, differs in row.segments]
    return Content.assemble((f"{row.kind} ", style), *parts)


def truncate(text: str, width: int) -> str:
    """Return text from outside as one line, safe for the terminal, truncated to `width`."""
    plain = safe(text)
    return plain if len(plain) <= width else plain[: width - 1] + "…"


# The steps of `skilld mine --interactive`.

PAST_SESSION_COLUMNS = (
    *(("", 4), ("date", 11), ("agent", 12), ("project", 14)),
    *(("turns", 6), ("cost", 10), ("first request", 160)),
)
CANDIDATE_COLUMNS = (("", 4), ("what", 8), ("skill", 30), ("why", 160))
NAME_COLUMNS = (("what", 8), ("skill", 40), ("became", 160))


def checkbox(chosen: bool) -> Content:  # noqa: FBT001 - it is what is drawn
    """Return a checkbox."""
    return Content("[x]" if chosen else "[ ]")


def money(cost: float | None) -> Content:
    """Return what a session cost; empty if that is not known."""
    return Content("" if cost is None else format_usd(cost))


def choice_cells(choice: SessionChoice, cost: float | None, *, chosen: bool) -> list[Content]:
    """Return the row of a session."""
    return [
        checkbox(chosen),
        Content(choice.day),
        Content(safe(choice.session.agent)),
        Content(truncate(choice.project, 13)),
        Content(str(len(choice.session.turns))),
        money(cost),
        Content(choice.title),
    ]


def candidate_cells(one: CandidateResult, name: str, *, kept: bool) -> list[Content]:
    """Return the row of a candidate."""
    new = one.candidate
    return [checkbox(kept), Content(new.action), Content(truncate(name, 29)), Content(safe(", ".join(new.dimensions)))]


def name_cells(keep: KeptCandidate, became: CandidateResult | None) -> list[Content]:
    """Return the row of a kept candidate, and why it could not be proposed under its present name."""
    tried = became is not None and became.candidate.name == keep.name
    problem = Content.styled(safe(became.why_not), "yellow") if became and tried else Content("")
    return [Content(keep.candidate.action), Content(truncate(keep.name, 39)), problem]


def candidate_detail(one: CandidateResult, text: str) -> Content:
    """Return what a candidate would add to a skill, with its evidence, and the text of a new skill."""
    lines = [Content.styled(f"! {safe(one.why_not)}", "bold yellow")] if one.why_not else []
    lines += [] if one.candidate.creates else [Content.styled(safe(one.candidate.target), "dim")]
    for addition, words in quoted_parts(one.candidate):
        lines.append(Content.styled(f"+ {addition}", "green"))
        lines += [Content.styled(f"    {line}", "cyan") for line in words]
    lines += [Content(""), Content(safe(text, newlines=True))] if text else []
    return Content("\n").join(lines)
