"""`skilld learnings` shows each ask once, with the reason that holds now, not the one of when it was said."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path

import pytest

from skilld.classify.said_already import is_same_change
from skilld.jobs import asks
from skilld.store import Store
from skilld.store.learnings import Learning
from skilld.types import Evidence, Kind, State, TargetKind, Update
from support.proposals import make_proposal

NO_FILE = "you have said it in only one session, and there is no AGENTS.md yet"
CHANGE = "Always use pnpm in this repository."


def learning(project: Path, change: str = CHANGE, number: int = 0, why: str = NO_FILE) -> Learning:
    return Learning(
        f"l{number}", f"codex:t{number}", change, change, "preference", "codex", f"s{number}", str(project), None,
        why, 0.85, "2026-03-02T09:00:00Z", "instructions", str(project / "AGENTS.md"),
    )  # fmt: skip


def reason(store: Store, one: Learning) -> str:
    ((shown, *_),) = asks.current_asks(store, [one])
    return shown.why_kept


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (None, NO_FILE),
        ("", "you have said it in only one session, when there was no AGENTS.md"),
        ("# Guide\n\n- Be brief.\n", "you have said it in only one session, when there was no AGENTS.md"),
        ("# Guide\n\n- Always use pnpm in this repository.\n", "AGENTS.md now says this"),
        ("# Guide\n\n- Never use pnpm in this repository.\n", "you have said it in only one session, when there was"),
    ],
)
def test_a_missing_file_is_looked_for_again(store: Store, tmp_path: Path, text: str | None, why: str) -> None:
    if text is not None:
        (tmp_path / "AGENTS.md").write_text(text)
    assert reason(store, learning(tmp_path)).startswith(why)
    other = "skilld is not sure enough (confidence 0.40; 0.50 needed)"
    assert reason(store, learning(tmp_path, why=other)) == other


@pytest.mark.parametrize(
    ("where", "said", "state", "is_named"),
    [
        ({"path": "AGENTS.md", "repo": ""}, CHANGE, State.OPEN, True),
        ({"path": ".agents/skills/notes/SKILL.md", "repo": "."}, "Use pnpm in this repository.", State.OPEN, True),
        ({"path": "../other/AGENTS.md", "repo": "../other"}, CHANGE, State.OPEN, False),
        ({"path": "../home/AGENTS.md", "repo": "../home", "target": TargetKind.PERSONAL}, CHANGE, State.OPEN, True),
        ({"path": "AGENTS.md", "repo": "."}, "Never use pnpm in this repository.", State.OPEN, False),
        ({"path": "AGENTS.md", "repo": "."}, "Always use yarn for the docs.", State.OPEN, False),
        ({"path": "AGENTS.md", "repo": "."}, CHANGE, State.REJECTED, False),
    ],
)
def test_an_open_proposal_that_asks_for_the_same_is_named(
    store: Store, tmp_path: Path, where: dict[str, str], said: str, state: State, *, is_named: bool
) -> None:
    root = tmp_path / "project"
    real = {name: str((root / one).resolve()) if name != "target" and one else one for name, one in where.items()}
    update = Update(1, "", said, "", Kind.PREFERENCE, 1, said)
    made = make_proposal(state=state, skill="notes", evidence=(Evidence("t1", said),), updates=(update,))
    store.proposals.add(replace(made, **real))  # type: ignore[arg-type]
    why = f"the open proposal {made.id} for notes already says this"
    assert (reason(store, learning(root)) == why) is is_named


@pytest.mark.parametrize(
    ("turn", "quote", "change", "is_named"),
    [
        ("codex:t0", CHANGE, "Run the tests.", True),
        ("codex:t0", "and please always use pnpm in this repository", "Run the tests.", True),
        ("codex:t0", "Set up the shop's new page for shoes. Always use pnpm in this repository.", "Run it.", False),
        ("codex:t1", CHANGE, "Run the tests.", False),
        ("codex:t1", "Use pnpm.", "Use pnpm in this repository.", True),
    ],
)
def test_an_accepted_proposal_that_took_up_a_learning_is_named_while_its_file_is_there(
    store: Store, tmp_path: Path, turn: str, quote: str, change: str, *, is_named: bool
) -> None:
    file = tmp_path / ".agents/skills/notes/SKILL.md"
    file.parent.mkdir(parents=True)
    file.write_text("# Notes\n")
    update = Update(1, "", change, "", Kind.ADD_STEP, 1, quote)
    made = make_proposal(state=State.ACCEPTED, skill="notes", evidence=(Evidence(turn, quote),), updates=(update,))
    store.proposals.add(replace(made, path=str(file), repo=str(tmp_path)))
    other = "skilld is not sure enough (confidence 0.40; 0.50 needed)"
    why = f"notes says this since you accepted {made.id}" if is_named else other
    assert reason(store, learning(tmp_path, why=other)) == why
    file.unlink()
    assert reason(store, learning(tmp_path, why=other)) == other


@pytest.mark.parametrize(
    ("turn", "said", "state", "project", "stays"),
    [
        ("codex:t0", "ok: Always use pnpm in this repository. Thanks", State.REJECTED, "elsewhere", False),
        ("codex:t0", "Never log a token.", State.ACCEPTED, "project", True),
        ("codex:t1", CHANGE, State.OPEN, "project", False),
        ("codex:t1", "Use pnpm in this repository.", State.ACCEPTED, "project", False),
        ("codex:t1", CHANGE, State.SAID, "project", False),
        ("codex:t1", CHANGE, State.REJECTED, "project", True),
        ("codex:t1", CHANGE, State.ACCEPTED, "elsewhere", True),
        ("codex:t1", "Never use pnpm in this repository.", State.ACCEPTED, "project", True),
    ],
)
def test_what_a_proposal_quotes_or_says_was_not_passed_over(
    store: Store, tmp_path: Path, *, turn: str, said: str, state: State, project: str, stays: bool
) -> None:
    folder = tmp_path / project
    made = make_proposal(state=state, evidence=(Evidence(turn, said),), path=str(folder / "AGENTS.md"))
    update = Update(1, "", said, "", Kind.PREFERENCE, 1, said)
    repo = "" if state is State.SAID else str(folder)
    store.proposals.add(replace(made, updates=(update,), repo=repo))
    one = learning(tmp_path / "project", why="its wording is not one that the offline judge knows")
    one = replace(one, place="", place_kind="")
    assert asks.without_proposed(store, [one]) == ([one] if stays else [])


def test_rewordings_are_grouped_as_by_comparing_all_pairs_with_few_comparisons(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    things = (
        "pnpm",
        "prettier",
        "go vet",
        "the changelog",
        "error values",
        "fixtures",
        "migrations",
        "British spelling",
    )
    ends = ("before every commit", "in library code", "for the docs", "at the top of each file", "in German")
    texts = [
        f"{first} {thing} {end}."
        for end, thing, first in itertools.product(ends, things, ("Always use", "Use", "Never use"))
    ]
    found = [learning(tmp_path / str(number // 3 % 2), text, number) for number, text in enumerate(texts)]
    compared = 0

    def counted(one: str, other: str) -> bool:
        nonlocal compared
        compared += 1
        return is_same_change(one, other)

    expected: list[list[Learning]] = []
    for one in found:
        near = [ask for ask in expected if ask[0].project == one.project]
        same = next((ask for ask in near if is_same_change(one.change, ask[0].change)), None)
        if same is None:
            expected.append([one])
        else:
            same.append(one)
    monkeypatch.setattr(asks, "is_same_change", counted)
    assert asks.group_learnings(found) == expected
    assert any(len(ask) > 1 for ask in expected)
    assert compared < len(found) ** 2 / 8
