"""A home with a year of use: skilld's store, and repositories whose files grew in that year."""

from __future__ import annotations

import random
import subprocess
from dataclasses import replace
from pathlib import Path

from benchmarks.kit.year import DAY, START, Truth, sessions, truths
from skilld.clock import local_day, rfc3339
from skilld.effect.figures import RuleState
from skilld.store import Store
from skilld.store.learnings import Learning
from skilld.types import Evidence, Op, Operation, Proposal, State, TargetKind, Usage
from support.proposals import make_proposal

NOW = START + 365 * DAY
_WEEK = 7 * DAY
_PROJECTS = ("work/shop", "work/notes", "infra")
_FILES = (
    ("CLAUDE.md", TargetKind.INSTRUCTIONS, 1.0),
    (".claude/skills/release-notes/SKILL.md", TargetKind.SKILL, 0.4),
    (".claude/skills/code-review/SKILL.md", TargetKind.SKILL, 0.7),
    (".claude/rules/tests.md", TargetKind.RULES, 0.2),
)
CUT = 33  # the week in which each CLAUDE.md was made shorter
_OF_ONE_AGENT = 80  # the first sessions of a project
_STATES = (State.ACCEPTED,) * 7 + (State.REJECTED, State.REVERTED, State.OPEN, State.DROPPED, State.SAID)


def simulate_year(home: Path, store: Store, seed: int = 5) -> None:
    """Fill a store, and a home with projects."""
    chance = random.Random(seed)
    with store.transaction():
        for number, name in enumerate(_PROJECTS):
            _project(chance, home / name, store, number)
        for week in range(30, 53):
            spent = Usage(chance.randrange(4, 40), chance.randrange(9_000, 90_000), 4_000, chance.uniform(0.02, 0.4))
            model = "openai/gpt-5-mini" if week < 45 else "anthropic/claude-haiku-4-5"
            store.usage.add(local_day(START + week * _WEEK), model, "release-notes", spent)
        for number in range(9):
            store.learnings.add(_learning(number, home / _PROJECTS[number % 2], START + (4 * number + 12) * _WEEK))


def _project(chance: random.Random, root: Path, store: Store, number: int) -> None:
    known = [one for one in truths(chance, 40 - 12 * number) if one.state is RuleState.HOLDS or chance.random() < 0.12]
    root.mkdir(parents=True)
    _grow(chance, root, known)
    paths = [str(root / name) for name, _, _ in _FILES]
    for place, one in enumerate(sessions(chance, known)[number :: len(_PROJECTS)]):
        loaded = tuple(path for path, (_, _, share) in zip(paths, _FILES, strict=True) if chance.random() < share)
        agent = "claude-code" if place < _OF_ONE_AGENT else chance.choice(("codex", "opencode"))
        held = replace(one, agent=agent, cwd=str(root), session_id=f"{root.name}-{place}", loaded=loaded)
        store.past.save(f"{root}/{place}.jsonl", 1, one.at, [held])
    for place, rule in enumerate(known):
        _propose(chance, store, root, rule.text, rule.since, f"{number}{place:03}", State.ACCEPTED, 0)
    for place in range(25 - 6 * number):
        at, file = START + chance.uniform(0, 364) * DAY, chance.randrange(len(_FILES))
        state = chance.choice(_STATES) if at < NOW - 20 * DAY else State.OPEN
        text = f"Write the {chance.choice(('changelog', 'summary', 'title'))} number {place} first."
        _propose(chance, store, root, text, at, f"{number}{place + 500:03}", state, file)


def _propose(  # noqa: PLR0917 - what a row has
    chance: random.Random, store: Store, root: Path, text: str, at: float, name: str, state: State, file: int
) -> None:
    path, kind, _ = _FILES[file]
    one: Proposal = make_proposal(
        id=name,
        skill=Path(path).parent.name,
        path=str(root / path),
        target=kind,
        operations=(Operation(Op.INSERT_AFTER, "", f"- {text}"),),
        summary=text,
        evidence=(Evidence(f"t{name}", f"from now on: {text}"),),
        created_at=rfc3339(at - chance.expovariate(1 / DAY)),
        session_id=f"{root.name}-{chance.randrange(_OF_ONE_AGENT)}",
        state=state if state is State.SAID else State.OPEN,
    )
    store.proposals.add(one)
    if state not in {State.OPEN, State.SAID}:
        store.proposals.decide(one, state, rfc3339(at), who="command")


def _grow(chance: random.Random, root: Path, known: list[Truth]) -> None:
    """Make a repository with a commit a week, in which every file is longer than the week before, or was cut."""
    files = {name: ["# Notes", ""] for name, _, _ in _FILES}
    stream = []
    for week in range(52):
        at = START + week * _WEEK
        for place, (name, lines) in enumerate(files.items()):
            if place < len(files) - 1:
                lines.append(f"- Line {week} of {name}, in which {'much ' * chance.randrange(3, 30)}is told.")
            if place == 0:
                if week == CUT:
                    del lines[2:20]
                lines.extend(f"- {one.text}" for one in known if at <= one.since < at + _WEEK)
        stream.append(_commit(week, at, {name: "\n".join(lines) + "\n" for name, lines in files.items()}))
    subprocess.run(["git", "init", "-q", "-b", "main", root], check=True)
    subprocess.run(["git", "-C", root, "fast-import", "--quiet"], input="".join(stream).encode(), check=True)
    subprocess.run(["git", "-C", root, "reset", "-q", "--hard", "main"], check=True)


def _commit(week: int, at: float, files: dict[str, str]) -> str:
    who = f"committer Ada <ada@example.org> {at:.0f} +0000\ndata 6\nweekly\n"
    parts = [f"M 100644 inline {name}\ndata {len(text.encode())}\n{text}\n" for name, text in files.items()]
    before = f"from :{week}\n" if week else ""
    return f"commit refs/heads/main\nmark :{week + 1}\n{who}{before}{''.join(parts)}\n"


def _learning(number: int, project: Path, at: float) -> Learning:
    said = f"always sort the list of {number} things by name"
    change = f"Sort the list of {number} things by name."
    return Learning(
        id=f"l{number}",
        turn_key=f"claude-code:l{number}",
        quote=said,
        change=change,
        kind="preference",
        agent="claude-code",
        session_id=f"{project.name}-{number}",
        project=str(project),
        skill=None,
        why_kept="no file",
        confidence=0.9,
        created_at=rfc3339(at),
    )
