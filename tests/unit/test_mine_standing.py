"""Which loaded instructions say an ask already, as mining sees it."""

from __future__ import annotations

from pathlib import Path

from skilld.ingest.discover import Host
from skilld.library.clusters import Ask, Mention, Piece
from skilld.mining.candidates import standing_reason

RULE = "Always round all gain values to two decimals."


def _ask(project: Path, text: str = RULE) -> Ask:
    return Ask((Mention("preference", "k1", text, text, "", "", str(project), Piece("s1", 0.0, 0.8)),))


def _project(tmp_path: Path, **files: str) -> Path:
    (tmp_path / "shop/.git").mkdir(parents=True)
    for name, text in files.items():
        (tmp_path / "shop" / f"{name}.md").write_text(text, encoding="utf-8")
    return tmp_path / "shop"


def test_a_file_that_says_it_in_other_words_is_named_with_its_line(tmp_path: Path) -> None:
    shop = _project(tmp_path, CLAUDE="# Shop\n\n- Use tabs.\n- Round gain values to two decimals, all of them.\n")
    reason = standing_reason(Host(tmp_path, {}))
    assert reason(_ask(shop), "", {"claude-code"}) == (
        "CLAUDE.md already says this: Round gain values to two decimals, all of them."
    )
    assert reason(_ask(shop, "Never round gain values."), "", {"claude-code"}) is None
    assert reason(_ask(shop), "", ()) is None


def test_only_what_each_of_the_agents_loads_counts(tmp_path: Path) -> None:
    shop = _project(tmp_path, CLAUDE=f"- {RULE}\n")
    reason = standing_reason(Host(tmp_path, {}))
    assert reason(_ask(shop), "", {"claude-code", "codex"}) is None
    assert reason(_ask(tmp_path / "other"), "", {"claude-code"}) is None
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude/CLAUDE.md").write_text(f"- {RULE}\n", encoding="utf-8")
    path = tmp_path / ".claude/CLAUDE.md"
    reason = standing_reason(Host(tmp_path, {}))
    assert reason(_ask(tmp_path / "other"), "", {"claude-code"}) == f"{path} already says this: {RULE}"
