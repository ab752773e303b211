"""Which kinds of action the sessions of a task share, in whatever order. Pure.

Two sessions that do the same task run different commands around it, in a different order, and change different files
of the same folder. So a kind is counted by the sessions that have it, wherever in them: a command or what similar
commands share, a changed file or several of one folder, a file that is read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from skilld.mining.actions import Action
from skilld.mining.similarity import ELLIPSIS, SAME_START, ActionRun, common_words, step_similarity

MIN_SESSIONS = 2
_MIN_SHARE, _MIN_READ_SHARE = 0.3, 0.5  # of the sessions
_MAX_RUNS = 150  # different actions of one session: the time is quadratic
_MAX_KINDS_PER_PROGRAM = 60
# Of what only looks, the commands that compare or show what is in the history are what a review consists of.
_LOOK_PATTERN = re.compile(r"(?:cd \S+ && )?git (?:-C \S+ )?(?:diff|log|show|blame)\b")

Column = dict[str, ActionRun]  # one step, with the action of each session
_Placed = tuple[float, ActionRun]  # an action, and how far into its session it was (0 to 1)
Names = Callable[[str], list[str]]


@dataclass(slots=True)
class _Kind:
    """One kind: the first action of each session, and its place."""

    runs: dict[str, ActionRun]
    places: dict[str, float]

    @property
    def place(self) -> float:
        return sum(self.places.values()) / len(self.places)

    def is_before(self, other: _Kind) -> bool:
        """Whether all sessions that have both did this one first."""
        both = self.places.keys() & other.places.keys()
        return bool(both) and all(self.places[one] < other.places[one] for one in both)


def is_look(action: Action) -> bool:
    """Whether an action only looks at something, in a way that can be a step."""
    return action.read_only and is_look_command(action.text)


def is_look_command(text: str) -> bool:
    """Whether a command compares or shows what is in the history."""
    return bool(_LOOK_PATTERN.match(text))


def shared_kinds(sessions: Mapping[str, Sequence[ActionRun]]) -> list[Column]:
    """Return the kinds that enough sessions have, in the order that all sessions share, or else in the usual one."""
    placed = {session: _places(list(dict.fromkeys(runs))[:_MAX_RUNS]) for session, runs in sessions.items()}
    kinds = [*_command_kinds(placed), *_file_kinds(placed, edits=True), *_file_kinds(placed, edits=False)]
    ordered: list[_Kind] = []
    for kind in sorted(kinds, key=lambda kind: kind.place):
        at = next((n for n, other in enumerate(ordered) if kind.is_before(other)), len(ordered))
        ordered.insert(at, kind)
    return [kind.runs for kind in ordered]


def _places(runs: Sequence[ActionRun]) -> list[_Placed]:
    return [(number / len(runs), one) for number, one in enumerate(runs)]


def _least(sessions: Mapping[str, object], share: float = _MIN_SHARE) -> float:
    return max(MIN_SESSIONS, len(sessions) * share)


def _command_kinds(sessions: Mapping[str, Sequence[_Placed]]) -> Iterator[_Kind]:
    by_program: dict[tuple[str, ...], list[_Kind]] = {}
    for session, runs in sessions.items():
        for place, run in runs:
            if run.edits or run.reads:
                continue
            kinds = by_program.setdefault(_program(run), [])
            fit = [(like, kind) for kind in kinds if session not in kind.runs and (like := _likeness(kind, run))]
            if fit:
                best = max(fit, key=lambda one: one[0])[1]
                best.runs[session], best.places[session] = run, place
            elif len(kinds) < _MAX_KINDS_PER_PROGRAM:
                kinds.append(_Kind({session: run}, {session: place}))
    for kinds in by_program.values():
        yield from (kind for kind in kinds if len(kind.runs) >= _least(sessions))


def _program(run: ActionRun) -> tuple[str, ...]:
    """Return the words that all commands of a kind begin with."""
    words = tuple(run.words)
    return words[3:4] if words[:1] == ("cd",) else words[:1]


def _likeness(kind: _Kind, run: ActionRun) -> int:
    """Return the score of an action as one of a kind, 0 if it is of another: the first of a session counts most."""
    like = max(step_similarity(seen, run) for seen in kind.runs.values())
    if like <= SAME_START and all(common_words(seen.words, run.words) for seen in kind.runs.values()):
        return SAME_START + 1
    return like if like > SAME_START else 0


def _file_kinds(sessions: Mapping[str, Sequence[_Placed]], *, edits: bool) -> Iterator[_Kind]:
    """Yield the files that enough sessions changed, or read before they did; and the folders they changed one of."""
    wanted = {
        session: [(place, one) for place, one in runs if (one.edits if edits else one.reads)]
        for session, runs in sessions.items()
    }
    least = _least(sessions, _MIN_SHARE if edits else _MIN_READ_SHARE)
    exact = _by_name(wanted, lambda text: [text])
    same = {name: kind for name, kind in exact.items() if len(kind.runs) >= least}
    yield from same.values()
    if edits:
        rest = {
            session: [(place, one) for place, one in files if one.text not in same] for session, files in wanted.items()
        }
        seen: set[ActionRun] = set()
        for kind in sorted(_by_name(rest, _patterns).values(), key=lambda kind: -len(kind.runs)):
            runs = set(kind.runs.values())
            if len(kind.runs) >= least and len({one.text for one in runs}) >= MIN_SESSIONS and not runs & seen:
                seen |= runs
                yield kind


def _by_name(sessions: Mapping[str, Iterable[_Placed]], names: Names) -> dict[str, _Kind]:
    found: dict[str, _Kind] = {}
    for session, files in sessions.items():
        for place, one in files:
            for name in names(one.text):
                kind = found.setdefault(name, _Kind({}, {}))
                kind.runs.setdefault(session, one)
                kind.places.setdefault(session, place)
    return found


def _patterns(text: str) -> list[str]:
    """Return what files of the same folder and ending, and those of the same name, have in common."""
    path = PurePosixPath(text)
    alike = path.with_name(ELLIPSIS + path.suffix) if len(path.parts) > 1 else None
    return [str(alike), f"{ELLIPSIS}/{path.name}"] if alike else []


def common_path(paths: Sequence[str]) -> str:
    """Return what paths share, with "…" for the rest: the folder and the ending, or the name. "" if neither."""
    found = (pattern for pattern in _patterns(paths[0]) if all(pattern in _patterns(one) for one in paths))
    return next(found, "")
