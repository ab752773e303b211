from __future__ import annotations

from skilld.classify.answer_wishes import answer_wishes
from skilld.classify.said_already import find_line, is_same_change, says_same_rule
from skilld.types import Kind, Update
from support.rows import for_each


@for_each(
    ("one", "other"),
    [
        ("Always answer in Portuguese.", "Responde-me sempre em português."),
        ("Be brief.", "Keep answers short."),
        ("Please be brief.", "Keep your replies short."),
        ("Antworte kurz.", "Keep answers short."),
        ("Answer me in German.", "Antworte immer auf Deutsch."),
        ("Reply in English only.", "Always answer in English."),
        ("Be concise.", "Short answers."),
        ("Seja breve.", "Be brief."),
        ("Responde en español.", "Always answer in Spanish."),
        ("请用中文回答。", "Always answer in Chinese."),
        ("日本語で答えてください。", "Answer in Japanese."),
        ("Отвечай кратко.", "Be brief."),
        ("Don't be verbose.", "Be brief."),
    ],
)
def test_a_wish_about_answers_is_recognized_in_any_words_and_language(one: str, other: str) -> None:
    assert is_same_change(one, other)
    assert is_same_change(other, one)
    assert says_same_rule(one, other)
    assert find_line(Update(1, "", one, "", Kind.PREFERENCE, 1, one), f"# Rules\n\n- {other}\n") == other


@for_each(
    ("one", "other"),
    [
        ("Always answer in Portuguese.", "Responde siempre en español."),
        ("Be brief.", "Don't be brief."),
        ("Be brief.", "Be verbose."),
        ("Answer in English.", "Write commit messages in English."),
        ("Answer in English.", "Never answer in English."),
        ("Be brief.", "Keep functions short."),
        ("Keep answers short.", "Keep commit titles short."),
        ("Be brief.", "Answer in three sentences."),
        ("Answer in German.", "Be brief."),
    ],
)
def test_what_asks_for_something_else_is_another_wish(one: str, other: str) -> None:
    assert not is_same_change(one, other)
    assert not says_same_rule(one, other)
    assert find_line(Update(1, "", one, "", Kind.PREFERENCE, 1, one), f"# Rules\n\n- {other}\n") is None


def test_a_rule_that_asks_for_more_is_not_a_wish_about_answers() -> None:
    assert answer_wishes("Answer in German and explain every step.") == frozenset()
    assert answer_wishes("Keep it short.") == frozenset()


def test_a_line_that_asks_for_both_says_each() -> None:
    assert answer_wishes("Keep your replies short and in German.") == {"brief", "german"}
    update = Update(1, "", "Antworte kurz.", "", Kind.PREFERENCE, 1, "Antworte kurz.")
    line = "Keep your replies short and in German."
    assert find_line(update, f"- {line}\n") == line
