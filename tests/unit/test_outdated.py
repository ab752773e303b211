"""A rule that words have made outdated is found, and one that still holds is not."""

from __future__ import annotations

from skilld.targets.contradicted import contradicted_rules
from skilld.types import Kind, Update
from support.rows import for_each


def _is_found(rule: str, change: str, quote: str = "") -> bool:
    update = Update(1, "", change, "", Kind.CORRECTION, 1, quote or change)
    return bool(contradicted_rules([update], f"# Shop\n\n- {rule}\n", 1))


@for_each(
    ("rule", "change"),
    [
        ("Use `structlog`, never `print`.", "structlog is out, the stdlib logging is enough."),
        ("Errors use the problem+json format.", "No problem+json any more, plain JSON errors everywhere in the API."),
        ("Use `structlog` for logs.", "We dropped structlog."),
        ("Format dates with moment.", "We no longer use moment."),
        ("Deploys run on Jenkins.", "Jenkins is gone."),
        ("Der Zustand liegt in Redux.", "Kein Redux mehr."),
        ("Der Zustand liegt in Redux.", "Redux ist raus."),
        ("Paginate every list endpoint, 50 items a page.", "20 per page, not 50, for all lists in the API."),
        (
            "Branches are called `feature/NUMBER-short-words`.",
            "Branches are SOUK-NUMBER/short-words now, the bot needs it.",
        ),
        ("Tags are called `v/MAJOR.MINOR`.", "Tags are release/DATE now."),
    ],
)
def test_an_outdated_rule_is_found(rule: str, change: str) -> None:
    assert _is_found(rule, change)


def test_a_rule_is_found_that_only_the_words_take_back() -> None:
    rule, change = "PR titles start with the ticket number.", "Drop the ticket from PR titles, the bot adds it."
    assert _is_found(rule, change, "you can drop the ticket from PR titles again, the bot adds it since yesterday")
    assert not _is_found(change, change, "you can drop the ticket from PR titles again, the bot adds it")
    other = "Branches start with the ticket number."
    assert not _is_found(other, change, "you can drop the ticket from PR titles again, the bot adds it")


@for_each(
    ("rule", "change"),
    [
        ("structlog is out, the stdlib logging is enough.", "structlog is out."),
        ("Never use structlog.", "structlog is out, the stdlib logging is enough."),
        ("Book the meeting room.", "The meeting is out of scope."),
        ("Mocks of the mail server live in `tests/mail`.", "No mocks any more in the API tests."),
        ("Run the build before you push.", "The build is gone from CI."),
        ("Name the column after the field.", "Drop the column in a second migration."),
        ("Keep subjects under 50 characters.", "20 per page, not 50."),
        ("A page has 20 items, 50 at most.", "20 per page, not 50."),
        ("Branches are called `feature/NUMBER` for features.", "Branches are `fix/NUMBER` for bugs."),
        ("Branches are called `feature/NUMBER`.", "Branches are `fix/NUMBER` for bugs."),
        ("Tags are called `v1.2.3`.", "Tags are signed now."),
    ],
)
def test_a_rule_that_still_holds_is_not_found(rule: str, change: str) -> None:
    assert not _is_found(rule, change)
