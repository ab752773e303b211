"""What a run of mining is asked to do, what it works with, and what it asks of whoever started it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from skilld.ingest.discover import Host
from skilld.mining.questions import Estimate, Terms
from skilld.mining.reading import SessionFilter
from skilld.mining.sessions import Transcript
from skilld.skills import Skill
from skilld.skills.draft import SkillKind
from skilld.store import Store

Edit = Callable[[str], str]
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class Options:
    """What a run is asked to do. `gather` are projects whose facts become a skill of their own."""

    transcripts: Sequence[Transcript]
    wanted: SessionFilter
    kind: SkillKind | None = None
    name: str = ""
    gather: Sequence[Path] = ()
    dry_run: bool = False
    create_new: bool = False  # though there is a skill like it


@dataclass(frozen=True, slots=True)
class World:
    """What a run works with. `skills` gives the skills of some projects and of the person."""

    store: Store
    terms: Terms
    around: Host
    redact: Callable[[str], str]
    skills: Callable[[Sequence[Path]], list[Skill]]


@dataclass(frozen=True, slots=True)
class Hooks:
    """What a run asks of whoever started it.

    `agree` is told what the questions will take, and can ask what that is in dollars (None: nobody knows), which takes
    seconds; without a yes none is asked.
    `edit` gets the text of a new skill and returns what is to be proposed. `progress` is told of long work.
    """

    agree: Callable[[Estimate, Callable[[], float | None]], bool]
    edit: Edit
    progress: Progress
