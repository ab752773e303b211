"""What an agent may try so that a command of its shell is taken for the person's. One script runs them all.

Each disguise runs the same six commands and writes down how each ended.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

# The double fork leaves its parent before it starts anything.
DISGUISES: Mapping[str, str] = {
    "none": "{run}",
    "env -i": "env -i {pairs} {run}",
    "script": "script -qec {quoted} /dev/null",
    "setsid": "setsid --wait {run}",
    "nohup": "nohup {run}",
    "double fork": "sh -c '(sleep 0.2; exec setsid \"$@\") & :' sh {run}",
    "script in a double fork": (
        "sh -c '(sleep 0.2; exec env -i {pairs} setsid script -qec \"$1\" /dev/null) & :' sh {quoted}"
    ),
    "unshare": "unshare --user --map-root-user --pid --fork --mount-proc script -qec {quoted} /dev/null",
    "the variable of a setting": "env SKILLD_ACCEPT__BY_AGENTS=true {run}",
    "settings of its own": "env XDG_CONFIG_HOME={folder}/own {run}",
}
REFUSED = 5


@dataclass(frozen=True, slots=True)
class Attempt:
    """How one command ended in one disguise."""

    code: int
    said: str


def script(folder: Path, skilld: str, commands: Mapping[str, str], environment: Mapping[str, str]) -> Path:
    """Write a script that runs `skilld` with each of the commands in every disguise; `done` is there when it has."""
    own = folder / "own" / "skilld"
    own.mkdir(parents=True)
    (own / "config.toml").write_text("[accept]\nby_agents = true\n", encoding="utf-8")
    pairs = shlex.join([f"{name}={value}" for name, value in environment.items()])
    lines = ["#!/bin/sh"]
    for number, disguise in enumerate(DISGUISES):
        place = folder / str(number)
        place.mkdir()
        each = ["#!/bin/sh"]
        for at, words in enumerate(commands.values()):
            each += [f"{skilld} {words} </dev/null >/dev/null 2>{place}/{at}.said; echo $? >{place}/{at}.code"]
        each += [f"touch {place}/done"]
        (place / "all.sh").write_text("\n".join(each) + "\n", encoding="utf-8")
        run = f"sh {place}/all.sh"
        form = DISGUISES[disguise].format(run=run, quoted=shlex.quote(run), pairs=pairs, folder=folder)
        lines += [f"{form} >/dev/null 2>&1 </dev/null"]
    path = folder / "all.sh"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def has_ended(folder: Path) -> bool:
    """Whether every disguise has run all of its commands, or could not start."""
    return all((folder / str(number) / "done").exists() for number in range(len(DISGUISES)))


def attempts(folder: Path, commands: Mapping[str, str]) -> dict[tuple[str, str], Attempt]:
    """Return how each command ended, by disguise and command."""
    found = {}
    for number, disguise in enumerate(DISGUISES):
        for at, command in enumerate(commands):
            place = folder / str(number)
            code = (place / f"{at}.code").read_text(encoding="utf-8").strip()
            found[disguise, command] = Attempt(int(code), (place / f"{at}.said").read_text(encoding="utf-8"))
    return found
