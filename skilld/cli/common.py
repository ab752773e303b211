"""What several verbs need: the verb's parser, the settings, the store."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from skilld.errors import RefusedError, SkilldError

if TYPE_CHECKING:
    from skilld.paths import Places
    from skilld.redact import Finding, Redactor
    from skilld.settings import Settings
    from skilld.skills import Places as SkillPlaces
    from skilld.skills import Skill
    from skilld.store import Store
    from skilld.types import Proposal

Verbs = Any  # argparse's own type for this is private


def verb(
    verbs: Verbs, name: str, run: Callable[[argparse.Namespace], int], text: str, *, listing: bool = False
) -> argparse.ArgumentParser:
    """Add one verb; a listing one takes --json."""
    parser: argparse.ArgumentParser = verbs.add_parser(name, help=text, description=text)
    parser.set_defaults(run=run)
    if listing:
        parser.add_argument("--json", action="store_true", help="one JSON document on standard output")
    return parser


def home() -> Path:
    """Return the person's home folder."""
    return Path(os.environ.get("HOME") or Path.home())


def places() -> Places:
    """Return skilld's folders."""
    from skilld import paths

    return paths.places()


def settings() -> Settings:
    """Return the settings, or raise UsageError."""
    from skilld.settings import load

    return load(places().settings_file)


def store() -> Store:
    """Open the store, creating its folder where this is the first command ever."""
    from skilld.paths import private_dir
    from skilld.store import Store

    where = places()
    private_dir(where.state)
    return Store.open(where.database)


def project_skills(project: Path) -> list[Skill]:
    """Return the skills that lie in a project, whichever agent they are for."""
    from skilld.intake.agents import ADAPTERS
    from skilld.skills import Places, inventory

    places = {name: Places(adapter.INFO.project_skills, ()) for name, adapter in ADAPTERS.items()}
    return [skill for skill in inventory(places, [project]) if skill.path.is_relative_to(project)]


def all_skills(projects: Sequence[Path]) -> list[Skill]:
    """Return the skills of the person, of these projects and of plugins."""
    from skilld.daemon.roots import agent_homes
    from skilld.intake.agents import ADAPTERS
    from skilld.skills import inventory

    plugins = {
        name: [folder / "plugins" for folder in agent_homes(adapter.INFO, home(), os.environ)]
        for name, adapter in ADAPTERS.items()
    }
    return inventory(skill_places(), projects, plugins)


def skill_places() -> dict[str, SkillPlaces]:
    """Return by agent where it keeps skills."""
    from skilld.daemon import roots
    from skilld.intake.agents import ADAPTERS

    configured = settings().roots
    return {name: roots.skill_places(name, home(), os.environ, configured) for name in ADAPTERS}


def served(skills: Sequence[Skill]) -> list[Skill]:
    """Return those skills that the person left enabled: what skilld offers to agents."""
    from skilld.library.serving import served

    with closing(store()) as opened:
        return served(opened, skills)


def offered(skills: Sequence[Skill], project: Path) -> list[Skill]:
    """Return the served ones, but of those that skilld wrote itself only as many as the settings say."""
    from skilld.library.offered import offered
    from skilld.library.ranks import by_recency, by_relevance

    rules = settings().lifecycle
    with closing(store()) as opened:
        rank = by_recency(opened) if rules.order == "recency" else by_relevance(opened, project)
        return offered(served(skills), rules.max_evolving, rank)


def skill_text(skill: Skill) -> str:
    """Return the text of a skill's SKILL.md. Raises SkilldError where it cannot be read."""
    from skilld.skills import text

    try:
        return text(skill.path)
    except OSError as error:
        raise SkilldError("The skill cannot be read", f"{skill.path}: {error.strerror}") from error


def confirmed(question: str, title: str) -> bool:
    """Ask the person; without a terminal to ask on, raise RefusedError with `title`."""
    if not sys.stdin.isatty():
        raise RefusedError(title, "there is no terminal to ask you", "If you mean it: --yes")
    return says_yes(question, sys.stdout)


def says_yes(question: str, where: TextIO) -> bool:
    """Put a question, its `[y/N] ` included, on a terminal's line; whether the answer is a yes."""
    where.write(question)
    where.flush()
    return sys.stdin.readline().strip().lower() in {"y", "yes"}


def refuse_agent(title: str) -> None:
    """Raise RefusedError with `title` where a coding agent gave the command, whatever the settings allow it."""
    from skilld.decide import guard

    guard.refuse_agent(os.environ, stdin_is_tty=sys.stdin.isatty(), allowed=False, title=title)


def redactor() -> Callable[[str], str]:
    """Return what takes secrets out of a text before it is kept or sent."""
    return _redactor().redact


def secrets() -> Callable[[str], list[Finding]]:
    """Return what finds the secrets in a text."""
    return _redactor().findings


def _redactor() -> Redactor:
    from skilld.paths import private_dir
    from skilld.redact import Redactor
    from skilld.worker.key import load_key

    where = places()
    private_dir(where.state)
    return Redactor(load_key(where.redaction_key))


def write_json(value: object) -> int:
    """Print one JSON document; returns the exit code."""
    # ASCII, so that nothing from outside reaches a terminal raw and no locale can refuse it.
    sys.stdout.write(json.dumps(value, indent=2, default=str) + "\n")
    return 0


def as_text(given: str) -> str:
    """Return an argument of the command line as text: bytes that are none become U+FFFD."""
    return given.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def the_proposal(store: Store, given: str) -> Proposal:
    """Return the proposal a person means by an id, the start of one, or a commit."""
    given = as_text(given)
    found = store.proposals.find(given) if given else []
    if len(found) == 1:
        return found[0]
    if found:
        raise SkilldError("That is not one proposal", f"{given} fits {len(found)}", "Give more of its id.")
    raise SkilldError("No such proposal", f"nothing has the id {given}", "List them: skilld proposals --state all")
