from __future__ import annotations

import pytest

from skilld.classify.offline.cues import LANGUAGES, Cue
from skilld.classify.offline.detector import Heard, listen
from skilld.classify.offline.phrasing import phrase
from skilld.classify.offline.scoring import Shape, weigh
from skilld.classify.offline.sentences import Clause
from skilld.classify.offline.signs import signs_of, weights

ENGLISH = next(language for language in LANGUAGES if language.code == "en")
ALONE = Shape(length=60, clauses=1, pasted=False, ordered=False)

LASTING = """
Always end with a short list of open questions
next time run the tests before you tell me it works
in future, keep the summary under five lines
I prefer small commits
I prefer tabs over spaces
add a step: run the linter before committing
don't use mocks in integration tests
stop summarizing your own changes in every answer
when you commit, use conventional commits
don't over-engineer
prefer composition over inheritance
whenever you add a dependency, pin it
verify with evidence before claiming something works
every new endpoint needs a test
you should have asked me first
keep answers short
usa pnpm en vez de npm
réponds en français
keine Kommentare im Code
не добавляй лишние комментарии
勝手にファイルを削除しないで
不要加注释
내 허락 없이 푸시하지 마
đừng commit khi chưa hỏi tôi
""".strip().splitlines()

PASSING = """
just this once, always skip the tests
only this once: never run the tests
solo por esta vez, siempre usa npm
这次先不要写测试
always use tabs?
is it a rule that commits must be signed?
so the linter never runs on the docs?
the button should always be visible
I prefer the second screenshot
I don't like the bold
use the same colour as in the header
keep the old function, remove the new one
don't touch the header in this PR
make sure the header is always sticky
Let me know if you agree
keep going
Ask me any questions you have
users should never see the page without logging in
I said the file is broken
the import was never used
用户每次登录都要验证
버튼은 항상 보여야 해
nút luôn phải hiển thị
кнопка всегда должна быть видна
el botón siempre debe estar visible
der Button soll immer sichtbar sein
""".strip().splitlines()


@pytest.mark.parametrize("said", LASTING)
def test_what_lasts_is_heard_without_a_plain_cue(said: str) -> None:
    assert [one.quote for one in listen(said)] == [said]


@pytest.mark.parametrize("said", PASSING)
def test_what_passes_is_outweighed(said: str) -> None:
    assert listen(said) == []


def test_a_clause_is_the_sum_of_its_signs() -> None:
    clause = Clause("don't add comments to tests", 0, question=False)
    weighed = weigh(clause, ENGLISH, ALONE)
    assert weighed.signs == {"forbids", "craft", "short_turn"}
    assert weighed.total == pytest.approx(-1.2 + 1.0 + 0.3 + 0.2)
    assert (weighed.cue, weighed.confidence) == (Cue.STOP, 0.4)


def test_the_same_words_in_a_long_description_do_not_count() -> None:
    said = "don't use mocks in integration tests"
    described = said + ". " + " ".join(f"The page shows the orders of month {n}." for n in range(40))
    assert [one.quote for one in listen(described)] == []


def test_what_stands_behind_a_condition_is_read_as_an_order() -> None:
    bare = weigh(Clause("use squash merges", 0, question=False), ENGLISH, ALONE)
    led = weigh(Clause("when you merge, use squash merges", 0, question=False), ENGLISH, ALONE)
    assert "conduct" in led.signs & bare.signs
    assert {"when", "conditional", "direct_and_general"} <= led.signs - bare.signs
    assert led.total > bare.total


def test_a_weak_sum_is_kept_and_not_proposed_and_no_sum_is_certain() -> None:
    assert [one.strength for one in listen("when in doubt, ask me first")] == [0.65]
    assert [one.strength for one in listen("keine Kommentare im Code")] == [0.45]
    many = "from now on you must never ever commit without asking me, use small commits instead"
    assert 0.5 <= max(one.strength for one in listen(many)) <= 1
    strongest = weigh(Clause("in future always ask me before pushing", 0, question=False), ENGLISH, ALONE)
    assert strongest.confidence == 0.7


@pytest.mark.parametrize(
    ("said", "change"),
    [
        ("I prefer small commits", "Prefer small commits."),
        ("add a step: run the linter before committing", "Run the linter before committing."),
        ("Always end with a short list of open questions", "Always end with a short list of open questions."),
        ("next time run the linter first", "Run the linter first."),
    ],
)
def test_what_is_heard_becomes_an_instruction(said: str, change: str) -> None:
    assert [phrase(one).text for one in _heard(said)] == [change]
    assert all(phrase(one).clear for one in _heard(said))


@pytest.mark.parametrize("language", [language.code for language in LANGUAGES])
def test_every_sign_has_a_weight_and_every_language_its_signs(language: str) -> None:
    listed = signs_of(language)
    named = listed.starts.keys() | listed.holds.keys()
    assert named <= weights().keys()
    assert {"forbids", "conduct", "tasks", "asks", "always", "craft", "product", "points"} <= named


def _heard(said: str) -> list[Heard]:
    return listen(said)
