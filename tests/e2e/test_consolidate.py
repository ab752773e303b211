"""`skilld consolidate` on the thirty labelled skills: nothing is merged or deleted without a decision."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from support.new_store import new_store
from support.program import Program
from support.repos import Person, snapshot

FIXTURES = Path(__file__).parents[1] / "fixtures/alike"


class World:
    """A home with the person's skills and a repository with the project's; `files` is all of both but skilld's own."""

    def __init__(self, home: Path, root: Path) -> None:
        self.home = home
        self.program = Program(home)
        for part in ("tuned", "aside"):
            shutil.copytree(FIXTURES / part / "person", home / ".claude/skills", dirs_exist_ok=True)
            shutil.copytree(FIXTURES / part / "project", root / ".claude/skills", dirs_exist_ok=True)
        (root / ".claude/skills/react-components/tokens.css").write_text(":root {}\n")
        self.person = Person(root)
        self.person.git("init", "--quiet")
        self.person.commit("skills")
        self.at = ("--project", str(root))

    def files(self) -> dict[str, str]:
        """Return what must not change: every path, mode and byte of home and repository, skilld's own left out."""
        ours = (".local", ".config/skilld", ".cache", ".runtime")
        home = {name: held for name, held in snapshot(self.home).items() if not name.startswith(ours)}
        return home | {f"project/{name}": held for name, held in snapshot(self.person.root).items()}

    def consolidate(self, *options: str) -> dict[tuple[str, str], dict[str, Any]]:
        rows = self.program.json("consolidate", *options)
        return {(row["keep"]["name"], row["away"]["name"]): row for row in rows}


@pytest.fixture
def world(tmp_path: Path, home: Path) -> World:
    return World(home, tmp_path / "project")


def test_no_file_changes_before_the_person_decides_and_then_only_as_decided(world: World) -> None:
    before = world.files()
    planned = world.consolidate("--dry-run", *world.at)
    assert world.program.json("proposals", "--state", "all") == []
    assert world.person.tip("refs/heads/skilld/staging") == ""
    world.consolidate(*world.at)
    world.consolidate()
    assert world.files() == before, "proposing writes nothing of the person's"
    merges = {names for names, row in planned.items() if row["what"] == "merge"}
    assert len(merges) >= 1
    proposals = world.program.json("proposals")
    assert all(row["flags"][0].startswith("merged from ") and row["evidence"] == [] for row in proposals)
    pages = next(row for row in proposals if row["path"].startswith(str(world.person.root)))
    result = world.program.run("accept", pages["id"])
    assert result.returncode == 0, result.stderr
    changed = {name for name, held in world.files().items() if before.get(name) != held and ".git/" not in name}
    assert changed == {f"project/{Path(pages['path']).relative_to(world.person.root)}"}
    gone = {name for name in before if name not in world.files() and ".git/" not in name}
    assert gone == set()


def test_a_merge_is_shown_decided_and_followed_by_archiving_advice(world: World) -> None:
    folder = world.person.root / ".claude/skills"
    names = ("problem-details", "react-components")
    found = world.consolidate("--dry-run", *(str(folder / name) for name in names))
    ((keep, away),) = found
    lost = {one["what"]: one["why"] for one in found[keep, away]["lost"]}
    assert any(what.startswith("description: ") for what in lost)
    assert ("tokens.css" in lost) is (away == "react-components")
    output = world.program.run("consolidate", *(str(folder / name) for name in names)).stdout
    assert f"{away} -> {keep}" in output
    assert "not carried over: description: " in output
    rows = world.program.json("proposals")
    page = world.program.run("show", rows[0]["id"]).stdout
    assert f"merged from {away}" in page
    assert "not carried over: description: " in page
    assert "you:" not in page
    assert {row["what"] for row in world.consolidate(*(str(folder / name) for name in names)).values()} == {"open"}
    mark = str(page.count("\n  part "))  # with it alone the other skill would count as merged
    assert "without them" in world.program.run("accept", rows[0]["id"], "--part", mark).stderr
    result = world.program.run("accept", *(row["id"] for row in rows))
    assert result.returncode == 0, result.stderr
    assert f"{away} was merged into another skill; you can archive it: skilld skills archive {away}\n" in result.stdout
    text = (folder / keep / "SKILL.md").read_text()
    assert f'skilld-merged-from: "{away}"' in text
    assert all(line in text for line in found[keep, away]["carried"] if "|" not in line)
    taken = next(line for line in found[keep, away]["carried"] if "|" not in line)
    number = next(n for n, line in enumerate(text.splitlines(), 1) if taken in line)
    there = next(n for n, line in enumerate((folder / away / "SKILL.md").read_text().splitlines(), 1) if taken in line)
    why = world.program.run("why", f"{folder / keep / 'SKILL.md'}:{number}").stdout
    assert f"from line {there} of the skill {away}, which was merged into this one; not said by you" in why
    assert "yourself" not in why
    again = world.program.run("consolidate", *(str(folder / name) for name in names)).stdout
    assert f"skilld skills archive {away}" in again
    listed = {row["name"]: row["marks"] for row in world.program.json("skills", "list", *world.at)}
    assert listed[away] == ["merged"]
    assert f"skilld skills archive {away}" in world.program.run("skills", "list", *world.at).stdout
    assert (folder / away / "SKILL.md").exists()


