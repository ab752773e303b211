"""What lies beside a transcript and tells typed words from others where it has no mark itself, told to its parser.

Of a transcript the bytes of the list in which its client keeps what was typed, and the prompt templates that a session
could call. The list forgets: most clients keep the newest entries only. Knows no agent; what an entry looks like is the
adapter's to know.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from pathlib import Path

from skilld.agents.base import AgentInfo, Listener, Parser
from skilld.agents.expanded import Expanding
from skilld.ingest import templates

_LONGEST = 8 << 20  # bytes; the lists seen hold 50 to a few hundred entries


def tell(parser: Parser, path: Path, info: AgentInfo, environment: Mapping[str, str] = os.environ) -> None:
    """Hand the list and the templates that belong to the transcript at `path` to its parser, if that wants them."""
    if info.typed_list and isinstance(parser, Listener):
        parser.listen(read(path, info, environment))
    if isinstance(parser, Expanding):
        places = (_place(place, path, environment) for place in info.templates)
        parser.know(templates.lookup(filter(None, places), info))


def read(path: Path, info: AgentInfo, environment: Mapping[str, str] = os.environ) -> bytes | None:
    """Return the bytes of the list that belongs to the transcript at `path`; None where its owner has none."""
    for place in info.typed_list:
        found = _place(place, path, environment)
        if found is not None and (data := _bytes_of_owner(found, path)) is not None:
            return data
    return None


def _place(place: str, path: Path, environment: Mapping[str, str]) -> Path | None:
    if place.startswith(("~/", "$")):
        variable, _, below = place.removeprefix("$").partition("/")
        top = environment.get("HOME" if variable == "~" else variable)
        return Path(top, below) if top and Path(top).is_absolute() else None
    return Path(os.path.normpath(path.parent / place))  # by name, not by link: that is how the client found it


def _bytes_of_owner(path: Path, transcript: Path) -> bytes | None:
    try:
        owner = transcript.stat().st_uid  # not always us: `inspect` may look at another's
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    with os.fdopen(fd, "rb") as file:
        facts = os.fstat(fd)
        if not stat.S_ISREG(facts.st_mode) or facts.st_uid != owner or facts.st_size > _LONGEST:
            return None
        return file.read(_LONGEST)
