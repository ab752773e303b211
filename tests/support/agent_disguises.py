"""Tricks by which an agent may try to pass its commands off as the person's. One script runs them all.

Each disguise writes down how its commands ended. The disguises run side by side.
"""

from __future__ import annotations

import itertools
import shlex
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

# The double fork leaves its parent before it starts anything.
_FORMS: Mapping[str, str] = {
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
NAMES = tuple(_FORMS)
REFUSED = 5


def available_disguises() -> tuple[str, ...]:
    """Return the disguises that this machine allows: not all of them let a user make a namespace."""
    result = subprocess.run(
        ["unshare", "--user", "--map-root-user", "--pid", "--fork", "--mount-proc", "true"],
        capture_output=True,
        check=False,
    )
    return tuple(name for name in NAMES if name != "unshare" or result.returncode == 0)


@dataclass(frozen=True, slots=True)
class Attempt:
    """How one command ended in one disguise."""

    code: int
    said: str


Tries = Mapping[str, Sequence[str]]  # the names of the commands that each disguise is for


def every_command_in_every_disguise(commands: Mapping[str, str]) -> Tries:
    """Try every command in every disguise that is possible here."""
    return {disguise: tuple(commands) for disguise in available_disguises()}


def one_disguise_per_command(commands: Mapping[str, str]) -> Tries:
    """Try the commands in turn, one in each disguise: there are more disguises than commands."""
    return {one: (command,) for one, command in zip(available_disguises(), itertools.cycle(commands), strict=False)}


def write_script(
    folder: Path, skilld: str, commands: Mapping[str, str], environment: Mapping[str, str], tries: Tries
) -> Path:
    """Write a script that runs `skilld` with the commands of each disguise in it."""
    own = folder / "own" / "skilld"
    own.mkdir(parents=True)
    (own / "config.toml").write_text("[accept]\nby_agents = true\n", encoding="utf-8")
    pairs = shlex.join([f"{name}={value}" for name, value in environment.items()])
    lines = ["#!/bin/sh"]
    for disguise, names in tries.items():
        place = _place(folder, disguise)
        place.mkdir()
        each = ["#!/bin/sh"]
        for at, name in enumerate(names):
            each += [f"{skilld} {commands[name]} </dev/null >/dev/null 2>{place}/{at}.said; echo $? >{place}/{at}.code"]
        each += [f"touch {place}/done"]
        (place / "all.sh").write_text("\n".join(each) + "\n", encoding="utf-8")
        run = f"sh {place}/all.sh"
        form = _FORMS[disguise].format(run=run, quoted=shlex.quote(run), pairs=pairs, folder=folder)
        lines += [f"{form} >/dev/null 2>&1 </dev/null &"]
    path = folder / "all.sh"
    path.write_text("\n".join([*lines, "wait"]) + "\n", encoding="utf-8")
    return path


def has_started(folder: Path) -> bool:
    """Whether any disguise has begun with its commands."""
    return any(folder.glob("*/*.said"))


def has_ended(folder: Path) -> bool:
    """Whether every disguise has run all of its commands."""
    return all(path.with_name("done").exists() for path in folder.glob("*/all.sh"))


def read_attempts(folder: Path, tries: Tries) -> dict[tuple[str, str], Attempt]:
    """Return how each command ended, by disguise and command."""
    found = {}
    for disguise, names in tries.items():
        for at, command in enumerate(names):
            place = _place(folder, disguise)
            code = (place / f"{at}.code").read_text(encoding="utf-8").strip()
            found[disguise, command] = Attempt(int(code), (place / f"{at}.said").read_text(encoding="utf-8"))
    return found


def _place(folder: Path, disguise: str) -> Path:
    return folder / str(NAMES.index(disguise))
