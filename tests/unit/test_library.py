"""The skills as rows: grouped, counted, searched, deleted."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from skilld.errors import RefusedError, SkilldError
from skilld.library.archive import move_to_trash
from skilld.library.rows import (
    LibraryRow,
    SkillUses,
    build_rows,
    count_uses,
    load_rows,
    matches_search,
    sessions_by_path,
)
from skilld.skills import Skill, Source
from skilld.skills.spec import FrontMatter, read_front
from skilld.store import Store
from skilld.store.overview import SkillUsage
from skilld.store.tasks import Task
from skilld.types import Op, Operation, Proposal, State
from support.proposals import make_proposal
from support.rows import for_each
from support.tops import make_top

NOW = 1772442000.0  # 2026-03-02 09:00 UTC


def _skill(
    name: str, source: Source, agents: tuple[str, ...] = ("claude-code",), said: FrontMatter | None = None
) -> Skill:
    return Skill(name, Path(f"/{source.value}/{name}/SKILL.md"), source, None, agents, said or read_front(""))


def _proposal(path: str, state: State, decided_at: str = "") -> Proposal:
    return make_proposal(skill="x", path=path, state=state, created_at="2026-03-01T09:00:00Z", decided_at=decided_at)


def _make_task(status: str, *skills: str, qa: bool | None = None) -> Task:
    return Task("1", "p", "", status, (), skills, 0.0, "", qa, "2026-03-01T09:00:00Z")


def test_skills_are_grouped_and_counted() -> None:
    skills = [
        _skill("deploy", Source.PROJECT),
        _skill("notes", Source.USER),
        _skill("old", Source.USER, ("codex",)),
        _skill("pdf", Source.PLUGIN),
    ]
    used = [
        SkillUsage("claude-code", "notes", "/user/notes/SKILL.md", None, {"a": 3.0, "b": 9.0}),
        SkillUsage("codex", "notes", "/user/notes/SKILL.md", None, {"b": 4.0, "c": 0.0, "d": 5.0}),
        SkillUsage("claude-code", "docs:pdf", "", None, {"a": 1.0, "e": 2.0}),
        SkillUsage("claude-code", "gone", "", None, {"f": 1.0}),
    ]
    sessions = sessions_by_path(skills, used, lambda use: use.path)
    assert sessions == {
        Path("/user/notes/SKILL.md"): {"a": 3.0, "b": 9.0, "c": 0.0, "d": 5.0},
        Path("/plugin/pdf/SKILL.md"): {"a": 1.0, "e": 2.0},
    }
    uses = {path: SkillUses(frozenset(found)) for path, found in sessions.items()}
    proposals = [
        _proposal("/user/notes/SKILL.md", State.ACCEPTED, "2026-02-20T00:00:00Z"),
        _proposal("/user/notes/SKILL.md", State.REJECTED, "2026-02-21T00:00:00Z"),
        _proposal("/user/old/SKILL.md", State.ACCEPTED, "2025-01-01T00:00:00Z"),
        _proposal("/project/deploy/SKILL.md", State.SUPERSEDED),
        replace(_proposal("/project/deploy/SKILL.md", State.ACCEPTED), operations=(Operation(Op.CREATE, "", "x"),)),
        replace(_proposal("/project/deploy/SKILL.md", State.ACCEPTED), evidence=()),
    ]
    rows = [
        (row.name, row.group, row.uses.number, row.corrections, row.rate, row.invocation)
        for row in build_rows(skills, uses, proposals, NOW)
    ]
    assert rows == [
        ("notes", "evolving", 4, 2, 0.5, "/notes"),
        ("deploy", "project", 0, 0, 0.0, "/deploy"),
        ("old", "user", 0, 1, 0.0, "$old"),
        ("pdf", "plugin", 2, 0, 0.0, "/pdf"),
    ]


def test_a_skill_counts_as_followed_only_if_someone_checked_and_nothing_was_repeated() -> None:
    """Y8: a session that nobody read says nothing, and one in which it was said again is no success."""
    sessions = {"a": 1.0, "b": 5.0, "c": 2.0}
    assert count_uses("notes", sessions, {}, [], read=[], corrected=[]) == SkillUses(frozenset("abc"), 5.0, 0, 0)
    assert count_uses("notes", sessions, {}, [], read=[], corrected=[]).success is None
    assert count_uses("notes", sessions, {}, [], read=["a", "b", "other"], corrected=["a", "elsewhere"]) == SkillUses(
        frozenset("abc"), 5.0, 1, 2
    )
    told = {"a": True, "b": False, "": False}  # the last: of no session in particular
    assert count_uses("notes", sessions, told, [], read="abc", corrected=["a"]) == SkillUses(
        frozenset("abc"), 5.0, 2, 4
    )


def test_a_recorded_task_with_the_skill_is_a_separate_use() -> None:
    tasks = [
        _make_task("completed", "notes"),
        _make_task("completed", "notes", "other", qa=True),
        _make_task("completed", "notes", qa=False),
        _make_task("failed", "notes"),
        _make_task("completed", "other"),
    ]
    skill_uses = count_uses("notes", {}, {}, tasks, read=[], corrected=[])
    assert (skill_uses.kept, skill_uses.judged, skill_uses.success, skill_uses.number) == (2, 4, 0.5, 0)
    assert count_uses("unused", {}, {}, tasks, read=[], corrected=[]).success is None


def test_a_skill_shows_its_kind_tags_and_source_sessions() -> None:
    said = {"skilld-kind": "workflow", "skilld-tags": "git, release", "skilld-sessions": "s1, s2"}
    row = LibraryRow(_skill("notes", Source.USER, said=FrontMatter(metadata=said)), "user")
    assert (row.kind, row.tags, row.origins) == ("workflow", ("git", "release"), 2)
    bare = LibraryRow(_skill("notes", Source.USER), "user")
    assert (bare.kind, bare.tags, bare.origins) == ("skill", (), 0)


@for_each(
    ("words", "found"), [("", True), ("NOTES", True), ("user not", True), ("brief tidy", True), ("notes plugin", False)]
)
def test_a_search_requires_every_word(words: str, found: bool) -> None:  # noqa: FBT001 - a case
    row = LibraryRow(_skill("notes", Source.USER, said=read_front("---\ndescription: Brief and tidy.\n---\n")), "user")
    assert matches_search(row, words) is found


def test_deleting_moves_the_whole_folder_to_the_trash(tmp_path: Path) -> None:
    folder = tmp_path / "skills/notes"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text("text")
    (folder / "script.sh").write_text("run")
    skill = Skill("notes", folder / "SKILL.md", Source.USER, None, (), read_front(""))
    place = move_to_trash(skill, tmp_path / "Trash")
    assert sorted(path.name for path in place.iterdir()) == ["SKILL.md", "script.sh"]
    assert not folder.exists()
    (info,) = (tmp_path / "Trash/info").iterdir()
    assert info.stem == place.name
    assert info.read_text().splitlines()[:2] == ["[Trash Info]", f"Path={folder}"]
    shutil.copytree(place, folder)
    with pytest.raises(SkilldError, match="not in one of your own folders"):
        move_to_trash(Skill("notes", folder / "SKILL.md", Source.PLUGIN, None, (), read_front("")), tmp_path / "Trash")
    make_top(folder)
    with pytest.raises(RefusedError, match="a separate repository"):
        move_to_trash(skill, tmp_path / "Trash")
    assert folder.exists()


def test_skills_are_searched_from_the_working_folders_up_to_the_repository_root(tmp_path: Path) -> None:
    root = tmp_path / "home/work/shop"
    make_top(root)
    asked: list[Path] = []

    def find_skills(projects: Sequence[Path]) -> list[Skill]:
        asked.extend(projects)
        return []

    with closing(Store.open(tmp_path / "skilld.db")) as store:
        for name, folder in (("s1", root / "src/api"), ("s2", root), ("s3", tmp_path / "home"), ("s4", Path())):
            store.transcripts.record_activity("claude-code", name, cwd=str(folder), activity=1.0)
        assert load_rows(store, find_skills, tmp_path / "home", {}, now=NOW, around=[tmp_path / "loose"]) == []
    assert set(asked) == {tmp_path / "loose", root / "src/api", root / "src", root}
    assert len(asked) == 4
