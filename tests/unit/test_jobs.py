"""What a worker is given: skills, bytes, and which folders hold transcripts."""

from __future__ import annotations

from pathlib import Path

import pytest

from skilld.agents import ADAPTERS
from skilld.agents.base import agent_homes
from skilld.batching.closing import ClosedBatch
from skilld.daemon import job_builder
from skilld.ingest.discover import Host, Root, find_transcripts
from skilld.protocol import Source
from skilld.store import Store
from skilld.store.transcripts import WaitingTurn
from skilld.types import ClosedBy, How, SkillRef, SkillUse, Span, Turn

INFO = ADAPTERS["claude-code"].INFO


def _session(store: Store, tmp_path: Path, *spans: tuple[int, int]) -> ClosedBatch[WaitingTurn]:
    path = tmp_path / "s1.jsonl"
    path.write_bytes(b"x" * 1000)
    file = store.transcripts.add_file("claude-code", str(path), path.stat(), baseline=0)
    store.transcripts.record_activity("claude-code", "s1", cwd=str(tmp_path), activity=1.0)
    for number, (start, end) in enumerate(spans, 1):
        turn = Turn(f"t{number}", "claude-code", "s1", "words", None, How.TYPED, Span(start, end))
        store.transcripts.add_turn(turn, file.id, counts=True, lasting=True)
    return ClosedBatch(tuple(store.transcripts.waiting("claude-code", "s1")), ClosedBy.FULL, chatter=False)


def _use(store: Store, name: str, path: Path | str | None = None, cwd: Path | None = None) -> None:
    use = SkillUse("s1", name, None if path is None else str(path), None, Span(0, 1), None if cwd is None else str(cwd))
    store.transcripts.add_use("claude-code", use)


def _skill(folder: Path) -> Path:
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text("# x\n")
    return folder / "SKILL.md"


def test_a_gathered_session_is_reread_however_small_its_file(store: Store, tmp_path: Path) -> None:
    """Its positions are numbers of records, which lie in other files."""
    closing = _session(store, tmp_path, (20, 21), (1999, 2000))
    (source,) = job_builder.batch_job(store, Host(tmp_path, {}), "claude-code", "s1", closing).sources
    assert source.end == 2000


def test_skills_in_use_are_listed_newest_first_without_duplicates(store: Store, tmp_path: Path) -> None:
    closing = _session(store, tmp_path, (0, 10))
    paths = {name: _skill(tmp_path / f".claude/skills/{name}") for name in ("a", "b", "c", "d")}
    for name in ("a", "b", "a", "c", "d"):
        _use(store, name, paths[name])
    job = job_builder.batch_job(store, Host(tmp_path, {}), "claude-code", "s1", closing)
    assert [skill.name for skill in job.skills] == ["d", "c", "b"]
    assert job.skills[0].path == str(paths["d"])


def test_an_uneditable_skill_is_reported_with_the_reason(store: Store, tmp_path: Path) -> None:
    closing = _session(store, tmp_path, (0, 10))
    _use(store, "gone", tmp_path / ".claude/skills/gone/SKILL.md")
    _use(store, "elsewhere", "/etc/SKILL.md")
    _use(store, "loops\0", None, tmp_path)
    job = job_builder.batch_job(store, Host(tmp_path, {}), "claude-code", "s1", closing)
    assert job.skills == ()
    assert {item.name: item.why for item in job.unusable} == {
        "gone": "its SKILL.md is gone",
        "elsewhere": "it is not in a known skills folder",
        "loops\0": "its name is not a valid skill name",
    }


def test_a_tilde_path_is_below_the_home(store: Store, tmp_path: Path) -> None:
    closing = _session(store, tmp_path, (0, 10))
    path = _skill(tmp_path / ".claude/skills/a")
    _use(store, "a", "~/.claude/skills/a/SKILL.md")
    job = job_builder.batch_job(store, Host(tmp_path, {}), "claude-code", "s1", closing)
    assert job.skills == (SkillRef("a", str(path), (1,)),)


def test_the_context_starts_after_the_turn_before_the_batch(store: Store, tmp_path: Path) -> None:
    whole = _session(store, tmp_path, (100, 200), (300, 400), (500, 600))
    rest = ClosedBatch(whole.turns[1:], ClosedBy.IDLE, chatter=False)
    job = job_builder.batch_job(store, Host(tmp_path, {}), "claude-code", "s1", rest)
    assert job.sources == (Source(str(tmp_path / "s1.jsonl"), 200, 1000),)
    assert job.turns == ("t2", "t3")


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ("/a", ["/a"]),
        ("/a, /b,/a", ["/a", "/b"]),
        ("~/c", ["{home}/c"]),
        ("relative", ["{home}/.claude"]),
        ("~nobody-of-that-name/x", ["{home}/.claude"]),
        (" , ", ["{home}/.claude"]),
    ],
)
def test_an_agents_variable_moves_its_folder(tmp_path: Path, value: str, found: list[str]) -> None:
    expected = [Path(path.format(home=tmp_path)) for path in found]
    assert agent_homes(INFO, tmp_path, {"CLAUDE_CONFIG_DIR": value}) == expected


def test_only_main_session_transcripts_are_found_and_links_are_not_followed(tmp_path: Path) -> None:
    store = tmp_path / "projects"
    for name in ("-p/s.jsonl", "-p/notes.txt", "-p/agent-1.jsonl", "-p/s/subagents/x.jsonl", "loose.jsonl"):
        (store / name).parent.mkdir(parents=True, exist_ok=True)
        (store / name).touch()
    (store / "-p/linked.jsonl").symlink_to(store / "-p/s.jsonl")
    (store / "-linked").symlink_to(store / "-p")
    assert [path for path, _ in find_transcripts(Root("claude-code", store))] == [store / "-p/s.jsonl"]
    assert [*find_transcripts(Root("claude-code", tmp_path / "missing"))] == []


def test_a_vanishing_file_hides_no_other(tmp_path: Path) -> None:
    store = tmp_path / "projects"
    (store / "-p").mkdir(parents=True)
    for number in range(5):
        (store / f"-p/{number}.jsonl").touch()
    seen: list[Path] = []
    for path, _ in find_transcripts(Root("claude-code", store)):
        if not seen:
            next(other for other in (store / "-p").iterdir() if other != path).unlink()
        seen.append(path)
    assert len(seen) == 4
