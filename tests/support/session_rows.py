"""Past sessions as the rows that mining judges, and the lines of the resulting skills."""

from __future__ import annotations

from collections.abc import Sequence

from skilld.clock import parse_time
from skilld.mining.actions import Action, is_read_only
from skilld.mining.session_summary import Feedback, Row, Task
from skilld.mining.values import Candidate, PartKind
from skilld.types import ToolOutcome

NOW = parse_time("2026-01-06T10:00:00Z") or 0.0
Turn = tuple[str, Sequence[str]]


def session_row(number: int, *turns: Turn, said: Sequence[str] = ()) -> Row:
    """Return a session of these turns, each with what the agent did for it, followed by lasting feedback.

    "!" before a command says that it failed, "~" that it is a file that was changed.
    """
    name = f"t{number}"
    keys = [name, *(f"{name}:{at}" for at in range(1, len(turns) + len(said)))]
    feedback = [
        Feedback(key, text, text, "correction", 0.9) for key, text in zip(keys[len(turns) :], said, strict=True)
    ]
    actions = [(_action(one), key) for key, (_, done) in zip(keys, turns, strict=False) for one in done]
    return Row(
        agent="claude-code",
        session_id=f"s{number}",
        path="/t",
        main_dir="/shop",
        datetime=f"2026-01-0{number}T10:00:00Z",
        topics=("other",),
        tasks=tuple(Task(key, text) for key, (text, _) in zip(keys, turns, strict=False)),
        skills_used=(),
        user_feedback=tuple(feedback),
        project="/shop",
        turns=tuple(keys),
        asked="\n".join(text for text, _ in turns),
        actions=tuple(actions),
    )


def _action(done: str) -> Action:
    text, changed = done.lstrip("!~"), done.startswith("~")
    outcome = ToolOutcome.FAILED if done.startswith("!") else ToolOutcome.OK
    return Action(text, outcome, 0, edits=changed, read_only=not changed and is_read_only(text))


def lines_of(one: Candidate, *sorts: PartKind) -> list[str]:
    """Return what the parts of these kinds say."""
    return [part.text for part in one.parts if part.sort in sorts]
