"""A quote in its context, and the skills as rows."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from skilld.errors import SkilldError
from skilld.review import context
from skilld.review.context import Said
from skilld.review.draw import can_show
from skilld.review.library import Shelved, matches, put_aside, sessions_by_path, shelf
from skilld.skills import Skill, Source
from skilld.skills.front import Front, front
from skilld.store.overview import Used
from skilld.types import Evidence, Message, Proposal, State
from support.proposals import a_proposal

MESSAGES = [
    Message("Done. \x1b[2J"),
    Message("hm, ok. From  now on say it.\nThanks", turn=1, turn_key="k1"),
    Message("I will."),
    Message("bye", turn=2, turn_key="k2"),
]


def test_the_quote_stands_between_what_was_said_before_and_after() -> None:
    assert context.around(MESSAGES, Evidence("k1", "From now on say it.")) == [
        Said(by_person=False, before="Done. \\x1b[2J"),
        Said(by_person=True, before="hm, ok. ", quote="From now on say it.", after=" Thanks"),
        Said(by_person=False, before="I will."),
    ]


def test_a_quote_that_is_not_found_as_it_was_leaves_the_whole_message() -> None:
    (_, said) = context.around(MESSAGES, Evidence("k2", "something else"))
    assert said == Said(by_person=True, before="bye")
    assert context.around(MESSAGES, Evidence("gone", "bye")) == []


def test_a_long_message_is_cut_around_its_quote() -> None:
    text = "a" * 3000 + " keep it " + "b" * 3000
    (said,) = context.around([Message(text, turn=1, turn_key="k")], Evidence("k", "keep it"))
    assert said.quote == "keep it"
    assert len(said.before) + len(said.after) < 900


@pytest.mark.parametrize(
    ("text", "fine"),
    [("a\n\tb\r\nü\n", True), ("\ufeffa\n", True), ("a \x1b[2J", False), ("a\u202eb", False), ("a\rb", False)],
)
def test_only_a_text_without_hidden_characters_is_edited_on_the_screen(text: str, fine: bool) -> None:  # noqa: FBT001 - a case
    assert can_show(text) is fine


NOW = 1772442000.0  # 2026-03-02 09:00 UTC


def _skill(name: str, source: Source, agents: tuple[str, ...] = ("claude-code",), said: Front | None = None) -> Skill:
    return Skill(name, Path(f"/{source.value}/{name}/SKILL.md"), source, None, agents, said or front(""))


def _proposal(path: str, state: State, decided_at: str = "") -> Proposal:
    return a_proposal(skill="x", path=path, state=state, created_at="2026-03-01T09:00:00Z", decided_at=decided_at)


def test_skills_are_grouped_and_counted() -> None:
    skills = [
        _skill("deploy", Source.PROJECT),
        _skill("notes", Source.USER),
        _skill("old", Source.USER, ("codex",)),
        _skill("pdf", Source.PLUGIN),
    ]
    used = [
        Used("claude-code", "notes", "/user/notes/SKILL.md", None, 4),
        Used("claude-code", "docs:pdf", "", None, 2),
        Used("claude-code", "gone", "", None, 9),
    ]
    counts = sessions_by_path(skills, used, lambda use: use.path)
    proposals = [
        _proposal("/user/notes/SKILL.md", State.ACCEPTED, "2026-02-20T00:00:00Z"),
        _proposal("/user/notes/SKILL.md", State.REJECTED, "2026-02-21T00:00:00Z"),
        _proposal("/user/old/SKILL.md", State.ACCEPTED, "2025-01-01T00:00:00Z"),
        _proposal("/project/deploy/SKILL.md", State.SUPERSEDED),
    ]
    rows = [
        (row.name, row.group, row.uses, row.corrections, row.rate, row.invocation)
        for row in shelf(skills, counts, proposals, NOW)
    ]
    assert rows == [
        ("notes", "evolving", 4, 2, 0.5, "/notes"),
        ("deploy", "project", 0, 0, 0.0, "/deploy"),
        ("old", "user", 0, 1, 0.0, "$old"),
        ("pdf", "plugin", 2, 0, 0.0, "/pdf"),
    ]


ROW = Shelved("notes", "user", "/home/me/.claude/skills/notes/SKILL.md", 0, 0, 0.0, "/notes")


@pytest.mark.parametrize(("words", "found"), [("", True), ("NOTES", True), ("user not", True), ("notes plugin", False)])
def test_a_search_finds_every_word(words: str, found: bool) -> None:  # noqa: FBT001 - a case
    assert matches(ROW, words) is found


def test_deleting_moves_the_whole_folder_to_the_trash(tmp_path: Path) -> None:
    folder = tmp_path / "skills/notes"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text("text")
    (folder / "script.sh").write_text("run")
    place = put_aside(Shelved("notes", "user", str(folder / "SKILL.md"), 0, 0, 0.0, "/notes"), tmp_path / "Trash")
    assert sorted(path.name for path in place.iterdir()) == ["SKILL.md", "script.sh"]
    assert not folder.exists()
    (info,) = (tmp_path / "Trash/info").iterdir()
    assert info.stem == place.name
    assert info.read_text().splitlines()[:2] == ["[Trash Info]", f"Path={folder}"]
    shutil.copytree(place, folder)
    with pytest.raises(SkilldError, match="not a folder of your own"):
        put_aside(Shelved("notes", "plugin", str(folder / "SKILL.md"), 0, 0, 0.0, "/notes"), tmp_path / "Trash")
    assert folder.exists()
