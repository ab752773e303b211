"""Remarks of `show`: a log that cannot tell a script from a person, and copies of a skill that stay as they are."""

from __future__ import annotations

from pathlib import Path

from skilld.cli.proposals import other_copies, unsure_origins
from skilld.types import Evidence
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
