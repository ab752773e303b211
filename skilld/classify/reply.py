"""Replies of a model to a closed schema. Pure. What does not fit is discarded with a reason, never guessed at."""

from __future__ import annotations

import json
import re
from typing import Any

from skilld.errors import SkilldError
from skilld.types import BODY_OPS, Kind, Op, Operation, Update

_MAX_REPLY = 64 * 1024
_MAX_UPDATES = 12
_MAX_TEXT = 600
_MAX_OPERATIONS = 40
_MAX_DIGITS = 9
_UNSAID = 0.7  # the confidence of an update that names none: a model that was not unsure
_FENCE = re.compile(r"```[a-z]*")
# What no file and no request could hold, and what a terminal would obey.
_UNWRITABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
_UPDATE_KEYS = frozenset({"skill", "section", "change", "reason", "kind", "turn", "quote", "confidence"})
_OPERATION_KEYS = frozenset({"op", "anchor", "text"})


class BadReplyError(SkilldError):
    """The model's answer cannot be used; the cause says what was wrong with it, never what it said."""

    def __init__(self, cause: str) -> None:
        super().__init__("The model's answer was not used", cause)


def parse_updates(reply: str, *, turns: int, skills: int) -> tuple[list[Update], list[str]]:
    """Return the updates of a reply and, for each one left out, why.

    `turns` and `skills` say how many there are to name. Raises BadReplyError where the reply as a whole is no answer.
    """
    updates: list[Update] = []
    left_out: list[str] = []
    items = _array(reply, "updates")
    if len(items) > _MAX_UPDATES:
        raise BadReplyError(f"it lists {len(items)} updates; more than {_MAX_UPDATES} are never right")
    for item in items:
        try:
            updates.append(_update(item, turns, skills))
        except BadReplyError as error:
            left_out.append(error.cause)
    return updates, left_out


def parse_changes(reply: str, expected: int) -> list[str]:
    """Return the changes of a reply to `reword`, as many as were asked for; empty ones stay empty.

    Raises BadReplyError where the reply is no such list.
    """
    items = _array(reply, "changes")
    if len(items) != expected or not all(isinstance(item, str) and len(item) <= _MAX_TEXT for item in items):
        raise BadReplyError("it does not have one change for each that was asked for")
    return [str(item).strip() for item in items]


def parse_operations(reply: str) -> list[Operation] | str:
    """Return the operations of a reply, or the whole new file where the model answered with that.

    Raises BadReplyError where it is neither.
    """
    whole = _blocks(reply, "updated_file")
    if len(whole) == 1 and "<operations>" not in reply:
        text = whole[0].removeprefix("\n").replace("\r\n", "\n")
        if _UNWRITABLE.search(text):
            raise BadReplyError("it holds characters that no skill can have")
        return text
    items = _array(reply, "operations")
    if len(items) > _MAX_OPERATIONS:
        raise BadReplyError(f"it lists {len(items)} operations; more than {_MAX_OPERATIONS} are never right")
    return [_operation(item) for item in items]


def _array(reply: str, tag: str) -> list[Any]:
    blocks = _blocks(reply, tag)
    if len(blocks) > 1:
        raise BadReplyError(f"it has {len(blocks)} <{tag}> blocks where one is asked for")
    text = _unfenced((blocks[0] if blocks else reply).strip())
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        raise BadReplyError("it is not valid JSON") from None
    if isinstance(value, dict) and set(value) == {tag}:
        value = value[tag]
    if not isinstance(value, list):
        raise BadReplyError("it is not a JSON array")
    return value


def _blocks(reply: str, tag: str) -> list[str]:
    """Return what stands between each pair of tags. By plain search: a pattern took half a minute over 64 KiB."""
    if len(reply) > _MAX_REPLY:
        raise BadReplyError("it is far too long")
    opening, closing = f"<{tag}>", f"</{tag}>"
    found: list[str] = []
    start = reply.find(opening)
    while start >= 0 and (end := reply.find(closing, start)) >= 0:
        found.append(reply[start + len(opening) : end])
        start = reply.find(opening, end)
    return found


def _unfenced(text: str) -> str:
    fence = _FENCE.match(text)
    return text[fence.end() : -3].strip() if fence and len(text) >= fence.end() + 3 and text.endswith("```") else text


def _update(item: Any, turns: int, skills: int) -> Update:  # noqa: ANN401 - JSON is Any
    if not isinstance(item, dict):
        raise BadReplyError("an update is not an object")
    if unknown := set(item) - _UPDATE_KEYS:
        raise BadReplyError(f"an update has {len(unknown)} unknown keys")
    skill = _whole(item.get("skill", 1 if skills == 1 else None), "skill")
    if not 1 <= skill <= skills:
        raise BadReplyError("an update names a skill that is not in use")
    turn = _whole(item.get("turn"), "turn")
    if not 1 <= turn <= turns:
        raise BadReplyError("an update names a turn that is not there")
    try:
        kind = Kind(_text(item, "kind"))
    except ValueError:
        raise BadReplyError("an update has an unknown kind") from None
    confidence = item.get("confidence", _UNSAID)
    if isinstance(confidence, bool) or not isinstance(confidence, int | float) or not 0 <= confidence <= 1:
        raise BadReplyError("an update's confidence is not between 0 and 1")
    return Update(
        skill=skill,
        section=_text(item, "section"),
        change=_text(item, "change"),
        reason=_text(item, "reason", empty=True),
        kind=kind,
        turn=turn,
        quote=_text(item, "quote"),
        confidence=float(confidence),
    )


def _operation(item: Any) -> Operation:  # noqa: ANN401 - JSON is Any
    if not isinstance(item, dict) or set(item) - _OPERATION_KEYS:
        raise BadReplyError("an operation is not of the asked form")
    op = next((op for op in BODY_OPS if op.value == str(item.get("op"))), None)
    if op is None:
        raise BadReplyError("an operation is of an unknown sort")
    anchor, text = item.get("anchor"), item.get("text", "")
    if not isinstance(anchor, str) or not isinstance(text, str) or not anchor.strip():
        raise BadReplyError("an operation has no anchor")
    if _UNWRITABLE.search(anchor.replace("\r\n", "\n") + text.replace("\r\n", "\n")):
        raise BadReplyError("an operation holds characters that no skill can have")
    if (op is Op.DELETE) == bool(text.strip()):
        raise BadReplyError("an operation has text where none belongs, or none where it does")
    return Operation(op, anchor.strip("\n"), text.strip("\n"))


def _whole(value: Any, name: str) -> int:  # noqa: ANN401 - JSON is Any
    if isinstance(value, str) and value.isdecimal() and len(value) <= _MAX_DIGITS:
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise BadReplyError(f"an update's {name} is not a number")
    return value


def _text(item: dict[str, Any], key: str, *, empty: bool = False) -> str:
    value = item.get(key, "" if empty else None)
    if not isinstance(value, str) or len(value) > _MAX_TEXT or not (empty or value.strip()):
        raise BadReplyError(f"an update's {key} is missing, empty or too long")
    if _UNWRITABLE.search(value.replace("\r\n", "\n")):
        raise BadReplyError(f"an update's {key} holds characters that no skill can have")
    return value.strip()
