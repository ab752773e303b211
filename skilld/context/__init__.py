"""What an agent loads in a folder: instruction files, imports, rules, skills, per agent and version.

`context_of` is the whole of it. The resolvers know facts that were measured with the real clients
(tests/live/test_context.py) and look at files through `disk.Files`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from posixpath import join, normpath

from skilld.agents import ADAPTERS
from skilld.agents.base import agent_homes, skill_folder
from skilld.context import claude_code, codex, copilot_cli, gemini_cli, markup, opencode, pi
from skilld.context.contradictions import Contradiction, LoadedTwice, contradictions, loaded_twice
from skilld.context.disk import Disk, Files
from skilld.context.gather import Resolution, Where, files_below, up
from skilld.context.listing import LISTINGS, take
from skilld.context.values import Context, Kind, LoadedFile, LoadTime, Scope, Segment, Surprise, version_of

__all__ = [
    "Context",
    "Contradiction",
    "Disk",
    "Kind",
    "LoadTime",
    "LoadedFile",
    "LoadedTwice",
    "Scope",
    "Segment",
    "Surprise",
    "context_of",
    "contradictions",
    "loaded_twice",
]

RESOLVERS: Mapping[str, tuple[Callable[[Where], Resolution], str]] = {
    "claude-code": (claude_code.resolve, claude_code.NEWEST),
    "codex": (codex.resolve, codex.NEWEST),
    "opencode": (opencode.resolve, opencode.NEWEST),
    "gemini-cli": (gemini_cli.resolve, gemini_cli.NEWEST),
    "copilot-cli": (copilot_cli.resolve, copilot_cli.NEWEST),
    "pi": (pi.resolve, pi.NEWEST),
    "qwen-code": (gemini_cli.resolve_qwen, gemini_cli.QWEN_NEWEST),
}
_DISK = Disk()


def context_of(
    agent: str,
    version: str,
    project_dir: str | Path,
    home: str | Path,
    touched_files: Sequence[str] = (),
    *,
    environment: Mapping[str, str] | None = None,
    files: Files = _DISK,
    untouched: bool = True,
) -> Context:
    """Return what `agent` loads when it works in `project_dir` and has touched these files (absolute, or relative).

    Without `untouched` the folders below are not searched for what would be loaded once a file in them is touched. With
    no `version` the rules of the newest known one hold. Never raises: what cannot be read is not loaded.
    """
    project, environment = files.real(str(project_dir)), environment or {}
    folders = up(project)
    root = next((folder for folder in folders if files.exists(join(folder, ".git"))), "")
    known = agent in RESOLVERS
    names = ADAPTERS[agent].INFO.instructions if agent in ADAPTERS else ()
    if not known and not names:
        return Context(agent, version, "not known", root or project)
    where = Where(
        files=files,
        project=project,
        home=str(home),
        own=_own(agent, Path(home), environment),
        version=version_of(version),
        environment=environment,
        touched=tuple(normpath(join(project, path)) for path in touched_files),
        root=root,
        untouched=untouched,
    )
    found = RESOLVERS[agent][0](where) if known else _documented(agent, names, where)
    if agent in LISTINGS:
        take(found, LISTINGS[agent], ADAPTERS[agent].INFO.project_skills, _personal_skills(agent, where))
    shown = version or (RESOLVERS[agent][1] if known else "")
    source = "measured" if known else "documented"
    return Context(
        agent, shown, source, root or project, tuple(found.files), tuple(found.surprises), known and not version
    )


def _own(agent: str, home: Path, environment: Mapping[str, str]) -> str:
    if agent == "opencode":  # its folder in ADAPTERS is that of its data
        return join(environment.get("XDG_CONFIG_HOME") or join(str(home), ".config"), "opencode")
    return str(agent_homes(ADAPTERS[agent].INFO, home, environment)[0]) if agent in ADAPTERS else ""


def _personal_skills(agent: str, where: Where) -> list[str]:
    info = ADAPTERS[agent].INFO
    home = Path(where.home)
    own = [join(where.own, below) for below in info.skill_homes]
    own += [str(path) for folder in info.skill_folders if (path := skill_folder(folder, home, where.environment))]
    left_out = LISTINGS[agent].not_at_home
    return [*own, *(join(where.home, below) for below in info.user_skills if below not in left_out)]


# What the remaining agents load, according to their documentation; not measured with their clients.

_PERSONAL: Mapping[str, str] = {
    "antigravity": ".gemini/config/AGENTS.md",
    "droid": ".factory/AGENTS.md",
    "mistral-vibe": ".vibe/AGENTS.md",
}
_ALWAYS = {"cline": ".clinerules", "kiro": ".kiro/steering"}  # folders of which each file is loaded
_CURSOR_RULES = frozenset({"cursor", "grok-build"})


def _documented(agent: str, names: Sequence[str], where: Where) -> Resolution:
    """Return what is loaded: files of these `names` at the root of the repository and in the working folder."""
    found = Resolution(where)
    if agent in _PERSONAL:
        found.add(join(where.home, _PERSONAL[agent]), Scope.PERSONAL)
    for folder in dict.fromkeys([where.root or where.project, where.project]):
        for name in names:
            found.add(join(folder, name), Scope.PROJECT)
        for path in files_below(where.files, join(folder, _ALWAYS[agent]), ".md") if agent in _ALWAYS else ():
            found.add(path, Scope.PROJECT)
        for path in files_below(where.files, join(folder, ".cursor/rules"), ".mdc") if agent in _CURSOR_RULES else ():
            there = where.files.read(path)
            keys = markup.front_entries((markup.split_front(there.text)[0] if there else None) or ())
            patterns = (markup.listed(keys["globs"]) or ()) if "globs" in keys else ()
            found.add(path, Scope.RULE, folder=folder if patterns else "", paths=patterns)
    return found
