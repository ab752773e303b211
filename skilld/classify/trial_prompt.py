"""The prompts of an evaluation: a case for a model, and its answers for a judge, with how the judge's reply is read.

The text of a case comes from a transcript or a file, an answer from a model: both are data. The model under test gets
the case as a request; it has no tools, and its answer is only judged. The judge gets everything as JSON strings between
random marks, and may only answer yes or no for each pair of an answer and a statement. The wording has a version of its
own, which is part of an evaluation's id.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Sequence

from skilld.classify.closed_questions import ClosedQuestion
from skilld.classify.json_answer import BadReplyError, existing_number, find_entries
from skilld.classify.prompt import MARK_BYTES, Prompt, as_data, escape_tags, load_text
from skilld.classify.reply import INTEGER, TEXT, array_schema, object_schema
from skilld.classify.trial import MAX_ANSWER
from skilld.text import truncate

VERSION = "1"  # bump it whenever the text of a request changes: it makes an evaluation a different one
_VERDICTS = array_schema(
    "held", object_schema({"answer": INTEGER, "statement": INTEGER, "held": {**TEXT, "enum": ["yes", "no"]}})
)
_ANSWER_WORDS = {"yes": True, "true": True, "no": False, "false": False}
_RESERVED_TAG = re.compile(r"[<\uff1c\u2039\u3008](?=[\s/\\\uff0f]{0,9}(?:skill|request)\b)", re.IGNORECASE)


def ask_case(request: str, skill: str) -> Prompt:
    """Make the request of a case, with this text of the skill, or without a skill if it is empty."""
    mark = secrets.token_hex(MARK_BYTES)
    parts = [f"<skill>\n{escape_tags(skill, _RESERVED_TAG)}\n</skill>"] if skill.strip() else []
    parts.append(f'<request mark="{mark}">\n{escape_tags(request, _RESERVED_TAG)}\n</request mark="{mark}">')
    return Prompt(load_text("trial_system"), "\n\n".join([*parts, load_text("trial_question")]))


def ask_judge(request: str, statements: Sequence[str], answers: Sequence[str]) -> ClosedQuestion[list[bool]]:
    """Ask for each answer whether each statement holds; all are numbered from 1. Read: whether all hold for each.

    A reply must say yes or no exactly once for every pair.
    """

    def read(reply: str) -> list[bool]:
        found: dict[tuple[int, int], bool] = {}
        for item in find_entries(reply, "held", ("statement", "answer", "held")):
            answer = existing_number(item["answer"], len(answers), "answer")
            statement = existing_number(item["statement"], len(statements), "statement")
            says = _ANSWER_WORDS.get(str(item["held"]).strip().lower())
            if says is None:
                raise BadReplyError("a verdict is neither yes nor no")
            if found.setdefault((answer, statement), says) is not says:
                raise BadReplyError("it says both yes and no about the same thing")
        if len(found) != len(answers) * len(statements):
            raise BadReplyError("it does not say yes or no for every answer and statement")
        return [all(found[one, other] for other in range(1, len(statements) + 1)) for one in range(1, len(answers) + 1)]

    mark = secrets.token_hex(MARK_BYTES)
    told = [as_data({"number": number, "statement": one}) for number, one in enumerate(statements, 1)]
    given = [as_data({"number": number, "answer": truncate(one, MAX_ANSWER)}) for number, one in enumerate(answers, 1)]
    parts = (
        f'<request mark="{mark}">\n{as_data(request)}\n</request mark="{mark}">',
        f'<statements mark="{mark}">\n' + "\n".join(told) + f'\n</statements mark="{mark}">',
        f'<answers mark="{mark}">\n' + "\n".join(given) + f'\n</answers mark="{mark}">',
        load_text("held_question"),
    )
    return ClosedQuestion(Prompt(load_text("held_system"), "\n\n".join(parts)), _VERDICTS, read)
