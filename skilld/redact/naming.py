"""Where a text names a secret in the words of any language: names out, nothing about values. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum, auto
from functools import cache
from typing import NamedTuple

from skilld.redact.languages import LANGUAGES


class Role(Enum):
    """What a name promises."""

    PASSWORD = auto()
    CODE = auto()  # digits
    LOGIN = auto()  # "log in": a password may follow


class Name(NamedTuple):
    """A name at [start, end). `is_short`: it may mean something else."""

    start: int
    end: int
    role: Role
    is_short: bool


_FIELDS = (
    ("made_up", Role.PASSWORD),
    ("short", Role.PASSWORD),
    ("codes", Role.CODE),
    ("login", Role.LOGIN),
)
_ENDING = re.compile(r"[^\W\d_]{0,24}+")
_UNSPACED = re.compile(r"[\u0590-\u06ff\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_IDENTIFIER_BEFORE = re.compile(r"[\w$./\\@#%-]$")
_IDENTIFIER_AFTER = re.compile(r"[_\d(\[\\$/@]|\.\w|-\w|::|=\s?[\"'(\[{]")
_OTHER = re.compile(r"[^\x00-\x7f][^\n]*+")
_LONGEST = 24  # letters of a name before the first one that is not ASCII
_CAMEL = re.compile(r"[a-z][A-Z]")
_STEM = 4
_COMPOUND = 6  # letters from which a name may end a compound: Adminpasswort


class _Word(NamedTuple):
    role: Role
    is_short: bool
    open: bool  # any ending may follow


def names(text: str, lowered: str) -> Iterator[Name]:
    """Yield every name of a secret that stands in the prose of `text`."""
    yield from _found(text, _pattern(ascii_only=True).finditer(lowered))
    if not text.isascii():
        # Only around other letters is it worth looking for names with such in them.
        done = 0
        for other in _OTHER.finditer(lowered):
            yield from _found(
                text, _pattern(ascii_only=False).finditer(lowered, max(done, other.start() - _LONGEST), other.end())
            )
            done = other.end()


def _found(text: str, matches: Iterator[re.Match[str]]) -> Iterator[Name]:
    for found in matches:
        word = _words()[found[0]]
        end = _end(found.string, found.end(), word)
        if end is None or not _is_word(text, found.start(), found[0]) or _IDENTIFIER_AFTER.match(text, end):
            continue
        yield Name(found.start(), end, word.role, word.is_short)


def names_a_key(text: str) -> bool:
    """Whether a short `text` names what a machine makes: a key, a token, a secret; `keyId` and `key_id` do not."""
    return any(not _CAMEL.search(text, *found.span()) for found in _named("key").finditer(text.lower()))


def names_a_user(text: str) -> bool:
    """Whether a short `text` names a user."""
    return _named("user").search(text.lower()) is not None


def may_name_a_user(lowered: str) -> bool:
    """Whether a user is named anywhere in a text; as `names_a_user` and 4 times as fast on plain letters."""
    if not lowered.isascii():
        return names_a_user(lowered)
    return any(_named("user").match(lowered, found.start()) for found in _users().finditer(lowered))


def user_before(text: str) -> str | None:
    """Return what stands behind the last user named in a short `text`, None where none is."""
    last = max(_named("user").finditer(text.lower()), key=re.Match.end, default=None)
    return None if last is None else text[last.end() :]


def _end(lowered: str, at: int, word: _Word) -> int | None:
    ending = _ENDING.match(lowered, at)
    end = ending.end() if ending else at
    if end > at and not word.open and not _UNSPACED.match(lowered, at - 1) and not _UNSPACED.match(lowered, at):
        return None
    return end if word.open and not _UNSPACED.match(lowered, at - 1) else at


def _is_word(text: str, at: int, word: str) -> bool:
    """Whether a name begins at `at`, or is the end of a compound, and is no part of an identifier."""
    if at == 0 or _UNSPACED.match(word):
        return True
    before = text[at - 1]
    if before.isalpha():
        return len(word) >= _COMPOUND and text[at].islower() and not _UNSPACED.match(word)
    if before == "/":
        return names_a_user(text[max(0, at - _LONGEST) : at - 1])  # user/pass: ...
    return not _IDENTIFIER_BEFORE.match(before) or (before == "-" and text[max(0, at - 2) : at - 1].isalpha())


@cache
def _words() -> dict[str, _Word]:
    found: dict[str, _Word] = {}
    for language in LANGUAGES:
        for field, role in _FIELDS:
            for entry in filter(None, getattr(language, field).split("|")):
                word = entry.rstrip("*")
                found.setdefault(word, _Word(role, field == "short", entry.endswith("*")))
    for word, meaning in found.items():  # a name that goes on with the letters of another keeps its endings
        if not meaning.open and any(
            found[word[:n]].open and found[word[:n]].role is meaning.role
            for n in range(3, len(word))
            if word[:n] in found
        ):
            found[word] = meaning._replace(open=True)
    return found


@cache
def _named(field: str) -> re.Pattern[str]:
    """Return a regex of the words of a field in all languages, each at the beginning of a word."""
    entries = {word for language in LANGUAGES for word in getattr(language, field).split("|") if word}
    spaced = {word for word in entries if not _UNSPACED.match(word)}
    opened = [re.escape(word.rstrip("*")) + r"[^\W\d_]{0,16}+" for word in spaced if word.endswith("*")]
    closed = [re.escape(word) for word in spaced if not word.endswith("*")]
    words = sorted([*opened, *closed], key=len, reverse=True)
    others = sorted((word.rstrip("*") for word in entries - spaced), key=len, reverse=True)
    return re.compile(rf"(?<![\w.])(?:{'|'.join(words)})(?!\w)|{'|'.join(others)}")


LINKS = frozenset(word.rstrip("*") for language in LANGUAGES for word in language.link.split("|") if word)
"""Words that may stand between a name and its value."""

_COPULAS = (
    "is|was|are|be|it's|ist|lautet|war|heißt|est|c'est|vaut|es|era|sea|è|sarà|é|eh|luidt|wordt|är|heter|blir|er|hedder"
    "|bliver|jest|brzmi|je|zní|znie|bude|este|είναι|ειναι|ήταν|şu|olsun|это|был|будет|це|був|є|е|беше|هي|هو|היא|הוא|זה"
    "|است|هست|اینه|ہے|है|hai|হল|হলো|হচ্ছে|là|thành|adalah|jadi|menjadi|ialah|ni|คือ|เป็น|是|为|為|改成|改为|设成|设为"
    "|就是|は|です|은|는|és|yra|ir"
)
COPULAS = frozenset(_COPULAS.split("|"))
"""Those that say "is" and nothing else."""


@cache
def _users() -> re.Pattern[str]:
    """Return a regex of how the words for users begin that have no other letters."""
    words = {word.rstrip("*") for language in LANGUAGES for word in language.user.split("|") if word.isascii()}
    return re.compile(_trie({word[:_STEM] for word in words if word}))


@cache
def _pattern(*, ascii_only: bool) -> re.Pattern[str]:
    words = {word for word in _words() if word.isascii() == ascii_only}
    return re.compile(_trie(words))


def _trie(words: set[str]) -> str:
    """Return a regex of the longest of `words` at a place."""
    tails: dict[str, set[str]] = {}
    for word in words:
        if word:
            tails.setdefault(word[0], set()).add(word[1:])
    branches = [re.escape(head) + _trie(rest) for head, rest in sorted(tails.items())]
    if not branches:
        return ""
    joined = branches[0] if len(branches) == 1 and "" not in words else f"(?:{'|'.join(branches)})"
    return f"{joined}?" if "" in words else joined
