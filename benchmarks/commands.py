"""Commands: how long a person waits for `skilld --help` and `skilld status`, whole processes with their exit.

`status` reads no settings that the daemon has checked; what it takes where it must read them stands beside it.
Yardsticks, run in turn with them: a Python that does nothing, and one that only imports pydantic_settings, without
which there are no settings. All have a bytecode cache.
"""

from __future__ import annotations

from benchmarks.kit import children
from benchmarks.kit.figures import Figure, Of, Scale, Target
from benchmarks.kit.homes import furnish
from benchmarks.kit.timing import seconds, side_by_side

_COMMANDS = {
    "python": ["-c", "pass"],
    "import": ["-c", "import pydantic_settings"],
    "help": ["-m", "skilld", "--help"],
    "status": ["-m", "skilld", "status", "--json"],
    "unchecked": ["-m", "skilld", "status", "--json"],
}
_OTHER = {"SKILLD_BATCH__TURNS": "5"}  # what it is by default, but nobody said so to the daemon


def measure(scale: Scale) -> dict[str, Figure]:
    """Return the median time of each command."""
    files = scale.pick(10_000, 1_000)
    with children.scratch() as home:
        furnish(home, files)
        children.python(["-m", "skilld", "run", "--once"], home)  # knows the files; fills the bytecode cache too
        for command in _COMMANDS.values():
            children.python(command, home)

        def run(name: str) -> float:
            variables = _OTHER if name == "unchecked" else None
            return seconds(lambda: children.python(_COMMANDS[name], home, variables))

        nothing, imports, shown, status, unchecked = side_by_side(
            scale.pick(25, 9), *(lambda n=n: run(n) for n in _COMMANDS)
        )
    basis = f"{files} known files"
    return {
        "help": Figure(shown, "s", "python -c pass", nothing, basis, Target(Of.VALUE, most=0.2)),
        "status": Figure(status, "s", "import pydantic_settings", imports, basis, Target(Of.VALUE, most=0.3)),
        "status_unchecked": Figure(unchecked, "s", "import pydantic_settings", imports, basis),
        "status_beside_python": Figure(status, "s", "python -c pass", nothing, basis),
    }
