"""Imports point one way (docs/architecture.md), each library has one door, and startup is light."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module

import pytest

from skilld.cli.arguments import Verb
from skilld.cli.commands import VERBS
from support.source_tree import ROOT, nodes, trees

# What stands in one line may be imported by every line below it, and by nothing beside or above it.
LAYERS = (
    ("values",),
    ("types", "errors", "text", "clock", "words", "files", "codec", "past", "statusline"),
    ("git", "markdown", "redact", "caller", "logs", "meanings", "settings_file"),
    ("agents", "batching", "skills", "notify"),
    ("classify", "edit", "mcp"),
    ("settings", "paths", "console", "context", "protocol"),
    ("store", "crash", "service", "demo"),
    ("ingest",),
    ("pipeline", "targets"),
    ("proposals", "library"),
    ("jobs", "exchange", "effect", "trim"),
    ("worker", "scoring"),
    ("daemon", "mining", "report", "team"),
    ("evals", "machines"),
    ("health", "review"),
    ("cli",),
    ("entry",),
    ("__main__",),
)
LAYER = {name: number for number, names in enumerate(LAYERS) for name in names}

# Library -> the only places that may import it: what is heavy, leaky or replaceable has one door.
DOORS = {
    "apscheduler": ("skilld.daemon",),
    "cryptography": ("skilld.team.sign",),
    "desktop_notifier": ("skilld.notify",),
    "fsspec": ("skilld.ingest.remote",),
    "git": ("skilld.git",),
    "httpx": ("skilld.classify.backends",),
    "litellm": ("skilld.classify.backends",),
    "mcp": ("skilld.mcp",),
    "mcp_types": ("skilld.mcp",),
    "platformdirs": ("skilld.paths",),
    "pydantic": ("skilld.settings",),
    "pydantic_settings": ("skilld.settings",),
    "sqlite3": ("skilld.store", "skilld.ingest.rows"),
    "stringzilla": ("skilld.agents.chunk",),
    "structlog": ("skilld.logs",),
    "textual": ("skilld.review",),
    "tiktoken": ("skilld.context.tokenizer",),
    "watchdog": ("skilld.ingest",),
    "yaml": ("skilld.exchange",),
}
IMPORT_NAMES = {"gitpython": "git", "pyyaml": "yaml"}  # where it is not the project's name with underscores
HEAVY = {"litellm", "git", "textual", "mcp", "detect_secrets", "stringzilla", "rich"}


@cache
def imports(tree: ast.Module) -> frozenset[str]:
    """Return the dotted names that a module imports anywhere: at its top, in functions, for types only."""
    found = {alias.name for node in nodes(tree, ast.Import) for alias in node.names}
    for taken in nodes(tree, ast.ImportFrom):
        assert taken.level == 0, f"line {taken.lineno}: a relative import hides where it leads"
        found |= {f"{taken.module or ''}.{alias.name}" for alias in taken.names}
    return frozenset(found)


def package_of(name: str) -> str:
    """Return the folder or module directly below `skilld` that a dotted name belongs to."""
    return name.split(".")[1] if "." in name else ""


def import_edges(modules: Mapping[str, ast.Module]) -> set[tuple[str, str]]:
    """Return all (importing module, imported name) within skilld that cross a folder."""
    found = {(module, name) for module, tree in modules.items() for name in imports(tree) if name.startswith("skilld.")}
    return {
        (module, name)
        for module, name in found
        if package_of(module) != package_of(name) and package_of(name) != "__version__"
    }


def upward_imports(modules: Mapping[str, ast.Module]) -> list[str]:
    """Return the imports that point beside or upwards, and what has no layer."""
    wrong = []
    for module, name in sorted(import_edges(modules)):
        known = package_of(module) in LAYER and package_of(name) in LAYER
        if not known or LAYER[package_of(name)] >= LAYER[package_of(module)]:
            wrong.append(f"{module} imports {name}")
    return wrong


def adapter_imports(modules: Mapping[str, ast.Module]) -> list[str]:
    """Return the imports of a library that do not go through its door."""
    return [
        f"{module} imports {name}"
        for module, tree in modules.items()
        for name in sorted(imports(tree))
        if name.split(".")[0] in DOORS and not module.startswith(DOORS[name.split(".")[0]])
    ]


def libraries(modules: Mapping[str, ast.Module]) -> set[str]:
    """Return the top-level names of everything imported that is neither Python's nor ours."""
    names = {name.split(".")[0] for tree in modules.values() for name in imports(tree)}
    return names - sys.stdlib_module_names - {"skilld", "_typeshed"}


def test_every_folder_and_module_has_a_layer() -> None:
    parts = {package_of(name) for name in trees() if package_of(name)}
    assert parts - LAYER.keys() == set(), "give it a line in docs/architecture.md and in LAYERS"


def test_imports_point_one_way() -> None:
    assert {"ingest", "worker", "daemon", "cli"} <= {package_of(module) for module, _ in import_edges(trees())}, (
        "nothing was checked"
    )
    assert upward_imports(trees()) == []


def test_only_its_own_command_runs_an_evaluation() -> None:
    """Issue 17, part 5: never unasked; the daemon and what it starts cannot even import it."""
    wanted = ("skilld.evals.run", "skilld.evals.run.EvalRun")
    found = {module for module, tree in trees().items() if imports(tree) & {*wanted}}
    assert found == {"skilld.cli.skills.evaluation"}


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("skilld.agents.base", "from skilld.batching import batch"),  # a stage and another stage
        ("skilld.edit.lint", "def f():\n    from skilld import settings"),  # also late, also by its parent
        ("skilld.daemon.engine", "from skilld.cli.common import places"),
        ("skilld.daemon.engine", "from skilld.novelty import x"),
    ],
)
def test_the_check_finds_an_import_in_the_wrong_direction(module: str, source: str) -> None:
    assert len(upward_imports({module: ast.parse(source)})) == 1


