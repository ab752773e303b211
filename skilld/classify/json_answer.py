"""Finds the JSON array in a model's answer, whatever surrounds it, and reads its fields leniently."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from skilld.errors import SkilldError
from skilld.types import Kind

# Knows what models put around an answer (thoughts, prose, fences, tags in another case, the object of a schema), and
# nothing of its content. Pure, and linear in the reply's length.

_MAX_REPLY = 64 * 1024
_MAX_THOUGHTS = 1024 * 1024
_NEAR = 20  # characters
_MAX_STARTS = 40  # positions in prose at which an array or object is looked for
_THOUGHTS = ("think", "thinking", "thought", "reasoning")
_FENCE = re.compile(r"```[a-z]*")
_START = re.compile(r"[\[{]")
_CUT_OFF = re.compile(r"(?:[\[{]|\"\s*:|[\]}]\s*,)\s*$")  # the text before a part of a truncated value
_STRAY_COMMA = re.compile(r'("(?:[^"\\]|\\.)*+"?)|,(?=\s*+[\]}])')  # after a last item; strings are left alone
_SEPARATOR = re.compile(r"[\s,]*")
_DECODER = json.JSONDecoder(strict=False)  # accepts line breaks inside strings


class BadReplyError(SkilldError):
    """The model's answer cannot be used; the cause describes the fault, without quoting the answer."""

    def __init__(self, cause: str) -> None:
        super().__init__("The model's answer was not used", cause)


class TooLongError(BadReplyError):
    """The answer is far too long; asking again would cost as much."""

    def __init__(self) -> None:
        super().__init__("it is far too long")


def find_array(reply: str, tag: str, key: str) -> list[Any]:
    """Return the array in a reply: between <tag> tags, fenced, in prose, or in an object {tag: [...]}.

    `key` is a key that every item has, empty if the items are strings; a single object with it counts as an array of
    one. Two arrays are no answer, since it is unclear which one is meant.
    """
    said = without_thoughts(reply)
    found = find_blocks(said, tag)
    if len(found) > 1:
        raise BadReplyError(f"it has {len(found)} <{tag}> blocks instead of one")
    if not found and f"<{tag}>" in said.lower():
        raise BadReplyError("it was cut off")
    text = _strip_fence((found[0] if found else said).strip())
    value = (_parse_sequence(text, key) if found else None) or _value(text, tag, key)
    if isinstance(value, dict):
        value = _unwrap(_plain_keys(value), tag)
    if isinstance(value, dict) and key in _plain_keys(value):
        value = [value]
    if not isinstance(value, list):
        raise BadReplyError("it is not a JSON array")
    return [_plain_keys(item) if isinstance(item, dict) else item for item in value]


def find_entries(reply: str, tag: str, keys: Sequence[str], optional: Sequence[str] = ()) -> list[dict[str, Any]]:
    """Return the objects of the array in a reply, each with exactly these keys, and maybe the optional ones."""
    items = find_array(reply, tag, keys[0])
    if not all(isinstance(item, dict) and set(keys) <= set(item) <= {*keys, *optional} for item in items):
        raise BadReplyError(f"an entry of {tag} does not have the requested format")
    return items


def find_blocks(reply: str, tag: str) -> list[str]:
    """Return the texts between pairs of tags, ignoring their case."""
    found: list[str] = []
    opening: int | None = None
    for match in re.finditer(rf"<(/?){tag}>", reply, re.IGNORECASE):
        if match[1] and opening is not None:
            found.append(reply[opening : match.start()])
            opening = None
        elif not match[1] and opening is None:
            opening = match.end()
    return found


def without_thoughts(reply: str) -> str:
    """Return a reply without the thoughts before it; some models do not open them with a tag."""
    if len(reply) > _MAX_THOUGHTS:
        raise TooLongError
    said = reply.strip()
    for name in _THOUGHTS:
        opening, closing = f"<{name}>", f"</{name}>"
        end = said.find(closing)
        if said.startswith(opening) or (end >= 0 and opening not in said[:end] and "<updates>" not in said[:end]):
            said = said[end + len(closing) :].strip() if end >= 0 else ""
    if len(said) > _MAX_REPLY:
        raise TooLongError
    return said


