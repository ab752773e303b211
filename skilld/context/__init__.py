"""What an agent loads in a folder: instruction files, imports, rules and skills, by agent and version.

`context_of` is the entry point. The resolvers implement behaviour that was measured with the real clients
(tests/live/test_context.py) and access files through `disk.Disk`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from posixpath import join, normpath

from skilld.agents import ADAPTERS
from skilld.agents.base import agent_homes, resolve_skill_folder
from skilld.context import by_name, claude_code, codex, copilot_cli, gemini_cli, markup, opencode, pi
from skilld.context.contradictions import Contradiction, DuplicateText, contradictions, find_duplicates
from skilld.context.disk import Disk
from skilld.context.listing import LISTINGS, add_listed_skills
from skilld.context.resolution import Resolution, Workspace, files_below, folders_up
from skilld.context.values import Context, Kind, LoadedFile, LoadTime, Scope, Segment, Surprise, parse_version
from skilld.values import value_class

__all__ = [
    "NATIVE_NAMES",
    "Context",
    "Contradiction",
    "Disk",
    "DuplicateText",
    "Kind",
    "LoadTime",
    "LoadedFile",
    "Scope",
    "Segment",
    "Surprise",
    "agent_folder",
    "context_of",
    "contradictions",
    "find_duplicates",
    "personal_file",
]


@value_class
class Measured:
    """How an agent behaves that was measured up to version `newest`; `own_name` is the person's file in its folder."""

    resolve: Callable[[Workspace], Resolution]
    newest: str
    own_name: str


MEASURED: Mapping[str, Measured] = {
    "claude-code": Measured(claude_code.resolve, claude_code.NEWEST, "CLAUDE.md"),
    "codex": Measured(codex.resolve, codex.NEWEST, "AGENTS.md"),
    "opencode": Measured(opencode.resolve, opencode.NEWEST, "AGENTS.md"),
    "gemini-cli": Measured(gemini_cli.resolve, gemini_cli.NEWEST, "GEMINI.md"),
    "copilot-cli": Measured(copilot_cli.resolve, copilot_cli.NEWEST, "copilot-instructions.md"),
    "pi": Measured(pi.resolve, pi.NEWEST, "AGENTS.md"),
    "qwen-code": Measured(gemini_cli.resolve_qwen, gemini_cli.QWEN_NEWEST, "QWEN.md"),
    "kilo": Measured(opencode.resolve_kilo, opencode.KILO_NEWEST, "AGENTS.md"),
    "droid": Measured(by_name.resolve_droid, by_name.DROID_NEWEST, "AGENTS.md"),
    "kimi-code": Measured(by_name.resolve_kimi, by_name.KIMI_NEWEST, "AGENTS.md"),
}
# The names that agents have for their instruction file in a project, which may import others with "@".
NATIVE_NAMES: Mapping[str, str] = {"claude-code": "CLAUDE.md", "gemini-cli": "GEMINI.md", "qwen-code": "QWEN.md"}
_DISK = Disk()


def context_of(
    agent: str,
    version: str,
    project_dir: str | Path,
    home: str | Path,
    touched_files: Sequence[str] = (),
    *,
    environment: Mapping[str, str] | None = None,
    files: Disk = _DISK,
    untouched: bool = True,
) -> Context:
    """Return what `agent` loads when it works in `project_dir` and has touched these files (absolute or relative).

    Without `untouched`, subfolders are not searched for what would be loaded once a file in them is touched. Without a
    `version`, the newest known one is assumed. Never raises: what cannot be read is not loaded.
    """
    project, environment = files.real(str(project_dir)), environment or {}
    folders = folders_up(project)
    root = next((folder for folder in folders if files.exists(join(folder, ".git"))), "")
    known = MEASURED.get(agent)
    names = ADAPTERS[agent].INFO.instructions if agent in ADAPTERS else ()
    if not known and not names:
        return Context(agent, version, "not known", root or project)
    where = Workspace(
        files=files,
        project=project,
        home=str(home),
        own=agent_folder(agent, Path(home), environment),
        version=parse_version(version),
        environment=environment,
        touched=tuple(normpath(join(project, path)) for path in touched_files),
        root=root,
        untouched=untouched,
    )
    found = known.resolve(where) if known else _resolve_documented(agent, names, where)
    if agent in LISTINGS:
        add_listed_skills(found, LISTINGS[agent], ADAPTERS[agent].INFO.project_skills, _personal_skills(agent, where))
    shown = version or (known.newest if known else "")
    source = "measured" if known else "documented"
    loaded, surprises = tuple(found.files), tuple(found.surprises)
    return Context(agent, shown, source, root or project, loaded, surprises, known is not None and not version)


