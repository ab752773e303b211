"""Which wishes are about how the agent talks to the person, and which only look like it."""

from __future__ import annotations

from skilld.classify.conversation_style import is_about_conversation, split_conversation
from support.rows import for_each


@for_each(
    "text",
    [
        "Answer in Korean.",
        "Answer the user in Korean.",
        "be brief with me",
        "Be more concise.",
        "keep your answers short, please",
        "Stop apologising.",
        "Never thank me.",
        "No emojis in your replies.",
        "Never use emojis in your answers.",
        "I like short answers.",
        "Always use metric units when you talk to me.",
        "Keep explanations short.",
        "Keep answers short please, no summaries.",
        "Call me Kim.",
        "Duze mich.",
        "Fass dich kurz.",
        "Sois plus bref.",
        "отвечай коротко",
        "回答尽量简洁",
        "簡潔に答えて",
        "짧게 대답해",
        "Shorter answers please.",
        "Kürzere Antworten.",
        "No summary at the end every time.",
    ],
)
def test_wishes_about_how_the_agent_talks_are_about_the_person(text: str) -> None:
    assert is_about_conversation(text)


@for_each(
    "text",
    [
        "Comments in Korean.",
        "The bot must answer the user in Korean.",
        "Answer in English in this repository.",
        "Keep commit messages short.",
        "Be brief in release notes.",
        "No emojis in commit messages.",
        "Keep the explanations in docs/ up to date.",
        "Ask when you write to the database.",
        "Put the ticket number in your commit messages.",
        "Thank reviewers by name.",
        "Address the review remarks first.",
        "Write the error responses in English.",
        "Short messages in the log.",
    ],
)
def test_wishes_about_what_is_written_or_built_are_not(text: str) -> None:
    assert not is_about_conversation(text)


def test_a_change_is_split_into_sentences() -> None:
    assert split_conversation("Use tabs. Be brief with the user.") == ("Be brief with the user.", "Use tabs.")
    assert split_conversation("Use tabs.") == ("", "Use tabs.")
