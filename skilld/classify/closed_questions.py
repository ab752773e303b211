"""The closed questions to a model: for each the request, the form of the answer, and how a reply is read.

Everything that is asked about is redacted, and all numbers count from 1. The answers are numbers and words of a list,
or texts of which code decides what to believe. Pure.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, TypeVar

from skilld.classify.draft_lines import LINE_KINDS, DraftAnswer, parse_drafts
from skilld.classify.json_answer import BadReplyError, existing_number, find_array, find_entries
from skilld.classify.prompt import Prompt, as_data, cut_person_text, escape_brackets, escape_tags, load_text
from skilld.classify.question_jobs import Title
from skilld.classify.reply import INTEGER, MAX_TEXT, TEXT, UNWRITABLE, array_schema, list_of, object_schema
from skilld.classify.title import parse_titles
from skilld.types import Update
from skilld.values import value_class

Answer_co = TypeVar("Answer_co", covariant=True)

_VERDICTS = {"same": True, "opposite": False, "unclear": None}


@value_class
class ClosedQuestion(Generic[Answer_co]):
    """A request, the JSON schema of its answer, and what reads a reply: it raises BadReplyError for any other."""

    request: Prompt
    form: Mapping[str, Any]
    read: Callable[[str], Answer_co]


def reword(updates: Sequence[Update], said: Sequence[str]) -> ClosedQuestion[list[str]]:
    """Ask for the same changes in the person's own words, each of which may be empty; `said` has those of each turn."""

    def read(reply: str) -> list[str]:
        items = find_array(reply, "changes", "")
        if len(items) != len(updates) or not all(isinstance(item, str) and len(item) <= MAX_TEXT for item in items):
            raise BadReplyError(
                f"it does not have exactly one change per request, each a text of at most {MAX_TEXT} characters"
            )
        return [str(item).strip() for item in items]

    request = _about_changes("foreign_changes", "reword_question", updates, said)
    return ClosedQuestion(request, array_schema("changes", TEXT), read)


def polarity(updates: Sequence[Update], said: Sequence[str]) -> ClosedQuestion[list[bool | None]]:
    """Ask of each change whether it says what was meant (True) or the opposite (False); None if that is unclear.

    `said` has the ground of each.
    """

    def read(reply: str) -> list[bool | None]:
        items = find_array(reply, "verdicts", "")
        if len(items) != len(updates) or not all(isinstance(item, str) for item in items):
            raise BadReplyError("it does not have exactly one verdict per change")
        return [_VERDICTS.get(item.strip().lower()) for item in items]

    request = _about_changes("doubtful_changes", "polarity_question", updates, said)
    return ClosedQuestion(request, array_schema("verdicts", {**TEXT, "enum": list(_VERDICTS)}), read)


def _about_changes(block: str, question: str, updates: Sequence[Update], said: Sequence[str]) -> Prompt:
    changes = [
        {
            "kind": update.kind.value,
            "change": update.change,
            "quote": update.quote,
            "message": cut_person_text(typed, update.quote),
        }
        for update, typed in zip(updates, said, strict=True)
    ]
    return Prompt(load_text("changes_system"), f"{_block(block, as_data(changes))}\n\n{load_text(question)}")


def titles(texts: Sequence[str]) -> ClosedQuestion[dict[int, Title]]:
    """Ask for the names of new skills with these drafted texts; returned by the skills' numbers."""
    blocks = [
        f'<new_skill number="{number}">\n{escape_tags(text)}\n</new_skill>' for number, text in enumerate(texts, 1)
    ]
    form = object_schema({"skill": INTEGER, "name": TEXT, "description": TEXT, "title": TEXT})
    return ClosedQuestion(
        _request("title", *blocks), array_schema("titles", form), lambda reply: parse_titles(reply, len(texts))
    )


def repeats(said: Sequence[str], rules: Sequence[str]) -> ClosedQuestion[list[tuple[int, int]]]:
    """Ask which messages were said because a rule was not followed: pairs of a message and its rule."""

    def read(reply: str) -> list[tuple[int, int]]:
        pairs = (
            (existing_number(one["said"], len(said), "message"), existing_number(one["rule"], len(rules), "rule"))
            for one in find_entries(reply, "repeats", ("said", "rule"))
        )
        return list(dict.fromkeys(pairs))

    request = _request("repeat", _numbered("rules", rules), _numbered("said", said))
    return ClosedQuestion(request, array_schema("repeats", object_schema({"said": INTEGER, "rule": INTEGER})), read)


def same_asks(new: Sequence[str], noted: Sequence[str]) -> ClosedQuestion[dict[int, int]]:
    """Ask which new instructions a noted one already says: the noted ones' numbers by those of the new ones."""

    def read(reply: str) -> dict[int, int]:
        return {
            existing_number(one["new"], len(new), "new instruction"): existing_number(
                one["noted"], len(noted), "noted instruction"
            )
            for one in find_entries(reply, "same", ("new", "noted"))
        }

    request = _request("same", _numbered("noted", noted), _numbered("new", new))
    return ClosedQuestion(request, array_schema("same", object_schema({"new": INTEGER, "noted": INTEGER})), read)


