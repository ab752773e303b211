"""Rows of sessions and what is known of them, judged; what does not stand a second look is left out."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from skilld.draft import SkillKind
from skilld.mine.confirm import Transcripts, refuted
from skilld.mine.judge import judge
from skilld.mine.known import Proposed
from skilld.mine.rows import Feedback, Row, heard, row_of
from skilld.mine.sessions import Session
from skilld.mine.values import Judgement
from skilld.mine.windows import Window
from skilld.skills import Skill
from skilld.store import Store

_LOOKS = 5  # each look may refute what the one before brought up


def rows(
    sessions: Sequence[Session], windows: Callable[[Session], Sequence[Window]] | None, store: Store
) -> tuple[list[Row], int]:
    """Return the row of each session, and how many windows no model has answered for yet.

    Without `windows` all is heard by rules; where a model's answer is missing, those stand in for it.
    """
    found: list[Row] = []
    unread = 0
    for session in sessions:
        answers = [store.mining.found(window.id) for window in windows(session)] if windows else [None]
        said = {(one.turn, one.quote): one for answer in answers for one in map(_feedback, answer or ())}
        if None in answers:
            said = {(one.turn, one.quote): one for one in heard(session)} | said
        unread += answers.count(None) if windows else 0
        found.append(row_of(session, list(said.values())))
    return found, unread


def judged(
    found: Sequence[Row],
    skills: Sequence[Skill],
    texts: Mapping[Path, str],
    transcripts: Transcripts,
    proposed: Proposed,
    *,
    kind: SkillKind | None = None,
    create_new: bool = False,
) -> Judgement:
    """Return what the rows come to, with all evidence confirmed and nothing that was proposed before."""
    doubted: dict[tuple[str, str], str] = {}
    now = time.time()
    for _ in range(_LOOKS):
        outcome = judge(
            found,
            skills,
            texts,
            now=now,
            refuted=doubted,
            known=proposed.why_known,
            kind=kind,
            create_new=create_new,
        )
        again = refuted((part for one in outcome.candidates for part in one.parts), transcripts)
        if not again:
            return outcome
        doubted |= again
    return Judgement((), outcome.rejected, outcome.docs)


def _feedback(item: Mapping[str, object]) -> Feedback:
    return Feedback(
        str(item["turn"]), str(item["quote"]), str(item["change"]), str(item["kind"]), float(str(item["confidence"]))
    )
