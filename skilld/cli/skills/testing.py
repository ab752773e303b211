"""`skilld skills test NAME --session ID`: whether the skill covers what you said in that session."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from dataclasses import asdict

from skilld import console
from skilld.classify.backends import OFFLINE, Backend, Spec, make_backend
from skilld.classify.backends.paid_calls import BudgetSpentError, charged_to
from skilld.cli import common, inventory
from skilld.cli.budgeted_model import announce
from skilld.errors import Exit, RefusedError, SkilldError
from skilld.library.recommend import Coverage, CoverageAnswer, CoverageExam, message_batches
from skilld.library.rows import LibraryRow
from skilld.mining.sessions import Reader, Session
from skilld.pipeline.documents import session_opt_out
from skilld.settings import Settings
from skilld.skills import opt_out
from skilld.store import Store
from skilld.store.budget import Account
from skilld.text import pluralize
from skilld.types import Update

_COLOURS = {"covered": "green", "not_covered": "yellow", "contradicts": "red", "cannot_tell": "yellow"}


def run(arguments: argparse.Namespace) -> int:
    """Run the verb."""
    from skilld.settings import choose_back_end

    settings = common.settings()
    store = common.store()
    session = past_session(common.as_text(arguments.session))
    row = _skill_used_in(session, store, arguments.name) or inventory.find_skill(store, arguments.name, session.id)
    if why := session_opt_out(session.cwd or None) or opt_out(row.path, row.name):
        raise RefusedError("The skill was not tested", why)
    spec = choose_back_end(settings, os.environ, session.agent, in_job=False).spec
    backend = make_backend(spec)
    examination = CoverageExam(backend, row.name, row.path, inventory.skill_text(row.skill), common.redactor())
    answers = _collect_answers(examination, session, store, settings, spec)
    # What was said while the skill was in use may be about it without naming it.
    unsure = row.name in {use.name for use in session.uses} or not examination.elsewhere
    unheard = _unheard_reason(backend, session, examination) if unsure and not answers else ""
    words = {answer.word for answer in answers}
    if words <= {Coverage.COVERED, Coverage.CANNOT_TELL} and Coverage.CANNOT_TELL in words:
        why = "the offline rules cannot compare what you said with a skill in another language"
        unheard = unheard or f"{why}; a model can (skilld setup)"
    covered = None if unheard else words <= {Coverage.COVERED}
    if arguments.json:
        common.write_json(
            {
                "skill": row.name,
                "session_id": session.id,
                "agent": session.agent,
                "backend": backend.name,
                "covered": covered,
                "reason": unheard,
                "answers": [asdict(answer) for answer in answers],
                "elsewhere": len(examination.elsewhere),
                "calls": backend.usage.calls,
                "tokens": backend.usage.tokens_in + backend.usage.tokens_out,
            }
        )
    else:
        _print_answers(row, answers, examination.elsewhere, unheard)
        offline = "the offline rules, which find only explicit wording"
        judge = offline if backend.name == OFFLINE else console.plain(backend.name)
        console.say(f"Judged by {judge}.", style="dim")
    return Exit.OK if covered else Exit.FAILURE


def _skill_used_in(session: Session, store: Store, name: str) -> LibraryRow | None:
    """Return the copy of a skill that a session used; None if its log does not name the file."""
    paths = [use.path for use in reversed(session.uses) if use.name == name and use.path]
    return inventory.find_skill_or_none(store, paths[0]) if paths else None


def _unheard_reason(backend: Backend, session: Session, examination: CoverageExam) -> str:
    """Return why the offline rules, having found nothing in a session, cannot judge a skill; empty for a model."""
    if backend.name != OFFLINE:
        return ""
    said = pluralize(sum(message.by_person for message in session.messages), "message")
    about = f" that are clearly about {examination.name}" if examination.elsewhere else ""
    none = f"the offline rules found no lasting instructions{about} in your {said}"
    return f"{none}; a model may find more (skilld setup)"


def _collect_answers(
    examination: CoverageExam, session: Session, store: Store, settings: Settings, spec: Spec
) -> list[CoverageAnswer]:
    """Return the answers for the whole session, within the day's budget."""
    answers: list[CoverageAnswer] = []
    batches = list(message_batches(session.messages, settings.batch.turns))
    if batches and spec.model != OFFLINE:
        announce(store, settings, spec, " about what you said in that session")
    with charged_to(Account(store, settings.budget, examination.name).charge):
        for messages in batches:
            try:
                answers += examination.answers(messages)
            except BudgetSpentError as error:
                raise SkilldError("The session was not fully judged", error.cause, error.remedy) from error
    return answers


def past_session(wanted: str) -> Session:
    """Return a past session by its ID or a prefix, read from its transcript.

    Raises SkilldError if there is none, with the nearest ID, or more than one.
    """
    from skilld.settings import suggestion

    reader = Reader(common.redactor())
    ids: list[str] = []
    begin: dict[str, Session] = {}
    for transcript in sorted(common.past_transcripts(0.0), key=lambda one: (wanted not in str(one.path), -one.changed)):
        for session in reader.sessions(transcript):
            if session.id == wanted:
                return session
            if wanted and session.id.startswith(wanted):
                begin[session.id] = session
            ids.append(session.id)
    if len(begin) > 1:
        raise SkilldError("Ambiguous ID", f"{wanted} matches {len(begin)} sessions", "Type more of the ID.")
    if begin:
        return next(iter(begin.values()))
    if not ids:
        cause = "no transcripts of your agents were found here"
        raise SkilldError("No such session", cause, "To see why: skilld doctor")
    near = f"{wanted or 'without a name'}{suggestion(wanted, ids, cutoff=0.75)}"
    cause = f"no transcript here contains session {near}"
    raise SkilldError("No such session", cause, f"For example: --session {ids[0]}")


def _print_answers(row: LibraryRow, answers: list[CoverageAnswer], elsewhere: Sequence[Update], unheard: str) -> None:
    for answer in answers:
        word = answer.word.value.replace("_", " ")
        console.say(f"{console.paint(f'{word:11}', _COLOURS[answer.word])}  {console.plain(answer.change)}")
        console.say(f"             you: \u201c{console.plain(answer.quote)}\u201d")
        if answer.line:
            console.say(f"             the skill says: {console.plain(answer.line)}")
    if unheard:
        console.say(f"{console.paint('cannot tell', 'yellow')}  {console.plain(unheard)}")
    elif not answers:
        console.say(f"No lasting instruction in that session is about {console.plain(row.name)}.")
    if elsewhere:
        seem = "seem" if elsewhere[1:] else "seems"
        console.say(f"{pluralize(len(elsewhere), 'lasting instruction')} {seem} to be about something else:")
    for update in elsewhere:
        console.say(f"  - {console.plain(update.change)}")
        console.say(f"    you: \u201c{console.plain(update.quote)}\u201d")
