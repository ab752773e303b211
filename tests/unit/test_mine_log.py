"""What a log tells about a session's project, end and cost, agent by agent."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from skilld.classify.backends.completion import Rates
from skilld.mining.sessions import (
    Ending,
    SessionFilter,
    SessionLog,
    Transcript,
    folders_around,
    main_tree,
    project_of,
    read_sessions,
)
from support.rows import for_each
from support.tops import make_top

RATES = Rates(read=0.001, written=0.01, cached=0.0001, kept=0.002)


def _claude(stop: str = "end_turn", message: str = "m1", **extra: Any) -> dict[str, Any]:
    usage = {
        "input_tokens": 100,
        "output_tokens": 10,
        "cache_read_input_tokens": 1000,
        "cache_creation_input_tokens": 50,
    }
    answer = {"id": message, "model": "claude-x", "stop_reason": stop, "usage": usage, "content": []}
    return {"type": "assistant", "message": answer, **extra}


def _user(text: str) -> dict[str, Any]:
    return {"type": "user", "message": {"role": "user", "content": [{"type": "text", "text": text}]}}


def _pi(stop: str, usd: float) -> dict[str, Any]:
    return {"message": {"role": "assistant", "stopReason": stop, "usage": {"cost": {"total": usd}}}}


def _event(kind: str) -> dict[str, Any]:
    return {"type": "event_msg", "payload": {"type": kind}}


def _opencode(**data: Any) -> dict[str, Any]:
    return {"message": [{"data": json.dumps({"role": "assistant", **data})}]}


@for_each(
    ("agent", "records", "ending"),
    [
        ("claude-code", [_user("go"), _claude()], Ending.COMPLETED),
        ("claude-code", [_claude(), _user("and this?")], Ending.UNFINISHED),
        ("claude-code", [_claude("tool_use")], Ending.UNFINISHED),
        ("claude-code", [_claude(), _user("[Request interrupted by user]")], Ending.INTERRUPTED),
        ("claude-code", [_claude(), _claude(isApiErrorMessage=True)], Ending.FAILED),
        ("claude-code", [_claude(), _claude(isSidechain=True, isApiErrorMessage=True)], Ending.COMPLETED),
        ("codex", [_event("task_started"), _event("token_count")], Ending.UNKNOWN),
        ("codex", [_event("task_started"), _event("task_complete")], Ending.COMPLETED),
        ("codex", [_event("task_complete"), _event("task_started")], Ending.UNFINISHED),
        ("codex", [_event("turn_aborted")], Ending.INTERRUPTED),
        ("opencode", [_opencode(finish="stop", cost=0.1)], Ending.COMPLETED),
        ("opencode", [_opencode(error={"name": "MessageAbortedError"})], Ending.INTERRUPTED),
        ("opencode", [_opencode(error={"name": "APIError"})], Ending.FAILED),
        ("pi", [_pi("stop", 0.1)], Ending.COMPLETED),
        ("pi", [_pi("aborted", 0.1)], Ending.INTERRUPTED),
        ("gemini-cli", [{"anything": 1}], Ending.UNKNOWN),
    ],
)
def test_the_last_record_tells_how_a_session_ended(agent: str, records: list[dict[str, Any]], ending: Ending) -> None:
    assert _log(agent, *records).ending is ending


def test_the_cost_sums_each_answer_once() -> None:
    spent = _log("pi", _pi("toolUse", 0.25), _pi("stop", 0.5))
    assert spent.cost(lambda _: None) == 0.75
    assert _log("opencode", _opencode(cost=0.1), _opencode(cost=0.2)).cost(lambda _: None) == pytest.approx(0.3)
    # 100 read, 10 written, 1000 from the cache, 50 put there: the two records of one answer count once.
    one = _log("claude-code", _claude("tool_use"), _claude(), _claude(message="m2"))
    assert one.cost(lambda model: RATES if model == "claude-x" else None) == pytest.approx(2 * (0.1 + 0.1 + 0.1 + 0.1))
    assert one.cost(lambda _: None) is None
    assert _log("codex", _event("task_complete")).cost(lambda _: RATES) is None


@pytest.mark.parametrize(
    "record", [{}, {"type": "assistant", "message": 3}, {"message": []}, {"message": [{"data": "{"}]}, {"payload": 0}]
)
@pytest.mark.parametrize("agent", ["claude-code", "codex", "opencode", "pi"])
def test_unreadable_records_tell_nothing(agent: str, record: dict[str, Any]) -> None:
    log = SessionLog()
    log.add(agent, record)
    assert (log.ending, log.cost(lambda _: RATES)) == (Ending.UNKNOWN, None)


def test_sessions_are_filtered_by_cost_and_end_and_unknown_ones_are_kept(tmp_path: Path) -> None:
    written = [_pi_session(tmp_path, "done", "stop", 0.5), _pi_session(tmp_path, "cheap", "stop", 0.01)]
    written += [_pi_session(tmp_path, "broken", "aborted", 0.5), _pi_session(tmp_path, "silent", "", None)]
    wanted = SessionFilter(usd=0.1, completed=True)
    reading = read_sessions(written, wanted, lambda text: text, lambda _: None)
    assert sorted(session.path.stem for session in reading.sessions) == ["done", "silent"]
    assert (reading.unknown_cost, reading.unknown_end) == (1, 1)


def test_an_opted_out_project_is_skipped(tmp_path: Path) -> None:
    make_top(tmp_path)
    (tmp_path / ".skilld.toml").write_text("enabled = false\n")
    reading = read_sessions(
        [_pi_session(tmp_path, "s1", "stop", 0.1)], SessionFilter(), lambda text: text, lambda _: None
    )
    assert (reading.sessions, reading.left_alone) == ([], 1)


def _log(agent: str, *records: dict[str, Any]) -> SessionLog:
    log = SessionLog()
    for record in records:
        log.add(agent, record)
    return log


def _pi_session(folder: Path, name: str, stop: str, usd: float | None) -> Transcript:
    at = "2026-01-05T10:00:00Z"
    head = {"type": "session", "version": 3, "id": name, "timestamp": at, "cwd": str(folder)}
    said = {"type": "message", "id": f"{name}-1", "parentId": None, "timestamp": at}
    person = said | {"message": {"role": "user", "content": [{"type": "text", "text": "paint the shed"}]}}
    cost = {"usage": {"cost": {"total": usd}}} if usd is not None else {}
    content = [{"type": "text", "text": "Done."}]
    agent = said | {"id": f"{name}-2", "message": {"role": "assistant", "stopReason": stop, "content": content} | cost}
    file = folder / f"{name}.jsonl"
    file.write_text("".join(json.dumps(record) + "\n" for record in (head, person, agent)))
    return Transcript("pi", file, 0.0)


def test_folders_of_one_repository_are_one_project(tmp_path: Path) -> None:
    top = tmp_path / "shop"
    make_top(top)
    (top / "src/cart").mkdir(parents=True)
    assert project_of(str(top / "src/cart")) == project_of(str(top)) == top
    assert [*folders_around(str(top / "src/cart"))] == [top / "src/cart", top / "src", top]


def test_without_a_repository_the_folder_is_the_project(tmp_path: Path) -> None:
    assert project_of(str(tmp_path)) == tmp_path


@for_each("folder", ["", "relative", "/no/such/folder", "/proc/../proc"])
def test_a_folder_not_on_this_machine_is_no_project(folder: str) -> None:
    assert project_of(folder) is None


def test_worktrees_of_one_repository_are_one_project(tmp_path: Path) -> None:
    main, linked = tmp_path / "shop", tmp_path / "elsewhere"
    (main / ".git/worktrees/elsewhere").mkdir(parents=True)
    linked.mkdir()
    (linked / ".git").write_text(f"gitdir: {main}/.git/worktrees/elsewhere\n", encoding="utf-8")
    assert main_tree(str(linked)) == str(linked), "anybody can claim it: the repository has to know it"
    (main / ".git/worktrees/elsewhere/gitdir").write_text(f"{linked}/.git\n", encoding="utf-8")
    assert main_tree(str(linked)) == main_tree(str(main)) == str(main)
    assert main_tree("/gone/shop/.worktrees/fix/login") == main_tree("/gone/shop/.claude/worktrees/a") == "/gone/shop"
    assert main_tree("/home/ada/.worktrees/shop") == "/home/ada/.worktrees/shop", "not all that lies in a home is one"
