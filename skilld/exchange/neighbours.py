"""The person's own skills beside one that comes in: a name that is taken, a task one of them is for. Looks only."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from skilld.consolidate.match import best, described
from skilld.errors import SkilldError
from skilld.exchange.incoming import Incoming
from skilld.skills import Places, Skill
from skilld.skills.landing import landing
from skilld.types import Proposal

_TITLE = "The skill was not imported"


def place(
    name: str,
    project: Path | None,
    *,
    skills: Iterable[Skill],
    waiting: Iterable[Proposal],
    places: Mapping[str, Places],
    home: Path,
) -> Path:
    """Return where the SKILL.md of an imported skill goes: into a project, or to the person's own.

    `skills` are those it will stand beside, `waiting` the open proposals. Raises SkilldError with the remedy where the
    name is taken or proposed already, and as `landing` does.
    """
    known = next((skill for skill in skills if skill.name.casefold() == name.casefold()), None)
    if known is not None:
        raise SkilldError(_TITLE, f"you have a skill called {name}: {known.path}", f"Give another: --name {name}-2")
    path = landing(name, [project.resolve()] if project else [], [], places, home)
    if proposed := next((one for one in waiting if one.path == str(path)), None):
        raise SkilldError(_TITLE, f"{proposed.id}, which is open, proposes a skill there", "Decide on it first.")
    return path


def alike(taken: Incoming, texts: Mapping[str, str]) -> tuple[str, ...]:
    """Return a flag where one of the person's skills, given as name -> text, is for the same task."""
    mine = [described(name, name, text) for name, text in texts.items()]
    match = best(described("", taken.draft.name, taken.text), mine)
    return (f"much like your skill {match.other.name}: {match.why}",) if match else ()