def test_a_rejected_merge_is_not_proposed_again(world: World) -> None:
    names = [str(world.home / f".claude/skills/{name}") for name in ("api-errors", "errores-http")]
    (row,) = world.consolidate(*names).values()
    assert row["what"] == "merge"
    assert world.program.run("reject", *row["proposals"]).returncode == 0
    before = world.files()
    for _ in range(2):
        (row,) = world.consolidate(*names).values()
        assert (row["what"], row["proposals"]) == ("rejected", [])
    assert world.program.json("proposals") == []
    assert world.files() == before


def test_user_and_project_skills_are_not_mixed(world: World) -> None:
    mine = world.home / ".claude/skills/api-errors"
    theirs = world.person.root / ".claude/skills/problem-details"
    (row,) = world.consolidate("--dry-run", str(mine), str(theirs)).values()
    assert (row["what"], row["why"]) == ("apart", "they do not belong to the same project")
    told = world.program.run("consolidate", "--dry-run", str(mine), str(theirs)).stdout
    assert "To keep just one of them, archive the other: skilld skills archive ~/.claude/skills/api-errors\n" in told


def test_the_skill_that_sessions_used_is_kept_though_nothing_has_read_them(world: World) -> None:
    folder = world.person.root / ".claude/skills"
    names = [str(folder / name) for name in ("problem-details", "react-components")]
    ((_, unused),) = world.consolidate("--dry-run", *names)
    log = world.home / ".claude/projects/-shop/s1.jsonl"
    log.parent.mkdir(parents=True, exist_ok=True)
    base = {"sessionId": "s1", "cwd": str(world.person.root), "version": "2.1.197", "timestamp": "2026-03-02T09:00:00Z"}
    call = {"type": "tool_use", "id": "t1", "name": "Skill", "input": {"skill": unused}}
    done = {"type": "tool_result", "tool_use_id": "t1", "content": "Launching skill: x"}
    body = {"type": "text", "text": f"Base directory for this skill: {folder / unused}\n\nDo it."}
    lines: list[dict[str, Any]] = [
        {"type": "user", "uuid": "u1", "message": {"content": "add a button"}, "origin": {"kind": "human"}},
        {"type": "assistant", "uuid": "u2", "message": {"content": [call]}},
        {"type": "user", "uuid": "u3", "message": {"content": [done]}},
        {"type": "user", "uuid": "u4", "message": {"content": [body]}, "isMeta": True, "sourceToolUseID": "t1"},
    ]
    log.write_text("".join(json.dumps(base | line) + "\n" for line in lines))
    ((kept, _),) = world.consolidate("--dry-run", *names)
    assert kept == unused


def test_bad_arguments_are_reported(world: World) -> None:
    assert world.program.run("consolidate", "api-docs").returncode == 2
    assert world.program.run("consolidate", "api-docs", "nosuch").returncode == 1
    (world.home / "empty").mkdir()
    result = world.program.run("consolidate", "--project", str(world.home / "empty"))
    told = "Compared 0 skills of ~/empty. No two of them are for the same task.\n"
    assert (result.returncode, result.stdout) == (0, told)


