"""A worker's result to rows. The result is data from another process: checked on the way in."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from skilld.store import Store
from skilld.store.batches import StoredBatch
from skilld.store.learnings import Learning
from skilld.times import day, rfc3339
from skilld.types import Proposal, Usage
from skilld.wire import proposal_from_json


def record(store: Store, batch: StoredBatch, result: Mapping[str, Any], now: float) -> list[Proposal]:
    """Keep the proposals, learnings, moved commits and costs of one result; returns the proposals that are new."""
    for item in result.get("learnings", ()):
        store.learnings.add(
            Learning(
                id=hashlib.sha256(f"{item['turn']}\n{item['quote']}".encode()).hexdigest()[:10],
                turn_key=item["turn"],
                quote=item["quote"],
                change=item["change"],
                kind=item["kind"],
                agent=batch.agent,
                session_id=batch.session_id,
                project=batch.job.get("cwd"),
                skill=item.get("skill"),
                why_kept=item["why_kept"],
                confidence=float(item["confidence"]),
                created_at=rfc3339(now),
            )
        )
    if usage := result.get("usage"):
        skills = batch.job.get("skills") or [{}]
        store.usage.add(day(now), result.get("model", ""), skills[0].get("name", ""), Usage(**usage))
    for proposal_id, commit, base in result.get("moved", ()):
        store.proposals.move(proposal_id, commit=commit, base=base)
    proposals = [proposal_from_json(item) for item in result.get("proposals", ())]
    return [proposal for proposal in proposals if store.proposals.add(proposal)]
