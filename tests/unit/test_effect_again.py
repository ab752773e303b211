"""Which words repeat a rule: labelled pairs in tests/data/effect, half of them scored once."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from skilld.classify.rule_repeats import MAX_QUOTE, corrections, repeats_rule
from skilld.effect.relevance import could_matter
from skilld.effect.survey import work_of
from support.rows import for_each
from support.tables import table_rows

DATA = Path(__file__).parents[1] / "data" / "effect"


def load_pairs(name: str, half: str) -> list[tuple[str, str, str]]:
    """Return label, rule and text of each pair of a half."""
    found, now = [], ""
    for line in (DATA / name).read_text(encoding="utf-8").splitlines():
        if line.startswith("== "):
            now = line[3:]
        elif now == half and " | " in line:
            label, rule, text = line.split(" | ", 2)
            found.append((label, rule, text))
    return found


def score(found: list[tuple[bool, bool]]) -> tuple[float, float]:
    """Return recall and precision of (said, wanted)."""
    right = sum(said and wanted for said, wanted in found)
    return right / sum(wanted for _, wanted in found), right / sum(said for said, _ in found)


@for_each(
    ("name", "half", "number", "least"),
    [
        ("repeats", "held", 60, 0.6),
        ("repeats", "dev", 60, 0.6),
        ("repeats", "second", 60, 0.6),
        ("repeats-third", "third", 120, 0.6),
        ("repeats-fourth", "fourth", 60, 0.6),
        ("repeats-terse", "terse", 63, 0.6),
    ],
)
def test_a_repeat_is_told_apart_from_talk_and_other_rules(name: str, half: str, number: int, least: float) -> None:
    """Y8: recall at least 0.6 and precision at least 0.9 without a model, where the matcher was mended for the set."""
    known = load_pairs(f"{name}.txt", half)
    assert len(known) == number
    recall, precision = score([(repeats_rule(text, rule), label == "repeat") for label, rule, text in known])
    print(f"{half}: recall {recall:.3f}, precision {precision:.3f}")
    assert recall >= least
    assert precision >= 0.9


def test_the_clearer_the_correction_the_fewer_shared_words_it_needs() -> None:
    for rule, text, again in table_rows("effect_again", "said again"):
        assert repeats_rule(text, rule) is (again == "yes")


@pytest.mark.parametrize("half", ["held", "dev"])
def test_a_rule_is_relevant_where_the_work_is_of_its_kind(half: str) -> None:
    known = load_pairs("matters.txt", half)
    assert len(known) == 30
    found = []
    for label, rule, text in known:
        files = [word for word in re.findall(r"\S+", text) if "." in word or "/" in word]
        found.append((could_matter(rule, work_of([text], files)), label == "yes"))
    recall, precision = score(found)
    print(f"{half}: recall {recall:.3f}, precision {precision:.3f}")
    assert (recall >= 0.8, precision >= 0.8) == (True, True)


@for_each(
    ("text", "quotes"),
    [
        ("thanks, looks good", []),
        ("what does pnpm do?", []),
        ("```\nnever use npm\n```", []),
        ("no, never use npm here", ["no, never use npm here"]),
        (f"Look at {'the parser and ' * 30} tell me. You ran npm again!", ["You ran npm again!"]),
    ],
)
def test_only_the_correcting_words_are_kept(text: str, quotes: list[str]) -> None:
    assert corrections(text) == quotes
    assert all(len(quote) <= MAX_QUOTE for quote in corrections(f"never {text * 50}"))


def test_text_copied_from_the_agent_corrects_nothing() -> None:
    copied = "You must never use npm in this repository, always use pnpm."
    assert corrections(copied, (copied,)) == []
    assert corrections(copied) == [copied]


@for_each(
    ("text", "rule"),
    [
        ("why unwrap?? we don't do that here, return an error", "Ask before adding a crate."),
        ("no, you used cargo again, I told you", "Ask before adding a crate."),
        ("you used flask again", "Run the tests with pytest from py3."),
        ("no cmake please, never", "Never use raw pointers."),
        ("stop using node here", "Never use vanilla js."),
    ],
)
def test_two_words_of_one_language_are_no_repeat(text: str, rule: str) -> None:
    assert not repeats_rule(text, rule)


def test_the_language_itself_still_is() -> None:
    assert repeats_rule("always write it in Rust", "Write tools in Rust.")
    assert repeats_rule("you should have asked me before pulling in a new crate", "Ask before adding a crate.")


@for_each(
    ("said", "rule", "again"),
    [
        ("whole suite only at the end", "Run the tests with -x in this repo.", False),
        ("only run the whole suite at the end", "Run the tests with `--maxfail=1`.", False),
        ("Always run the tests with -x in this repo.", "Write the failing test first.", False),
        ("Always run the tests with -x in this repo.", "Run the whole suite before a commit.", False),
        ("use -x when you run the tests!", "Run the tests with -x in this repo.", True),
        ("tests again, you didn't run the tests", "Run the tests with -x in this repo.", True),
        ("the whole suite only at the end", "Run the whole suite at the end.", True),
    ],
)
def test_a_demand_without_its_option_does_not_repeat_a_rule_on_an_option(said: str, rule: str, *, again: bool) -> None:
    assert repeats_rule(said, rule) is again


@for_each(
    ("said", "rule", "again"),
    [
        ("always name indexes idx_table_column", "Add an index for every foreign key.", False),
        ("always add an index for foreign keys", "Add an index for every foreign key.", True),
        ("store phone numbers as text, never as int", "Always use bigint for ids, never int.", False),
        ("phone numbers are text, never int", "Always use bigint for ids, never int.", False),
        ("store ids as bigint, never as int", "Always use bigint for ids, never int.", True),
        ("use pnpm, never npm", "Never use npm.", True),
        ("I said bigint, never int", "Always use bigint for ids, never int.", True),
    ],
)
def test_what_a_demand_says_beyond_a_rule_makes_it_another(said: str, rule: str, *, again: bool) -> None:
    assert repeats_rule(said, rule) is again


@for_each(
    ("said", "again"),
    [
        ("run the host tests once more", False),
        ("now run the host tests once more", False),
        ("please run the host tests one more time", False),
        ("run the host tests yet again", False),
        ("once more: run the host tests", True),
        ("always run the host tests once more before you finish", True),
        ("run the host tests once more as I said", True),
    ],
)
def test_a_task_to_be_done_once_more_repeats_no_rule(said: str, *, again: bool) -> None:
    assert repeats_rule(said, "Run `make test` on the host build.") is again
    assert bool(corrections(said)) is again
