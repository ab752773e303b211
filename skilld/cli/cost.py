"""`skilld cost`: calls, tokens and money per day, model and skill; the budget, and what was never asked."""

from __future__ import annotations

import argparse
import time
from typing import Any

from skilld import console
from skilld.cli import common
from skilld.text import counted


def add(verbs: common.Verbs) -> None:
    """Add the verb."""
    common.verb(verbs, "cost", run, "calls, tokens and money per day, model and skill; the budget", listing=True)


def run(arguments: argparse.Namespace) -> int:
    """Run the verb."""
    shown = collect()
    if arguments.json:
        return common.write_json(shown)
    rows = [
        (
            row["day"],
            row["model"],
            row["skill"],
            counted(row["calls"], "call"),
            f"{row['tokens']} tokens",
            _money(row["usd"]),
        )
        for row in shown["days"]
    ]
    console.table([tuple(console.plain(cell) for cell in row) for row in rows])
    if not rows:
        console.line("No model was asked yet.")
    budget = shown["budget"]
    console.line(
        f"Budget a day: {budget['calls']} calls, {budget['tokens']} tokens, {_money(budget['usd'])} (0: no limit). "
        + (f"Spent: {budget['spent']}." if budget["spent"] else "Not spent.")
    )
    if shown["waiting"]:
        console.line(f"{counted(shown['waiting'], 'batch waits', 'batches wait')}.")
    console.line(f"Batches that were nothing but chatter, so that no model was asked: {shown['spared']}.")
    return 0


def collect() -> dict[str, Any]:
    """Return everything `cost --json` shows."""
    from skilld.clock import day
    from skilld.store.budget import why_spent

    settings = common.settings()
    store = common.store()
    days = [
        {key: row[key] for key in ("day", "model", "skill", "calls", "usd")}
        | {"tokens": row["tokens_in"] + row["tokens_out"], "tokens_in": row["tokens_in"]}
        for row in store.usage.rows()
    ]
    spent = why_spent(store.usage.on(day(time.time())), settings.budget)
    return {
        "days": days,
        "budget": {**settings.budget.model_dump(), "spent": spent},
        "waiting": store.batches.counts()["pending"],
        "spared": store.batches.spared(),
    }


def _money(usd: float) -> str:
    return f"${usd:.4f}" if 0 < usd < 1 else f"${usd:.2f}"
