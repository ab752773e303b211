"""Commands: how long a person waits for `skilld --help` and `skilld status`, whole processes with their exit.

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
}


def measure(scale: Scale) -> dict[str, Figure]:
    """Return the median time of each command."""
    files = scale.pick(10_000, 1_000)
    with children.scratch() as home:
        furnish(home, files)
        children.python(["-m", "skilld", "run", "--once"], home)  # knows the files; fills the bytecode cache too
        for command in _COMMANDS.values():
            children.python(command, home)

        def run(name: str) -> float:
            return seconds(lambda: children.python(_COMMANDS[name], home))

        nothing, imports, shown, status = side_by_side(scale.pick(25, 9), *(lambda n=n: run(n) for n in _COMMANDS))
    basis = f"{files} known files"
    return {
        "help": Figure(shown, "s", "python -c pass", nothing, basis, Target(Of.VALUE, most=0.2)),
        "status": Figure(status, "s", "import pydantic_settings", imports, basis, Target(Of.VALUE, most=0.3)),
        "status_beside_python": Figure(status, "s", "python -c pass", nothing, basis),
    }
