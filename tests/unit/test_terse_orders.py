"""Orders as people type them in a hurry: no capitals, no full stops, "pls", and a reproach at either end."""

from __future__ import annotations

from skilld.batching.gate import needs_classification
from skilld.classify.backends.offline import Offline
from skilld.classify.subject import fill_pronoun
from skilld.types import Message, Update
from support.rows import for_each


def _proposed(said: str) -> list[str]:
    return [one.change for one in _updates(said) if one.confidence >= 0.5]


def _updates(said: str) -> list[Update]:
    return Offline().detect(
        [Message("fix the price rounding", 1), Message("Done, the tests pass."), Message(said, 2)], []
    )


@for_each(
    ("said", "rule"),
    [
        ("again: run cargo fmt before you hand it over", "Run cargo fmt before you hand it over."),
        ("good. and again: no force pushing", "No force pushing."),
        ("same as last time: no inline styles, css module next to it", "No inline styles, css module next to it."),
        ("like last time, run pnpm lint --fix before you commit", "Run pnpm lint --fix before you commit."),
        ("once more: dont edit generated files", "Do not edit generated files."),
        ("told you before, dont touch the fixtures", "Do not touch the fixtures."),
        ("how often do i have to say it: no rebase on shared branches", "No rebase on shared branches."),
        ("ok but pls no unwrap() outside of tests", "No unwrap() outside of tests."),
        ("pls write docstrings in google style, not numpy", "Write docstrings in google style, not numpy."),
        ("no useEffect for derived state pls, we dont do that here", "No useEffect for derived state."),
        ("no enums pls. we dont do that here", "No enums."),
        ("stop running cargo clean before every build", "Do not run cargo clean before every build."),
        (
            "commit msgs start with the ticket, PAY-1 not [PAY-1]. pls",
            "Commit msgs start with the ticket, PAY-1 not [PAY-1].",
        ),
        ("thats how we do it here: one export per file", "One export per file."),
        ("tests go in tests/. thats how we do it in this repo", "Tests go in tests/."),
        ("stop it with the emojis in the output!!", "No emojis in the output."),
        ("enough with the abstract factories", "No abstract factories."),
        ("cut it out with the wildcard imports", "No wildcard imports."),
        ("knock it off with the ascii art pls", "No ascii art."),
        ("quit it with the one letter names", "No one letter names."),
        ("never use npm or yarn here, how often... pnpm only", "Never use npm or yarn here."),
        ("dont push to main pls, how often...", "Do not push to main."),
        ("pls always use uv run, never plain python or pip", "Always use uv run, never plain python or pip."),
        ("use uv run, never plain python or pip", "Never use plain python or pip."),
        ("keep answers short. everywhere", "Keep answers short, everywhere."),
        ("we dont do mocks here", "No mocks."),
        ("we dont do default exports here except pages", "No default exports except pages."),
        ("in this repo pls never use lodash", "In this repo never use lodash."),
        ("nevr use float for prices", "Never use float for prices."),
        ("no unwrap() in src/, ever. expect with a message.", "No unwrap() in src/."),
        ("use --locked everywhere. always.", "Use --locked everywhere."),
        ("always fetch with --prune", "Always fetch with --prune."),
        ("always -Wall", "Always -Wall."),
        ("tabs, not spaces. in all C files here. always", "Tabs, not spaces, in all C files here."),
        ("never amend. new commits only", "Never amend, new commits only."),
        ("never mock the db. real db only.", "Never mock the db, real db only."),
        ("no emojis. anywhere. ever.", "No emojis."),
        ("no console.log in src/. never.", "No console.log in src/."),
        ("kein unwrap() in src/, niemals.", "Kein unwrap() in src/."),
        ("immer --locked benutzen. überall.", "Immer --locked benutzen, überall."),
        ("keep it short. always", "Keep it short."),
        ("commit to main, never", "Commit to main, never."),
        ("nie amenden. nur neue Commits", "Nie amenden, nur neue Commits."),
        ("Tabs, keine Leerzeichen. in allen C-Dateien. immer", "Tabs, keine Leerzeichen, in allen C-Dateien."),
    ],
)
def test_a_terse_order_is_proposed_as_a_plain_one(said: str, rule: str) -> None:
    assert needs_classification(said)
    assert _proposed(said) == [rule]


@for_each("said", ["pls no barrel files", "no lodash pls", "k pls no singletons"])
def test_a_wish_that_may_hold_only_once_is_kept(said: str) -> None:
    [kept] = _updates(said)
    assert 0 < kept.confidence < 0.5


@for_each(
    "said",
    [
        "again: run the tests",
        "again, the same error as last time",
        "and again no luck",
        "again, no output at all",
        "same as last time, timeout after 30s",
        "like last time it was the cache i think",
        "as always, great work",
        "once more with verbose",
        "pls no changes yet, just look",
        "no rush pls",
        "no not that one pls",
        "stop running that, it hangs",
        "stop it with ctrl-c and restart",
        "stop it with the kill command",
        "stop the container with the db in it",
        "enough for today",
        "cut it out and put it in utils",
        "knock it down to 3 retries",
        "the msgs start with a nul byte, why",
        "how often do i have to restart it, its broken",
        "how often does the cron run",
        "we dont do that yet, its the next ticket",
        "told you it would fail lol",
        "as i said the button is on the left, move it",
        "thats how we do it? looks odd",
        "no errors here, thats how we want it",
        "fix the tests. unit tests only",
        "no luck, ever",
        "it never works. ever.",
        "slowest build. ever.",
        "never. do not ask",
        "the button is never shown. on all pages",
        "-Wall is set, why does it fail",
    ],
)
def test_what_only_looks_like_one_is_not_proposed(said: str) -> None:
    assert _proposed(said) == []


def test_it_in_an_idiom_is_no_pronoun() -> None:
    for said in ("Stop it with the emojis.", "Please cut it out with the mocks.", "Knock it off with the jokes."):
        assert fill_pronoun(said, "") == said
    assert fill_pronoun("Start it with the flag.", "") is None
