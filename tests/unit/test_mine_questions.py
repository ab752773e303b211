"""Questions to a model about past sessions: windows, the estimate, and a model that fails."""

from __future__ import annotations

import itertools
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from skilld.classify.backends import Spec
from skilld.classify.backends.paid_calls import ModelCall
from skilld.clock import local_day
from skilld.mining.candidates import run_estimate
from skilld.mining.questions import (
    LONGEST_ANSWER,
    WINDOW_TURNS,
    Consent,
    Estimate,
    QuestionRun,
    Terms,
    budget_left,
    session_windows,
)
from skilld.mining.sessions import Session
from skilld.protocol import Result, Window
from skilld.settings import Settings
from skilld.store import Store
from skilld.types import Message, Outcome, Usage

RULE = "Always run the suite with the flag --fast."


def _session(*texts: str | None) -> Session:
    """Return a session of these turns; None is something that the agent wrote."""
    messages, turn = [], 0
    for text in texts:
        turn += text is not None
        messages.append(Message("So I did.") if text is None else Message(text, turn=turn, turn_key=f"k{turn}"))
    return Session("codex", "s1", Path("/t"), "/shop", "/shop", "", tuple(messages), ())


def test_a_long_session_is_split_into_windows_that_number_their_own_turns() -> None:
    found = session_windows(_session(*[RULE] * (WINDOW_TURNS + 3)), "m")
    assert [len(window.messages) for window in found] == [WINDOW_TURNS, 3]
    assert [message.turn for message in found[1].messages] == [1, 2, 3]
    assert [message.turn_key for message in found[1].messages] == ["k11", "k12", "k13"]


def test_only_the_agents_last_words_before_a_turn_are_sent() -> None:
    (window,) = session_windows(_session(None, None, None, RULE, None), "m")
    assert [message.turn for message in window.messages] == [None, None, 1]


def test_no_question_is_asked_about_chatter() -> None:
    assert session_windows(_session("thanks", None, "ok go on", "looks good"), "m") == []


def test_a_window_keeps_its_id_as_the_session_grows_but_not_with_other_words_or_model() -> None:
    short, long = _session(*[RULE] * WINDOW_TURNS), _session(*[RULE] * (WINDOW_TURNS + 1))
    assert session_windows(short, "m")[0].id == session_windows(long, "m")[0].id
    assert session_windows(short, "m")[0].id != session_windows(short, "n")[0].id
    assert session_windows(short, "m")[0].id != session_windows(replace(short, id="s2"), "m")[0].id
    assert session_windows(_session(RULE), "m")[0].id != session_windows(_session(f"{RULE} Always."), "m")[0].id


def test_the_most_that_a_run_may_use_grows_with_what_there_is_to_ask() -> None:
    sessions = [_session(RULE), _session(*[RULE] * (WINDOW_TURNS + 1))]
    one, two = (run_estimate([of], session_windows(of, "m"), proposes=True) for of in sessions)
    windows = [window for of in sessions for window in session_windows(of, "m")]
    both, dry = (run_estimate(sessions, windows, proposes=proposes) for proposes in (True, False))
    assert one.calls < two.calls < both.calls
    assert dry.calls < both.calls
    assert one.tokens < two.tokens < both.tokens


def test_a_run_never_uses_more_than_was_agreed_to(store: Store) -> None:
    most = run_estimate([_session(RULE)], session_windows(_session(RULE), "m"), proposes=False)
    for used in (Usage(1, 1, 1), Usage(1, 1_000, LONGEST_ANSWER)):
        terms = Terms(Spec("openai/stub"), Settings().budget, 1.0, 0o022, {}, consent=Consent(most))
        charge, expected = terms.charge(store), Usage(1, used.tokens_in)
        spent = Usage()
        while not charge(ModelCall("m", expected)):
            charge(ModelCall("m", expected, used))
            spent += used
        assert spent == terms.consent.used
        assert spent.calls <= most.calls
        assert spent.tokens_in + spent.tokens_out <= most.tokens
        assert "more than you agreed to" in (terms.spent_reason(store) or "")
    assert store.usage.on(local_day(time.time())).calls == terms.consent.used.calls + most.calls


def test_the_person_is_asked_once_and_not_after_the_run_would_have_used_more(store: Store) -> None:
    asked: list[Estimate] = []

    def agree(expected: Estimate) -> bool:
        asked.append(expected)
        return True

    for number in (1, 2):
        most = run_estimate([_session(RULE)], [], proposes=False)
        terms = Terms(Spec("openai/stub"), Settings().budget, 1.0, 0o022, {}, consent=Consent(most, agree))
        assert terms.may_ask(store)
        assert terms.may_ask(store)
        assert asked[number - 1 :] == [most]
        assert terms.charge(store)(ModelCall("m", Usage(1, most.tokens)))
        assert terms.spent_reason(store)


def test_what_the_budget_leaves_is_named_without_limits_that_are_off() -> None:
    budget = Settings().budget
    used = Usage(budget.calls - 2, budget.tokens + 5, 0)
    assert budget_left(used, budget.model_copy(update={"usd": 0.0})) == "2 calls, 0 tokens"
    assert budget_left(Usage(), budget.model_copy(update={"calls": 0, "tokens": 0, "usd": 0.0})) == ""


def _run(store: Store, retry_after: float | None) -> tuple[list[float], list[str], str]:
    waited: list[float] = []
    told: list[str] = []
    terms = Terms(Spec("openai/stub"), Settings().budget, 1.0, 0o022, {}, wait=waited.append)
    run = QuestionRun(store, terms, lambda _, why: told.append(why))
    failing = replace(Result(outcome=Outcome.RETRY, model="stub"), detail="it is overloaded", retry_after=retry_after)
    run._work = lambda *_: failing  # type: ignore[method-assign]
    stats = run.about([Window("w", "s", (Message("Always use tabs.", turn=1, turn_key="k"),))])
    return waited, told, stats.stopped


def test_the_time_of_failing_requests_counts_towards_the_minute(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = itertools.count(step=12.0)  # each request takes 12 s
    monkeypatch.setattr("skilld.mining.questions.time", SimpleNamespace(monotonic=lambda: next(clock)))
    waited, _, stopped = _run(store, None)
    assert waited == [5.0, 10.0]
    assert stopped == "the model did not answer: it is overloaded; the next run continues from here"


@pytest.mark.parametrize(("retry_after", "waits"), [(None, [5.0, 10.0, 20.0]), (25.0, [25.0, 25.0]), (300.0, [])])
def test_a_failing_model_is_given_up_after_a_minute(
    store: Store, retry_after: float | None, waits: list[float]
) -> None:
    waited, told, stopped = _run(store, retry_after)
    assert waited == waits
    assert told == [f"waiting {seconds:.0f} s for the model (it is overloaded)" for seconds in waits]
    assert stopped == "the model did not answer: it is overloaded; the next run continues from here"
