"""What all agents have in common: a new one is a file, a line, fixtures and a docs section."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path, PurePath
from types import SimpleNamespace

import pytest

from skilld import settings
from skilld.agents import ADAPTERS
from skilld.daemon.engine import Engine
from skilld.ingest.discover import Host, Root, find_roots, find_transcripts, skill_places
from skilld.ingest.inspect import guess_agent, inspect
from skilld.pipeline.documents import standing_instructions
from skilld.settings import Settings
from skilld.store import Store
from skilld.types import Turn
from support.ground_truth import events_of
from support.rows import for_each
from support.tables import table_rows
from tools.agents_table import tables
from unit.test_adapter_checks import AGENT, INFO

FIXTURES = Path(__file__).parents[1] / "fixtures"
PAGE = Path(__file__).parents[2] / "docs" / "adding-an-agent.md"
READ = PAGE.with_name("agents.md")
NOW = 1_795_000_000.0


# The agent of test_adapter_checks, with what else a record of an agent may say.
TOY = replace(
    AGENT, INFO=replace(INFO, home_variables=("TOY_HOME",), skill_homes=("skills",), verified="1 on 2026-11-20")
)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a home of a person who works with the toy, which is registered."""
    monkeypatch.setitem(ADAPTERS.folders, "toy", "toy")
    monkeypatch.setitem(sys.modules, "skilld.agents.toy", SimpleNamespace(ADAPTER=TOY))
    (tmp_path / ".toy" / "talks").mkdir(parents=True)
    return tmp_path


def test_a_toy_agent_needs_only_its_adapter_and_its_line(home: Path) -> None:
    skill = home / ".toy" / "skills" / "notes" / "SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text("---\nname: notes\ndescription: x\n---\n")
    with_store = Store.open(home / "skilld.db")
    around = Host(home, {})
    engine = Engine(with_store, Settings(), around, NOW)
    talk = home / ".toy" / "talks" / "s1.jsonl"
    typed = {"what": "said", "by": "person", "from": "keyboard", "at": "2026-11-23T09:00:00Z"}
    records = [
        {"what": "begin", "id": "s1", "folder": "/w"},
        {"what": "call", "id": "c", "tool": "read", "asked": {"path": str(skill)}},
        {"what": "result", "id": "c", "shown": "# Notes"},
        *(typed | {"id": f"w{n}", "words": f"always use tabs, part {n}"} for n in range(5)),
    ]
    talk.write_text("".join(f"{json.dumps(record)}\n" for record in records) + "garbage\n")
    assert engine.follower.sweep() == 5
    assert engine.close_due(NOW) == 1
    batch = engine.next_batch(NOW)
    assert batch is not None
    assert [(skill.name, skill.path) for skill in batch.job.skills] == [("notes", str(skill))]
    (home / "w").mkdir()
    (home / "w/TOY.md").write_text("tabs")
    assert standing_instructions(batch.job.agent, str(home / "w"), batch.job.home, batch.job.variables) == "tabs"
    assert with_store.transcripts.summary()["toy"]["malformed"] == 1
    with_store.close()
    assert guess_agent(talk) == "toy"
    assert len(inspect(talk, ADAPTERS["toy"]).turns) == 5
    assert "roots.toy" in dict(settings.setting_keys())
    assert "| Toy | `~/.toy/talks` | `TOY_HOME` |" in tables([ADAPTERS["toy"].INFO])


@for_each("name", ADAPTERS)
def test_every_agent_has_fixtures_and_a_docs_section(name: str) -> None:
    info = ADAPTERS[name].INFO
    assert info.name == name
    assert [*(FIXTURES / name).rglob("*.jsonl"), *(FIXTURES / name).rglob("*.md")]
    assert f"\n## {info.title}\n" in PAGE.read_text(encoding="utf-8")
    assert info.verified
    found = [
        line.split(" | ")
        for line in READ.read_text(encoding="utf-8").splitlines()
        if line.startswith(f"| {info.title} ")
    ]
    assert 7 in map(len, found), "no row in the table of what is read"


def test_transcripts_are_recognized_by_path() -> None:
    for agent, path, expected in table_rows("agents", "which files are transcripts"):
        assert ADAPTERS[agent].is_transcript(PurePath(path)) is (expected == "yes"), path


