"""The folders of every agent in a home, with many sessions of five of them."""

from __future__ import annotations

import os
import time
import uuid
from pathlib import Path

from skilld.agents import ADAPTERS

_FIXTURES = Path(__file__).resolve().parents[2] / "tests" / "fixtures"
_MONTH = 30 * 86400.0
# Where a session lies: `{number}`, the `{folder}` of ten of them, and its `{name}`.
_PLACES = {
    "codex": ".codex/sessions/2026/10/{day:02}/rollout-2026-10-{day:02}T00-00-00-{name}.jsonl",
    "droid": ".factory/sessions/-work-project-{folder}/{name}.jsonl",
    "kimi-code": ".kimi-code/sessions/wd_project_{folder:012x}/session_{name}/agents/main/wire.jsonl",
    "grok-build": ".grok/sessions/%2Fwork%2Fproject-{folder}/{name}/updates.jsonl",
    "continue": ".continue/sessions/{name}.json",
}
FIVE = tuple(_PLACES)


def furnish(home: Path, files: int) -> int:
    """Write `files` sessions of each of five agents below `home`, over a month, and the empty folders of the others.

    Returns how many agents have a folder. Those that are only followed where the settings name a root have one.
    """
    rooted = []
    for name, adapter in ADAPTERS.items():
        info = adapter.INFO
        for store in info.stores or ("",):
            (home / info.home / store).mkdir(parents=True, exist_ok=True)
        if info.asked_for:
            rooted.append(f'{name} = ["{home / info.home / (info.stores or ("",))[0]}"]\n')
    settings = home / ".config/skilld/config.toml"
    settings.parent.mkdir(parents=True, exist_ok=True)
    settings.write_text("[roots]\n" + "".join(rooted), encoding="utf-8")
    for agent, place in _PLACES.items():
        data = next((_FIXTURES / agent).rglob("*.jsonl")).read_bytes()
        for number in range(files):
            name = str(uuid.uuid5(uuid.NAMESPACE_URL, f"{agent}/{number}"))
            path = home / place.format(folder=number // 10, day=1 + number % 28, name=name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
            written = time.time() - 7200 - (number + 1) * _MONTH / files  # idle: nothing in any folder of late
            for one in (path, path.parent):
                os.utime(one, (written, written))
    return len(ADAPTERS)
