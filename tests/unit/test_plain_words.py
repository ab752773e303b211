"""Commands print counts, limits and settings in words, and cut no line within a word."""

from __future__ import annotations

import re
import sys
from io import StringIO
from pathlib import Path

import pytest

from skilld import console
from skilld.cli.effect import _advice_line, summary
from skilld.cli.skills.evaluation import print_outcome
from skilld.effect.figures import Count, RuleState
from skilld.effect.outcomes import RuleOutcome
from skilld.effect.remedies import Remedy, batch_id_of, rule_id
from skilld.effect.remedy_edits import RemedyPlan
from skilld.effect.rules import Effect, Origin, Rule
from skilld.evals.results import CaseOutcome, EvalOutcome
from skilld.evals.significance import Tally
from skilld.proposals.model import MAX_SUBJECT, compose
from skilld.report.values import Share
from skilld.report.wording import brief, sessions
from skilld.store.evals import StoredCase, StoredEval
from skilld.types import State
from support.program import Program
from support.proposals import make_proposal
from support.rows import for_each

RULE = Rule("/p/CLAUDE.md", 3, "Use pnpm.", Origin.PROPOSAL, 1.0, proposal="3f2a")


NONE = "it has not applied in any session that started after it was added"
FEW = "since it was added"
MANY = (
    "repeated in 4 of 40 sessions where it applied since it was added; "
    "the true rate is between 4% and 46% (95% confidence)"
)


@for_each(
    ("before", "after", "told"),
    [
        ((1, 1), (0, 0), f"{NONE}; said in 1 of 1 before"),
        ((0, 0), (1, 1), f"repeated in 1 of 1 session where it applied {FEW}"),
        ((0, 0), (3, 0), f"repeated in 0 of 3 sessions where it applied {FEW}"),
        ((4, 2), (40, 4), f"{MANY}; said in 2 of 4 before"),
    ],
)
def test_effect_states_frequencies_in_words(before: tuple[int, int], after: tuple[int, int], told: str) -> None:
    assert summary(Effect(RULE, Count(*before), Count(*after), RuleState.UNKNOWN)) == told


OWN = "Enforce it with a linter, a hook or a check of your own; skilld has no draft for it."
HOOK = f"Enforce it with a hook: skilld effect {rule_id(RULE)}"


@for_each(
    ("made", "checks", "told"),
    [
        (None, (), OWN),
        (None, ("a draft",), HOOK),
        (State.ACCEPTED, ("a draft",), f"Rewording the rule has not helped. {HOOK}"),
        (State.REJECTED, ("a draft",), HOOK),  # it was not tried
    ],
)
def test_effect_advises_what_is_true(made: State | None, checks: tuple[str, ...], told: str) -> None:
    reworded = [] if made is None else [make_proposal(batch_id=batch_id_of(RULE, Remedy.SHARPEN), state=made)]
    effect = Effect(RULE, Count(), Count(4, 4), RuleState.REPEATED)
    outcome = RuleOutcome(effect, RemedyPlan(Remedy.ENFORCE), tuple(reworded))
    remedy = {"kind": "enforce", "proposal": None, "state": None, "checks": checks}
    assert _advice_line(remedy, outcome, complete=False) == told


def test_a_case_that_was_not_run_has_no_result(capsys: pytest.CaptureFixture[str]) -> None:
    one, two = StoredCase("f", "1"), StoredCase("f", "2")
    plan = StoredEval("e", "s", "/s", "", False, "m", "m", 4, (one, two), "")  # noqa: FBT003
    cases = CaseOutcome(one, Tally(both=1, lost=1), ""), CaseOutcome(two, Tally(), "")
    print_outcome(EvalOutcome(plan, Tally(both=1, lost=1), cases), "")
    assert capsys.readouterr().out == (
        "2 of 4 pairs run; no result until all have run\n  case 1: 1 of 2 passed with, 2 of 2 without\n"
    )


