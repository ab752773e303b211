"""Which instructions that an agent loads in a project say an ask already: neither a skill nor a document repeats it."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress
from functools import cache
from pathlib import Path

from skilld.classify.said_already import find_same_ban, find_same_words
from skilld.context import context_of
from skilld.context.values import LoadedFile, LoadTime, Scope
from skilld.ingest.discover import Host
from skilld.library.clusters import Ask
from skilld.mining.evidence import DuplicateReason
from skilld.mining.new_skill import shorten
from skilld.words import content_stems

_MAX_QUOTED_LINE = 100  # characters
_MIN_SHARE = 0.5  # of an ask's stems, in one line: comparing whole files takes 10 ms, and there are many sentences
# The agent's own notes are nobody's instructions, and what holds in one folder may be meant for more.
_OTHER_SCOPES = frozenset({Scope.SKILL, Scope.MEMORY, Scope.NESTED})


def standing_reason(host: Host) -> DuplicateReason:
    """Return what tells which file says an ask already, if each agent of its sessions loads one at the start.

    Each project's files are read once.
    """

    @cache
    def lines(text: str) -> list[frozenset[str]]:
        return [content_stems(line) for line in text.splitlines()]

    @cache
    def loaded(agent: str, project: str) -> list[LoadedFile]:
        found = context_of(agent, "", project, host.home, environment=host.environment, untouched=False).files
        return [one for one in found if one.loaded is LoadTime.START and one.scope not in _OTHER_SCOPES]

    @cache
    def saying(agent: str, project: str, text: str) -> str | None:
        wanted = content_stems(text)
        for file in loaded(agent, project):
            near = any(len(wanted & own) >= _MIN_SHARE * len(wanted) for own in lines(file.text))
            if near and (line := find_same_words(text, file.text) or find_same_ban(text, file.text)):
                return f"{_name(file.path, project)} already says this: {shorten(line, _MAX_QUOTED_LINE)}"
        return None

    def reason(ask: Ask, _path: str, agents: Collection[str]) -> str | None:
        said = ask.said[0]
        found = [saying(agent, said.project, ask.text) for agent in sorted(agents)] if said.project else []
        return found[0] if found and all(found) else None

    return reason


def _name(path: str, project: str) -> str:
    """Return the path of a file as a person names it in that project."""
    with suppress(ValueError):
        return str(Path(path).relative_to(project))
    return path