def _two_skills(folder: Path, number: int, length: int = 0) -> tuple[list[str], tuple[str, str]]:
    """Write two skills, the younger of which says so many things more; return these lines and both folders."""
    more = " and wait" * (length // 9)
    walls = [f"- Paint wall number {at} in colour {at + 1000}{more}." for at in range(number)]
    for at, (name, rules) in enumerate({"paint-walls": ["- Wash the brushes."], "wall-painting": walls}.items()):
        (folder / name).mkdir()
        text = "\n".join(
            ["---", f"name: {name}", "description: Paint the walls.", "---", "", "# Paint", "", *rules, ""]
        )
        (folder / name / "SKILL.md").write_text(text)
        os.utime(folder / name / "SKILL.md", (at, at))
    return walls, (str(folder / "paint-walls"), str(folder / "wall-painting"))


def test_a_large_merge_is_continued_by_the_next_one(world: World) -> None:
    walls, both = _two_skills(world.home / ".claude/skills", 60)
    kept, source = Path(both[0], "SKILL.md"), Path(both[1], "SKILL.md")
    for number in (40, 20):
        (row,) = world.consolidate(*both).values()
        waiting = [f"- {one['what']}" for one in row["lost"] if "run skilld consolidate again" in one["why"]]
        said = set(walls) & set(kept.read_text().splitlines())
        assert said | {f"- {text}" for text in row["carried"]} | {*waiting} == {*walls}
        (page,) = world.program.json("proposals")
        assert page["summary"] == f"merge {number} items from wall-painting"
        assert world.program.run("accept", *row["proposals"]).returncode == 0
        listed = world.program.run("skills", "list").stdout
        rest = "wall-painting was merged into paint-walls in part; for the rest: skilld consolidate"
        assert (rest in listed) is bool(waiting)
    assert set(walls) <= set(kept.read_text().splitlines())
    assert 'skilld-merged-from: "wall-painting"' in kept.read_text()
    source.write_text(source.read_text() + "- Open the windows.\n")
    (more,) = world.consolidate(*both).values()
    assert (more["what"], more["carried"]) == ("merge", ["Open the windows."])
    assert world.program.run("accept", *more["proposals"]).returncode == 0
    assert {row["what"] for row in world.consolidate(*both).values()} == {"merged"}
    listed = world.program.run("skills", "list").stdout
    assert "you can archive it: skilld skills archive wall-painting" in listed


def test_a_mark_alone_is_not_taken_for_the_text(world: World) -> None:
    """The first merge was accepted, the rest rejected: it is not offered again, nor taken for said."""
    _, both = _two_skills(world.home / ".claude/skills", 60)
    for verb in ("accept", "reject"):
        (row,) = world.consolidate(*both).values()
        assert world.program.run(verb, *row["proposals"]).returncode == 0
    (again,) = world.consolidate(*both).values()
    assert (again["what"], again["proposals"]) == ("merged", [])
    assert len([one for one in again["lost"] if one["what"].startswith("Paint ")]) == 20, "it does not have these"


def test_a_rejected_merge_can_be_brought_back_as_the_message_says(world: World) -> None:
    names = [str(world.home / f".claude/skills/{name}") for name in ("api-errors", "errores-http")]
    (row,) = world.consolidate(*names).values()
    assert world.program.run("reject", *row["proposals"]).returncode == 0
    output = world.program.run("consolidate", *names).stdout
    assert (advice := f"skilld restore {' '.join(row['proposals'])}") in output
    assert world.program.run(*advice.split()[1:]).returncode == 0
    assert {row["what"] for row in world.consolidate(*names).values()} == {"open"}
    assert world.program.run("accept", *row["proposals"]).returncode == 0
    assert world.program.run("revert", *row["proposals"]).returncode == 0
    told = world.program.run("consolidate", *names).stdout
    assert "you reverted this merge; it will not be proposed again." in told


def test_an_unreviewably_large_merge_is_not_proposed(world: World) -> None:
    _, both = _two_skills(world.home / ".claude/skills", 22, 1800)
    (row,) = world.consolidate(*both).values()
    assert (row["what"], row["proposals"]) == ("apart", [])
    assert "more than 5 proposals" in row["why"]


def test_pairs_of_different_projects_are_named_together(world: World) -> None:
    for name in ("meeting-notes", "invoice-pdf"):
        shutil.copytree(world.home / f".claude/skills/{name}", world.person.root / f".claude/skills/{name}")
    state = world.home / ".local/state/skilld"
    state.mkdir(mode=0o700, parents=True)
    store = new_store(state / "skilld.db")
    store.transcripts.record_activity("claude-code", "one", cwd=str(world.person.root), activity=1_795_000_000.0)
    store.close()
    result = world.program.run("consolidate", "--dry-run")
    rows = world.program.json("consolidate", "--dry-run")
    apart = [row for row in rows if row["why"] == "they do not belong to the same project"]
    assert len(apart) > 1
    assert (
        f"{len(apart)} pairs of similar skills not merged: they do not belong to the same project:\n" in result.stdout
    )
    assert result.stdout.count("they do not belong") == 1
    theirs, mine = f"{world.person.root}/.claude/skills/invoice-pdf", "~/.claude/skills/invoice-pdf"
    assert any(line in result.stdout for line in (f"\n  - {theirs} and {mine}\n", f"\n  - {mine} and {theirs}\n"))
    assert "--json" not in result.stdout
