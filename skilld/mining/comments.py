"""What people write in reviews, from rows of a host's API: who wrote it, and whether a person did. Pure.

GitHub's rows are those of `pulls/comments` and `issues/comments`, GitLab's the comments among a project's events. Only
people with a say in the repository count: anybody may comment on a public one.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

_TRUSTED = {"OWNER": "owner", "MEMBER": "member", "COLLABORATOR": "collaborator"}
_LEVELS = {50: "owner", 40: "maintainer", 30: "developer"}  # GitLab's, the highest first
_BOT = re.compile(r"\[bot\]$|(?:^|[-_])(?:ro)?bot(?:[-_\d]|$)|-ci$|-commenter$|^ghost$", re.IGNORECASE)
_PULL = re.compile(r"/(?:pull|merge_requests)/(\d+)\b")
_SAFE = re.compile(r"https://[\w.:-]+/[\w./~+-]+#[\w-]+")

# Signs of a text that a tool wrote. One of the first kind is enough; of the second, two: people use each alone.
_SIGNED = re.compile(
    r"<!--|\[!\[|^\|[-: |]{3,}\|$|<details\b|<summary\b|\U0001f916|actionable comments|generated (?:with|by)\b"
    r"|co-authored-by:"
    r"|\b(?:claude code|codex|copilot|coderabbit|sourcery|gemini code assist|cursor bugbot|chatgpt|as an ai)\b"
    r"|you're absolutely right|here(?:'s| is) (?:a|my|the) (?:summary|review|breakdown)|^#+ pull request overview",
    re.IGNORECASE | re.MULTILINE,
)
_LABEL = re.compile(r"^[ \t]{0,8}(?:[-*] |\d{1,3}[.)] )?(?:\*\*|__)[^*_\n]{2,60}(?:\*\*|__)", re.MULTILINE)
_SHAPES = (
    _LABEL,
    re.compile(r"^#{1,4} \S", re.MULTILINE),
    re.compile(r"(?:^[ \t]{0,8}(?:[-*]|\d{1,3}[.)]) .*\n?){3}", re.MULTILINE),
    re.compile("[\u2600-\u27bf\U0001f300-\U0001faff]|:(?:warning|bulb|bug|rotating_light|orange_circle|red_circle):"),
    re.compile(r"^\|.*\|$|!\[[^\]\n]{0,200}\]\(", re.MULTILINE),
    re.compile(
        r"\b(?:overall,? (?:the|this)|this (?:pr|change|commit) (?:introduces|refactors|adds|updates)"
        r"|well[- ]structured|great (?:job|work) on|(?:potential|critical) issue|recommendation:|edge cases)",
        re.IGNORECASE,
    ),
    re.compile(r"\A[\s\S]{600}"),
)
_TWO = 2


class Sort(StrEnum):
    """Who wrote a comment."""

    PERSON = "person"
    BOT = "bot"
    GENERATED = "generated"
    OUTSIDER = "outsider"


@dataclass(frozen=True, slots=True)
class Comment:
    """One comment on a pull request. `author` is no name, `url` is empty where it has no harmless form."""

    id: str
    sort: Sort
    url: str
    pull: str
    author: str
    role: str
    at: str
    text: str
    own: bool = False


def of_github(row: Any, stream: str, me: str) -> Comment | None:  # noqa: ANN401 - what a host answers
    """Return a comment; None where a row is on no pull request, or is none that is documented. `me` is one's login."""
    if not isinstance(row, Mapping) or not isinstance(user := row.get("user") or {}, Mapping):
        return None
    url, login = _text(row.get("html_url")), _text(user.get("login")) or "ghost"
    by_program = user.get("type") == "Bot" or row.get("performed_via_github_app") is not None
    return _comment(
        name=f"{stream}/{row.get('id')}",
        url=url,
        login=login,
        by_program=by_program,
        role=_TRUSTED.get(_text(row.get("author_association")), ""),
        at=_text(row.get("created_at")),
        text=_text(row.get("body")),
        me=me,
    )


def of_gitlab(row: Any, web: str, levels: Mapping[str, int], me: str) -> Comment | None:  # noqa: ANN401 - as above
    """Return a comment of an event; `web` is the project's page, `levels` are the members' access levels by login."""
    note = row.get("note") if isinstance(row, Mapping) else None
    if not isinstance(note, Mapping) or note.get("noteable_type") != "MergeRequest":
        return None
    author = note.get("author") or {}
    login = _text(author.get("username")) if isinstance(author, Mapping) else ""
    return _comment(
        name=f"note/{note.get('id')}",
        url=f"{web}/-/merge_requests/{note.get('noteable_iid')}#note_{note.get('id')}",
        login=login or "ghost",
        by_program=note.get("system") is True,
        role=next((name for level, name in _LEVELS.items() if levels.get(login, 0) >= level), ""),
        at=_text(note.get("created_at")),
        text=_text(note.get("body")),
        me=me,
    )


def _comment(
    *, name: str, url: str, login: str, by_program: bool, role: str, at: str, text: str, me: str
) -> Comment | None:
    pull, text = _PULL.search(url), text.replace("\r\n", "\n")
    if pull is None:
        return None
    sort = Sort.PERSON
    if by_program or _BOT.search(login):
        sort = Sort.BOT
    elif is_generated(text):
        sort = Sort.GENERATED
    elif not role:
        sort = Sort.OUTSIDER
    who = hashlib.sha256(login.casefold().encode()).hexdigest()[:16]
    own = bool(me) and login.casefold() == me.casefold()
    return Comment(name, sort, url if _SAFE.fullmatch(url) else "", pull[1], who, role, at, text, own)


def is_generated(text: str) -> bool:
    """Whether a text has the marks or the shape of what review tools and agents write."""
    shapes = sum(bool(shape.search(text)) for shape in _SHAPES)
    return bool(_SIGNED.search(text)) or shapes >= _TWO or len(_LABEL.findall(text)) >= _TWO


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
