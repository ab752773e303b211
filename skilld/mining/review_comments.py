"""Parses review comments from rows of a host's API, and tells who wrote each one: a person or a tool. Pure.

GitHub's rows are those of `pulls/comments` and `issues/comments`, GitLab's the comment events of a project. Only
people with a role in the repository count: anybody may comment on a public one.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from skilld.values import value_class

_GITHUB_ROLES = {"OWNER": "owner", "MEMBER": "member", "COLLABORATOR": "collaborator"}
_GITLAB_ROLES = {50: "owner", 40: "maintainer", 30: "developer"}  # GitLab's, the highest first
_BOT_PATTERN = re.compile(r"\[bot\]$|(?:^|[-_])(?:ro)?bot(?:[-_\d]|$)|-ci$|-commenter$|^ghost$", re.IGNORECASE)
_PULL_PATTERN = re.compile(r"/(?:pull|merge_requests)/(\d+)\b")
_SAFE_URL_PATTERN = re.compile(r"https://[\w.:-]+/[\w./~+-]+#[\w-]+")

# Signs that a tool wrote a text. One match of the first pattern is enough; of the shapes two, as people use each alone.
_GENERATOR_PATTERN = re.compile(
    r"<!--|\[!\[|^\|[-: |]{3,}\|$|<details\b|<summary\b|\U0001f916|actionable comments|generated (?:with|by)\b"
    r"|co-authored-by:"
    r"|\b(?:claude code|codex|copilot|coderabbit|sourcery|gemini code assist|cursor bugbot|chatgpt|as an ai)\b"
    r"|you're absolutely right|here(?:'s| is) (?:a|my|the) (?:summary|review|breakdown)|^#+ pull request overview",
    re.IGNORECASE | re.MULTILINE,
)
_LABEL_PATTERN = re.compile(r"^[ \t]{0,8}(?:[-*] |\d{1,3}[.)] )?(?:\*\*|__)[^*_\n]{2,60}(?:\*\*|__)", re.MULTILINE)
_GENERATED_SHAPES = (
    _LABEL_PATTERN,
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
_MIN_SHAPES = 2


class AuthorKind(StrEnum):
    """Who wrote a comment."""

    PERSON = "person"
    BOT = "bot"
    GENERATED = "generated"
    OUTSIDER = "outsider"


@value_class
class Comment:
    """One comment on a pull request. `author` is a hash; `url` is empty if it is not in a safe form."""

    id: str
    sort: AuthorKind
    url: str
    pull: str
    author: str
    role: str
    at: str
    text: str
    own: bool = False


def github_comment(row: Any, stream: str, me: str) -> Comment | None:  # noqa: ANN401 - what a host answers
    """Return a row's comment, None if it is not on a pull request or undocumented. `me` is the person's login."""
    if not isinstance(row, Mapping) or not isinstance(user := row.get("user") or {}, Mapping):
        return None
    url, login = _as_text(row.get("html_url")), _as_text(user.get("login")) or "ghost"
    by_program = user.get("type") == "Bot" or row.get("performed_via_github_app") is not None
    return _build_comment(
        name=f"{stream}/{row.get('id')}",
        url=url,
        login=login,
        by_program=by_program,
        role=_GITHUB_ROLES.get(_as_text(row.get("author_association")), ""),
        at=_as_text(row.get("created_at")),
        text=_as_text(row.get("body")),
        me=me,
    )


def gitlab_comment(row: Any, web: str, levels: Mapping[str, int], me: str) -> Comment | None:  # noqa: ANN401 - as above
    """Return an event's comment; `web` is the project's page, `levels` are the members' access levels by login."""
    note = row.get("note") if isinstance(row, Mapping) else None
    if not isinstance(note, Mapping) or note.get("noteable_type") != "MergeRequest":
        return None
    author = note.get("author") or {}
    login = _as_text(author.get("username")) if isinstance(author, Mapping) else ""
    return _build_comment(
        name=f"note/{note.get('id')}",
        url=f"{web}/-/merge_requests/{note.get('noteable_iid')}#note_{note.get('id')}",
        login=login or "ghost",
        by_program=note.get("system") is True,
        role=next((name for level, name in _GITLAB_ROLES.items() if levels.get(login, 0) >= level), ""),
        at=_as_text(note.get("created_at")),
        text=_as_text(note.get("body")),
        me=me,
    )


def _build_comment(
    *, name: str, url: str, login: str, by_program: bool, role: str, at: str, text: str, me: str
) -> Comment | None:
    pull, text = _PULL_PATTERN.search(url), text.replace("\r\n", "\n")
    if pull is None:
        return None
    sort = AuthorKind.PERSON
    if by_program or _BOT_PATTERN.search(login):
        sort = AuthorKind.BOT
    elif is_generated(text):
        sort = AuthorKind.GENERATED
    elif not role:
        sort = AuthorKind.OUTSIDER
    who = hashlib.sha256(login.casefold().encode()).hexdigest()[:16]
    own = bool(me) and login.casefold() == me.casefold()
    return Comment(name, sort, url if _SAFE_URL_PATTERN.fullmatch(url) else "", pull[1], who, role, at, text, own)


def is_generated(text: str) -> bool:
    """Whether a text has the marks or the shape of one that a review tool or an agent wrote."""
    shapes = sum(bool(shape.search(text)) for shape in _GENERATED_SHAPES)
    return (
        bool(_GENERATOR_PATTERN.search(text))
        or shapes >= _MIN_SHAPES
        or len(_LABEL_PATTERN.findall(text)) >= _MIN_SHAPES
    )


def _as_text(value: object) -> str:
    return value if isinstance(value, str) else ""
