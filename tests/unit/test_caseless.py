"""Expressions that ignore case, and what a form needs."""

from __future__ import annotations

import re
import sys
from itertools import chain

import pytest

from skilld.classify.caseless import Caseless, caseless, lower
from skilld.classify.offline import grammar
from skilld.classify.offline.grammar.needs import Forms, needs_of
from skilld.classify.offline.reported import reporting

SAID = (
    "from now on, always put the ticket number first in each entry",
    "Never mention internal hostnames in the RELEASE notes again",
    "I TOLD you already: one commit per change, please",
    "in this repository we keep scripts under tools/",
    "what does the tool do when the file is empty?",
    "no abbreviations anywhere",
    "so the renderer draws the frame twice",
    "ab jetzt bitte IMMER die Ticketnummer zuerst",
    "bei jedem Commit muss ein Test dabei sein",
    "fuer alle Dateien gilt ab sofort: keine Tabs",
    "désormais, utilise toujours pnpm",
    "DORENAVANT utilise pnpm",
    "siempre usa tabulaciones, nunca espacios",
    "d'ora in poi usa sempre pnpm",
    "впредь ВСЕГДА пиши тесты",
    "bundan sonra her zaman Türkçe yaz",
    "以后每次都要先跑测试",
    "今後は必ずテストを書いてください",
    "앞으로는 항상 테스트를 먼저 작성해",
    "od teraz ZAWSZE używaj pnpm",
    "nunca mais use tabs",
    "",
)


def test_each_character_keeps_its_place_in_lower_case() -> None:
    assert [char for char in map(chr, range(sys.maxunicode + 1)) if len(lower(char)) != 1] == []
    assert lower("ΟΔΟΣ ΣΑΣ İstanbul") == "οδοσ σασ istanbul"


@pytest.mark.parametrize("text", ["İzmir", "IŞIK", "ışık", "ΣΟΦΟΣ", "Straße", "ÉCOLE", "ПРИВЕТ", "Fußſ", "ŁÓDŹ"])
def test_case_is_ignored_as_re_ignores_it(text: str) -> None:
    for other in (text, text.lower()[: len(text)], text.upper() if len(text.upper()) == len(text) else text):
        for at, char in enumerate(other):
            expected = re.compile(re.escape(text[at]), re.IGNORECASE).match(char)
            assert (caseless(re.escape(text[at])).match(char) is None) == (expected is None), (text[at], char)


def test_escapes_keep_their_case() -> None:
    found = caseless(r"\AUSE\S+ (?P<Name>[A-Z]+)\W").match("use: TABS!")
    assert found is not None
    assert found["Name"] == "tabs"
    assert caseless(r"\\S").search("a s") is None


def test_what_stays_keeps_its_case() -> None:
    assert caseless("from now on,? ").sub("", "From NOW on, use Tabs") == "use Tabs"
    assert caseless("b").sub(lambda start, end: f"<{start}-{end}>", "aBcb") == "a<1-2>c<3-4>"


@pytest.mark.parametrize(
    ("form", "needs"),
    [
        ("^always \\w", {"always"}),
        ("^(?:always|never) use", {"always", "never"}),
        ("^(?:please )?keep (?:it )?short", {"short"}),
        ("tests? first", {"first"}),
        ("colou?r", {"colo"}),
        ("no+w{0,2}", {"no"}),
        ("(?!never)(?=always)(?<=ever)x", {"x"}),
        ("<words> .*x", {"tabs", "spaces"}),
        ("<words>? .*x", {"x"}),
        ("(?:<words>|any)", {"tabs", "spaces", "any"}),
        ("(?:<words>|\\w+)", None),
        ("(?:tabs|)", None),
        ("[abc]+.\\b$", None),
        ("für alle", {"alle"}),  # people type "fuer"
        ("\\(now\\)", {"now"}),
        ("[^)(|]x[]a]yz", {"yz"}),
        ("AlwaYS", {"always"}),
    ],
)
def test_what_every_match_of_a_form_has(form: str, needs: set[str] | None) -> None:
    lists = {"words": "tabs|spaces"}
    found = needs_of(form, lambda name: needs_of(lists[name], lambda _: None))
    assert found == (None if needs is None else frozenset(needs))


def test_forms_are_found_as_if_all_were_tried() -> None:
    texts = [*SAID, *chain.from_iterable(one.split(", ") for one in SAID)]
    for language in grammar.languages().values():
        for cue, strength, forms in language.cue_forms:
            joined = language._any_of(language.forms[cue, strength == grammar.KEPT_STRENGTH])
            wrong = [one for one in texts if forms.found_in(one) != (joined.search(one) is not None)]
            assert wrong == [], (language.code, cue)
        joined = language._any_of(language.forms.get((grammar.Cue.PRACTICE, False), ()))
        assert [one for one in texts if language.practice.found_in(one) != bool(joined.search(one))] == []


def test_an_expression_with_a_part_that_does_not_ignore_case_is_refused() -> None:
    with pytest.raises(ValueError, match="the expression has"):
        caseless("from (?-i:[A-Z])\\w+")


def test_a_name_is_recognized_by_its_capital_letter() -> None:
    assert reporting().source.search("Podle Marka") is not None
    assert reporting().source.search("podle marka") is None


def test_a_form_is_compiled_only_for_a_text_with_what_it_needs() -> None:
    compiled: list[str] = []

    def form(source: str) -> Caseless:
        compiled.append(source)
        return caseless(source)

    forms = Forms(
        [
            (frozenset({"never"}), lambda: form("never use")),
            (frozenset({"always"}), lambda: form("always use")),
        ]
    )
    assert not forms.found_in("use tabs")
    assert compiled == []
    assert forms.found_in("ALWAYS use tabs")
    assert forms.found_in("always use spaces")
    assert compiled == ["always use"]


def test_an_article_said_again_and_again_takes_no_time() -> None:
    # It was in two lists of one form, and each further one took twice as long: 60 would have taken hours.
    found = (forms.found_in("de " * 60 + "kort") for _, _, forms in grammar.languages()["nl"].cue_forms)
    assert not any(found)
