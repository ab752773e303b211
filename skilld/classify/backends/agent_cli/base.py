"""What every agent's command line provides as a back-end: how to ask it, and how to read its answer.

A client's module turns a Question into a Command and printed bytes into an Answer; it starts nothing. Flags and formats
are those of the versions named in docs/decisions/0008-agent-cli.md.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from skilld.classify.backends.agent_cli.own import ROOM_PREFIX
from skilld.types import Usage

# The private folder in which a client answers one question: empty to look at, gone afterwards.
#
# It lies where nobody else can put a file into a folder above it: clients look for instructions, settings and
# variables in all of them, and in the world's /tmp these could be anyone's.


@dataclass(frozen=True, slots=True)
class Room:
    """One private folder: `work` to work in, `temporary` for what the client throws away, and files next to them."""

    folder: Path

    @property
    def work(self) -> Path:
        """The empty folder that is the client's current one."""
        return self.folder / "work"

    @property
    def temporary(self) -> Path:
        """What is in TMPDIR: Gemini CLI writes the whole question there when a call fails (0.61.0)."""
        return self.folder / "tmp"

    def write(self, name: str, text: str) -> Path:
        """Write a file below the folder and return its path."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path


@contextmanager
def room(home: Path, environment: Mapping[str, str]) -> Iterator[Room]:
    """Make a room and take it away again. Raises OSError if there is no place for one."""
    made = Room(Path(tempfile.mkdtemp(prefix=ROOM_PREFIX, dir=_place(home, environment))).resolve())
    try:
        made.work.mkdir()
        made.temporary.mkdir()
        yield made
    finally:
        shutil.rmtree(made.folder, ignore_errors=True)


def _place(home: Path, environment: Mapping[str, str]) -> Path:
    runtime = environment.get("XDG_RUNTIME_DIR", "")
    if os.path.isabs(runtime) and _is_private(Path(runtime)):  # noqa: PTH117 - Path("") would be the current folder
        return Path(runtime)
    moved = Path(environment.get("XDG_CACHE_HOME", ""))
    cache = moved if moved.is_absolute() else home / ".cache"
    cache.mkdir(mode=0o700, parents=True, exist_ok=True)
    return cache


def _is_private(folder: Path) -> bool:
    try:
        facts = folder.stat()
    except OSError:
        return False
    return stat.S_ISDIR(facts.st_mode) and facts.st_uid == os.geteuid() and not stat.S_IMODE(facts.st_mode) & 0o077


MAX_TOKENS = 4000  # of an answer, where a client can be told
_COMMENT = re.compile(r'("(?:\\.|[^"\\])*")|//[^\n]*|/\*.*?(?:\*/|\Z)', re.DOTALL)
_LAST_COMMA = re.compile(r'("(?:\\.|[^"\\])*")|,(?=\s*[}\]])')


@dataclass(frozen=True, slots=True)
class Question:
    """One request for a client: `rules` are skilld's own words, `text` goes to stdin and never on a command line.

    `model` is empty if the client's own choice stands. `home` and `environment` are the person's.
    """

    rules: str
    text: str
    model: str
    room: Room
    home: Path
    environment: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Command:
    """How a client is started: its arguments, and the variables that are set besides the person's own."""

    arguments: tuple[str, ...]
    variables: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Answer:
    """What a client printed. `text` is the model's; `trouble` the client's own words about what went wrong.

    `status` is the HTTP status behind the trouble, where the client tells it. All empty: nothing that it should print.
    """

    text: str = ""
    usage: Usage = field(default_factory=Usage)
    trouble: str = ""
    status: int | None = None


def host_of(url: str) -> str:
    """Return the host of an address with its port, without the password that may stand before it."""
    try:
        return urlsplit(url).netloc.rpartition("@")[2]
    except ValueError:
        return ""


@dataclass(frozen=True, slots=True)
class Client:
    """The command line of one agent, called `agent` in `skilld.agents`.

    `login` is what a person does to log in, `model` what is asked for where they named none. `variables` are patterns
    of the variables by which the client finds its settings, its login and its provider; `endpoint` is the one that
    names the provider's address, if there is one. Lines of output that begin with `noise` are not kept.
    """

    program: str
    agent: str
    title: str
    login: str
    model: str
    variables: tuple[str, ...]
    command: Callable[[Question], Command]
    read: Callable[[bytes], Answer]
    noise: bytes = b""
    endpoint: str = ""

    def address(self, environment: Mapping[str, str]) -> str:
        """Return the host that the environment sends this client's questions to, and the variable that says so."""
        host = host_of(environment.get(self.endpoint, ""))
        return f"{host} ({self.endpoint})" if host else ""


def value(data: bytes) -> Any:  # noqa: ANN401 - JSON is Any
    """Return what printed JSON says, None if it is not JSON."""
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None


def records(data: bytes) -> Iterator[dict[str, Any]]:
    """Yield the JSON objects among printed lines."""
    for line in data.split(b"\n"):
        record = value(line) if line.startswith(b"{") else None
        if isinstance(record, dict):
            yield record


def at(record: object, *keys: str) -> Any:  # noqa: ANN401 - JSON is Any
    """Return what is below nested keys, None if the way ends before."""
    for key in keys:
        record = record.get(key) if isinstance(record, Mapping) else None
    return record


def words(record: object, *keys: str) -> str:
    """Return the text below nested keys, empty if there is none."""
    found = at(record, *keys)
    return found if isinstance(found, str) else ""


def number(record: object, *keys: str) -> float:
    """Return the count or price below nested keys; 0 if there is none."""
    found = at(record, *keys)
    return float(found) if isinstance(found, int | float) and not isinstance(found, bool) and found > 0 else 0.0


def total(record: object, *names: str) -> int:
    """Return the sum of some counts of a record."""
    return int(sum(number(record, name) for name in names))


def http_status(record: object, *keys: str) -> int | None:
    """Return the HTTP status below nested keys, None if there is none."""
    return int(number(record, *keys)) or None


def commented_json(path: Path) -> dict[str, Any]:
    """Return the settings in a JSON file that may hold comments and last commas; none if it cannot be read."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return {}
    for pattern in (_COMMENT, _LAST_COMMA):
        text = pattern.sub(lambda match: match[1] or "", text)
    found = value(text.encode())
    return found if isinstance(found, dict) else {}