def test_the_report_says_one_of_one_in_words() -> None:
    shares = [Share(1, 1, 100), Share(1, 0, 0), Share(4, 4, 100), Share(4, 0, 0), Share(1200, 3, 0)]
    assert [sessions(one) for one in shares] == [
        "1 of 1 session",
        "0 of 1 session",
        "4 of 4 sessions",
        "0 of 4 sessions",
        "3 of 1,200 sessions (0%)",
    ]


def test_the_report_gives_no_percentage_of_a_few_sessions() -> None:
    shares = [Share(7, 6, 86), Share(39, 3, 8), Share(40, 3, 8), Share(0, 0, None)]
    assert [sessions(one) for one in shares[:3]] == ["6 of 7 sessions", "3 of 39 sessions", "3 of 40 sessions (8%)"]
    assert [brief(one) for one in shares] == ["6 of 7", "3 of 39", "8%", "–"]


@for_each(
    ("summary", "subject"),
    [
        ("Always do a dry run.", "skilld(CLAUDE.md): Always do a dry run."),
        (
            "Always put the ticket number first. Never mention internal hostnames anywhere.",
            "skilld(CLAUDE.md): Always put the ticket number first. …",
        ),
        (
            "Run the linter, the formatter and the type checker before each and every commit that you make",
            "skilld(CLAUDE.md): Run the linter, the formatter and the type checker…",
        ),
        ("Ok. " + "word " * 20, "skilld(CLAUDE.md): Ok. " + "word " * 8 + "word…"),
        ("字" * 80, "skilld(CLAUDE.md): " + "字" * 51 + "…"),
    ],
)
def test_a_commit_subject_is_cut_after_a_sentence_or_word(summary: str, subject: str) -> None:
    message = compose(skill="CLAUDE.md", summary=summary, reason="", quotes=(), trailers={"Proposal": "p"})
    first = message.decode().partition("\n")[0]
    assert (first, len(first) <= MAX_SUBJECT) == (subject, True)


class _Terminal(StringIO):
    def isatty(self) -> bool:
        return True


def test_an_error_message_is_wrapped_between_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    terminal = _Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    text = "skilld: You are running skilld as root, which can change every file on this machine."
    console.warn(text)
    assert max(map(len, terminal.getvalue().splitlines())) <= 40
    assert " ".join(terminal.getvalue().split()) == text


def test_config_lists_unset_values_of_all_agents_in_one_row(home: Path) -> None:
    program = Program(home)
    folder = home / "elsewhere"
    folder.mkdir()
    (home / ".config/skilld").mkdir(parents=True)
    (home / ".config/skilld/config.toml").write_text(f'[roots]\ncodex = ["{folder}"]\n')
    (home / ".config/skilld/config.toml").chmod(0o600)
    rows = [line for line in program.run("config").stdout.splitlines() if line.startswith("roots.")]
    assert [row.split()[0] for row in rows] == ["roots.codex", "roots.AGENT"]
    assert "AGENT is one of claude-code, opencode, " in rows[1]


def test_before_the_first_run_the_status_says_once_that_nothing_runs(home: Path) -> None:
    first, second = Program(home).run("status").stdout.splitlines()[:2]
    assert first == "skilld has not run here yet. To begin: skilld run"
    assert second.startswith("judge     ")


def test_cost_omits_limits_that_are_not_set(home: Path) -> None:
    output = Program(home).run("cost").stdout
    assert output == "No model calls yet.\nDaily budget: 60 calls, 400,000 tokens, $1.00. Not reached yet today.\n"
    free = {f"SKILLD_BUDGET__{name}": "0" for name in ("CALLS", "TOKENS", "USD")}
    assert "Daily budget: no limit.\n" in Program(home, free).run("cost").stdout


def test_doctor_counts_the_checks_it_shows(home: Path) -> None:
    (home / ".config" / "skilld").mkdir(parents=True)
    (home / ".config" / "skilld" / "config.toml").write_text("[budget]\ncalls = 1\n", encoding="utf-8")
    output = Program(home).run("doctor").stdout
    (number,) = re.findall(r" of (\d+) checks failed", output)
    assert sum(line.startswith(("ok  ", "warn", "fail", "skip")) for line in output.splitlines()) == int(number)
