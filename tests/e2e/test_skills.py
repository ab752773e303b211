"""`skilld skills`: the library as a person sees it, on a home in which two things were taught of one skill."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.taught import Taught

TEMPLATE = """\
---
name: greet
description: Greets somebody.
metadata:
  skilld-kind: prompt-template
  skilld-tags: "mail, polite"
---

Greet {{ who }} in {{language}}.
"""


def _skill(folder: Path, text: str = "---\nname: x\ndescription: Mine.\n---\n\n- Say it.\n") -> Path:
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(text)
    return folder


@pytest.fixture
def library(world: Taught) -> Taught:
    """Return the world with a template of the person's and a skill that is linked into another agent's folder."""
    _skill(world.home / ".claude/skills/greet", TEMPLATE)
    linked = _skill(world.home / ".agents/skills/tidy")
    (world.home / ".claude/skills/tidy").symlink_to(linked)
    return world


def _names(library: Taught, *options: str) -> list[str]:
    return [row["name"] for row in library.program.json("skills", "list", *options)]


def test_each_skill_is_listed_once_with_what_is_counted_of_it(library: Taught) -> None:
    rows = {row["name"]: row for row in library.program.json("skills", "list")}
    assert list(rows) == ["release-notes", "greet", "tidy"]
    notes = rows["release-notes"]
    assert (notes["group"], notes["source"], notes["project"]) == ("evolving", "project", str(library.project.root))
    assert (notes["uses"], notes["corrections"], notes["corrections_per_use"]) == (2, 2, 1.0)
    assert notes["success_rate"] == 0.0
    assert notes["last_used_at"]
    assert {"claude-code", "codex"} <= set(rows["tidy"]["agents"])
    assert (rows["greet"]["kind"], rows["greet"]["tags"], rows["greet"]["uses"]) == (
        "prompt-template",
        ["mail", "polite"],
        0,
    )
    shown = library.program.run("skills", "list").stdout
    assert [line for line in shown.splitlines() if not line.startswith(" ")] == ["evolving", "user"]
    assert "2 uses, last" in shown


def test_a_list_is_narrowed_and_put_in_order(library: Taught) -> None:
    assert _names(library, "--source", "user") == ["greet", "tidy"]
    assert _names(library, "--source", "evolving") == ["release-notes"]
    assert _names(library, "--type", "prompt-template") == ["greet"]
    assert _names(library, "--tag", "mail", "--tag", "polite") == ["greet"]
    assert _names(library, "--search", "merged changes") == ["release-notes"]
    assert _names(library, "--project", str(library.project.root)) == ["release-notes"]
    assert _names(library, "--sort", "relevance", "--search", "greets me", "--limit", "1") == ["greet"]
    assert _names(library, "--sort", "uses", "--limit", "1") == ["release-notes"]
    assert library.program.run("skills", "list", "--search", "nosuch").stdout == "No skills.\n"
