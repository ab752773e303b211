"""Clauses are weighed by a model: what reads like something to remember, and what only sounds like it."""

from __future__ import annotations

import json
from base64 import b64encode
from pathlib import Path

import pytest

from skilld.classify.backends.offline import Offline
from skilld.classify.offline import likelihood as module
from skilld.classify.offline.likelihood import BUCKETS, Model, likelihood, load
from skilld.classify.offline.likely import clause_features, weighed_clauses
from skilld.types import Message, SkillDoc
from support.rows import for_each
from tools import train_likelihood as train

_SHOP = "---\nname: shop-page\ndescription: Build pages of the shop.\n---\n\n# Pages\n\n- Prices come first.\n"


def _detect(text: str, *skills: SkillDoc) -> list[tuple[str, bool]]:
    found = Offline().detect([Message("Done."), Message(text, turn=1)], skills)
    return [(one.change, one.confidence >= 0.5) for one in found]


def _likely(text: str) -> float:
    return max(likely for _, likely in weighed_clauses(text))


@for_each(
    ("lasting", "passing"),
    [
        ("ask me before you push", "ask me about the push later"),
        ("never delete a migration without asking me", "the total must never be negative"),
        ("tests go in spec/, never next to the code", "put this one test in spec/"),
        ("antworte mir ab jetzt auf deutsch", "der button ist ab jetzt blau"),
        ("pregúntame antes de hacer push", "la app pregunta antes de borrar"),
    ],
)
def test_what_is_said_to_the_agent_is_more_likely_than_what_is_built_or_for_now(lasting: str, passing: str) -> None:
    assert _likely(lasting) > 2 * _likely(passing)


def test_words_without_any_lasting_word_are_proposed_if_they_are_likely_enough() -> None:
    assert _detect("thanks. you keep pushing without asking, ask me before you push") == [
        ("Do not push without asking, ask me before you push.", True)
    ]


@for_each(
    "said",
    [
        "Call me Lena from now on.",
        "always quote paths",
        "never use emojis",
        "please always respond in Thai",
        "from now on, put tests in spec/",
        "remember: the staging database is called heron",
        "bitte immer kurze Commit-Messages",
        "nunca hagas commit sin preguntarme",
        "désormais utilise pnpm",
        "以后都用中文回答",
        "отвечай всегда по-русски",
        "vanaf nu altijd in het Nederlands antwoorden",
    ],
)
def test_an_ordinary_rule_is_never_held_back(said: str) -> None:
    assert [sure for _, sure in _detect(said)] == [True]


@for_each(
    ("said", "line"),
    [
        # What points back stands behind what it points to.
        (
            "prices come without cents. that goes for each page of the shop",
            "Prices come without cents. that goes for each page of the shop.",
        ),
        ("yes please. that goes for each page of the shop", None),
        ("that goes for each page of the shop", None),
        # What is a sentence of its own stands alone.
        (
            "my mum reads the prices on a phone, so big type on them",
            "My mum reads the prices on a phone, so big type on them.",
        ),
        ("you left out the prices of each page", None),  # a reproach orders nothing
    ],
)
def test_what_is_likely_and_no_command_is_proposed_as_it_was_said(
    monkeypatch: pytest.MonkeyPatch, said: str, line: str | None
) -> None:
    """Only with a skill in use, whose subject it shares."""
    monkeypatch.setattr("skilld.classify.offline.likely.likelihood", lambda _: 0.9)
    weighed_clauses.cache_clear()
    shop = SkillDoc(1, "shop-page", "/p/SKILL.md", _SHOP)
    assert [change for change, sure in _detect(said, shop) if sure and change.count(" ") > 3] == (
        [line] if line else []
    )
    weighed_clauses.cache_clear()


def test_a_clause_that_asks_is_not() -> None:
    assert _detect("should you ask me before you push?") == []


def test_nor_is_a_specification() -> None:
    assert _detect("ABC-12: ask the customer before you push an update, we want a dialog for that") == []


def test_nor_is_what_a_long_description_says() -> None:
    filler = "The page lists the orders of the last month with their totals and the name of the customer. " * 8
    assert _detect(f"{filler}You keep pushing without asking, ask me before you push.") == []


def test_what_the_grammar_hears_and_the_model_finds_unlikely_is_kept_and_not_proposed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    said = "always squash the commits before you merge"
    assert [sure for _, sure in _detect(said)] == [True]
    weighed_clauses.cache_clear()
    unsure = Model(-20.0, 0.0, module._shipped().weights)
    monkeypatch.setattr(module, "_shipped", lambda: unsure)
    assert [sure for _, sure in _detect(said)] == [False]
    weighed_clauses.cache_clear()


def test_code_and_names_are_one_word() -> None:
    (_, one), (_, other) = (next(iter(clause_features(f"call {name} first"))) for name in ("`frob`", "frob_total"))
    assert one == other


def test_a_score_is_the_bias_and_the_weights_of_the_buckets() -> None:
    weights = module._shipped().weights[:]
    weights[7], weights[9] = 10, -4
    assert likelihood({7, 9}, Model(-0.6, 0.1, weights)) == pytest.approx(0.5)
    assert likelihood({7}, Model(-500.0, 0.1, weights)) == pytest.approx(0.0)


def test_weights_of_another_size_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "weights.json"
    path.write_text(json.dumps({"bias": 0, "scale": 1, "weights": b64encode(b"12").decode()}), encoding="utf-8")
    with pytest.raises(ValueError, match=rf"weights.json has 2 weights, not {BUCKETS}"):
        load(path)


def test_a_written_message_has_its_kind_and_what_is_lasting_in_it(tmp_path: Path) -> None:
    path = tmp_path / "one.txt"
    path.write_text("mixed\tok.\\n«tabs please», then go on\nchat\tok\n", encoding="utf-8")
    assert list(train.read_messages(path)) == [
        train.Message("ok.\ntabs please, then go on", ((4, 15),), "mixed"),
        train.Message("ok", (), "chat"),
    ]


def test_a_labelled_turn_that_does_not_quote_what_is_lasting_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "turns.jsonl"
    rows = [
        {"text": "use tabs", "label": "durable"},
        {"text": "ok, use tabs", "kind": "lasting", "lasting": ["use tabs"]},
        {"text": "fix it", "label": "one_off"},
    ]
    path.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    assert [(one.text, one.lasting) for one in train.read_turns(path)] == [
        ("ok, use tabs", ((4, 12),)),
        ("fix it", ()),
    ]


def test_training_tells_what_it_was_shown_and_does_so_again() -> None:
    said = [train.Message("ask me before you push", ((0, 22),), "plain"), train.Message("push it now", (), "chat")] * 4
    examples = list(train.prepare(said))
    model = train.fitted(examples)
    assert [likelihood(set(one.found), model) > 0.5 for one in examples[:2]] == [True, False]
    assert model == train.fitted(examples)


def test_every_written_message_can_be_read() -> None:
    kinds = {"explicit", "plain", "mixed", "product", "oneoff", "story", "question", "taken_back", "paste", "chat"}
    for path in train.SAID.glob("*.txt"):
        for message in train.read_messages(path):
            assert message.kind in kinds, (path, message)
            assert bool(message.lasting) is (message.kind in {"explicit", "plain", "mixed"}), (path, message)
