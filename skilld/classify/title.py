"""Names for new skills from a model: reads its reply, and checks which names are acceptable. Pure.

A suggestion may arrange what a drafted skill says and what people said, and add nothing to it. What does not pass is
left empty, so that the drafted words stay.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from skilld.classify import json_answer
from skilld.classify.json_answer import BadReplyError, array
from skilld.classify.polarity import turns_round
from skilld.classify.support import OWN, adds_only, exact_tokens, holds_token
from skilld.skills.spec import MAX_NAME, NAME
from skilld.text import fold, safe_text
from skilld.words import comparable, content_stems, denies, holds_name, names, share_held

_KEYS = frozenset({"skill", "name", "description", "title"})
_DESCRIPTION = 400  # agents read it of every skill, in every session
_TITLE = 80
_MARKS = frozenset("`#*_<>|[]{}\\")  # of Markdown and markup: a heading or a description needs none
_CLAUSE = re.compile(r"[.;:,!?\n]+")


@dataclass(frozen=True, slots=True)
class Title:
    """What a skill is called, what its description says, and its heading; each may be empty."""

    name: str = ""
    description: str = ""
    title: str = ""


def parse_titles(reply: str, skills: int) -> dict[int, Title]:
    """Return the titles of a reply by the number of their skill, from 1; raises BadReplyError if it has none."""
    found: dict[int, Title] = {}
    for item in array(reply, "titles", "name"):
        number = json_answer.skill(item.get("skill"), skills, ()) if isinstance(item, dict) else None
        if number is None or not 1 <= number <= skills or number in found or set(item) - _KEYS:
            raise BadReplyError("a title does not have the requested format")
        texts = [item.get(key) or "" for key in ("name", "description", "title")]
        if not all(isinstance(text, str) for text in texts):
            raise BadReplyError("a title does not have the requested format")
        found[number] = Title(*(fold(text) for text in texts))
    return found


def fitting(
    suggested: Title, drafted: Title, rules: Sequence[str], said: Sequence[str], taken: Collection[str]
) -> Title:
    """Return what of a suggestion may stand beside `drafted`, whose skill says `rules` for what people `said`.

    `taken` are the names that other skills have.
    """
    exact = comparable("\n".join([drafted.name.replace("-", " "), drafted.description, drafted.title, *rules]))
    ground = "\n".join([exact, *said])
    name = suggested.name if _is_name(suggested.name, ground) and suggested.name not in taken else ""
    description, title = (
        text if len(text) <= most and _is_fit(text, exact, ground) and not _opposes(text, rules, said) else ""
        for text, most in ((suggested.description, _DESCRIPTION), (suggested.title, _TITLE))
    )
    return Title(name, description, title)


def _is_name(name: str, ground: str) -> bool:
    words = content_stems(name.replace("-", " "))
    fit = len(name) <= MAX_NAME and NAME.fullmatch(name) is not None
    return fit and bool(words) and share_held(words, content_stems(ground)) == 1.0


def _is_fit(text: str, exact: str, ground: str) -> bool:
    if not content_stems(text) or safe_text(text) != text or not _MARKS.isdisjoint(text):
        return False
    strange = any(not holds_token(token, exact) for token in exact_tokens(text))
    strange = strange or any(not holds_name(name, comparable(ground)) for name in names(text))
    return not strange and adds_only(text, ground)


def _opposes(text: str, rules: Sequence[str], said: Sequence[str]) -> bool:
    """Whether a part of the text says no to what nobody said no to, or the contrary of a rule."""
    if denies(text) and not any(denies(one) for one in (*rules, *said)):
        return True
    return any(
        _is_about(clause, rule) and turns_round(clause, rule, complaint=False)
        for clause in _CLAUSE.split(text)
        for rule in rules
    )


def _is_about(clause: str, rule: str) -> bool:
    mine, theirs = content_stems(clause), content_stems(rule)
    return share_held(mine, theirs) >= OWN and share_held(theirs, mine) >= OWN