def test_an_adapter_imports_no_io() -> None:
    adapters = {name: tree for name, tree in trees().items() if name.startswith("skilld.agents.")}
    assert len(adapters) > 2
    world = {"os", "io", "time", "random", "shutil", "socket", "sqlite3", "subprocess", "tempfile", "urllib"}
    assert {name: used for name, tree in adapters.items() if (used := world & imports(tree))} == {}


def test_each_library_is_imported_only_where_allowed() -> None:
    assert adapter_imports(trees()) == []
    assert adapter_imports({"skilld.edit.lint": ast.parse("import git.cmd")}) == ["skilld.edit.lint imports git.cmd"]


def test_imported_and_declared_packages_match() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    names = [requirement.split(">")[0].split("=")[0].strip() for requirement in project["dependencies"]]
    declared = {IMPORT_NAMES.get(name, name.replace("-", "_")) for name in names}
    # Those are other libraries' own, of pydantic-settings and mcp, and of an extra.
    assert libraries(trees()) - {"pydantic", "mcp_types", "fsspec"} == declared
    assert any(name.startswith("fsspec") for name in project["optional-dependencies"]["cluster"])


def loaded_by(statement: str) -> set[str]:
    """Return the modules in a fresh Python after one statement."""
    code = f"{statement}\nimport json, sys\njson.dump([*sys.modules], open(sys.argv[1], 'w'))"
    with tempfile.NamedTemporaryFile("r") as out:
        subprocess.run([sys.executable, "-c", code, out.name], cwd=ROOT, check=True, capture_output=True)
        return set(json.load(out))


def test_the_check_of_loaded_modules_works() -> None:
    assert {"git", "git.cmd", "json"} <= loaded_by("import git")


def test_the_daemon_imports_nothing_heavy() -> None:
    every = [name for name in trees() if package_of(name) == "daemon" and not name.endswith(".__main__")]
    assert len(every) > 2
    # The table of meanings takes a megabyte: only what judges or compares words needs it.
    assert (
        loaded_by("import " + ", ".join(every)) & {*HEAVY, "skilld.meanings", "skilld.classify.said_already"} == set()
    )


def test_a_worker_asks_the_model_before_loading_the_edit_code() -> None:
    assert loaded_by("import skilld.jobs.analyse") & {*HEAVY, "skilld.edit.lint"} == set()


def test_asking_an_agent_loads_no_model_library() -> None:
    assert loaded_by("from skilld.classify.backends import *; make_backend(Spec('cli:pi'))") & HEAVY == set()


def test_only_screen_commands_import_the_review_and_only_when_run() -> None:
    outside = {module for module, name in import_edges(trees()) if package_of(name) == "review"}
    assert outside == {"skilld.cli.mine", "skilld.cli.review"}
    assert "textual" not in loaded_by("import skilld.cli.mine, skilld.cli.review")


def test_a_team_costs_nothing_for_people_who_did_not_join() -> None:
    """Issue 20: no room but the verbs' knows of it, and the daemon, `status` and `run --once` load nothing of it."""
    found = import_edges(trees())
    knows = {name: {module for module, one in found if package_of(one) == name} for name in ("team", "machines")}
    assert knows["machines"] == {"skilld.cli.machines"}
    assert {module for module in knows["team"] if package_of(module) != "machines"} == {
        "skilld.cli.machines",
        "skilld.cli.mine_reviews",  # asks the host as `team pr` does
        "skilld.cli.team",
        "skilld.cli.team_pr",
    }
    loaded = loaded_by("""if True:
        import os, tempfile
        os.environ["HOME"] = tempfile.mkdtemp()
        from skilld.cli.parser import build_parser
        for words in (["status"], ["run", "--once"]):
            parsed = build_parser(words[0]).parse_args(words)
            parsed.words = words
            parsed.run(parsed)
        import skilld.daemon.loop, skilld.worker.__main__""")
    assert "skilld.daemon.loop" in loaded
    rooms = ("skilld.team", "skilld.machines", "skilld.cli.team", "skilld.cli.machines", "skilld.git.borrowed_repo")
    assert [name for name in loaded if name.startswith(rooms)] == []


def _functions(verbs: Mapping[str, Verb]) -> Iterator[str]:
    for verb in verbs.values():
        yield from filter(None, (verb.run, verb.check))
        yield from _functions(verb.actions)


def test_every_function_that_carries_out_a_command_exists() -> None:
    places = [one.rpartition(".") for one in _functions(VERBS)]
    assert len(places) > 60
    modules = {module: import_module(f"skilld.cli.{module}") for module, _, _ in places}
    assert [f"{module}.{name}" for module, _, name in places if not hasattr(modules[module], name)] == []


def test_parsing_a_command_does_not_import_what_carries_it_out() -> None:
    loaded = loaded_by("from skilld.cli.parser import build_parser; build_parser().parse_args(['trim'])")
    carried_out_by = {f"skilld.cli.{place.rpartition('.')[0]}" for place in _functions(VERBS)}
    assert loaded & carried_out_by == {"skilld.cli.common"}  # which the others share


def test_help_imports_nothing_heavy() -> None:
    loaded = loaded_by("from skilld.cli.parser import build_parser; build_parser().format_help()")
    assert loaded & (HEAVY | {"pydantic_settings", "pydantic", "structlog", "watchdog", "apscheduler"}) == set()
    rooms = {package_of(name) for name in loaded if name.startswith("skilld.")}
    assert {"cli"} <= rooms <= {"cli", "clock", "console", "errors", "files", "git", "text", "exchange", "values"}
