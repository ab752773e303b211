"""What the person said earlier and took back later, in whatever words."""

from __future__ import annotations

from dataclasses import replace

from skilld.mining.overtaken import Later
from skilld.mining.session_summary import Row, Task
from skilld.mining.values import Part, PartKind, Proof
from support.rows import for_each


def row(number: int, *texts: str, project: str = "/shop") -> Row:
    tasks = tuple(Task(f"t{number}{n}", text) for n, text in enumerate(texts))
    return Row(
        "claude-code", f"s{number}", "", project, f"2026-01-0{number}T10:00:00Z", (), tasks, (), (), project,
        tuple(one.turn for one in tasks),
    )  # fmt: skip


def overtaken(said: str, *later: Row, here: int = 1) -> bool:
    rows = [row(1, said), *later]
    part = Part(PartKind.SAID, said, (Proof("s1", "t10", said),))
    return Later([*reversed(rows)]).overtakes(part, rows[:here])


@for_each(
    ("said", "later", "gone"),
    [
        ("Next time you made changes to the code, let me commit.", "Just commit for me", True),
        ("Next time you made changes to the code, let me commit.", "yes and commit and push the code", True),
        ("Leave the merge to me", "ok, merge it", True),
        ("I'll push it myself", "push, please", True),
        ("Lass mich committen", "committen bitte", True),
        ("Let me commit", "do not commit that", False),
        ("Let me commit", "no, let me commit", False),
        ("Let me commit", "fix the failing test", False),
        ("Let me know when it is merged", "do you know the price of it?", False),
        ("Keep the table sorted", "sort the table", False),
        ("Let me commit", "I looked at the log and there the commit of yesterday has a wrong date, so " * 2, False),
    ],
)
def test_what_is_kept_for_oneself_is_over_once_it_is_asked_for(said: str, later: str, *, gone: bool) -> None:
    assert overtaken(said, row(2, later)) is gone


def test_only_what_came_later_and_in_the_same_project_counts() -> None:
    assert not overtaken("Let me commit", row(2, "commit it", project="/other"))
    rows = [row(1, "commit it"), row(2, "Let me commit")]
    assert not Later(rows).overtakes(Part(PartKind.SAID, "Let me commit", (Proof("s2", "t20", "x"),)), rows)
    again = Part(PartKind.SAID, "Let me commit", (Proof("s1", "t10", "x"), Proof("s3", "t30", "x")))
    three = [row(1, "Let me commit"), row(2, "commit it"), row(3, "Let me commit")]
    assert not Later(three).overtakes(again, three)  # said again since
    assert not Later(three).overtakes(replace(again, proofs=(Proof("s9", "t9", "x"),)), three)


def test_a_contradiction_counts_in_the_tasks_own_sessions() -> None:
    later = row(2, "use npm for the build, not pnpm")
    assert overtaken("Use pnpm for the build, not npm", later, here=2)
    assert not overtaken("Use pnpm for the build, not npm", later)
