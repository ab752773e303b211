"""Bans in different words: what a ban forbids, and whether two forbid the same code. Pure."""

from __future__ import annotations

import re
from functools import lru_cache

from skilld.classify.contradiction import REACH
from skilld.classify.offline.choices import WORD
from skilld.classify.polarity import EXCEPTION
from skilld.values import value_class
from skilld.words import content_stems, stem

_NO = re.compile(r"\b(?:do not|don'?t|dont|never|not|no|avoid)\b", re.IGNORECASE)
_EMPTY_WORD = re.compile(
    r"\b(?:an?|the|us(?:e|ed|ing)|writ(?:e|ing)|put|mak(?:e|ing)|keep|do|add(?:ing)?|give|take|have|be)\b",
    re.IGNORECASE,
)


def ban_text(text: str) -> str:
    """Return `text` with one word for negation and without common words: "no redux" for "do not use Redux here"."""
    words = WORD.findall(_EMPTY_WORD.sub("", _NO.sub("no", REACH.sub("", text))))
    return " ".join(stem(word.casefold()) for word in words)


def same_exception(change: str, ban: str) -> bool:
    """Whether a ban has no exceptions if the change has none: "never push" is more than "never push without asking"."""
    return bool(EXCEPTION.search(change)) or not EXCEPTION.search(ban)


# Only the use of a call, a dotted name or what is in backticks: "don't remove setwd()" is not such a ban.
_CODE_BAN = re.compile(
    r"\b(?:do not|don['\u2019]?t|never|not|no|avoid|nie(?:mals)?|nicht|kein\w{0,2})\s"
    r"(?:(?:ever|again|use|using|call|calling|any|the|more|mehr)\s){0,3}"
    r"(?:`(?P<span>[^`\n]{1,60})`|(?P<name>[A-Za-z_][\w:]{0,40}\(\)|[A-Za-z_]\w{0,40}(?:\.[A-Za-z_]\w{0,40}){1,4}(?:\(\))?))"
    r"(?P<rest>[^,;.!\n]{0,120})(?P<tail>.{0,400})",
    re.IGNORECASE | re.DOTALL,
)
_REASON = re.compile(
    r"\A\W*(?:\Z|(?:it|that|this|they|because|since|so|as|otherwise|es|das|sie|weil|sonst|damit)\b)", re.IGNORECASE
)


@value_class
class _CodeBan:
    """A ban of code: the code, the stems of where it is forbidden, and what follows."""

    code: str
    place: frozenset[str]
    tail: str


def is_same_ban(one: str, other: str) -> bool:
    """Whether two bans are one: in the same words, at most one of them followed by more, or about the same code."""
    mine, theirs = _ban_head(one), _ban_head(other)
    if mine and theirs and mine[0] == theirs[0] and not (mine[1] and theirs[1]):
        return True
    return is_same_code_ban(one, other)


_HEAD_END = re.compile(r"[,;.!](?:\s+|\Z)")


@lru_cache(maxsize=8192)
def _ban_head(text: str) -> tuple[str, str] | None:
    """Return what a ban without exceptions forbids, and what follows; None for any other text."""
    head, *rest = _HEAD_END.split(text, maxsplit=1)
    ban = ban_text(head)
    return (ban, "".join(rest)) if ban.startswith("no ") and not EXCEPTION.search(text) else None


def is_same_code_ban(one: str, other: str) -> bool:
    """Whether two bans forbid the use of the same code, at most one of them only somewhere."""
    both = _code_ban(one), _code_ban(other)
    if both[0] is None or both[1] is None or both[0].code != both[1].code:
        return False
    return both[0].place == both[1].place or not (both[0].place and both[1].place)


def adds_nothing(change: str, line: str) -> bool:
    """Whether a ban of code asks for no more than another one: what follows it is a reason, or said there too."""
    if (ban := _code_ban(change)) is None:
        return False
    more = content_stems(ban.tail)
    return bool(_REASON.match(ban.tail)) or (bool(more) and more <= content_stems(line))


@lru_cache(maxsize=8192)
def _code_ban(text: str) -> _CodeBan | None:
    found = _CODE_BAN.search(text)
    if found is None or EXCEPTION.search(text):
        return None
    code = (found["span"] or found["name"]).removesuffix("()").casefold()
    return _CodeBan(code, content_stems(found["rest"]), found["tail"])
