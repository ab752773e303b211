"""The prompts of an evaluation: a case for a model, its answers for a judge, and the judge's reply.

The text of a case comes from a transcript or a file, an answer from a model: both are data. The model under test gets
the case as a request; it has no tools, and its answer is only judged. The judge gets everything as JSON strings between
random marks, and may only answer yes or no for each pair of an answer and a statement. The wording has a version of its
own, which is part of an evaluation's id.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Sequence

from skilld.classify import json_answer
from skilld.classify.json_answer import BadReplyError, find_array
from skilld.classify.prompt import MARK_BYTES, Prompt, as_data, escape_tags, load_text
from skilld.classify.reply import array_schema
from skilld.classify.trial import MAX_ANSWER
from skilld.text import truncate

VERSION = "1"  # bump it whenever the text of a request changes: it makes an evaluation a different one
_ITEM = {
    "answer": {"type": "integer"},
    "statement": {"type": "integer"},
    "held": {"type": "string", "enum": ["yes", "no"]},
}
VERDICT_SCHEMA = array_schema("held", _ITEM)  # for providers that can enforce a schema
_ANSWER_WORDS = {"yes": True, "true": True, "no": False, "false": False}
_RESERVED_TAG = re.compile(r"[<\uff1c\u2039\u3008](?=[\s/\\\uff0f]{0,9}(?:skill|request)\b)", re.IGNORECASE)


def ask_case(request: str, skill: str) -> Prompt:
    """Make the request of a case, with this text of the skill, or without a skill if it is empty."""
    mark = secrets.token_hex(MARK_BYTES)
    parts = [f"<skill>\n{escape_tags(skill, _RESERVED_TAG)}\n</skill>"] if skill.strip() else []
    parts.append(f'<request mark="{mark}">\n{escape_tags(request, _RESERVED_TAG)}\n</request mark="{mark}">')
    return Prompt(load_text("trial_system"), "\n\n".join([*parts, load_text("trial_question")]))


def ask_judge(request: str, statements: Sequence[str], answers: Sequence[str]) -> Prompt:
    """Ask for each answer whether each statement holds; all are numbered from 1."""
    mark = secrets.token_hex(MARK_BYTES)
    told = [as_data({"number": number, "statement": one}) for number, one in enumerate(statements, 1)]
    given = [as_data({"number": number, "answer": truncate(one, MAX_ANSWER)}) for number, one in enumerate(answers, 1)]
    parts = (
        f'<request mark="{mark}">\n{as_data(request)}\n</request mark="{mark}">',
        f'<statements mark="{mark}">\n' + "\n".join(told) + f'\n</statements mark="{mark}">',
        f'<answers mark="{mark}">\n' + "\n".join(given) + f'\n</answers mark="{mark}">',
        load_text("held_question"),
    )
    return Prompt(load_text("held_system"), "\n\n".join(parts))


def parse_verdict(reply: str, *, statements: int, answers: int) -> list[bool]:
    """Return for each answer whether all statements hold.

    Raises BadReplyError if the reply does not say yes or no exactly once for every pair.
    """
    found: dict[tuple[int, int], bool] = {}
    for item in find_array(reply, "held", "statement"):
        if not isinstance(item, dict) or set(item) != {"answer", "statement", "held"}:
            raise BadReplyError("a verdict does not have the requested format")
        answer, statement = json_answer.whole_number(item["answer"]), json_answer.whole_number(item["statement"])
        says = _ANSWER_WORDS.get(str(item["held"]).strip().lower())
        if answer is None or statement is None or not (1 <= answer <= answers and 1 <= statement <= statements):
            raise BadReplyError("a verdict is about something that does not exist")
        if says is None:
            raise BadReplyError("a verdict is neither yes nor no")
        if found.setdefault((answer, statement), says) is not says:
            raise BadReplyError("it says both yes and no about the same thing")
    if len(found) != answers * statements:
        raise BadReplyError("it does not say yes or no for every answer and statement")
    return [all(found[answer, one] for one in range(1, statements + 1)) for answer in range(1, answers + 1)]
