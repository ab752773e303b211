"""Every adapter stands what sessions do to it; an agent that is a table does, and one with a bug in it does not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from skilld.agents import ADAPTERS
from skilld.agents.base import AgentInfo
from skilld.agents.declared import ANY, DeclaredParser, Format, Record, RecordKind, Take
from skilld.agents.declared_adapter import DeclaredAdapter
from skilld.agents.typed_history import Claim
from skilld.agents.wrapped import Wrappers
from skilld.types import Event, Span, Turn
from support.conforming import CHECKS, Check, copied, forged, found, resumed, torn
from support.forged import CARRIERS
from support.forging import Carrier

# An agent made up here: lines of JSON in ~/.toy/talks, each with a `what`.
_SAID = {"what": "said", "by": "person"}
TOY = Format(
    "toy",
    (
        RecordKind(Take.HEAD, {"what": "begin"}),
        RecordKind(Take.PROMPT, {**_SAID, "from": "keyboard"}, text="words", key="id"),
        RecordKind(Take.NOTHING, _SAID, why="headless"),
        RecordKind(Take.REPLY, {"what": "said", "by": "agent"}, text="words"),
        RecordKind(Take.CALL, {"what": "call"}, call="id", tool="tool", input="asked"),
        RecordKind(Take.RESULT, {"what": "result"}, call="id", text="shown", failed={"error": ANY}),
    ),
    session="id",
    cwd="folder",
    at="at",
    wrappers=Wrappers(opens="<(note)>", closes="</(note)>"),
)
INFO = AgentInfo(
    name="toy",
    title="Toy",
    home=".toy",
    home_variables=(),
    stores=("talks",),
    project_skills=(".toy/skills",),
    user_skills=(),
    skill_homes=(),
    instructions=("TOY.md",),
    verified="1 on 2026-11-23",
    wrappers=("note", "headless prompt"),
)
AGENT = DeclaredAdapter(INFO, TOY, lambda path: path.suffix == ".jsonl")


def _said(number: int, words: str, **more: Any) -> dict[str, Any]:
    return {
        "what": "said",
        "by": "person",
        "id": f"w{number}",
        "at": f"2026-11-23T09:00:0{number}Z",
        "words": words,
        **more,
    }


_BEGIN = {"what": "begin", "id": "s", "folder": "/w"}
_KEYS = {"from": "keyboard"}
_READ: list[dict[str, Any]] = [
    {"what": "call", "id": "c", "tool": "read", "asked": {"path": "/w/.toy/skills/a/SKILL.md"}},
    {"what": "result", "id": "c", "shown": "# A"},
]
SESSIONS = [
    Carrier("note", lambda c, p: [_BEGIN, *_READ, _said(1, f"<note>{c}</note>\n{p}", **_KEYS)]),
    Carrier("headless prompt", lambda c, p: [_BEGIN, _said(1, c), _said(2, p, **_KEYS), *_READ]),
]

EVERY = [
    pytest.param(ADAPTERS[agent], carrier, id=f"{agent}-{number}-{carrier.wrapper}")
    for agent, carriers in CARRIERS.items()
    for number, carrier in enumerate(carriers)
]


def failed(adapter: Any, carrier: Carrier) -> dict[str, str]:
    """Return the checks that an adapter does not stand, with what they say."""
    told = {}
    for check in CHECKS:
        try:
            check(adapter, carrier)
        except Exception as error:  # noqa: BLE001 - whatever it raises
            told[check.__name__] = repr(error)
    return told


@pytest.mark.parametrize(("adapter", "carrier"), EVERY)
def test_every_adapter_stands_it(adapter: Any, carrier: Carrier) -> None:
    assert failed(adapter, carrier) == {}


@pytest.mark.parametrize("carrier", SESSIONS, ids=lambda carrier: carrier.wrapper)
def test_an_agent_that_is_a_table_stands_it(carrier: Carrier) -> None:
    assert failed(AGENT, carrier) == {}


def test_a_table_of_an_agent_has_at_most_sixty_lines() -> None:
    text = Path(__file__).read_text(encoding="utf-8")
    table = text.partition("# An agent made up here")[2].partition("\ndef ")[0]
    assert len(table.splitlines()) <= 60


class ByPlace(DeclaredParser):
    """Takes the place in the file for the name of a turn."""

    def take(self, kind: RecordKind, record: Record, span: Span) -> Iterator[Event | Claim]:
        for event in super().take(kind, record, span):
            yield replace(event, key=f"toy:{span.start}") if isinstance(event, Turn) else event


class Forgetful(DeclaredParser):
    """Loses the calls that wait when it is resumed."""

    def checkpoint(self, end: int) -> tuple[int, dict[str, Any]]:
        offset, state = super().checkpoint(end)
        return offset, state | {"calls": {}}


class Touchy(DeclaredParser):
    """Cannot bear a line that is no record."""

    def feed(self, line: Any) -> list[Event | Claim]:
        if not line.data.startswith(b"{") or not line.data.endswith(b"}"):
            raise ValueError("no record")
        return super().feed(line)


class Trusting(Wrappers):
    """Ends a wrapper where its content says."""

    def typed(self, text: str) -> str:
        return text.partition("</note>")[2].strip() if text.startswith("<note>") else text

    def typed_in(self, texts: Any) -> list[str]:
        return [self.typed(text) for text in texts]


def _with(reads: type[DeclaredParser] = DeclaredParser, **changed: Any) -> DeclaredAdapter:
    return replace(AGENT, format=replace(TOY, **changed), reads=reads)


_DEAF = tuple(
    replace(kind, when=_SAID) if kind.take is Take.PROMPT else kind
    for kind in TOY.kinds
    if kind.take is not Take.NOTHING
)
BUGS: Mapping[str, tuple[DeclaredAdapter, Check]] = {
    "a key made of a place": (_with(ByPlace), copied),
    "a state that is not kept": (_with(Forgetful), resumed),
    "an error on a torn line": (_with(Touchy), torn),
    "a wrapper that ends where its content says": (_with(wrappers=Trusting("<(note)>", "</(note)>")), forged),
    "headless prompts that count": (_with(kinds=_DEAF), found),
}


@pytest.mark.parametrize("bug", BUGS)
def test_an_adapter_with_a_bug_does_not(bug: str) -> None:
    adapter, check = BUGS[bug]
    assert _fails(check, adapter)
    assert not _fails(check, AGENT)


def _fails(check: Check, adapter: DeclaredAdapter) -> bool:
    return any(check.__name__ in failed(adapter, carrier) for carrier in SESSIONS)
