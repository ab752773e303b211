"""Remarks of `show`: a log that cannot tell a script from a person, and copies of a skill that stay as they are."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from skilld.classify import said_already
from skilld.cli.proposals import other_copies, unsure_origins
from skilld.clock import parse_time
from skilld.proposals.remarks import current_conflicts, unwanted_said_again, why_left_open
from skilld.store.overview import Overview
from skilld.types import ContradictingLine, Evidence, Kind, Op, Operation, State, Update
from support.new_store import new_store
from support.proposals import make_proposal

REMARK = "the log of Pi does not distinguish what a script passes to pi -p --continue from what you typed"


def test_what_was_said_to_pi_is_marked() -> None:
    said = (Evidence("claude-code:t1", "Use tabs."),)
    assert list(unsure_origins(make_proposal(agent="claude-code", evidence=said))) == []
    assert list(unsure_origins(make_proposal(agent="pi", evidence=(Evidence("pi:t1", "Use tabs."),)))) == [REMARK]
    assert list(unsure_origins(make_proposal(agent="codex", evidence=(*said, Evidence("pi:t1", "x"))))) == [REMARK]
    assert list(unsure_origins(make_proposal(agent="pi", evidence=()))) == []


def test_the_agents_that_load_another_copy_of_the_skill_are_named(home: Path, tmp_path: Path) -> None:
    text = "---\nname: tidy\ndescription: Tidy up.\n---\n"
    files = [tmp_path / f"project/{name}/skills/tidy/SKILL.md" for name in (".agents", ".claude")]
    for file in files:
        file.parent.mkdir(parents=True)
        file.write_text(text)
    store = new_store(tmp_path / "skilld.db")
    for folder in (".claude", ".codex"):
        (home / folder).mkdir()
    shared, own = (make_proposal(skill="tidy", path=str(file.resolve())) for file in files)
    claude = f"Claude Code loads another copy of it, {files[1].resolve().parent}, which this does not change"
    codex = f"Codex loads another copy of it, {files[0].resolve().parent}, which this does not change"
    assert list(other_copies(store, shared)) == [claude]
    assert list(other_copies(store, own)) == [codex]
    files[0].unlink()
    assert list(other_copies(store, own)) == []


def test_an_opposite_line_written_later_is_a_contradiction(tmp_path: Path) -> None:
    file = tmp_path / "SKILL.md"
    file.write_text("# Notes\n\n- Be brief.\n")
    first = "Always put the ticket number first in each entry."
    update = Update(1, "", first, "", Kind.ADD_STEP, 1, first)
    operation = Operation(Op.INSERT_AFTER, "- Be brief.", f"- {first}")
    proposal = make_proposal(path=str(file), operations=(operation,), updates=(update,), summary=first)
    assert current_conflicts(proposal) == []
    file.write_text("# Notes\n\n- Be brief.\n- Always put the ticket number last in each entry.\n")
    line = ContradictingLine(str(file), 4, "- Always put the ticket number last in each entry.")
    assert current_conflicts(proposal) == [line]
    assert current_conflicts(replace(proposal, conflicts=(line,))) == [line]
    assert current_conflicts(replace(proposal, state=State.ACCEPTED)) == []
    assert why_left_open(new_store(tmp_path / "skilld.db"), proposal) == (
        f"0123abcd was left open: {file}:4 says the opposite. To see both: skilld show 0123abcd"
    )
    changes = Operation(Op.REPLACE, "- Always put the ticket number last.", f"- {first}")
    assert current_conflicts(replace(proposal, operations=(changes,))) == []


def test_what_was_rejected_is_compared_with_what_was_proposed_since(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared: list[str] = []

    def says_already(change: str, text: str) -> bool:
        compared.append(change)
        return change == text

    monkeypatch.setattr(said_already, "says_already", says_already)
    monkeypatch.setattr(Overview, "said_at", lambda _, turn: parse_time("2026-03-06T09:00:00Z") if turn else None)
    store, now = new_store(tmp_path / "skilld.db"), parse_time("2026-03-07T09:00:00Z") or 0.0

    def add(name: str, state: State, at: str, text: str) -> None:
        made = make_proposal(id=name, batch_id=name, summary=text, updates=(), created_at=f"{at}T09:00:00Z")
        operation = Operation(Op.INSERT_AFTER, "- a", text)
        facts: dict[str, Any] = {"state": state, "operations": (operation,), "decided_at": f"{at}T09:00:00Z"}
        store.proposals.add(replace(made, evidence=(Evidence("t1", text),), **facts))

    add("no", State.REJECTED, "2026-03-05", "Use tabs.")
    for number in range(50):
        add(f"old{number}", State.ACCEPTED, "2026-03-01", "Use tabs.")
    assert [one.id for one in unwanted_said_again(store, now)] == ["no"]
    assert compared == []
    add("new", State.ACCEPTED, "2026-03-06", "Use tabs.")
    assert unwanted_said_again(store, now) == []
    assert compared == ["Use tabs."]