def relevance(work: Sequence[Mapping[str, str]], rules: Sequence[str]) -> ClosedQuestion[list[int]]:
    """Ask which rules could matter in a session in which this work was done."""
    request = _request("matter", _block("work", "\n".join(map(as_data, work))), _numbered("rules", rules))
    return _which(request, "matters", "rule", len(rules))


def skill_fit(work: str, skills: Sequence[str]) -> ClosedQuestion[list[int]]:
    """Ask which skills fit a piece of work, the best first."""
    return _which(
        _request("fit", _numbered("skills", skills), _block("work", as_data(work))), "fits", "skill", len(skills)
    )


def _which(request: Prompt, tag: str, what: str, highest: int) -> ClosedQuestion[list[int]]:
    """Return the question which things of a kind are meant; their numbers have the order of the answer."""

    def read(reply: str) -> list[int]:
        entries = find_entries(reply, tag, (what,))
        return list(dict.fromkeys(existing_number(one[what], highest, what) for one in entries))

    return ClosedQuestion(request, array_schema(tag, object_schema({what: INTEGER})), read)


def spare_parts(parts: Sequence[tuple[int, str]]) -> ClosedQuestion[list[tuple[int, int, str]]]:
    """Ask which parts of a file are spare: each with the part that says the same (0: none) or what to say instead.

    Parts with the number 0 are only shown.
    """
    highest = max((number for number, _ in parts), default=0)

    def read(reply: str) -> list[tuple[int, int, str]]:
        found: dict[int, tuple[int, int, str]] = {}
        for one in find_entries(reply, "spare", ("number",), ("same", "text")):
            number = existing_number(one["number"], highest, "part")
            same = existing_number(one.get("same", 0), highest, "part", least=0)
            text = one.get("text", "")
            if number == same:
                raise BadReplyError("it says that a part says the same as itself")
            if not isinstance(text, str) or UNWRITABLE.search(text):
                raise BadReplyError("the new text of a part contains characters that cannot be written to a file")
            found.setdefault(number, (number, same, text))
        return sorted(found.values())

    lines = (as_data({"number": number, "text": text} if number else {"text": text}) for number, text in parts)
    form = object_schema({"number": INTEGER, "same": INTEGER, "text": TEXT})
    return ClosedQuestion(_request("spare", _block("file", "\n".join(lines))), array_schema("spare", form), read)


def tasks(requests: Sequence[str]) -> ClosedQuestion[list[list[int]]]:
    """Ask which requests ask for the same recurring task: for each task those, then those that continue them.

    No request may be in two tasks.
    """

    def read(reply: str) -> list[list[int]]:
        found: list[list[int]] = []
        for one in find_entries(reply, "tasks", ("requests", "continued")):
            own, continued = (_numbers(one[key], key, len(requests)) for key in ("requests", "continued"))
            found += [own, [number for number in continued if number not in own]]
        if len(every := [number for numbers in found for number in numbers]) > len(set(every)):
            raise BadReplyError("it puts a request into two tasks")
        return found

    form = object_schema({"requests": list_of(INTEGER), "continued": list_of(INTEGER)})
    return ClosedQuestion(_request("task", _numbered("requests", requests)), array_schema("tasks", form), read)


def _numbers(values: object, key: str, highest: int) -> list[int]:
    if not isinstance(values, list):
        raise BadReplyError(f"its {key} are not a list of numbers")
    return sorted({existing_number(one, highest, "request") for one in values})


def drafts(texts: Sequence[str], lines: Sequence[int]) -> ClosedQuestion[list[DraftAnswer]]:
    """Ask for the skills that drafts become, worded from their numbered lines; `lines` has the number of each's."""
    blocks = [f'<draft number="{number}">\n{escape_brackets(text)}\n</draft>' for number, text in enumerate(texts, 1)]
    question = load_text("draft_question").replace("PLAIN", load_text("plain_words"))
    request = Prompt(load_text("draft_system"), "\n\n".join([*blocks, question]))
    line = object_schema({"kind": {**TEXT, "enum": [*LINE_KINDS]}, "text": TEXT, "from": list_of(INTEGER)})
    form = object_schema({"draft": INTEGER, "titles": list_of(TEXT), "when": TEXT, "lines": list_of(line)})
    return ClosedQuestion(request, array_schema("drafts", form), lambda reply: parse_drafts(reply, lines))


def _request(name: str, *blocks: str) -> Prompt:
    """Return a request with the rules and the question of this name, and data between them."""
    return Prompt(load_text(f"{name}_system"), "\n\n".join([*blocks, load_text(f"{name}_question")]))


def _numbered(tag: str, texts: Sequence[str]) -> str:
    return _block(tag, "\n".join(as_data({"number": number, "text": text}) for number, text in enumerate(texts, 1)))


def _block(tag: str, text: str) -> str:
    return f"<{tag}>\n{text}\n</{tag}>"
