"""`skilld mine --over ADDRESS`: a report on many transcripts, read by several processes or by a Dask cluster."""

from __future__ import annotations

import argparse
import hashlib
import os
from typing import TYPE_CHECKING, Any

from skilld import console
from skilld.cli import common
from skilld.errors import SkilldError, UsageError
from skilld.text import counted

if TYPE_CHECKING:
    from skilld.mining.spread import Spread


def run(arguments: argparse.Namespace) -> int:
    """Read what lies there, and report; nothing is proposed."""
    from skilld.cli import guarding
    from skilld.ingest.remote import files
    from skilld.mining.spread import locally, on_cluster, together

    guarding.refuse_others("Only you can choose what to mine", arguments.words)
    workers = arguments.workers if arguments.workers is not None else os.cpu_count() or 1
    if workers < 0:
        raise UsageError("Number out of range", "--workers must be 0 or greater")
    found = [one.url for url in arguments.over for one in files(common.as_text(url))]
    if not found:
        raise SkilldError("No transcripts there", ", ".join(map(common.as_text, arguments.over)))
    progress = common.Progress("transcripts")
    try:
        if arguments.cluster:
            results = on_cluster(found, _key(), common.as_text(arguments.cluster), progress.show)
        else:
            results = locally(found, _key(), workers, progress.show)
        spread = together(results)
    finally:
        progress.clear()
    if arguments.json:
        return common.write_json(_as_json(spread))
    _show(spread)
    return 0


def _key() -> bytes:
    """Return the key that workers redact with: made of this installation's, which stays here."""
    from skilld.redact.key import load_key

    common.redactor()  # makes the folder
    return hashlib.blake2b(b"workers", key=load_key(common.places().redaction_key), digest_size=32).digest()


def _as_json(spread: Spread) -> dict[str, Any]:
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


def _show(spread: Spread) -> None:
    console.line(f"{counted(len(spread.rows), 'session')} read in {counted(spread.files, 'transcript')}.")
    if spread.unreadable:
        console.line(f"  {len(spread.unreadable)} transcripts could not be read")
    for one in spread.judgement.candidates:
        console.line(console.paint(f"\n{console.plain(one.name)}", "bold") + f"  {console.plain(one.target)}")
        console.line(f"  {console.plain('; '.join(one.dimensions))}")
        for text in one.changes:
            console.line(f"  - {console.plain(text)}")
    for doc in spread.judgement.docs:
        console.line(f"\n{console.plain(doc.text)}  {console.plain(doc.project)}")
