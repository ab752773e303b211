"""Idling: the memory and processor time of the daemon while nothing happens, with 20,000 transcripts in 2,000 folders.

Yardstick: a process with the same libraries, the same watches and an open database (kit/bare.py). Memory is read after
the first sweeps; processor time is that of all threads over a minute, including its sweeps. What the folders of other
agents cost is reported beside the same daemon without them. Linux only.
"""

from __future__ import annotations

import time

from benchmarks.kit import agents, children
from benchmarks.kit.daemon import bare, daemon
from benchmarks.kit.figures import Figure, Of, Scale, Target
from benchmarks.kit.homes import STORE, furnish

_SETTLE = 3.0  # seconds


def measure(scale: Scale) -> dict[str, Figure]:
    """Return memory and the share of one core, beside the yardstick's."""
    files = scale.pick(20_000, 2_000)
    watched = scale.pick(120.0, 31.0)  # seconds; a sweep comes every 30
    with children.scratch() as home, children.scratch() as crowded:
        furnish(home, files)
        furnish(crowded, files)
        number = agents.furnish(crowded, files // 10)
        with daemon(home) as ours, bare(home, home / STORE) as yardstick, daemon(crowded) as many:
            pids = (ours.pid, yardstick.pid, many.pid)
            time.sleep(_SETTLE)
            before = [children.processor_seconds(pid) for pid in pids]
            time.sleep(watched)
            after = [children.processor_seconds(pid) for pid in pids]
            (rss, pss), (bare_rss, bare_pss), (many_rss, _) = (children.memory(pid) for pid in pids)
    share, bare_share, many_share = (100 * (end - start) / watched for start, end in zip(before, after, strict=True))
    basis = f"{files} files in {files // 10} folders, {watched:g} s"
    beside, alone = (
        f"{basis}; and {files // 10} files of each of five agents",
        "the same daemon with one agent's folder",
    )
    name = "a process with the same libraries, watches and an open database"
    return {
        "rss": Figure(rss, "MB", name, bare_rss, basis, Target(Of.ABOVE, most=10)),
        "pss": Figure(pss, "MB", name, bare_pss, basis, Target(Of.ABOVE, most=10)),
        "processor": Figure(share, "% of a core", name, bare_share, basis, Target(Of.VALUE, most=0.1)),
        f"rss with {number} agents": Figure(many_rss, "MB", alone, rss, beside, Target(Of.ABOVE, most=1)),
        f"processor with {number} agents": Figure(
            many_share, "% of a core", alone, share, beside, Target(Of.ABOVE, most=0.02)
        ),
    }
