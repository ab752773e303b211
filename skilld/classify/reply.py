"""Reads a model's replies against a closed schema. Pure. Invalid parts are dropped with a reason, never guessed."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from skilld.classify import json_answer
from skilld.classify.draft_lines import LINE_KINDS
from skilld.classify.json_answer import BadReplyError, find_array, find_blocks, without_thoughts
from skilld.text import pluralize
from skilld.types import BODY_OPS, SECTION_OPS, Kind, Op, Operation, Update

_MAX_UPDATES = 12
_MAX_TEXT = 600
_MAX_QUOTE = 4000  # some models quote a whole message
_MAX_OPERATIONS = 40
_DEFAULT_CONFIDENCE = 0.7  # of an update without one: the model did not express doubt
# Characters that files and requests cannot contain, and those that control a terminal.
_UNWRITABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
_UPDATE_KEYS = frozenset({"skill", "section", "change", "reason", "kind", "turn", "quote", "confidence"})
_OPERATION_KEYS = frozenset({"op", "anchor", "text"})
_OPS = (*BODY_OPS, *SECTION_OPS)
_VERDICTS = {"same": True, "opposite": False, "unclear": None}


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


def parse_changes(reply: str, expected: int) -> list[str]:
    """Return the changes of a reply to `reword`, as many as were asked for; each may be empty.

    Raises BadReplyError if the reply is no such list.
    """
    items = find_array(reply, "changes", "")
    if len(items) != expected or not all(isinstance(item, str) and len(item) <= _MAX_TEXT for item in items):
        raise BadReplyError(
            f"it does not have exactly one change per request, each a text of at most {_MAX_TEXT} characters"
        )
    return [str(item).strip() for item in items]


def parse_verdicts(reply: str, expected: int) -> list[bool | None]:
    """Return for each change whether it says the same (True) or the opposite (False); None if unclear.

    Raises BadReplyError if the reply is no such list.
    """
    items = find_array(reply, "verdicts", "")
    if len(items) != expected or not all(isinstance(item, str) for item in items):
        raise BadReplyError("it does not have exactly one verdict per change")
    return [_VERDICTS.get(item.strip().lower()) for item in items]


def parse_operations(reply: str) -> list[Operation] | str:
    """Return the operations of a reply, or the whole new file if the model answered with one.

    Raises BadReplyError if it is neither.
    """
    reply = without_thoughts(reply)
    whole = find_blocks(reply, "updated_file")
    if len(whole) == 1 and "<operations>" not in reply:
        text = whole[0].removeprefix("\n").replace("\r\n", "\n")
        if _UNWRITABLE.search(text):
            raise BadReplyError("it contains characters that are not allowed in a skill")
        return text
    items = find_array(reply, "operations", "op")
    if len(items) > _MAX_OPERATIONS:
        raise BadReplyError(f"it lists {len(items)} operations; the limit is {_MAX_OPERATIONS}")
    return [_operation(item) for item in items]


def parse_repeats(reply: str, *, said: int, rules: int) -> list[tuple[int, int]]:
    """Return pairs of a message and the rule it repeats, numbered from 1. Raises BadReplyError for other replies."""
    found: dict[tuple[int, int], None] = {}
    for item in find_array(reply, "repeats", "said"):
        if not isinstance(item, dict) or set(item) != {"said", "rule"}:
            raise BadReplyError("a repeat does not have the requested format")
        one, rule = json_answer.whole_number(item["said"]), json_answer.whole_number(item["rule"])
        if one is None or rule is None or not (1 <= one <= said and 1 <= rule <= rules):
            raise BadReplyError("a repeat refers to something that does not exist")
        found[one, rule] = None
    return [*found]


def parse_spare(reply: str, parts: int) -> list[tuple[int, int, str]]:
    """Return which parts of a file are spare, which says the same (0: none) or what to say instead, by number from 1.

    Raises BadReplyError for other replies.
    """
    found: dict[int, tuple[int, int, str]] = {}
    for item in find_array(reply, "spare", "number"):
        if not isinstance(item, dict) or not {"number"} <= set(item) <= {"number", "same", "text"}:
            raise BadReplyError("a part does not have the requested format")
        number, same = json_answer.whole_number(item["number"]), json_answer.whole_number(item.get("same", 0))
        if number is None or same is None or not (1 <= number <= parts and 0 <= same <= parts) or number == same:
            raise BadReplyError("it refers to a part that does not exist")
        text = item.get("text", "")
        if not isinstance(text, str) or _UNWRITABLE.search(text):
            raise BadReplyError("the new text of a part contains characters that cannot be written to a file")
        found.setdefault(number, (number, same, text))
    return sorted(found.values())


def parse_matters(reply: str, rules: int) -> list[int]:
    """Return which rules could matter, by their numbers from 1. Raises BadReplyError for other replies."""
    return _numbers(reply, "matters", "rule", rules, "rule")


def parse_fits(reply: str, skills: int) -> list[int]:
    """Return which skills fit, by their numbers from 1, the best first. Raises BadReplyError for other replies."""
    return _numbers(reply, "fits", "skill", skills, "skill", ordered=True)


def parse_tasks(reply: str, requests: int) -> list[list[int]]:
    """Return for each task two lists: its requests, by their numbers from 1, and those that continue them.

    Raises BadReplyError for other replies, and if a request is in two tasks.
    """
    tasks: list[list[int]] = []
    for item in find_array(reply, "tasks", "requests"):
        keys = {"requests", "continued"}
        own = _listed(item, keys, "requests", requests)
        tasks += [own, [number for number in _listed(item, keys, "continued", requests) if number not in own]]
    if len(every := [number for numbers in tasks for number in numbers]) > len(set(every)):
        raise BadReplyError("it puts a request into two tasks")
    return tasks


def _listed(
    item: Any,  # noqa: ANN401 - JSON is Any
    keys: Collection[str],
    key: str,
    highest: int,
) -> list[int]:
    values = item[key] if isinstance(item, dict) and set(item) == set(keys) else None
    numbers = [json_answer.whole_number(one) for one in values] if isinstance(values, list) else [None]
    if not all(number is not None and 1 <= number <= highest for number in numbers):
        raise BadReplyError(f"its {key} are not a list of numbers from 1 to {highest}")
    return sorted({number for number in numbers if number is not None})


def _numbers(reply: str, tag: str, key: str, highest: int, what: str, *, ordered: bool = False) -> list[int]:
    numbers = []
    for item in find_array(reply, tag, key):
        number = json_answer.whole_number(item[key]) if isinstance(item, dict) and set(item) == {key} else None
        if number is None or not 1 <= number <= highest:
            raise BadReplyError(f"it refers to a {what} that does not exist")
        numbers.append(number)
    return list(dict.fromkeys(numbers)) if ordered else sorted(set(numbers))


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
    op = next((op for op in _OPS if op.value == str(item.get("op")).strip().lower()), None)
    if op is None:
        raise BadReplyError("an operation is of an unknown type")
    anchor, text = item.get("anchor"), item.get("text") or ""
    if not isinstance(anchor, str) or not isinstance(text, str) or not anchor.strip():
        raise BadReplyError("an operation has no anchor")
    if _UNWRITABLE.search(anchor.replace("\r\n", "\n") + text.replace("\r\n", "\n")):
        raise BadReplyError("an operation contains characters that are not allowed in a skill")
    if (op in {Op.DELETE, Op.DELETE_SECTION}) == bool(text.strip()):
        raise BadReplyError("an operation has text it must not have, or lacks text it must have")
    return Operation(op, anchor.strip("\n"), text.strip("\n"))


def _text(item: dict[str, Any], key: str, *, empty: bool = False, max_length: int = _MAX_TEXT) -> str:
    value = item.get(key)
    if not isinstance(value, str) or len(value) > max_length or not (empty or value.strip()):
        raise BadReplyError(f"an update's {key} is missing, empty or too long")
    if _UNWRITABLE.search(value.replace("\r\n", "\n")):
        raise BadReplyError(f"an update's {key} contains characters that are not allowed in a skill")
    return value.strip()


# The formats of answers as JSON Schema, for providers that can enforce one. They only help the model: every reply is
# parsed and checked all the same. Strict mode demands an object at the top, with every property required and no others
# allowed; so an array of changes or operations is under the name of its block, which the parser accepts too.

_TEXT = {"type": "string"}


def _object(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": dict(fields), "required": list(fields), "additionalProperties": False}


def array_schema(name: str, properties: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of an array of objects with these properties, under a name."""
    return _schema(name, _object(properties))