class TestRoots:
    def test_a_variable_or_setting_may_name_several_folders(self, home: Path) -> None:
        found = find_roots(home, {"TOY_HOME": f"{home}/work, ~/play,not/absolute"})
        assert [root.folder for root in found if root.agent == "toy"] == [home / "work/talks", home / "play/talks"]
        given = {"toy": [home / "a", home / "b" / "talks", home / "c" / "one.jsonl"]}
        found = [root for root in find_roots(home, {"TOY_HOME": "/elsewhere"}, given) if root.agent == "toy"]
        assert found == [
            Root("toy", home / "a/talks"),
            Root("toy", home / "b/talks"),
            Root("toy", home / "c", "one.jsonl"),
        ]

    def test_skills_of_every_configured_folder_are_found(self, home: Path) -> None:
        given = {"toy": [home / "a", home / "b" / "talks", home / "c" / "talks" / "one.jsonl"]}
        places = skill_places("toy", home, {}, given)
        assert places.absolute == (home / "a/skills", home / "b/skills", home / "c/skills")
        assert skill_places("toy", home, {"TOY_HOME": "/moved"}).absolute == (Path("/moved/skills"),)

    def test_a_root_may_be_a_single_file_without_its_neighbours(self, home: Path) -> None:
        folder = home / ".toy" / "talks"
        for name in ("one.jsonl", "two.jsonl", "three.txt"):
            (folder / name).touch()
        assert sorted(path.name for path, _ in find_transcripts(Root("toy", folder))) == ["one.jsonl", "two.jsonl"]
        only = Root("toy", folder, "one.jsonl")
        assert [path.name for path, _ in find_transcripts(only)] == ["one.jsonl"]
        assert only.transcript(folder / "one.jsonl") == folder / "one.jsonl"
        assert only.transcript(folder / "two.jsonl") is None
        assert Root("toy", folder).transcript(folder / "three.txt") is None
        assert Root("toy", folder).transcript(home / "one.jsonl") is None

    def test_opencode_database_location(self, tmp_path: Path) -> None:
        def root_folders(**environment: str) -> list[tuple[Path, str]]:
            return [(r.folder, r.file) for r in find_roots(tmp_path, environment) if r.agent == "opencode"]

        usual = tmp_path / ".local/share/opencode"
        assert root_folders() == [(usual, "")]
        assert root_folders(XDG_DATA_HOME="/data") == [(Path("/data/opencode"), "")]
        assert root_folders(OPENCODE_DB="/x/my.sqlite") == [(usual, ""), (Path("/x"), "my.sqlite")]
        assert root_folders(OPENCODE_DB=":memory:") == [(usual, "")]

    def test_only_the_databases_own_folder_is_searched(self, tmp_path: Path) -> None:
        root = Root("opencode", tmp_path)
        (tmp_path / "snapshot").mkdir()
        for name in ("opencode.db", "opencode-beta.db", "other.db", "snapshot/opencode.db", "opencode.db-wal"):
            (tmp_path / name).touch()
        assert sorted(path.name for path, _ in find_transcripts(root)) == ["opencode-beta.db", "opencode.db"]
        assert root.transcript(tmp_path / "opencode.db-wal") == tmp_path / "opencode.db"
        assert root.transcript(tmp_path / "snapshot" / "opencode.db") is None

    def test_opencode_user_skills_location(self, tmp_path: Path) -> None:
        absolute = skill_places("opencode", tmp_path, {"XDG_CONFIG_HOME": "/c", "OPENCODE_CONFIG_DIR": "/o"}).absolute
        assert Path("/o/skills") in absolute
        assert Path("/o/skills") not in skill_places("opencode", tmp_path, {}).absolute
        assert {Path("/c/opencode/skills"), Path("/c/opencode/skill"), tmp_path / ".claude/skills"} <= set(absolute)


def test_a_related_agent_shares_the_format_but_keeps_its_own_turns() -> None:
    (path,) = (FIXTURES / "traex").glob("*.jsonl")
    (turn,) = [event for event in events_of(ADAPTERS["traex"], path) if isinstance(event, Turn)]
    (same,) = [event for event in events_of(ADAPTERS["codex"], path) if isinstance(event, Turn)]
    assert (turn.agent, turn.text, turn.cwd) == ("traex", "always put the price last", "/w/shop")
    assert turn.key == same.key.replace("codex:", "traex:")
