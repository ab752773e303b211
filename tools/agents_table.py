"""The tables of docs/agents.md, made from the data records of the adapters. Pure: records in, Markdown out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from skilld.agents.base import AgentInfo

_NONE = "none"


def tables(agents: Iterable[AgentInfo]) -> str:
    """Return two tables with a row for each agent: where transcripts are, and where skills are."""
    known = list(agents)
    parts = [
        _table(
            ("agent", "transcripts", "moved by", "checked against"),
            [(it.title, _places(it), _code(_moved_by(it)), it.verified) for it in known],
        ),
        _table(
            ("agent", "a project's skills", "a person's skills", "standing instructions"),
            [(it.title, _code(it.project_skills), _code(_own_skills(it)), _code(it.instructions)) for it in known],
        ),
    ]
    return "\n".join(parts)


def _places(info: AgentInfo) -> str:
    place = "in each project" if info.stores == ("",) and not info.queries else _code(_stores(info))
    return f"{place}, if `roots.{info.name}` is set" if info.asked_for else place


def _stores(info: AgentInfo) -> Iterator[str]:
    for store in info.stores:
        yield f"~/{info.home}/{store}".rstrip("/")


def _moved_by(info: AgentInfo) -> list[str]:
    return [*info.home_variables, *(variable for variable, _ in info.home_parents), *info.file_variables]


def _own_skills(info: AgentInfo) -> Iterator[str]:
    yield from (f"~/{info.home}/{folder}" for folder in info.skill_homes)
    yield from (f"~/{folder.usual}" for folder in info.skill_folders if folder.usual)
    yield from (f"~/{folder}" for folder in info.user_skills)


def _code(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(cell or _NONE for cell in line)} |\n" for line in lines)
