"""Files that belong to a transcript: lists of typed prompts, and facts about its session."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from skilld.agents.base import AgentInfo, Parser
from skilld.files import read_regular
from skilld.ingest.templates import template_lookup

# Files that distinguish typed words from others if the transcript does not, provided to its parser.
#
# Most clients keep only the newest entries in their list of typed prompts. The adapter knows what an entry looks like.

_MAX_PROMPT_LOG = 8 << 20  # bytes; the lists seen hold 50 to a few hundred entries


def provide(parser: Parser, path: Path, info: AgentInfo, environment: Mapping[str, str] = os.environ) -> None:
    """Provide the parser of the transcript at `path` with the files, the list and the templates that it needs."""
    # This runs for every read, and isinstance with a protocol takes 20 us.
    if read_side_files := getattr(parser, "read_side_files", None):
        read_side_files(lambda place: _read_place(place, path, environment))
    if (info.typed_list or info.typed_place) and (set_typed_list := getattr(parser, "set_typed_list", None)):
        set_typed_list(read_typed_list(path, info, environment))
    if set_templates := getattr(parser, "set_templates", None):
        places = (_resolve_place(place, path, environment) for place in info.templates)
        set_templates(template_lookup(filter(None, places), info))


def read_typed_list(path: Path, info: AgentInfo, environment: Mapping[str, str] = os.environ) -> bytes | None:
    """Return the list of typed prompts for the transcript at `path`; None if its owner has none."""
    own_list = info.typed_place(path, lambda place: _read_place(place, path, environment)) if info.typed_place else ""
    for place in filter(None, (*info.typed_list, own_list)):
        if (data := _read_place(place, path, environment)) is not None:
            return data
    return None


def _read_place(place: str, path: Path, environment: Mapping[str, str]) -> bytes | None:
    found = _resolve_place(place, path, environment)
    return _read_owned(found, path) if found is not None else None


def _resolve_place(place: str, path: Path, environment: Mapping[str, str]) -> Path | None:
    if place.startswith(("~/", "$")):
        variable, _, below = place.removeprefix("$").partition("/")
        top = environment.get("HOME" if variable == "~" else variable)
        return Path(top, below) if top and Path(top).is_absolute() else None
    return Path(os.path.normpath(path.parent / place))  # by name, without following links, as the client does


def _read_owned(path: Path, transcript: Path) -> bytes | None:
    try:
        owner = transcript.stat().st_uid  # not always us: `inspect` may read another user's transcript
        data, facts = read_regular(path, _MAX_PROMPT_LOG, links=False)
    except (OSError, ValueError):
        return None
    return data if facts.st_uid == owner else None
