"""Stale and merged skills are named, and how many of skilld's own are offered."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from skilld.cli.inventory import typed_name
from skilld.library.merge import origin_entry
from skilld.library.rows import (
    NO_USES,
    STALE_DAYS,
    SkillUses,
    broken_reason,
    build_rows,
    is_stale,
    limit_evolving,
    merged_skills,
    offered_skills,
    recency_rank,
    relevance_rank,
    skill_marks,
    used_by_path,
)
from skilld.skills import Skill, Source
from skilld.skills.spec import read_front
from skilld.store import Store
from skilld.store.learnings import Learning
from skilld.store.meta import INSTALLED_AT
from support.rows import for_each

DAY = 86400.0
NOW = 1_780_000_000.0


def skill(
    folder: Path, *, evolving: bool = False, merged: str = "", about: str = "", source: Source = Source.USER
) -> Skill:
    said = {"skilld-origin": "mined" if evolving else "", "skilld-merged-from": merged}
    metadata = "\n".join(["metadata:", *(f'  {key}: "{value}"' for key, value in said.items() if value)])
    text = f"---\nname: {folder.name}\ndescription: {about or folder.name}\n{metadata}\n---\n\n- Do.\n"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(text)
    return Skill(folder.name, folder / "SKILL.md", source, None, ("codex",), read_front(text))


def set_age(one: Skill, days: float) -> None:
    os.utime(one.path, (NOW - days * DAY, NOW - days * DAY))


@for_each(
    ("used", "changed", "watched", "stale"),
    [
        (0.0, STALE_DAYS + 1, STALE_DAYS + 1, True),
        (STALE_DAYS + 1, STALE_DAYS + 1, 400, True),
        (STALE_DAYS - 1, STALE_DAYS + 1, 400, False),
        (STALE_DAYS + 1, STALE_DAYS - 1, 400, False),
        (0.0, 400, STALE_DAYS - 1, False),
    ],
)
def test_a_skill_is_stale_if_neither_used_nor_changed_while_uses_were_counted(
    used: float, changed: float, watched: float, *, stale: bool
) -> None:
    at = NOW - used * DAY if used else 0.0
    assert is_stale(used=at, changed=NOW - changed * DAY, watched=NOW - watched * DAY, now=NOW) is stale


def test_a_list_names_stale_and_merged_skills_and_moves_none(store: Store, tmp_path: Path) -> None:
    old, fresh = (skill(tmp_path / name) for name in ("old", "fresh"))
    plugin = skill(tmp_path / "plugin", source=Source.PLUGIN)
    taken = skill(tmp_path / "taken")
    taker = skill(tmp_path / "taker", merged="other, taken")
    for one in (old, plugin, taken, taker):
        set_age(one, 100)
    set_age(fresh, 10)
    store.meta.set(INSTALLED_AT, NOW - 200 * DAY)
    every = [old, fresh, plugin, taken, taker]
    uses = dict.fromkeys((one.path for one in every), NO_USES) | {taker.path: SkillUses(last=NOW - DAY)}
    found = skill_marks(store, every, uses, NOW)
    assert {one.name: found[one.path] for one in every} == {
        "old": ("stale",),
        "fresh": (),
        "plugin": (),
        "taken": ("merged", "stale"),
        "taker": (),
    }
    assert all(one.path.exists() for one in every)
    store.meta.set(INSTALLED_AT, NOW - 10 * DAY)
    assert found != skill_marks(store, every, uses, NOW), "before uses were counted for so long, nothing is stale"


def test_a_skill_that_merged_itself_is_not_merged_away(store: Store, tmp_path: Path) -> None:
    one = skill(tmp_path / "one", merged="one")
    assert skill_marks(store, [one], {one.path: NO_USES}, NOW)[one.path] == ()


def test_m4_a_merged_skill_is_not_offered_beside_its_successor(store: Store, tmp_path: Path) -> None:
    taken, taker = skill(tmp_path / "taken"), skill(tmp_path / "taker", merged="taken")
    assert offered_skills(store, [taken, taker]) == [taker]
    assert offered_skills(store, [taken]) == [taken]


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("", "it is empty"),
        ("# Load testing\n\n- Use k6.\n", "it does not start with front matter between two lines of three hyphens"),
        ("---\nname: one\ndescription: never ends\n\n- x\n", "it does not start with front matter"),
        ("---\nname: one\n---\n\n- x\n", "it has no description"),
        ('---\nname: one\ndescription: Deploy: the service, "x\n  - oops: [unclosed\n---\n\n- x\n', "not text"),
        ("---\nname: other\ndescription: Rotate keys: all of them.\nmore: x\n---\n\n- x\n", ""),
    ],
)
def test_a_skill_that_no_agent_can_load_is_marked_as_broken(
    store: Store, tmp_path: Path, content: str, why: str
) -> None:
    one = skill(tmp_path / "one")
    one.path.write_text(content)
    assert why in broken_reason(one)
    assert bool(broken_reason(one)) is bool(why)
    assert skill_marks(store, [one], {one.path: NO_USES}, NOW)[one.path] == (("broken",) if why else ())


def test_only_the_folder_that_was_merged_counts_as_merged(store: Store, tmp_path: Path) -> None:
    one, same_name = skill(tmp_path / "a" / "taken"), skill(tmp_path / "b" / "taken")
    assert merged_skills([one, same_name, skill(tmp_path / "a" / "beside", merged="taken")]).keys() == {one.path}
    entry = origin_entry(tmp_path / "a" / "across" / "SKILL.md", same_name.path)
    across = skill(tmp_path / "a" / "across", merged=entry)
    assert across.front.metadata["skilld-merged-from"] == "../b/taken"
    assert merged_skills([one, same_name, across]).keys() == {same_name.path}
    assert offered_skills(store, [same_name, skill(tmp_path / "a" / "later", merged="taken")])[0] == same_name


def test_a_command_names_a_skill_by_its_folder_if_another_has_its_name(tmp_path: Path) -> None:
    one, same_name, alone = (skill(tmp_path / path) for path in ("a/notes", "b/notes", "b/alone"))
    rows = build_rows([one, same_name, alone], {}, (), NOW)
    assert [typed_name(each.name, each.path, rows) for each in (one, alone)] == [str(tmp_path / "a/notes"), "alone"]


def test_all_user_skills_and_the_first_few_evolving_ones_are_offered(tmp_path: Path) -> None:
    mine = [skill(tmp_path / name) for name in ("b", "a")]
    evolving = [skill(tmp_path / f"e{number}", evolving=True) for number in range(4)]
    found = limit_evolving([evolving[0], *mine, *evolving[1:]], 2, lambda one: float(one.name[-1]))
    assert [one.name for one in found] == ["b", "a", "e3", "e2"]
    assert limit_evolving([*mine, *evolving], 0, lambda _: 0.0) == mine


def test_recency_is_the_last_use_or_change(tmp_path: Path) -> None:
    used, changed, neither = (skill(tmp_path / name) for name in ("used", "changed", "neither"))
    for one, days in ((used, 50), (changed, 5), (neither, 60)):
        set_age(one, days)
    rank = recency_rank({used.path: {"s": datetime(2026, 5, 27, tzinfo=UTC).timestamp()}})
    assert sorted((used, changed, neither), key=rank, reverse=True) == [used, changed, neither]


def test_relevance_is_similarity_to_what_was_said_in_the_project(store: Store, tmp_path: Path) -> None:
    near = skill(tmp_path / "near", about="Write database migrations.")
    far = skill(tmp_path / "far", about="Prune the roses.")
    for number, (project, change) in enumerate(
        [(tmp_path, "Test each migration of the database down and up."), (tmp_path / "x", "Prune roses in March.")]
    ):
        said = (change, "preference", "codex", "s", str(project), None, "", 0.9, "2026-05-27T00:00:00Z")
        store.learnings.add(Learning(str(number), "t", "q", *said))
    rank = relevance_rank(store, tmp_path)
    assert rank(near) > rank(far) == 0.0


def test_uses_are_counted_by_path_where_two_skills_share_a_name(store: Store, tmp_path: Path) -> None:
    """`suggest`, `sync` and `mcp` counted by name: the one that nobody uses came first as often as the other."""
    theirs, mine = skill(tmp_path / "home/.agents/skills/notes"), skill(tmp_path / "p/.agents/skills/notes")
    row = "INSERT INTO skill_uses VALUES ('codex', 's', 'notes', ?, ?, 0, ?)"
    store._db.execute(row, (str(mine.path), str(tmp_path / "p"), "2026-05-27T00:00:00Z"))
    used = used_by_path(store, [theirs, mine], tmp_path / "home", {})
    assert {path: [*sessions] for path, sessions in used.items()} == {mine.path: ["s"]}
