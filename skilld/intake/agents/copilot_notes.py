"""What a person told Copilot CLI in its dialogs: why a call was refused, and answers to its questions.

Data of an event in, words out, each with how they were said ("" where an option was picked). Seen: 1.0.102, which
writes both as events of their own and names the person as their source, so no tool can imitate them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from skilld.intake.agents.fields import mapping, short, string
from skilld.intake.agents.picked import picks_of, typed_answer
from skilld.types import How

_PERSON = "human_response"
Note = tuple[str, str, How]


def refusal(data: Mapping[str, Any]) -> Iterator[Note]:
    """Yield name and words of the note in a `permission.completed`."""
    words = string(mapping(data.get("result")).get("feedback"))
    if data.get("decisionSource") == _PERSON and words.strip():
        yield short(data.get("requestId")), words, How.REJECTION


def answers(data: Mapping[str, Any]) -> Iterator[Note]:
    """Yield name and words of each answer in a `human_response.recorded`."""
    response = mapping(data.get("response"))
    if data.get("actor") != _PERSON or response.get("responseKind") != "ask_user":
        return
    fields = mapping(mapping(response.get("requestedSchema")).get("properties"))
    for name, value in mapping(response.get("content")).items():
        words = typed_answer(string(value), picks_of(_options(mapping(fields.get(name)))), several=False)
        is_picked = not isinstance(value, str) or (bool(value.strip()) and not words)
        if is_picked or words.strip():
            yield f"{short(data.get('requestId'))}.{short(name)}", words, How.ANSWER


def _options(field: Mapping[str, Any]) -> Iterator[str]:
    for key in ("enum", "enumNames", "oneOf", "anyOf"):
        listed = field.get(key)
        for option in listed if isinstance(listed, list) else []:
            yield from (string(value) for value in (option, *mapping(option).values()))
