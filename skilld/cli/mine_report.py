"""The outcome of `skilld mine`, as JSON and as text."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import asdict
from typing import Any

from skilld import console
from skilld.cli.common import pick
from skilld.cli.status import format_price
from skilld.mining.candidates import Report
from skilld.mining.domains import DomainResult
from skilld.mining.proposing import CandidateResult
from skilld.mining.session_summary import MAX_TEXT_LENGTH, Row
from skilld.mining.sessions import SessionSet
from skilld.mining.values import REPEATABLE, Candidate, Proof, proof_lines
from skilld.text import pluralize, truncate

_NO_SESSIONS_HINT = "Look further back with --since DAYS, or name transcripts or folders: skilld mine PATH"
_BY_HAND_NOTE = ", from a file you specified"
_MAX_ROW_TEXTS = 6  # of each kind in a session's row
_MISSED_REASONS = {REPEATABLE: "only one session said it like this"}
_REVIEW_HINT = "\nNothing is live yet. To review: skilld review"


def as_json(report: Report) -> dict[str, Any]:
    """Return the document of `mine --json`."""
    judged = report.judgement
    return {
        "sessions": len(report.reading.sessions),
        "rows": [_row_json(one) for one in report.rows],
        "by_hand": sorted(report.reading.by_hand),
        "candidates": [_candidate_json(one) for one in report.became],
        "rejected": [{"topic": one.topic, "missed": one.missed} for one in judged.rejected],
        "docs": [
            {"project": one.project, "text": one.text, "evidence": _proofs_json(one.evidence)} for one in judged.docs
        ],
        "gathered": [asdict(one) | {"project": str(one.project)} for one in report.gathered],
        "model": report.model,
        "calls": report.usage.calls,
        "tokens": report.usage.tokens_in + report.usage.tokens_out,
        "usd": report.usage.usd,
        "stopped": report.asked.stopped,
        "unread": report.unread,
        "unreadable": report.reading.unreadable,
        "unknown_cost": report.reading.unknown_cost,
        "unknown_status": report.reading.unknown_end,
        "left_alone": report.reading.left_alone,
    }


def print_report(report: Report, named: Collection[str] = (), *, hints: bool = True) -> None:
    """Print the report on all sessions, or on those `named`. With `hints`, say where to look for sessions."""
    reading, unusable = report.reading, report.asked.unusable
    missing = sorted(name for name in set(named) if not any(one.id.startswith(name) for one in reading.sessions))
    names = console.plain(", ".join(missing))
    console.say(f"{pluralize(len(reading.sessions), 'session')} read.")
    for number, what in (
        (len(missing), f"not found, or left out by another option: {names} (to look further back: --since DAYS)"),
        (reading.unreadable, f"{pluralize(reading.unreadable, 'transcript')} could not be read"),
        (reading.left_alone, f"{pluralize(reading.left_alone, 'session')} skipped (the project opted out)"),
        (reading.unknown_cost, f"{pluralize(reading.unknown_cost, 'session')} with no recorded cost"),
        (reading.unknown_end, f"{pluralize(reading.unknown_end, 'session')} with no recorded end"),
        (unusable, f"{pluralize(unusable, 'answer')} from the model could not be used; the next run will ask again"),
        (report.unread, f"{pluralize(report.unread, 'question')} not asked; the built-in rules were used instead"),
        (len(report.remark), console.plain(report.remark)),
    ):
        if number:
            console.say(f"  {what}")
    if report.usage.calls:
        used = report.usage
        calls, tokens = pluralize(used.calls, "call"), pluralize(used.tokens_in + used.tokens_out, "token")
        price = format_price(report.model, used.tokens_in + used.tokens_out, used.usd)
        console.say(f"  {calls} to {console.plain(report.model)}, {tokens}, {price}")
    if report.asked.stopped:
        why = console.message(report.asked.stopped)
        console.say(f"  no further questions were asked, because {why}", style="yellow")
    for one in report.became:
        _print_candidate(one, reading)
    for made in report.gathered:
        what = f"{'gather' if made.action == 'create' else made.action} {console.plain(made.name)}"
        console.say(f"\n{console.paint(what, 'bold')} {console.message(str(made.project))}")
        _print_outcome(made)
    judged = report.judgement
    better = "These belong in the project's instructions rather than in a skill:"
    _print_list(better, ((doc.text, doc.project) for doc in judged.docs))
    _print_list("Not used:", ((one.topic, _MISSED_REASONS.get(one.missed, one.missed)) for one in judged.rejected))
    if report.proposed:
        console.say(_REVIEW_HINT)
    elif not reading.sessions and not named and hints:
        console.say(_NO_SESSIONS_HINT)
    elif reading.sessions and not (report.became or report.gathered or judged.docs or judged.rejected):
        console.say("There is not enough in these sessions to make a skill.")


def print_results(became: Iterable[CandidateResult]) -> None:
    """Print the results for the candidates that were kept in the three steps."""
    proposed = False
    for one in became:
        console.say(f"{one.candidate.action} {console.plain(one.candidate.name)}")
        _print_outcome(one)
        proposed = proposed or bool(one.proposal)
    if proposed:
        console.say(_REVIEW_HINT)


def _print_candidate(one: CandidateResult, reading: SessionSet) -> None:
    candidate = one.candidate
    kind = f" ({candidate.kind.value})" if candidate.kind else ""
    target = f" {console.message(one.path or candidate.target)}"
    console.say(f"\n{console.paint(f'{candidate.action} {console.plain(candidate.name)}', 'bold')}{kind}{target}")
    console.say(f"  {console.plain(reason(candidate))}")
    for part in candidate.parts:
        console.say(f"  - {console.plain(part.text)}")
        for line in proof_lines(part, lambda session: _BY_HAND_NOTE if session in reading.by_hand else ""):
            console.say(f"    {console.plain(line)}")
    for left in candidate.left_out:
        console.say(
            f"  left out: {console.plain(left.command)}" + console.paint(f"  \u2013 {console.message(left.why)}", "dim")
        )
    _print_outcome(one)


def _print_outcome(one: CandidateResult | DomainResult) -> None:
    if one.proposal:
        console.say(f"  proposed as {one.proposal}: skilld show {one.proposal}")
        if isinstance(one, CandidateResult) and one.note:
            console.say(f"  {one.note}", style="yellow")
    elif one.why_not:
        console.say(f"  not proposed: {console.message(one.why_not)}", style="yellow")
    elif one.text:
        console.say("  its SKILL.md would be:")
        for line in one.text.splitlines():
            console.line(console.plain(f"    {line}").rstrip())


def _print_list(title: str, rows: Iterable[tuple[str, str]]) -> None:
    for number, (text, remark) in enumerate(rows):
        if not number:
            console.say(f"\n{title}")
        console.say(f"  - {console.plain(text)}" + console.paint(f"  \u2013 {console.message(remark)}", "dim"))


def reason(candidate: Candidate) -> str:
    """Describe the reason for a candidate."""
    if candidate.recurrence:
        return candidate.saved.why
    sessions = len({proof.session for proof in candidate.evidence})
    return f"said in {pluralize(sessions, 'session')}"


def _row_json(row: Row) -> dict[str, Any]:
    """Return the main facts of one session in a few short texts."""
    failed = dict.fromkeys(truncate(action.text, MAX_TEXT_LENGTH) for action, _ in row.actions if action.failed)
    return {
        **pick(row, "agent", "session_id", "path", "main_dir", "datetime"),
        "n_user_turns": len(row.turns),
        "topics": list(row.topics),
        "tasks": [one.text for one in row.tasks if not one.long][:_MAX_ROW_TEXTS],
        "skills_used": list(row.skills_used),
        "env_feedback": list(failed)[:_MAX_ROW_TEXTS],
        "user_feedback": [one.quote for one in row.user_feedback[:_MAX_ROW_TEXTS]],
    }


def _candidate_json(one: CandidateResult) -> dict[str, Any]:
    candidate = one.candidate
    return {
        **pick(candidate, "name", "action", "target", "kind", "dimensions", "changes"),
        "evidence": _proofs_json(candidate.evidence),
        "observed": _proofs_json(candidate.observed),
        "left_out": [pick(left, "command", "why") for left in candidate.left_out],
        **pick(one, "path", "why_not", "text"),
        "proposal": one.proposal or None,
    }


def _proofs_json(proofs: Iterable[Proof]) -> list[dict[str, Any]]:
    return [pick(one, "session", "turn", "quote") for one in proofs]