def _schema(name: str, item: Mapping[str, Any]) -> dict[str, Any]:
    schema = _object({name: {"type": "array", "items": item}})
    return {"type": "json_schema", "json_schema": {"name": name, "strict": True, "schema": schema}}


UPDATES = _schema(
    "updates",
    _object(
        {
            "skill": {"type": "integer"},
            "section": _TEXT,
            "change": _TEXT,
            "reason": _TEXT,
            "kind": {"type": "string", "enum": [kind.value for kind in Kind]},
            "turn": {"type": "integer"},
            "quote": _TEXT,
            "confidence": {"type": "number"},
        }
    ),
)
CHANGES = _schema("changes", _TEXT)
VERDICTS = _schema("verdicts", {"type": "string", "enum": list(_VERDICTS)})
TITLES = _schema("titles", _object({"skill": {"type": "integer"}, "name": _TEXT, "description": _TEXT, "title": _TEXT}))
REPEATS = _schema("repeats", _object({"said": {"type": "integer"}, "rule": {"type": "integer"}}))
MATTERS = _schema("matters", _object({"rule": {"type": "integer"}}))
_NUMBERS = {"type": "array", "items": {"type": "integer"}}
TASKS = _schema("tasks", _object({"requests": _NUMBERS, "continued": _NUMBERS}))
_TEXTS = {"type": "array", "items": _TEXT}
_LINE = _object({"kind": {"type": "string", "enum": [*LINE_KINDS]}, "text": _TEXT, "from": _NUMBERS})
DRAFTS = _schema(
    "drafts",
    _object(
        {"draft": {"type": "integer"}, "titles": _TEXTS, "when": _TEXT, "lines": {"type": "array", "items": _LINE}}
    ),
)
FITS = _schema("fits", _object({"skill": {"type": "integer"}}))
SPARE = _schema("spare", _object({"number": {"type": "integer"}, "same": {"type": "integer"}, "text": _TEXT}))
OPERATIONS = _schema(
    "operations", _object({"op": {"type": "string", "enum": [op.value for op in _OPS]}, "anchor": _TEXT, "text": _TEXT})
)
