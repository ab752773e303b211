"""What `skilld run` says when it starts: what was found here, who judges, what that costs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from skilld import console
from skilld.cli.setup import A_DAY
from skilld.text import counted

if TYPE_CHECKING:
    from skilld.daemon.engine import Engine
    from skilld.settings import Settings


def _own_skills(engine: Engine) -> set[Path]:
    """Return the skills in the person's own folders, each once however many links lead to it."""
    from skilld.agents import ADAPTERS
    from skilld.ingest.discover import skill_places

    around = engine.around
    places = [skill_places(name, around.home, around.environment, around.roots) for name in ADAPTERS]
    folders = {folder for place in places for folder in place.absolute}
    return {path.resolve() for folder in folders for path in folder.glob("*/SKILL.md")}


def _where_they_are(skills: set[Path]) -> str:
    """Return how many skills there are, and how many of them lie in repositories."""
    tops = [top for path in skills if (top := _top(path)) is not None]
    own = f"{len(skills)} of your own"
    many = len(set(tops))
    return f"{own}, {len(tops)} in {counted(many, 'repository', 'repositories')}" if tops else own


def _top(path: Path) -> Path | None:
    return next((folder for folder in path.parents if (folder / ".git").exists()), None)


def _cost(model: str, settings: Settings) -> str:
    if model == "offline":
        return "nothing, and nothing leaves this machine"
    if model.startswith("ollama"):
        return "nothing but this machine's time"
    what = (
        "counts towards your plan or credit with each agent" if model == "agent" else "a few cents with a small model"
    )
    return f"{A_DAY}: {what}; at most {settings.budget.calls} questions a day (budget.calls)"


def tell(engine: Engine, *, new_here: bool, follows: bool) -> None:
    """Say what was found on this machine and what judging costs; to a new user also how to look at the past week.

    `follows` says whether the program goes on until it is stopped.
    """
    from skilld.settings import choice_of

    settings = engine.settings
    choice = choice_of(settings, engine.around.environment)
    _tell_agents(engine)
    console.line(f"{'Skills':12} {_where_they_are(_own_skills(engine))}, beside those of your projects")
    console.line(f"{'Back-end':12} {choice.name}: {choice.why}")
    console.line(f"{'Cost':12} {_cost(choice.name, settings)}")
    for found in choice.found:
        console.line(f"{'':12} {found}")
    if settings.notify.enabled:
        console.line(
            f"{'Notices':12} at most {settings.notify.per_day} a day; fewer: skilld config set notify.per_day 3"
        )
    if new_here:
        _tell_of_the_past(choice.name, follows=follows)
    console.line()
    if follows and sys.stdout.isatty():
        console.line(
            console.paint("Following. Ctrl-C stops; skilld status and skilld proposals show what came of it.", "dim")
        )
    sys.stdout.flush()


def _tell_agents(engine: Engine) -> None:
    from skilld.agents import ADAPTERS

    summary = engine.store.transcripts.summary()
    absent = []
    for name, adapter in ADAPTERS.items():
        files = summary.get(name, {}).get("files", 0)
        if any(root.folder.is_dir() for root in engine.roots if root.agent == name):
            console.line(f"{adapter.INFO.title:12} {counted(files, 'session file')}")
        else:
            absent.append(adapter.INFO.title)
    if absent:
        console.line(f"{'Watched for':12} {', '.join(absent)}: not here yet")


def _tell_of_the_past(model: str, *, follows: bool) -> None:
    offline = "" if model == "offline" else "SKILLD_MODEL=offline "
    console.line()
    console.line("What was said before now is left alone. To see what the last week would have taught, offline and")
    first = "   (stop this one first with Ctrl-C)" if follows else ""
    console.line(f"free:  {offline}skilld run --once --backfill 7{first}")