def _value(text: str, tag: str, key: str) -> Any:  # noqa: ANN401 - JSON is Any
    """Return the JSON value of a text, or the only answer in its prose."""
    if not text:
        raise BadReplyError("it is empty")
    with suppress(ValueError, RecursionError):
        return _DECODER.decode(text)
    with suppress(ValueError, RecursionError):
        return _DECODER.decode(_STRAY_COMMA.sub(r"\1", text))
    found: list[Any] = []
    at = 0
    for _ in range(_MAX_STARTS):
        start = _START.search(text, at)
        if start is None:
            break
        try:
            value, at = _DECODER.raw_decode(text, start.start())
            if _CUT_OFF.search(text, max(0, start.start() - _NEAR), start.start()):
                raise BadReplyError("it was cut off")
        except (ValueError, RecursionError):
            at = start.end()
            continue
        if _is_answer(value, tag, key):
            found.append(value)
    if len(found) > 1:
        raise BadReplyError(f"it has {len(found)} answers instead of one")
    if not found:
        raise BadReplyError("it is not valid JSON")
    return found[0]


def _parse_sequence(text: str, key: str) -> list[Any] | None:
    """Return the items of a block that lists them without the brackets of an array."""
    items: list[Any] = []
    at = 0
    while text.startswith("{", at):
        try:
            item, at = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            if items:
                raise BadReplyError("it was cut off") from None
            return None
        items.append(item)
        between = _SEPARATOR.match(text, at)
        at = between.end() if between else at
    return items if at == len(text) and all(key in _plain_keys(item) for item in items) else None


def _unwrap(value: dict[str, Any], tag: str) -> Any:  # noqa: ANN401 - JSON is Any
    """Return the value of an object under the requested name, or under its only name, ignoring thoughts in words."""
    if tag in value and all(name == tag or isinstance(other, str) for name, other in value.items()):
        return value[tag]
    only = next(iter(value.values())) if len(value) == 1 else None
    return only if isinstance(only, list) else value


def _is_answer(value: Any, tag: str, key: str) -> bool:  # noqa: ANN401 - JSON is Any
    if isinstance(value, dict):
        return bool({tag, key} & set(_plain_keys(value)))
    return all(isinstance(item, dict) and key in _plain_keys(item) for item in value) or (
        not key and all(isinstance(item, str) for item in value)
    )


def _plain_keys(item: dict[str, Any]) -> dict[str, Any]:
    plain = {name.strip().lower(): value for name, value in item.items()}
    return plain if len(plain) == len(item) else item


def _strip_fence(text: str) -> str:
    fence = _FENCE.match(text)
    return text[fence.end() : -3].strip() if fence and len(text) >= fence.end() + 3 and text.endswith("```") else text


# Single fields of an answer, in the forms that models use. An unclear or ambiguous value is None.

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


def whole_number(value: Any) -> int | None:  # noqa: ANN401 - JSON is Any
    """Return the whole number meant by 2, 2.0, "2", "turn 2" or [2]."""
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, str) and (numbered := _NUMBERED.fullmatch(value.strip())):
        value = int(numbered[1]) if len(numbered[1]) <= _MAX_DIGITS else None
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def existing_number(value: Any, highest: int, what: str, *, least: int = 1) -> int:  # noqa: ANN401 - JSON is Any
    """Return the number meant by a value. Raises BadReplyError unless one of these things has it."""
    number = whole_number(value)
    if number is None or not least <= number <= highest:
        raise BadReplyError(f"it refers to a {what} that does not exist")
    return number


def fraction(value: Any) -> float | None:  # noqa: ANN401 - JSON is Any
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


def parse_kind(value: Any) -> Kind | None:  # noqa: ANN401 - JSON is Any
    """Return the kind that a word names, ignoring case, blanks and hyphens."""
    return _BY_NAME.get(re.sub(r"[\s-]+", "_", value.strip().lower())) if isinstance(value, str) else None


def skill_number(value: Any, skills: int, names: Sequence[str]) -> int | None:  # noqa: ANN401 - JSON is Any
    """Return the number, from 1, of the skill that a number or name means; optional if there is only one skill."""
    if isinstance(value, str):
        wanted = value.strip().strip("`\"'").lower()
        named = [i for i, name in enumerate(names, 1) if name.lower() == wanted]
        if len(named) == 1:
            return named[0]
    number = whole_number(value)
    return 1 if skills == 1 and value in (None, "", 0) and not isinstance(value, bool) else number
