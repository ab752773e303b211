"""Reads a model's replies against a closed schema. Pure. Invalid parts are dropped with a reason, never guessed."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from skilld.classify import json_answer
from skilld.classify.json_answer import BadReplyError, find_array, find_blocks, without_thoughts
from skilld.text import pluralize
from skilld.types import BODY_OPS, SECTION_OPS, Kind, Op, Operation, Update

_MAX_UPDATES = 12
MAX_TEXT = 600
_MAX_QUOTE = 4000  # some models quote a whole message
_MAX_OPERATIONS = 40
_DEFAULT_CONFIDENCE = 0.7  # of an update without one: the model did not express doubt
# Characters that files and requests cannot contain, and those that control a terminal.
UNWRITABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
_UPDATE_KEYS = frozenset({"skill", "section", "change", "reason", "kind", "turn", "quote", "confidence"})
_OPERATION_KEYS = frozenset({"op", "anchor", "text"})
_OPS = (*BODY_OPS, *SECTION_OPS)


def parse_updates(reply: str, *, turns: int, skills: int, names: Sequence[str] = ()) -> tuple[list[Update], list[str]]:
    """Return the updates of a reply, and the reason for each one left out.

    `turns` and `skills` are the highest numbers, `names` the names of the skills. Raises BadReplyError if the whole
    reply is unusable.
    """
    updates: list[Update] = []
    left_out: list[str] = []
    items = find_array(reply, "updates", "change")
    if len(items) > _MAX_UPDATES:
        raise BadReplyError(f"it lists {len(items)} updates; the limit is {_MAX_UPDATES}")
    for item in items:
        try:
            updates.append(_update(item, turns, skills, names))
        except BadReplyError as error:
            left_out.append(error.cause)
    return updates, left_out


def parse_operations(reply: str) -> list[Operation] | str:
    """Return the operations of a reply, or the whole new file if the model answered with one.

    Raises BadReplyError if it is neither.
    """
    reply = without_thoughts(reply)
    whole = find_blocks(reply, "updated_file")
    if len(whole) == 1 and "<operations>" not in reply:
        text = whole[0].removeprefix("\n").replace("\r\n", "\n")
        if UNWRITABLE.search(text):
            raise BadReplyError("it contains characters that are not allowed in a skill")
        return text
    items = find_array(reply, "operations", "op")
    if len(items) > _MAX_OPERATIONS:
        raise BadReplyError(f"it lists {len(items)} operations; the limit is {_MAX_OPERATIONS}")
    return [_operation(item) for item in items]


def _update(item: Any, turns: int, skills: int, names: Sequence[str]) -> Update:  # noqa: ANN401 - JSON is Any
    if not isinstance(item, dict):
        raise BadReplyError("an update is not an object")
    if unknown := set(item) - _UPDATE_KEYS:
        raise BadReplyError(f"an update has {pluralize(len(unknown), 'unknown key')}")
    skill = json_answer.skill_number(item.get("skill"), skills, names)
    if skill is None:
        raise BadReplyError("an update's skill is not a number")
    if not 1 <= skill <= skills:
        raise BadReplyError("an update refers to a skill that is not in use")
    turn = json_answer.whole_number(item.get("turn"))
    if turn is None:
        raise BadReplyError("an update's turn is not a number")
    if not 1 <= turn <= turns:
        raise BadReplyError("an update refers to a turn that does not exist")
    kind = json_answer.parse_kind(item.get("kind"))
    if kind is None:
        raise BadReplyError("an update has an unknown kind")
    confidence = json_answer.fraction(_DEFAULT_CONFIDENCE if item.get("confidence") is None else item["confidence"])
    if confidence is None:
        raise BadReplyError("an update's confidence is not between 0 and 1")
    return Update(
        skill=skill,
        # A skill need have no headings, and a place can be found without.
        section=_text({"section": ""} if item.get("section") is None else item, "section", empty=True).lstrip("# "),
        change=_text(item, "change"),
        reason=_text({"reason": ""} if item.get("reason") is None else item, "reason", empty=True),
        kind=kind,
        turn=turn,
        quote=_text(item, "quote", max_length=_MAX_QUOTE),
        confidence=confidence,
    )


def _operation(item: Any) -> Operation:  # noqa: ANN401 - JSON is Any
    if not isinstance(item, dict) or set(item) - _OPERATION_KEYS:
        raise BadReplyError("an operation does not have the requested format")
    op = next((op for op in _OPS if op.value == str(item.get("op")).strip().lower().replace("-", "_")), None)
    if op is None:
        raise BadReplyError("an operation is of an unknown type")
    anchor, text = _joined(item.get("anchor")), _joined(item.get("text") or "")
    if not isinstance(anchor, str) or not isinstance(text, str) or not anchor.strip():
        raise BadReplyError("an operation has no anchor")
    if UNWRITABLE.search(anchor.replace("\r\n", "\n") + text.replace("\r\n", "\n")):
        raise BadReplyError("an operation contains characters that are not allowed in a skill")
    if (op in {Op.DELETE, Op.DELETE_SECTION}) == bool(text.strip()):
        raise BadReplyError("an operation has text it must not have, or lacks text it must have")
    return Operation(op, anchor.strip("\n"), text.strip("\n"))


def _joined(lines: Any) -> Any:  # noqa: ANN401 - JSON is Any
    """Return lines that a model listed as one text, and anything else as it is."""
    return "\n".join(lines) if isinstance(lines, list) and all(isinstance(one, str) for one in lines) else lines


def _text(item: dict[str, Any], key: str, *, empty: bool = False, max_length: int = MAX_TEXT) -> str:
    value = item.get(key)
    if not isinstance(value, str) or len(value) > max_length or not (empty or value.strip()):
        raise BadReplyError(f"an update's {key} is missing, empty or too long")
    if UNWRITABLE.search(value.replace("\r\n", "\n")):
        raise BadReplyError(f"an update's {key} contains characters that are not allowed in a skill")
    return value.strip()


# The formats of answers as JSON Schema, for providers that can enforce one. They only help the model: every reply is
# parsed and checked all the same. Strict mode demands an object at the top, with every property required and no others
# allowed; so an array is under the name of its block, which the parser accepts too.

TEXT = {"type": "string"}
INTEGER = {"type": "integer"}


def object_schema(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of an object with exactly these fields."""
    return {"type": "object", "properties": dict(fields), "required": list(fields), "additionalProperties": False}


def list_of(item: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of a list."""
    return {"type": "array", "items": item}


def array_schema(name: str, item: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of an answer that is a list of such items under a name."""
    schema = object_schema({name: list_of(item)})
    return {"type": "json_schema", "json_schema": {"name": name, "strict": True, "schema": schema}}


UPDATES = array_schema(
    "updates",
    object_schema(
        {
            "skill": INTEGER,
            "section": TEXT,
            "change": TEXT,
            "reason": TEXT,
            "kind": {**TEXT, "enum": [kind.value for kind in Kind]},
            "turn": INTEGER,
            "quote": TEXT,
            "confidence": {"type": "number"},
        }
    ),
)
OPERATIONS = array_schema(
    "operations", object_schema({"op": {**TEXT, "enum": [op.value for op in _OPS]}, "anchor": TEXT, "text": TEXT})
)
