"""Single fields of a model's answer, in the forms that models give them. Pure.

A value of JSON in, the value meant out, None where none is. What can be meant in two ways is not guessed at.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from skilld.types import Kind

_MAX_DIGITS = 9
_NUMBERED = re.compile(r"[a-z#:.\s]{0,20}(\d+)[\s.)]{0,3}", re.IGNORECASE)  # "turn 2", "#2", "skill 1:"
_SHARE = re.compile(r"(\d+(?:\.\d+)?)\s*(%|/\s*10|/\s*100)?")
_IN_WORDS = {"very high": 0.95, "high": 0.9, "medium": 0.6, "moderate": 0.6, "low": 0.3, "very low": 0.1}
_PARTS = {"%": 100.0, "/10": 10.0, "/100": 100.0}
_TENTHS = 10
_KINDS = {
    Kind.ADD_STEP: "add new step new_step addition add_rule new_rule add_instruction",
    Kind.CHANGE_STEP: "change modify update replace modification update_step modify_step change_rule",
    Kind.REMOVE_STEP: "remove delete removal delete_step remove_rule",
    Kind.PREFERENCE: "rule convention style constraint guideline user_preference instruction workflow process policy",
    Kind.CORRECTION: "fix correct",
    Kind.FACT: "information context knowledge project_fact",
}
_BY_NAME = {name: kind for kind, names in _KINDS.items() for name in (kind.value, *names.split())}


def whole(value: Any) -> int | None:  # noqa: ANN401 - JSON is Any
    """Return the whole number meant by 2, 2.0, "2", "turn 2" or [2]."""
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, str) and (numbered := _NUMBERED.fullmatch(value.strip())):
        value = int(numbered[1]) if len(numbered[1]) <= _MAX_DIGITS else None
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def share(value: Any) -> float | None:  # noqa: ANN401 - JSON is Any
    """Return the share, 0 to 1, meant by 0.85, "0.85", 85, "85%", "8/10" or "high".

    A whole number above 1 counts tenths up to ten, then hundredths; 1.5 means nothing.
    """
    if isinstance(value, str):
        word = value.strip().lower()
        if word in _IN_WORDS:
            return _IN_WORDS[word]
        parts = _SHARE.fullmatch(word)
        if parts is None:
            return None
        value = float(parts[1])
        if parts[2]:
            value /= _PARTS[parts[2].replace(" ", "")]
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if value > 1 and float(value).is_integer():
        value = value / (_TENTHS if value <= _TENTHS else 100)
    return float(value) if 0 <= value <= 1 else None


def kind(value: Any) -> Kind | None:  # noqa: ANN401 - JSON is Any
    """Return the kind that a word names, in whatever case and with blanks or hyphens in it."""
    return _BY_NAME.get(re.sub(r"[\s-]+", "_", value.strip().lower())) if isinstance(value, str) else None


def skill(value: Any, skills: int, names: Sequence[str]) -> int | None:  # noqa: ANN401 - JSON is Any
    """Return the number, from 1, of the skill that a number or a name means; where there is one, none need be named."""
    if isinstance(value, str):
        wanted = value.strip().strip("`\"'").lower()
        named = [i for i, name in enumerate(names, 1) if name.lower() == wanted]
        if len(named) == 1:
            return named[0]
    number = whole(value)
    return 1 if skills == 1 and value in (None, "", 0) and not isinstance(value, bool) else number
