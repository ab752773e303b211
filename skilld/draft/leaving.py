"""What of a skill may leave to other people: nothing of any session. Pure: texts in, texts and places out.

`cleared` takes out what skilld itself puts there of a session; `carried` then looks through everything that leaves, as
whatever else got there was written by somebody we cannot know. Commits of new skills, shares and exports all go
through both, so that none of them can leave out what another one stops.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from skilld.draft.skill_md import EXAMPLE, SCHEMA, VARIABLES, Body, Item, lay, lift
from skilld.markdown.skill_file import join_lines, parse
from skilld.skills.frontmatter import front
from skilld.text import fold

SESSIONS = "skilld-sessions"
PERSONAL = (SESSIONS, "skilld-author")
_ORIGIN, _MINED = "skilld-origin", "mined"
_FIXED = frozenset(
    {_ORIGIN, "skilld-kind", "skilld-evolving", "skilld-date", "skilld-version"}
)  # code alone sets these
_SHOWN = frozenset({"default", "example", "examples"})  # what a schema or a variable shows of a value
_ID_LENGTH = 6  # characters; a shorter id could be a word
_RUN = 3  # words of a quote in a row that are no accident
_TOKEN = re.compile(r"\S+")
_EDGE = "\"'`.,:;!?()[]{}<>\u201c\u201d\u2018\u2019"
_EXACT = re.compile(r"[/@\\]|\d|\w[.:=]\w")  # a link, a path, an address, a number


@dataclass(frozen=True, slots=True)
class Said:
    """What is known of sessions: their ids, and words that a person said in one."""

    sessions: frozenset[str] = frozenset()
    quotes: tuple[str, ...] = ()


def cleared(metadata: Mapping[str, str]) -> dict[str, str]:
    """Return a skill's metadata without sessions, people and the examples that were taken from a session."""
    is_mined = metadata.get(_ORIGIN) == _MINED
    kept = {key: value for key, value in metadata.items() if key not in PERSONAL}
    for key in {VARIABLES, SCHEMA} & kept.keys():
        try:
            value = json.loads(kept[key])
        except (ValueError, RecursionError):
            continue  # whatever it is, `carried` looks at it
        if (less := _without_examples(value, is_mined=is_mined)) != value:
            kept[key] = json.dumps(less)
    return kept


def cleared_body(body: str) -> str:
    """Return a body without the examples that name the session they were taken from."""
    parts = lift(body)
    pairs = list(zip(parts.examples[::2], parts.examples[1::2], strict=True))
    kept: list[Item] = [one for given, made in pairs if not made.codes for one in (given, made)]
    if len(kept) == len(parts.examples):
        return body
    return lay(Body(parts.prompt, parts.steps, parts.workflow, tuple(kept)))


def carried(text: str, said: Said) -> str:
    """Return what a SKILL.md that is about to leave still carries of a session: a clause, empty if nothing.

    No id of a session may stand anywhere. Words of a quote may stand where people read what the skill says, its
    description and body; in any other field they were put there without anybody having looked.
    """
    if names_session(text, said):
        return "it names a session"
    facts = front(text)
    told = _tokens(f"{facts.name} {facts.description} {join_lines(parse(text.encode('utf-8', 'replace')).body)}")
    for key, value in facts.metadata.items():
        if key not in _FIXED and _repeats(value, said, told):
            return f"its {key} repeats what you said in a session"
    return ""


def names_session(text: str, said: Said) -> bool:
    """Whether the id of a session stands anywhere in a text."""
    return any(len(one) >= _ID_LENGTH and one in text for one in said.sessions)


def _without_examples(value: Any, *, is_mined: bool) -> Any:  # noqa: ANN401 - whatever JSON holds
    if isinstance(value, list):
        return [_without_examples(one, is_mined=is_mined) for one in value]
    if not isinstance(value, dict):
        return value
    return {
        key: _without_examples(one, is_mined=is_mined)
        for key, one in value.items()
        if not (key == "description" and isinstance(one, str) and one.startswith(EXAMPLE))
        and not (is_mined and key in _SHOWN)
    }


def _repeats(value: str, said: Said, told: list[str]) -> bool:
    """Whether a value holds exact tokens, or several words in a row, of a quote that the skill itself does not say."""
    own = frozenset(told)
    runs = set(_runs(told))
    tokens = [token for text in _strings(value) for token in _tokens(text)]
    for quote in said.quotes:
        spoken = _tokens(quote)
        if any(_EXACT.search(one) and one not in own for one in set(tokens) & set(spoken)):
            return True
        if (set(_runs(tokens)) & set(_runs(spoken))) - runs:
            return True
    return False


def _strings(value: str) -> Iterator[str]:
    """Yield the texts in a value, which may be JSON."""
    try:
        parsed = json.loads(value)
    except (ValueError, RecursionError):
        parsed = value
    yield from _texts(parsed)


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str | int | float):
        yield str(value)
    elif isinstance(value, dict):
        for key, one in value.items():
            yield from _texts(key)
            yield from _texts(one)
    elif isinstance(value, list):
        for one in value:
            yield from _texts(one)


def _tokens(text: str) -> list[str]:
    found = (token.strip(_EDGE) for token in _TOKEN.findall(fold(text).casefold()))
    return [token for token in found if token]


def _runs(tokens: list[str]) -> Iterator[tuple[str, ...]]:
    return zip(*(tokens[at:] for at in range(_RUN)), strict=False)
