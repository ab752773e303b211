"""Idling: what the daemon holds and burns while nothing happens, with 20,000 transcripts in 2,000 folders.

Yardstick: a process with the same libraries, the same watches and an open database (kit/bare.py). Memory is read after
the first sweeps; processor time is that of all threads over a minute, the sweeps in it included. Linux only.
"""

from __future__ import annotations

import time

from benchmarks.kit import children
from benchmarks.kit.daemon import bare, daemon
from benchmarks.kit.figures import Figure, Of, Scale, Target
from benchmarks.kit.homes import STORE, furnish

_SETTLE = 3.0  # seconds


def measure(scale: Scale) -> dict[str, Figure]:
    """Return memory and the share of one core, beside the yardstick's."""
    files = scale.pick(20_000, 2_000)
    watched = scale.pick(120.0, 31.0)  # seconds; a sweep comes every 30
    with children.scratch() as home:
        furnish(home, files)
        with daemon(home) as ours, bare(home, home / STORE) as yardstick:
            time.sleep(_SETTLE)
            before = [children.processor_seconds(pid) for pid in (ours.pid, yardstick.pid)]
            time.sleep(watched)
            after = [children.processor_seconds(pid) for pid in (ours.pid, yardstick.pid)]
            (rss, pss), (bare_rss, bare_pss) = children.memory(ours.pid), children.memory(yardstick.pid)
    share, bare_share = (100 * (late - early) / watched for early, late in zip(before, after, strict=True))
    basis = f"{files} files in {files // 10} folders, {watched:g} s"
    name = "a process with the same libraries, watches and an open database"
    return {
        "rss": Figure(rss, "MB", name, bare_rss, basis, Target(Of.ABOVE, most=10)),
        "pss": Figure(pss, "MB", name, bare_pss, basis, Target(Of.ABOVE, most=10)),
        "processor": Figure(share, "% of a core", name, bare_share, basis, Target(Of.VALUE, most=0.1)),
    }
