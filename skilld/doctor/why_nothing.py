"""Why nothing was proposed so far: the turns counted down from seen to proposed. Pure."""

from __future__ import annotations

from skilld.doctor.values import Counts
from skilld.text import counted

_LOOK_BACK = "to read what was said in the last week: skilld run --once --backfill 7"
_MOST = 3  # reasons of refusals


def why_nothing(counts: Counts, paused_until: str) -> list[str]:
    """Return the reasons, the most telling first; none where something was proposed."""
    if counts.proposals:
        return []
    if not counts.turns:
        before = f"{counts.files} session files were there before skilld and count from their end on; " * bool(
            counts.files
        )
        return [f"0 turns seen since skilld first ran; {before}{_LOOK_BACK}"]
    seen = f"{counted(counts.turns, 'turn')} seen, {counts.with_skill} with a skill in use"
    reasons = [f"{seen}; {counts.learnings} kept as learnings"]
    if not counts.with_skill:
        reasons.append("an edit needs a skill that the session used; what was lasting is kept: skilld learnings")
    if counts.chatter:
        reasons.append(f"{counted(counts.chatter, 'turn')} held nothing that might last, by cheap rules")
    if counts.waiting:
        full = counted(counts.batch_turns, "turn")
        rule = f"a batch is {full}, or what is there after {counts.idle_minutes:g} idle minutes"
        reasons.append(f"{counted(counts.waiting, 'turn')} waiting: {rule}")
    if counts.pending:
        reasons.append(f"{counted(counts.pending, 'batch', 'batches')} waiting to be judged")
    if counts.parked:
        reasons.append(f"{counted(counts.parked, 'batch', 'batches')} given up after several tries: skilld status")
    if done := ", ".join(f"{number} {outcome}" for outcome, number in sorted(counts.outcomes.items())):
        reasons.append(f"batches judged: {done}")
    common = sorted(counts.refusals.items(), key=lambda item: -item[1])[:_MOST]
    reasons += [f"refused {counted(number, 'time')}: {why}" for why, number in common]
    if paused_until:
        reasons.append(f"skilld is paused: {paused_until}")
    return reasons