def agent_folder(agent: str, home: Path, environment: Mapping[str, str]) -> str:
    """Return the folder of an agent's own settings and instructions; "" for an unknown agent."""
    if agent in {"opencode", "kilo"}:  # ADAPTERS has their data folders
        return join(environment.get("XDG_CONFIG_HOME") or join(str(home), ".config"), agent)
    return str(agent_homes(ADAPTERS[agent].INFO, home, environment)[0]) if agent in ADAPTERS else ""


def personal_file(agent: str, home: Path, environment: Mapping[str, str]) -> str:
    """Return the path of the person's own instruction file, loaded in every project; "" if none is known."""
    if agent in _PERSONAL_FILES:
        return join(str(home), _PERSONAL_FILES[agent])
    known = MEASURED.get(agent)
    return join(agent_folder(agent, home, environment), known.own_name) if known else ""


def _personal_skills(agent: str, where: Workspace) -> list[str]:
    info = ADAPTERS[agent].INFO
    home = Path(where.home)
    own = [join(where.own, below) for below in info.skill_homes]
    own += [str(path) for one in info.skill_folders if (path := resolve_skill_folder(one, home, where.environment))]
    left_out = LISTINGS[agent].not_at_home
    return [*own, *(join(where.home, below) for below in info.user_skills if below not in left_out)]


# What the other agents load according to their documentation; not measured with their clients.

_PERSONAL_FILES: Mapping[str, str] = {
    "antigravity": ".gemini/config/AGENTS.md",
    "mistral-vibe": ".vibe/AGENTS.md",
}
# Seen with their clients: what is at the repository's root is not loaded in a folder below it.
_ONLY_HERE = frozenset({"cline", "continue"})
_ALWAYS_LOADED_FOLDERS = {"cline": ".clinerules", "kiro": ".kiro/steering"}  # folders whose files are all loaded
_CURSOR_RULE_READERS = frozenset({"cursor", "grok-build"})


def _add_continue_rules(found: Resolution) -> None:
    """Add the rules of the working folder and the person's, except those for some files or on demand."""
    for folder, scope in ((join(found.where.project, ".continue"), Scope.PROJECT), (found.where.own, Scope.PERSONAL)):
        for path in files_below(found.where.files, join(folder, "rules"), ".md"):
            if not {"globs", "alwaysApply"} & markup.front_entries(found.where.text(path)).keys():
                found.add(path, scope)


def _resolve_documented(agent: str, names: Sequence[str], where: Workspace) -> Resolution:
    """Return what an agent loads that reads files with these `names` in the working folder and usually at the root."""
    found = Resolution(where)
    if agent in _PERSONAL_FILES:
        found.add(join(where.home, _PERSONAL_FILES[agent]), Scope.PERSONAL)
    for folder in dict.fromkeys([where.project if agent in _ONLY_HERE else where.root or where.project, where.project]):
        for name in names:
            found.add(join(folder, name), Scope.PROJECT)
        if agent == "continue":
            _add_continue_rules(found)
        if agent in _ALWAYS_LOADED_FOLDERS:
            for path in files_below(where.files, join(folder, _ALWAYS_LOADED_FOLDERS[agent]), ".md"):
                found.add(path, Scope.PROJECT)
        if agent in _CURSOR_RULE_READERS:
            for path in files_below(where.files, join(folder, ".cursor/rules"), ".mdc"):
                patterns = markup.list_values(markup.front_entries(where.text(path)), "globs") or ()
                found.add(path, Scope.RULE, folder=folder if patterns else "", paths=patterns)
    return found
