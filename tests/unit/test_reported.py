"""What the person only reports is not heard as their rule; what they say themselves in similar words is."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from skilld.classify.offline.detector import find_lasting
from skilld.classify.offline.product import likely_languages
from skilld.classify.offline.reported import without_reported
from skilld.classify.offline.typed import typed_part
from support.rows import for_each


def _rest(text: str) -> str:
    codes = frozenset(language.code for language in likely_languages(text))
    return " ".join(without_reported(text, codes).split())


@for_each(
    "text",
    [
        "Bob said on Slack that from now on we always squash.",
        "the docs tell you to always pin versions",
        "my boss keeps saying never deploy on fridays",
        "in the video they say you should never use eval",
        "according to the handbook, always use tabs",
        "Anna hat auf Slack gesagt, dass wir ab jetzt immer squashen.",
        "Ab sofort immer rebasen, schreibt das Wiki.",
        "Laut Handbuch immer Tabs benutzen",
        "In der Doku steht, man soll nie rebasen.",
        "Ana dijo en Slack que a partir de ahora siempre hay que hacer squash.",
        "Dicen que nunca hay que usar eval.",
        "Según el manual, usa siempre tabuladores",
        "Luc a dit sur Slack que désormais il faut toujours rebaser.",
        "Désormais toujours rebaser, dit le wiki.",
        "A Ana disse no Slack que a partir de agora temos sempre de fazer squash.",
        "Anna ha scritto su Slack che d'ora in poi bisogna sempre fare squash.",
        "Anna zei op Slack dat we vanaf nu altijd moeten squashen.",
        "Ania powiedziała na Slacku, że od teraz zawsze trzeba robić squash.",
        "Аня написала в слаке, что отныне всегда надо делать squash.",
        "小李说以后都要先写测试。",
        "据官方文档，永远不要用 eval。",
        "鈴木さんは今後必ずスカッシュするようにと言っています。",
        "문서에는 eval을 절대 쓰지 말라고 적혀 있어요.",
    ],
)
def test_a_report_is_nobodys_rule(text: str) -> None:
    assert _rest(text) == ""
    assert find_lasting(text) == []


@for_each(
    "text",
    [
        "I said on Slack already: from now on always squash",
        "the CI says coverage dropped, so from now on always add tests",
        "if the docs say deprecated, never use it",
        "The reviewer said the diff is huge. From now on always split it.",
        "the linter says unused import, always remove those imports",
        "From now on, always say which files you changed",
        "never say sorry again",
        "In commits always say which files changed",
        "Der Test ist rot, ab jetzt immer vorher testen.",
        "Ich habe auf Slack schon gesagt: ab jetzt immer squashen",
        "Escribe siempre los tests primero",
        "Le test échoue, donc désormais lance toujours les tests.",
        "Ho già scritto su Slack: d'ora in poi fai sempre squash.",
        "Ik zei op Slack al: vanaf nu altijd squashen.",
        "Я написал в слаке: отныне всегда делай squash.",
        "我说过，以后都要先写测试。",
        "以后每次都说明改了哪些文件。",
        "私が言ったように、今後は必ずスカッシュしてください。",
        "私は今後必ずスカッシュするようにと言いました。",
        "제가 슬랙에서 앞으로는 항상 스쿼시하라고 말했어요.",
        "According to what we agreed, always squash.",
        "제가 말했듯이 앞으로는 항상 스쿼시해 주세요.",
    ],
)
def test_the_persons_own_words_are_kept(text: str) -> None:
    assert _rest(text) == text


@for_each(
    "text",
    [
        "the CI says coverage dropped, so from now on always add tests",
        "if the docs say deprecated, never use it",
        "The reviewer said the diff is huge. From now on always split it.",
        "the linter says unused import, always remove those imports",
        "my boss keeps complaining. never deploy on fridays",
    ],
)
def test_what_follows_from_a_report_is_heard(text: str) -> None:
    assert find_lasting(text)


@for_each(
    "text",
    [
        "That said, always use tabs",
        "The wiki page is a lot to write, nobody always reads it",
        "unless i say otherwise, write in french",
        "Antes de hacer commit, explica siempre el motivo",
        "In commits say which files changed and always sign",
        "Quote paths: always use double quotes",
        "according to plan, always do step one first",
        "never trust what the error message says, always read the code",
        "Kurz gesagt: immer Tabs benutzen",
        "Im Header steht immer das Datum",
        "von nun an steht oben immer ein feld für den namen",
        "En los commits escribe siempre el ticket",
        "Dans les commits explique toujours pourquoi",
        "No código explica sempre o porquê",
        "以后提交时要说明原因",
    ],
)
def test_no_subject_or_an_order_makes_no_report(text: str) -> None:
    assert _rest(text) == text


@for_each(
    ("text", "left"),
    [
        ("Bob says that tabs are always best; never use them here", "; never use them here"),
        ("the wiki says never rebase, so always merge", ", so always merge"),
        (
            "ok, Bob wrote that we never rebase, but I want you to always rebase",
            "ok, , but I want you to always rebase",
        ),
        ("Ana dice que nunca hay que rebasar, así que haz siempre merge", ", así que haz siempre merge"),
    ],
)
def test_after_a_report_the_person_speaks_again(text: str, left: str) -> None:
    assert _rest(text) == left


def test_a_report_is_no_subject_of_the_next_sentence() -> None:
    (heard,) = find_lasting("the linter says unused import. always remove those")
    assert heard.before == ()


@given(st.text(alphabet=st.sampled_from("Bob saysthetol ,.:;\n说我，。"), max_size=120))
def test_positions_stay_the_same(text: str) -> None:
    typed = typed_part(text, ())
    assert len(typed) == len(text)
