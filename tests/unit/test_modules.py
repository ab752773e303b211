"""House rules no linter checks: short modules, few places that print, start programs or read variables."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping

import pytest

from support.source_tree import nodes, sources, trees

LONGEST = 500  # lines; a reviewer asks why from 300 on
LONGEST_FUNCTION = 50  # lines, docstring and all
FUNCTIONS: tuple[type[ast.FunctionDef | ast.AsyncFunctionDef], ...] = (ast.FunctionDef, ast.AsyncFunctionDef)

# The only modules, with all below them, that may do it, and what for.
OUTPUT = {
    "skilld.cli": "what the person asked for",
    "skilld.console": "colour and width of the terminal",
    "skilld.demo": "the story as it goes",
    "skilld.entry": "errors",
    "skilld.statusline": "the line, before anything else is imported",
    "skilld.worker": "the result, as lines of JSON",
    "skilld.logs": "the log, under a service manager",
}
PROGRAMS = {
    "skilld.git": "the one door to git",
    "skilld.worker.spawn": "starts workers",
    "skilld.caller": "ps and lsof, where there is no /proc",
    "skilld.team.programs": "ssh-keygen, gh and glab",
    "skilld.demo": "starts the daemon, and git as a person would",
    "skilld.cli": "a pager, an editor, journalctl",
    "skilld.service": "systemctl, launchctl",
    "skilld.notify": "the system's own notifier where the library has none",
    "skilld.classify.backends": "agent clients as back-ends",
}
ENVIRONMENT = {
    "skilld.settings": "the only reader of SKILLD_*",
    "skilld.paths": "XDG",
    "skilld.statusline": "XDG, without what skilld.paths imports",
    "skilld.git": "what git inherits",
    "skilld.cli": "HOME",
    "skilld.console": "colour",
    "skilld.context.tokenizer": "where tiktoken looks for its vocabulary",
    "skilld.worker.spawn": "what a worker inherits",
    "skilld.daemon.systemd": "NOTIFY_SOCKET",
    "skilld.worker": "what it was given",
    "skilld.classify.backends": "switches that litellm reads when it is imported",
    "skilld.demo": "the throw-away home",
    "skilld.ingest.side_files": "where a client keeps its list of typed prompts",
}


def calls_from(module: str, tree: ast.Module) -> list[tuple[str, int]]:
    """Return what is taken from a module of Python's, as `module.x` or by name, with its line."""
    found = [
        (node.attr, node.lineno)
        for node in nodes(tree, ast.Attribute)
        if isinstance(node.value, ast.Name) and node.value.id == module
    ]
    taken = (node for node in nodes(tree, ast.ImportFrom) if node.module == module)
    return found + [(alias.name, node.lineno) for node in taken for alias in node.names]


def writes_out(tree: ast.Module) -> list[int]:
    """Return the lines that print, or use the process's own output."""
    found = [
        call.lineno for call in nodes(tree, ast.Call) if isinstance(call.func, ast.Name) and call.func.id == "print"
    ]
    streams = {"stdout", "stderr", "__stdout__", "__stderr__"}
    return found + [line for name, line in calls_from("sys", tree) if name in streams]


def reads_environment(tree: ast.Module) -> list[int]:
    """Return the lines that use the process's environment."""
    names = {"environ", "environb", "getenv", "getenvb", "putenv", "unsetenv"}
    return [line for name, line in calls_from("os", tree) if name in names]


def starts_programs(tree: ast.Module) -> list[int]:
    """Return the lines by which a module could start another program."""
    starters = {"system", "popen", "fork", "forkpty", "posix_spawn", "posix_spawnp"}
    found = [line for name, line in calls_from("os", tree) if name in starters or name.startswith(("spawn", "exec"))]
    found += [line for name, line in calls_from("asyncio", tree) if name.startswith("create_subprocess")]
    found += [line for _, line in calls_from("subprocess", tree)]
    imports = nodes(tree, ast.Import)
    return found + [node.lineno for node in imports if any(alias.name == "subprocess" for alias in node.names)]


Finder = Callable[[ast.Module], list[int]]


def modules_with(finder: Finder, modules: Mapping[str, ast.Module]) -> dict[str, list[int]]:
    """Return the modules, with lines, in which `finder` finds something."""
    found = {name: finder(tree) for name, tree in modules.items()}
    return {name: lines for name, lines in found.items() if lines}


def outside_allowed(found: Mapping[str, list[int]], allowed: tuple[str, ...]) -> dict[str, list[int]]:
    """Return what was found in modules that are not below an allowed name."""
    return {
        name: lines for name, lines in found.items() if not any(f"{name}.".startswith(f"{place}.") for place in allowed)
    }


def test_no_module_is_too_long() -> None:
    lengths = sorted(((len(text.splitlines()), name) for name, text in sources().items()), reverse=True)
    longest = "\n".join(f"{lines:4} {name}" for lines, name in lengths[:5])
    print(longest)
    assert len(lengths) > 30, "nothing was measured"
    assert lengths[0][0] <= LONGEST, f"split by idea; the longest are\n{longest}"


def functions(modules: Mapping[str, ast.Module]) -> list[tuple[int, str]]:
    """Return the lines of each function and method with its name, the longest first."""
    found = [
        ((node.end_lineno or node.lineno) - node.lineno + 1, f"{name}.{node.name}")
        for name, tree in modules.items()
        for node in nodes(tree, *FUNCTIONS)
    ]
    return sorted(found, reverse=True)


def test_no_function_is_too_long() -> None:
    lengths = functions(trees())
    assert len(lengths) > 1000, "nothing was measured"
    longest = "\n".join(f"{lines:4} {name}" for lines, name in lengths[:5])
    assert lengths[0][0] <= LONGEST_FUNCTION, f"take out a step that has a name; the longest are\n{longest}"
    assert functions({"a": ast.parse("def f():\n    x = 1\n    return x\n")}) == [(3, "a.f")]


@pytest.mark.parametrize(
    ("finder", "allowed"),
    [(writes_out, tuple(OUTPUT)), (starts_programs, tuple(PROGRAMS)), (reads_environment, tuple(ENVIRONMENT))],
    ids=["writes out", "starts programs", "reads the environment"],
)
def test_only_the_listed_modules_do_it(finder: Finder, allowed: tuple[str, ...]) -> None:
    found = modules_with(finder, trees())
    assert found, "nothing was found, not even where it is allowed"
    assert outside_allowed(found, allowed) == {}


@pytest.mark.parametrize(
    ("finder", "source"),
    [
        (writes_out, "def f():\n    print(1)"),
        (writes_out, "import sys\nsys.stderr.write('')"),
        (starts_programs, "import subprocess as s"),
        (starts_programs, "from subprocess import run"),
        (starts_programs, "import os\nos.execvp('a', [])"),
        (starts_programs, "import asyncio\nasyncio.create_subprocess_exec('a')"),
        (reads_environment, "import os\nx = os.environ.get('A')"),
        (reads_environment, "from os import getenv"),
    ],
)
def test_each_check_finds_its_kind_of_call_elsewhere(finder: Finder, source: str) -> None:
    assert (
        outside_allowed(modules_with(finder, {"skilld.edit.lint": ast.parse(source)}), ("skilld.cli", "skilld.editor"))
        != {}
    )
    assert outside_allowed(modules_with(finder, {"skilld.edit.lint": ast.parse(source)}), ("skilld.edit",)) == {}
