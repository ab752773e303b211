"""What an agent adapter is: one data record and one parser. Adapters translate, they never decide.

An adapter is a module in this folder with `INFO: AgentInfo`, `is_transcript(path)` and `parser(path, state)`. It is
pure: bytes in, events out; no disk, no clock, no environment, no settings. It is registered in the dict of
`skilld.intake.agents`. docs/adding-an-agent.md walks through one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, Protocol

from skilld.types import Event, RawLine


@dataclass(frozen=True, slots=True)
class AgentInfo:
    """What is fixed about an agent.

    `home` is the agent's folder below the person's home, `home_variables` the environment variables that move it.
    `stores` are the folders below it that hold transcripts. `project_skills` are the folders, below a project's root
    or any folder in it, that hold skills; `user_skills` those below the person's home; `skill_homes` those below the
    agent's own folder. `instructions` are the names of standing-instruction files a session loads from its project;
    `verified` names the newest client version checked and the day.
    """

    name: str
    title: str
    home: str
    home_variables: tuple[str, ...]
    stores: tuple[str, ...]
    project_skills: tuple[str, ...]
    user_skills: tuple[str, ...]
    skill_homes: tuple[str, ...]
    instructions: tuple[str, ...]
    verified: str


class Parser(Protocol):
    """Turns the lines of one file, in order, into events. One parser per file; it keeps what later lines need."""

    def feed(self, line: RawLine) -> list[Event]:
        """Return the events of one complete line. Never raises on bad input: that is a Malformed event."""

    def flush(self) -> list[Event]:
        """Decide what still waits for a later line (a queued prompt whose delivery was never written).

        Called when the file has been idle long enough that no such line will come. The parser goes on afterwards.
        """

    def checkpoint(self, end: int) -> tuple[int, dict[str, Any]]:
        """Return where reading may resume after a restart, and the state to resume with.

        `end` is the end of the last line fed. The offset is `end`, or the start of the first line that still waits for
        its outcome: reading that line again then yields the same events, and turn keys make repeats harmless. The
        state is JSON-able and holds no words of anyone, only ids, names, paths and counts, and is bounded in size.
        """


class Adapter(Protocol):
    """The module of one agent, as the registry sees it."""

    INFO: AgentInfo

    def is_transcript(self, path: PurePath) -> bool:
        """Whether this file below one of the stores is a main-thread transcript, judged by its path alone."""

    def parser(self, path: PurePath, state: Mapping[str, Any] | None = None) -> Parser:
        """Return a parser for one file, fresh or resumed with the state of a checkpoint."""
