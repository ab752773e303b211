"""The interface of an agent's command line as a back-end: how to ask it, and how to read its answer.

A client's module turns a Question into a Command and printed bytes into a ClientAnswer; it starts nothing. Flags and
formats are those of the versions named in docs/decisions/0008-agent-cli.md.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from skilld.classify.backends.agent_cli.own_questions import FOLDER_PREFIX
from skilld.text import read_json
from skilld.types import Usage
from skilld.values import value_class

# Clients look for instructions, settings and variables in all folders above the current one. So a workspace is never in
# a folder such as /tmp, where anybody could put such files.


@value_class
class Workspace:
    """The private folder in which a client answers one question: `work`, `temporary`, and files next to them."""

    folder: Path

    @property
    def work(self) -> Path:
        """The client's current folder, which is empty."""
        return self.folder / "work"

    @property
    def temporary(self) -> Path:
        """The folder for TMPDIR, to which Gemini CLI writes the whole question when a call fails (0.61.0)."""
        return self.folder / "tmp"

    def write(self, name: str, text: str) -> Path:
        """Write a file below the folder and return its path."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path


@contextmanager
def make_workspace(home: Path, environment: Mapping[str, str]) -> Iterator[Workspace]:
    """Make a workspace and remove it again. Raises OSError if there is no place for one."""
    made = Workspace(Path(tempfile.mkdtemp(prefix=FOLDER_PREFIX, dir=_parent_folder(home, environment))).resolve())
    try:
        made.work.mkdir()
        made.temporary.mkdir()
        yield made
    finally:
        shutil.rmtree(made.folder, ignore_errors=True)


def _parent_folder(home: Path, environment: Mapping[str, str]) -> Path:
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


MAX_TOKENS = 4000  # of an answer, for clients with such an option
_COMMENT = re.compile(r'("(?:\\.|[^"\\])*")|//[^\n]*|/\*.*?(?:\*/|\Z)', re.DOTALL)
_TRAILING_COMMA = re.compile(r'("(?:\\.|[^"\\])*")|,(?=\s*[}\]])')


@value_class
class Question:
    """One request for a client: `rules` are skilld's own words; `text` goes to stdin, never to a command line.

    An empty `model` is the client's own choice. `home` and `environment` are the person's.
    """

    rules: str
    text: str
    model: str
    workspace: Workspace
    home: Path
    environment: Mapping[str, str]


@value_class
class Command:
    """The arguments of a client, and its variables in addition to the person's own."""

    arguments: tuple[str, ...]
    variables: Mapping[str, str] = field(default_factory=dict)


@value_class
class ClientAnswer:
    """The parsed output of a client. `text` is the model's answer; `trouble` is the client's own error message.

    `status` is the HTTP status of the error, if the client prints it. All are empty if the output is invalid.
    """

    text: str = ""
    usage: Usage = field(default_factory=Usage)
    trouble: str = ""
    status: int | None = None


def host_of(url: str) -> str:
    """Return the host and port of an address, without a password."""
    try:
        return urlsplit(url).netloc.rpartition("@")[2]
    except ValueError:
        return ""


@value_class
class Client:
    """The command line of one agent, called `agent` in `skilld.agents`.

    `login` says how a person logs in; `model` is the default model. `variables` are patterns of the variables by which
    the client finds its settings, its login and its provider; `endpoint` is the one with the provider's address, if
    there is one. Lines of output that begin with `noise` are dropped.
    """

    program: str
    agent: str
    title: str
    login: str
    model: str
    variables: tuple[str, ...]
    command: Callable[[Question], Command]
    read: Callable[[bytes], ClientAnswer]
    noise: bytes = b""
    endpoint: str = ""

    def address(self, environment: Mapping[str, str]) -> str:
        """Return the host to which the environment directs this client, and the variable that sets it."""
        host = host_of(environment.get(self.endpoint, ""))
        return f"{host} ({self.endpoint})" if host else ""


def json_lines(data: bytes) -> Iterator[dict[str, Any]]:
    """Yield the JSON objects among printed lines."""
    for line in data.split(b"\n"):
        record = read_json(line) if line.startswith(b"{") else None
        if isinstance(record, dict):
            yield record


def nested(record: object, *keys: str) -> Any:  # noqa: ANN401 - JSON is Any
    """Return the value below nested keys, None if one is missing."""
    for key in keys:
        record = record.get(key) if isinstance(record, Mapping) else None
    return record


def text_at(record: object, *keys: str) -> str:
    """Return the text below nested keys, empty if there is none."""
    found = nested(record, *keys)
    return found if isinstance(found, str) else ""


def number_at(record: object, *keys: str) -> float:
    """Return the count or price below nested keys; 0 if there is none."""
    found = nested(record, *keys)
    return float(found) if isinstance(found, int | float) and not isinstance(found, bool) and found > 0 else 0.0


def sum_at(record: object, *names: str) -> int:
    """Return the sum of some counts of a record."""
    return int(sum(number_at(record, name) for name in names))


def http_status(record: object, *keys: str) -> int | None:
    """Return the HTTP status below nested keys, None if there is none."""
    return int(number_at(record, *keys)) or None


def commented_json(path: Path) -> dict[str, Any]:
    """Return the settings in a JSON file that may have comments and trailing commas; none if it cannot be read."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return {}
    for pattern in (_COMMENT, _TRAILING_COMMA):
        text = pattern.sub(lambda match: match[1] or "", text)
    found = read_json(text.encode())
    return found if isinstance(found, dict) else {}
