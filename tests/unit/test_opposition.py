"""What is the opposite of a rule repeats nothing, and is named as a contradiction in any language."""

from __future__ import annotations

from skilld.classify.contradiction import contradicts_clearly
from skilld.classify.offline.placement import replacement
from skilld.classify.opposition import opposes
from skilld.classify.rule_repeats import description, repeats_rule
from skilld.classify.said_already import says_already
from skilld.effect.remedy_edits import _newer_wordings
from support.rows import for_each

NAMED = "Named exports only."
BUMP = "Bump the version in `pyproject.toml`, then tag."


@for_each(
    ("said", "rule"),
    [
        ("Never use named exports again, default exports only.", NAMED),
        ("default exports only from now on", NAMED),
        ("ab jetzt commit messages bitte auf Deutsch", "Commit messages in English, conventional commits."),
        ("Commit messages bitte auf Deutsch.", "Antworte auf Deutsch, Code und Commits auf Englisch."),
        ("Schreib Kommentare auf Deutsch.", "Comments in English."),
        ("Never bump the version yourself.", BUMP),
        ("Never deploy the app again.", "Deploy the app after each merge."),
        ("use sync clients", "Use async clients."),
        ("Use default exports.", "Never use default exports."),
        ("Never use named exports.", NAMED),
        ("Write commit messages in the past tense.", "Commit messages in the imperative."),
    ],
)
def test_the_opposite_is_named_and_no_repeat(said: str, rule: str) -> None:
    assert opposes(said, rule)
    assert contradicts_clearly(said, rule)
    assert not repeats_rule(said, rule)


@for_each(
    ("said", "rule"),
    [
        ("Reply in German.", "Write commit messages in English."),
        ("Write docs in German.", "Write code comments in English."),
        ("Run the tests after each change.", "Run the linter before each change."),
        ("Default exports for pages.", NAMED),
        ("Never use named exports in tests.", "Keep tests short."),
        ("Never push to main.", "Push your branch, then open a pull request."),
        ("Never commit without running the tests.", "Commit after each step."),
        ("Never deploy to production.", "Deploy to staging first."),
        ("Use the staging database.", "Use the production database for reports."),
        ("Never use default exports again, named exports only.", NAMED),
        ("In German.", "Write commit messages in English."),
        ("Never deploy the app by hand.", "Deploy the app, never by hand."),
        ("Never rename the branch.", "Push the branch, then rename it."),
        ("Never run.", "Run the tests."),
        ("Never use mocks, when you test the parser.", "Use mocks for the network."),
        ("Never use mocks.", "Use mocks in tests if the network is slow."),
        ("Never use mocks.", "Use mocks." + " Be brief." * 40),
        ("Never deploy the app before the tests.", "Deploy the app, then run the tests."),
        ("default exports only from now on" + " please" * 300, NAMED),
        ("Commit messages in English.", "Answer in German, code and commits in English."),
    ],
)
def test_another_subject_or_an_exception_is_no_opposite(said: str, rule: str) -> None:
    assert not opposes(said, rule)


def test_a_rule_of_an_order_repeats_none_without_it() -> None:
    rule = "Run alembic upgrade and downgrade once locally."
    assert not repeats_rule("Always write the downgrade before the upgrade.", rule)
    assert repeats_rule("You forgot to run the alembic downgrade locally again!", rule)
    assert repeats_rule("Never merge before I approve.", "Do not merge without my approval.")


def test_a_complaint_names_what_was_done_wrong() -> None:
    assert repeats_rule("You used default exports again!", NAMED)
    assert repeats_rule("I told you: named exports only.", NAMED)
    assert repeats_rule("no type hints again, seriously", "Use type hints in every function.")
    assert repeats_rule("you used npm instead of pnpm again", "Use pnpm instead of npm.")
    assert repeats_rule("again no description on the pull request", "Pull requests need a description.")


@for_each(
    ("paragraph", "describes"),
    [
        ("pnpm workspace with three packages. Node 22.", True),
        ("Python 3.12 CLI that writes PDF invoices.", True),
        ("React 19 und Vite.", True),
        ("Use pnpm.", False),
        ("Antworte auf Deutsch.", False),
        (NAMED, False),
        ("We use pnpm, not npm.", False),
        ("pnpm workspace. Always run the tests.", False),
    ],
)
def test_what_a_project_is_is_no_rule(paragraph: str, describes: bool) -> None:  # noqa: FBT001 - a case
    assert description(f"# Probe\n\n{paragraph}\n\n## Rules\n\n- Be brief.\n") == (paragraph if describes else "")
    assert description(f"# Probe\n\n{paragraph}\n") == "", "without further sections it may be all there is"


CLIPPY = "Run `cargo clippy --all-targets -- -D warnings` before you say you are done."


@for_each(
    ("said", "rule", "added"),
    [
        ("Ab sofort bitte keine default exports mehr.", NAMED, ""),
        ("ab jetzt commit messages bitte auf Deutsch", "Code und Commits auf Englisch", ""),
        ("default exports only from now on", NAMED, ""),
        ("no, use vitest for the api package too please", "Use vitest, not jest.", ""),
        ("how often do i have to say it: cargo nextest, not cargo test", CLIPPY, ""),
        ("pls use decimal quantize w ROUND_HALF_EVEN for money", "Money is `Decimal`, never float.", ""),
        (
            "no, use vitest and not jest for the api package too please",
            "Use vitest, not jest.",
            "Use vitest and not jest for the api package too.",
        ),
        (
            "please remember: named exports only from now on, in components too",
            NAMED,
            "Named exports only, in components too.",
        ),
    ],
)
def test_only_clean_words_that_agree_make_a_rule_clearer(said: str, rule: str, added: str) -> None:
    assert next(_newer_wordings([said], rule), "") == added


@for_each(
    ("change", "line", "then"),
    [
        (
            "Never write commit messages in English, German only.",
            "- Commit messages in English, conventional commits.",
            "- Commit messages in German, conventional commits.",
        ),
        ("Never use named exports, default exports only.", f"- {NAMED}", None),
        ("Use yarn.", "- Npm installs what is missing.", "- Yarn installs what is missing."),
    ],
)
def test_only_what_is_refused_is_replaced(change: str, line: str, then: str | None) -> None:
    text = f"# Probe\n\n- Be brief.\n{line}\n"
    step = replacement(change, text)
    assert step is not None
    assert step.text == (then or f"- {change}")
    assert says_already(change, text.replace(line, step.text))
