"""The prompts of an evaluation: a case for a model, its answers for a judge, and the judge's reply.

The text of a case comes from a transcript or a file, an answer from a model: both are data. To the model that is tried
the case is the request that it is; it has no tools, and what it writes is only ever looked at. To the judge all of it
stands as JSON strings between marks that are drawn again, and the only answer that counts is a yes or no for each pair
of an answer and a statement. Wording with a version of its own: it is part of an evaluation's identity.
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Sequence
from importlib import resources

from skilld.classify import json_answer
from skilld.classify.json_answer import BadReplyError, array
from skilld.classify.prompt import Prompt
from skilld.classify.reply import form
from skilld.classify.trial import MAX_ANSWER
from skilld.text import cut

VERSION = "1"  # bump it whenever the text of a request changes: an evaluation with other texts is another one
_MARK = 6  # bytes
_ITEM = {
    "answer": {"type": "integer"},
    "statement": {"type": "integer"},
    "held": {"type": "string", "enum": ["yes", "no"]},
}
HELD = form("held", _ITEM)  # for providers that can hold a model to a schema
_WORDS = {"yes": True, "true": True, "no": False, "false": False}
_BRACKETS = {ord(char): f"\\u{ord(char):04x}" for char in "<>\uff1c\uff1e\u2039\u203a\u3008\u3009"}
_OURS = re.compile(r"[<\uff1c\u2039\u3008](?=[\s/\\\uff0f]{0,9}(?:skill|request)\b)", re.IGNORECASE)


def attempt(request: str, skill: str) -> Prompt:
    """Ask what the case asks, with this text of the skill; an empty one is none."""
    mark = secrets.token_hex(_MARK)
    parts = [f"<skill>\n{_raw(skill)}\n</skill>"] if skill.strip() else []
    parts.append(f'<request mark="{mark}">\n{_raw(request)}\n</request mark="{mark}">')
    return Prompt(_rules("trial_system"), "\n\n".join([*parts, _rules("trial_question")]))


def held(request: str, statements: Sequence[str], answers: Sequence[str]) -> Prompt:
    """Ask of each answer and each statement whether it holds; all are numbered from 1."""
    mark = secrets.token_hex(_MARK)
    told = [_json({"number": number, "statement": one}) for number, one in enumerate(statements, 1)]
    given = [_json({"number": number, "answer": cut(one, MAX_ANSWER)}) for number, one in enumerate(answers, 1)]
    parts = (
        f'<request mark="{mark}">\n{_json(request)}\n</request mark="{mark}">',
        f'<statements mark="{mark}">\n' + "\n".join(told) + f'\n</statements mark="{mark}">',
        f'<answers mark="{mark}">\n' + "\n".join(given) + f'\n</answers mark="{mark}">',
        _rules("held_question"),
    )
    return Prompt(_rules("held_system"), "\n\n".join(parts))


def parse_held(reply: str, *, statements: int, answers: int) -> list[bool]:
    """Return of each answer whether all statements hold of it.

    Raises BadReplyError if the reply does not say yes or no, once, of every pair.
    """
    found: dict[tuple[int, int], bool] = {}
    for item in array(reply, "held", "statement"):
        if not isinstance(item, dict) or set(item) != {"answer", "statement", "held"}:
            raise BadReplyError("a verdict does not have the requested format")
        answer, statement = json_answer.whole(item["answer"]), json_answer.whole(item["statement"])
        says = _WORDS.get(str(item["held"]).strip().lower())
        if answer is None or statement is None or not (1 <= answer <= answers and 1 <= statement <= statements):
            raise BadReplyError("a verdict is about something that does not exist")
        if says is None:
            raise BadReplyError("a verdict is neither yes nor no")
        if found.setdefault((answer, statement), says) is not says:
            raise BadReplyError("it says both yes and no about the same thing")
    if len(found) != answers * statements:
        raise BadReplyError("it does not say yes or no for every answer and statement")
    return [all(found[answer, one] for one in range(1, statements + 1)) for answer in range(1, answers + 1)]


def _raw(text: str) -> str:
    """Keep a text readable, but let it open or close no block of ours."""
    return _OURS.sub("\\\\u003c", text)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False).translate(_BRACKETS)


def _rules(name: str) -> str:
    return resources.files("skilld.classify").joinpath("prompts", f"{name}.txt").read_text("utf-8").strip()
