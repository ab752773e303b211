"""Names for new skills from a model: reads its reply, and checks which names are acceptable. Pure.

A suggestion may only rearrange the words of a drafted skill and of people, and add nothing. A part that does not pass
is left empty, so that the drafted words stay.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from skilld.classify import json_answer
from skilld.classify.json_answer import BadReplyError, find_array
from skilld.classify.polarity import seems_reversed
from skilld.classify.question_jobs import Title
from skilld.classify.support import MIN_OWN_SHARE, adds_nothing, exact_tokens, holds_token
from skilld.skills.spec import MAX_NAME, NAME_PATTERN
from skilld.text import fold, safe_text
from skilld.words import contains_name, content_stems, has_negation, matching_share, normalize, proper_names

_KEYS = frozenset({"skill", "name", "description", "title"})
_MAX_DESCRIPTION = 400  # agents read the descriptions of all skills in every session
_MAX_TITLE = 80
_MARKS = frozenset("`#*_<>|[]{}\\")  # Markdown and markup, not needed in a heading or description
_CLAUSE = re.compile(r"[.;:,!?\n]+")


def parse_titles(reply: str, skills: int) -> dict[int, Title]:
    """Return the titles of a reply by the number of their skill, from 1. Raises BadReplyError if it has none."""
    found: dict[int, Title] = {}
    for item in find_array(reply, "titles", "name"):
        number = json_answer.skill_number(item.get("skill"), skills, ()) if isinstance(item, dict) else None
        if number is None or not 1 <= number <= skills or number in found or set(item) - _KEYS:
            raise BadReplyError("a title does not have the requested format")
        texts = [item.get(key) or "" for key in ("name", "description", "title")]
        if not all(isinstance(text, str) for text in texts):
            raise BadReplyError("a title does not have the requested format")
        found[number] = Title(*(fold(text) for text in texts))
    return found


def acceptable_title(
    suggested: Title, drafted: Title, rules: Sequence[str], said: Sequence[str], taken: Collection[str]
) -> Title:
    """Return the acceptable parts of a suggestion for `drafted`, whose skill has `rules` from what people `said`.

    `taken` are the names of other skills.
    """
    exact = normalize("\n".join([drafted.name.replace("-", " "), drafted.description, drafted.title, *rules]))
    ground = "\n".join([exact, *said])
    name = suggested.name if _is_name(suggested.name, ground) and suggested.name not in taken else ""
    description, title = (
        text if len(text) <= limit and _is_acceptable(text, exact, ground) and not _opposes(text, rules, said) else ""
        for text, limit in ((suggested.description, _MAX_DESCRIPTION), (suggested.title, _MAX_TITLE))
    )
    return Title(name, description, title)


def _is_name(name: str, ground: str) -> bool:
    words = content_stems(name)
    fit = len(name) <= MAX_NAME and NAME_PATTERN.fullmatch(name) is not None
    return fit and bool(words) and matching_share(words, content_stems(ground)) == 1.0


def _is_acceptable(text: str, exact: str, ground: str) -> bool:
    if not content_stems(text) or safe_text(text) != text or not _MARKS.isdisjoint(text):
        return False
    strange = any(not holds_token(token, exact) for token in exact_tokens(text))
    strange = strange or any(not contains_name(name, normalize(ground)) for name in proper_names(text))
    return not strange and adds_nothing(text, ground)


def _opposes(text: str, rules: Sequence[str], said: Sequence[str]) -> bool:
    """Whether a part of the text negates something that nobody negated, or contradicts a rule."""
    if has_negation(text) and not any(has_negation(one) for one in (*rules, *said)):
        return True
    return any(
        _is_about(clause, rule) and seems_reversed(clause, rule, complaint=False)
        for clause in _CLAUSE.split(text)
        for rule in rules
    )


def _is_about(clause: str, rule: str) -> bool:
    mine, theirs = content_stems(clause), content_stems(rule)
    return matching_share(mine, theirs) >= MIN_OWN_SHARE and matching_share(theirs, mine) >= MIN_OWN_SHARE
