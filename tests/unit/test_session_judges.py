"""Which session is judged by whom: its own agent, usage limits, and what is reported once."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from skilld.agents import ADAPTERS
from skilld.classify.backends import Spec, UnavailableError
from skilld.classify.backends.agent_cli.backend import failure_error
from skilld.classify.backends.agent_cli.clients import CLIENTS
from skilld.classify.backends.agent_cli.limits import seconds_until_reset
from skilld.classify.backends.choose import choose
from skilld.cli.setup import find_offers
from skilld.daemon import judges
from skilld.health.checks import back_end
from skilld.health.judge_facts import model_facts
from skilld.health.values import Verdict
from skilld.jobs.fallback import with_offline_fallback
from skilld.protocol import AnalyseBatch, BatchJob, BatchResult, Outage
from skilld.settings import Settings
from skilld.store import Store
from skilld.types import Outcome, Usage
from support.tables import table_rows

NOW = datetime(2026, 11, 22, 14, 0, tzinfo=UTC).timestamp()  # a Sunday
NO_OLLAMA = {"OLLAMA_HOST": "192.0.2.1"}
HOUR = 3600.0


@pytest.fixture
def path_environment(tmp_path: Path) -> dict[str, str]:
    """Return an environment in which every client is installed."""
    for name in CLIENTS:
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    return {"PATH": str(tmp_path), **NO_OLLAMA}


def test_a_limit_reset_time_is_parsed_from_the_clients_message() -> None:
    for said, hours in table_rows("judges", "limits and hours"):
        assert seconds_until_reset(said, NOW) == (pytest.approx(float(hours) * HOUR) if hours else None), said


def test_each_session_is_judged_only_by_its_own_agent(path_environment: dict[str, str]) -> None:
    for client in CLIENTS.values():
        spec = choose("agent", "http://elsewhere", "key", 60, path_environment, agent=client.agent).spec
        assert spec == Spec(f"cli:{client.program}", seconds=60, or_offline=True)
    for agent in ("", *(ADAPTERS.keys() - {client.agent for client in CLIENTS.values()})):
        assert choose("agent", None, None, 60, path_environment, agent=agent).spec == Spec("offline")
    gone = choose("agent", None, None, 60, {"PATH": "/nowhere", "OPENAI_API_KEY": "k"}, agent="codex")
    assert (gone.spec, gone.why) == (Spec("offline"), "codex is not on PATH")
    assert choose("openai/x", None, None, 60, path_environment, agent="codex").spec == Spec("openai/x")


def test_a_usage_limit_is_recognized_with_its_reset_time() -> None:
    error = failure_error(CLIENTS["codex"], "You've hit your usage limit. Try again in 2 hours.", None, 1)
    assert isinstance(error, UnavailableError)
    assert (error.limit, error.after) == (True, 2 * HOUR)


def test_a_batch_without_its_agent_is_judged_offline_and_bills_only_what_was_asked() -> None:
    asked: list[str] = []

    def do(job: AnalyseBatch) -> BatchResult:
        asked.append(job.backend.model)
        if job.backend.model == "offline":
            return BatchResult(outcome=Outcome.NOTHING, model="offline")
        error = UnavailableError("Could not ask Pi", "it is not logged in", "Run pi")
        error.usage = Usage(calls=1)
        raise error

    result = with_offline_fallback(
        AnalyseBatch(batch=BatchJob(), closed_at="", backend=Spec("cli:pi", or_offline=True)), do
    )
    assert asked == ["cli:pi", "offline"]
    assert (result.outcome, result.model, result.usage.calls) == (Outcome.NOTHING, "cli:pi", 1)
    assert result.away == Outage("it is not logged in", "Run pi")


def _fall_back(store: Store, now: float, *, limit: bool = False, after: float | None = None) -> float | None:
    away = Outage("it is not logged in", "Run claude", limit, after)
    outcome = Outcome.RETRY if limit else Outcome.NOTHING
    return judges.record_outcome(store, BatchResult(outcome=outcome, model="cli:claude", away=away), now)


def test_a_limit_lasts_until_its_reset_or_backs_off_up_to_an_hour(store: Store) -> None:
    assert _fall_back(store, NOW, limit=True, after=5 * HOUR) == NOW + 5 * HOUR
    assert judges.current_limit(store, "cli:claude", NOW + 5 * HOUR - 1)
    assert not judges.current_limit(store, "cli:claude", NOW + 5 * HOUR)
    assert not judges.current_limit(store, "cli:claude", NOW - 1), "the clock was set back"
    assert not judges.current_limit(store, "cli:codex", NOW)
    judges.record_outcome(store, BatchResult(outcome=Outcome.NOTHING, model="cli:claude", usage=Usage(calls=1)), NOW)
    assert not judges.current_limit(store, "cli:claude", NOW)
    waits = [(_fall_back(store, NOW, limit=True) or 0) - NOW for _ in range(9)]
    assert waits == [60, 120, 240, 480, 960, 1920, 3600, 3600, 3600]


def test_an_agent_without_a_login_is_asked_again_after_an_hour(store: Store, path_environment: dict[str, str]) -> None:
    settings = Settings(model="agent")
    assert _fall_back(store, NOW) is None
    models = [
        judges.choose_judge(store, settings, path_environment, "claude-code", NOW + later).spec.model
        for later in (0, HOUR - 1, HOUR)
    ]
    assert models == ["offline", "offline", "cli:claude"]
    assert (
        judges.choose_judge(store, Settings(model="cli:claude"), path_environment, "claude-code", NOW).spec.model
        == "cli:claude"
    )


def _new_messages(
    store: Store, model: str, environment: dict[str, str], *, unattended: bool = True, now: float = NOW
) -> list[str]:
    found = list(judges.unreported_problems(store, model, environment, now, unattended=unattended))
    judges.mark_reported(store, tuple(cause for cause, _ in found))
    return [text for _, text in found]


def test_a_missing_choice_is_mentioned_once_and_not_in_a_terminal(store: Store) -> None:
    assert _new_messages(store, "offline", NO_OLLAMA) == []
    assert _new_messages(store, "auto", NO_OLLAMA, unattended=False) == []
    (text,) = _new_messages(store, "auto", NO_OLLAMA)
    assert "recognizes only explicit wording" in text
    assert "skilld setup" in text
    assert _new_messages(store, "auto", NO_OLLAMA) == []


def test_an_unavailable_agent_is_mentioned_once_until_it_recovers(
    store: Store, path_environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        store.transcripts, "summary", lambda: {"claude-code": {"turns": 3}, "cursor": {"turns": 0}, "pi": {"turns": 1}}
    )
    assert _new_messages(store, "agent", path_environment) == []
    _fall_back(store, NOW)
    (text,) = _new_messages(store, "agent", path_environment)
    told = "its sessions are judged without a model, by explicit wording only, because it is not logged in. Run claude"
    assert text == f"Claude Code: {told}"
    assert _new_messages(store, "agent", path_environment, now=NOW + 2 * HOUR) == []
    _fall_back(store, NOW + 2 * HOUR)
    assert _new_messages(store, "agent", path_environment, now=NOW + 2 * HOUR) == [], (
        "it was asked again, and still has no login"
    )
    judges.record_outcome(store, BatchResult(outcome=Outcome.NOTHING, model="cli:claude", usage=Usage(calls=1)), NOW)
    assert _new_messages(store, "agent", path_environment) == []
    _fall_back(store, NOW)
    assert len(_new_messages(store, "agent", path_environment)) == 1
    _fall_back(store, NOW, limit=True, after=30)
    judges.record_outcome(store, BatchResult(outcome=Outcome.NOTHING, model="cli:claude", usage=Usage(calls=1)), NOW)
    _new_messages(store, "agent", path_environment)
    _fall_back(store, NOW, limit=True, after=30)
    assert _new_messages(store, "agent", path_environment) == [], "it is over before anybody has read that"


def test_an_agent_that_skilld_cannot_ask_is_no_trouble(
    store: Store, path_environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store.transcripts, "summary", lambda: {"copilot-cli": {"turns": 3}, "pi": {"turns": 1}})
    for name, value in path_environment.items():
        monkeypatch.setenv(name, value)
    settings = Settings(model="agent")
    (line,) = judges.judge_problems(store, "agent", path_environment, NOW)
    assert (line.agent, line.expected, line.why.endswith("skilld cannot ask this agent yet")) == (
        "Copilot CLI", True, True,
    )  # fmt: skip
    check = back_end(model_facts(settings, path_environment, store, NOW, ask=False))
    assert check.verdict is Verdict.OK
    assert "; skilld cannot ask Copilot CLI yet" in check.detail
    _fall_back(store, NOW)
    monkeypatch.setattr(
        store.transcripts, "summary", lambda: {"copilot-cli": {"turns": 3}, "claude-code": {"turns": 1}}
    )
    check = back_end(model_facts(settings, path_environment, store, NOW, ask=False))
    assert (check.verdict, "Claude Code: " in check.detail) == (Verdict.WARN, True), "that is trouble"


def test_available_judges_are_listed_agents_first(path_environment: dict[str, str]) -> None:
    assert [offer.model for offer in find_offers(NO_OLLAMA | {"PATH": "/nowhere"})] == ["offline"]
    found = find_offers(path_environment | {"MISTRAL_API_KEY": "k"})
    assert [offer.model for offer in found] == ["agent", "mistral/mistral-small-latest", "offline"]
    assert "installed: Claude Code, Codex, Gemini CLI, opencode, Pi" in found[0].title
    assert found[0].title.endswith("those of other agents are judged offline")
    assert "to that agent only" in found[0].sends
    assert "to mistral" in found[1].sends
    assert (found[2].sends, found[2].costs) == ("nothing", "nothing")
    gateway = {"ANTHROPIC_BASE_URL": "https://me:hunter2@gate.example:8080/v1", "ANTHROPIC_API_KEY": "k"}
    for offer in find_offers(path_environment | gateway)[:2]:
        assert "gate.example:8080 (ANTHROPIC_BASE_URL)" in offer.sends
        assert "hunter2" not in offer.sends
