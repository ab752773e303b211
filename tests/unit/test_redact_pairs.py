"""Passwords beside the name of their user (skilld/redact/passwords.py), told from other words."""

from __future__ import annotations

import pytest

from skilld.redact import passwords


@pytest.mark.parametrize(
    ("text", "secrets"),
    [
        ("u: eve / p: sunflower", ["sunflower"]),
        ("login=eve, p=moonlight7", ["moonlight7"]),
        ("go in with admin/Tr0ub-lampost!", ["Tr0ub-lampost"]),
        ("log in with eve:Tr0ub-lampost", ["Tr0ub-lampost"]),
        ("log in to staging as eve with hunter2xyz.", ["hunter2xyz"]),
        ("melde dich als eve mit hunter2xyz an", ["hunter2xyz"]),
        ("sign in with user eve and hunter2xyz", ["hunter2xyz"]),
        ("melde dich mit dem Benutzer eva und Quill7Fern an", ["Quill7Fern"]),
        ("log in with user bob and step2", []),
        ("sign in with user bob and run python3", []),
        ("sign in as eve with two-factor, then run step2", []),
        ("p: sunflower", []),  # nobody is named
        ("the path src/Tr0ub-lampost is gone", []),  # `src` is no account
        ("set admin/tr0ub-lampost up", []),  # a name, by its small letters
        ("exp: eve / p: sunflower", []),  # `exp` names no user
    ],
)
def test_the_password_beside_a_user_name_is_found(text: str, secrets: list[str]) -> None:
    found = passwords.find_pairs(text, has_digit=any(letter.isdigit() for letter in text))
    assert [text[one.start : one.end] for one in found] == secrets


@pytest.mark.parametrize(
    ("text", "word", "is_one"),
    [
        ("user eve, password sunflower", "sunflower", True),
        ("user eve, password sunflower for the demo", "sunflower", True),
        ("user eve, password wrong", "wrong", False),
        ("user eve, password reset did not work", "reset", False),
        ("password sunflower", "sunflower", False),
    ],
)
def test_a_plain_word_after_a_user_at_the_end_of_a_clause_is_a_password(text: str, word: str, *, is_one: bool) -> None:
    at = text.index(word)
    beside = passwords.has_user_before(text, text.index("password"))
    assert (beside and passwords.is_password_beside_user(text, at, at + len(word))) == is_one
