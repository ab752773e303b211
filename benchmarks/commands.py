"""Commands: how long a person waits for `skilld --help`, for `skilld status` and for Tab, as whole processes.

`status` does not read settings that the daemon has checked; a second figure is for when it must. Tab is bash's, after
`skilld show `, with 20 proposals to name. Yardsticks, in turn with them: a Python that does nothing, and one that only
imports pydantic_settings, without which there are no settings. All have a bytecode cache. The aims are 0.15, 0.25 and
0.2 s on a machine where the first yardstick takes 0.010 s; they are compared as ratios to it, because load changes
those little.
"""

from __future__ import annotations

from pathlib import Path

from benchmarks.kit import children
from benchmarks.kit.figures import Figure, Of, Scale, Target
from benchmarks.kit.homes import furnish
from benchmarks.kit.timing import seconds, side_by_side
from skilld.store import Store
from support.proposals import COMMIT_FIELDS, make_proposal

_LINE = "skilld show "
_COMMANDS = {
    "python": ["-c", "pass"],
    "import": ["-c", "import pydantic_settings"],
    "help": ["-m", "skilld", "--help"],
    "status": ["-m", "skilld", "status", "--json"],
    "unchecked": ["-m", "skilld", "status", "--json"],
    "tab": ["-m", "skilld"],
}
_VARIABLES = {
    "unchecked": {"SKILLD_BATCH__TURNS": "5"},  # what it is by default, but nobody said so to the daemon
    # What the shell's part of argcomplete sets; the answer goes to standard output in place of descriptor 8.
    "tab": {"_ARGCOMPLETE": "1", "_ARGCOMPLETE_SHELL": "bash", "_ARGCOMPLETE_STDOUT_FILENAME": "/dev/stdout"}
    | {"COMP_LINE": _LINE, "COMP_POINT": str(len(_LINE)), "COMP_TYPE": "9", "_ARGCOMPLETE_IFS": "\n"},
}
_PROPOSALS = 20


def measure(scale: Scale) -> dict[str, Figure]:
    """Return the median time of each command."""
    files = scale.pick(10_000, 1_000)
    with children.scratch() as home:
        furnish(home, files)
        children.python(["-m", "skilld", "run", "--once"], home)  # knows the files; fills the bytecode cache too
        _propose(home)

        def run(name: str) -> str:
            return children.python(_COMMANDS[name], home, _VARIABLES.get(name))

        for name in _COMMANDS:
            run(name)
        if len(offered := run("tab").split()) != _PROPOSALS:
            raise RuntimeError(f"Tab gave {offered}")
        times = side_by_side(scale.pick(25, 9), *(lambda n=n: seconds(lambda: run(n)) for n in _COMMANDS))
    took = dict(zip(_COMMANDS, times, strict=True))
    basis = f"{files} known files, {_PROPOSALS} proposals"

    def beside(name: str, yardstick: str, most: float | None = None) -> Figure:
        words = "python -c pass" if yardstick == "python" else "import pydantic_settings"
        target = Target(Of.RATIO, most=most) if most else None
        return Figure(took[name], "s", words, took[yardstick], basis, target)

    return {
        "help": beside("help", "python", most=15),
        "status": beside("status", "python", most=25),
        "completion_of_an_id": beside("tab", "python", most=20),
        "status_beside_settings": beside("status", "import"),
        "status_unchecked": beside("unchecked", "import"),
    }


def _propose(home: Path) -> None:
    store = Store.open(home / ".local/state/skilld/skilld.db")
    for number in range(_PROPOSALS):
        store.proposals.add(make_proposal(**COMMIT_FIELDS, id=f"{number:08x}"))
    store.close()
