"""What one reading of a transcript gave, written into the store: sessions seen and ended, turns, skill uses."""

from __future__ import annotations

from collections.abc import Iterable

from skilld.classify.backends.agent_cli_own import is_own
from skilld.daemon.opened import Opened
from skilld.store.files import StoredFile
from skilld.store.transcripts import Transcripts
from skilld.times import seconds
from skilld.types import Event, Ignored, Malformed, SessionEnd, SkillUse, Turn
from skilld.window.gate import may_hold_something_lasting


def record(rows: Transcripts, followed: Opened, events: Iterable[Event], touched: set[tuple[str, str]]) -> int:
    """Store the events of one file; returns how many turns are new and count. Call it in a transaction.

    The sessions (agent, id) that they belong to are added to `touched`.
    """
    file = followed.file
    new = 0
    seen: tuple[str | None, str | None] = None, None  # what was noted last: a run of one session's events is noted once
    for event in events:
        if isinstance(event, Ignored | Malformed):
            continue
        if isinstance(event, SessionEnd):
            rows.end_session(file.agent, event.session_id)
            touched.add((file.agent, event.session_id))
            seen = None, None
            continue
        cwd = event.cwd if isinstance(event, Turn | SkillUse) else None
        if is_own(event.text if isinstance(event, Turn) else "", cwd):
            continue
        if event.session_id != seen[0] or cwd not in {None, seen[1]}:
            seen = event.session_id, cwd
            rows.see_session(file.agent, event.session_id, cwd=cwd, activity=followed.activity(event))
            touched.add((file.agent, event.session_id))
        if isinstance(event, SkillUse):
            rows.add_use(file.agent, event)
        if isinstance(event, Turn):
            lasting = may_hold_something_lasting(event.text)
            revives = file.since is not None
            new += rows.add_turn(event, file.id, counts=_counts(event, file), lasting=lasting, revives=revives)
    return new


def _counts(turn: Turn, file: StoredFile) -> bool:
    if turn.span.start < file.baseline:
        return False
    since, at = seconds(file.since), seconds(turn.at)
    return since is None or at is None or at >= since
