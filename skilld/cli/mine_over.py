"""`skilld mine --over FOLDER|URL`: a report on many transcripts, read by several processes or by a Dask cluster."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from skilld import console
from skilld.cli import common, over_option
from skilld.text import pluralize

if TYPE_CHECKING:
    from skilld.mining.parallel import MergedResults


def run(arguments: argparse.Namespace) -> int:
    """Read the transcripts and report on them; nothing is proposed."""
    from skilld.mining.parallel import merge_results, mine_file

    spread = merge_results(over_option.read_all(arguments, mine_file))
    if arguments.json:
        return common.write_json(_as_json(spread))
    _print_spread(spread)
    return 0


def _as_json(spread: MergedResults) -> dict[str, Any]:
    judged = spread.judgement
    return {
        "files": spread.files,
        "sessions": len(spread.rows),
        "unreadable": [{"path": url, "why": why} for url, why in spread.unreadable],
        "candidates": [
            {
                "name": one.name,
                "project": one.target,
                "dimensions": list(one.dimensions),
                "changes": list(one.changes),
                "sessions": len({proof.session for proof in (*one.evidence, *one.observed)}),
            }
            for one in judged.candidates
        ],
        "docs": [
            {"project": one.project, "text": one.text, "sessions": len({proof.session for proof in one.evidence})}
            for one in judged.docs
        ],
    }


def _print_spread(spread: MergedResults) -> None:
    console.line(f"{pluralize(len(spread.rows), 'session')} read from {pluralize(spread.files, 'transcript')}.")
    if spread.unreadable:
        console.line(f"  {pluralize(len(spread.unreadable), 'transcript')} could not be read")
    for one in spread.judgement.candidates:
        console.line(console.paint(f"\n{console.plain(one.name)}", "bold") + f"  {console.plain(one.target)}")
        console.line(f"  {console.plain('; '.join(one.dimensions))}")
        for text in one.changes:
            console.line(f"  - {console.plain(text)}")
    for doc in spread.judgement.docs:
        console.line(f"\n{console.plain(doc.text)}  {console.plain(doc.project)}")
