"""One rule that a person says twice in a batch becomes one update, in the fuller words."""

from __future__ import annotations

import pytest

from skilld.classify.backends.offline import Offline
from skilld.types import Message


def _hear(*said: str) -> list[tuple[str, float]]:
    messages = [Message("fix the rounding", 1), Message("Done.")]
    for turn, one in enumerate(said, 2):
        messages += [Message(one, turn), Message("Done.")]
    return [(one.change, one.confidence) for one in Offline().detect(messages, [])]


ONCE = [
    ("nein, nimm pnpm statt npm.", "Ab jetzt immer pnpm, nie npm in diesem Repo.",
     "Immer pnpm, nie npm in diesem Repo."),
    ("no, use uv instead of pip.", "always uv, never pip here", "Always uv, never pip here."),
    ("use yarn not npm.", "always use yarn", "Use yarn not npm."),
    ("never jest, always vitest.", "always vitest", "Never jest, always vitest."),
    ("always use tabs in Go files.", "from now on tabs in Go files, spaces in Python",
     "Tabs in Go files, spaces in Python."),
    ("always run the tests before pushing.", "from now on always run the tests and the linter before pushing",
     "Always run the tests and the linter before pushing."),
    ("never push to main.", "never push straight to main", "Never push straight to main."),
    ("nimm uv statt pip.", "ab sofort immer uv", "Nimm uv statt pip."),
    ("keine Kommentare im Code.", "Ab jetzt nie Kommentare im Code, außer wenn es nötig ist",
     "Nie Kommentare im Code, außer wenn es nötig ist."),
    ("responde en español.", "a partir de ahora responde siempre en español", "Responde siempre en español."),
]  # fmt: skip

TWICE = [
    ("no emojis please", "from now on no emojis in commit messages"),
    ("never use any", "never use var"),
    ("always write tests first", "always write docs last"),
    ("ab jetzt immer kurze Antworten", "keine Emojis in Commits bitte"),
]


@pytest.mark.parametrize(("first", "second", "rule"), ONCE)
def test_a_rule_said_twice_is_one_in_its_fuller_words(first: str, second: str, rule: str) -> None:
    together = _hear(f"{first} {second}")
    assert [change for change, _ in together] == [rule]
    assert [change for change, _ in _hear(first, second)] == [rule]
    assert together[0][1] >= 0.5


@pytest.mark.parametrize(("first", "second"), TWICE)
def test_two_rules_stay_two(first: str, second: str) -> None:
    assert len(_hear(first, second)) == 2
