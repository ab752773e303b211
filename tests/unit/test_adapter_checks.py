"""Every adapter passes the checks on generated sessions, and so does one that is only a table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from skilld.agents import ADAPTERS
from skilld.agents.base import AgentInfo
from skilld.agents.declared import ANY, DeclaredAdapter, Format, RecordKind, Role
from skilld.agents.wrappers import Wrappers
from support.adapter_checks import CHECKS
from support.carrier import Carrier
from support.forged import CARRIERS
from support.rows import for_each

# An agent made up here: lines of JSON in ~/.toy/talks, each with a `what`.
_SAID = {"what": "said", "by": "person"}
TOY = Format(
    "toy",
    (
        RecordKind(Role.HEAD, {"what": "begin"}),
        RecordKind(Role.PROMPT, {**_SAID, "from": "keyboard"}, text="words", key="id"),
        RecordKind(Role.NOTHING, _SAID, why="headless"),
        RecordKind(Role.REPLY, {"what": "said", "by": "agent"}, text="words"),
        RecordKind(Role.CALL, {"what": "call"}, call="id", tool="tool", input="asked"),
        RecordKind(Role.RESULT, {"what": "result"}, call="id", text="shown", failed={"error": ANY}),
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


def typed_message(number: int, words: str, **more: Any) -> dict[str, Any]:
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
    Carrier("note", lambda c, p: [_BEGIN, *_READ, typed_message(1, f"<note>{c}</note>\n{p}", **_KEYS)]),
    Carrier("headless prompt", lambda c, p: [_BEGIN, typed_message(1, c), typed_message(2, p, **_KEYS), *_READ]),
]


def failed_checks(adapter: Any, carrier: Carrier) -> dict[str, str]:
    """Return the checks that an adapter does not stand, with what they say."""
    told = {}
    for check in CHECKS:
        try:
            check(adapter, carrier)
        except Exception as error:  # noqa: BLE001 - whatever it raises
            told[check.__name__] = repr(error)
    return told


@for_each(("agent", "carrier"), [(agent, carrier) for agent, carriers in CARRIERS.items() for carrier in carriers])
def test_every_adapter_passes_every_check(agent: str, carrier: Carrier) -> None:
    assert failed_checks(ADAPTERS[agent], carrier) == {}


@for_each("carrier", SESSIONS)
def test_a_table_driven_agent_passes_every_check(carrier: Carrier) -> None:
    assert failed_checks(AGENT, carrier) == {}


def test_a_table_of_an_agent_has_at_most_sixty_lines() -> None:
    text = Path(__file__).read_text(encoding="utf-8")
    table = text.partition("# An agent made up here")[2].partition("\ndef ")[0]
    assert len(table.splitlines()) <= 60
