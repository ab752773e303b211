"""Find secrets by the name they are given: `password = ...`, .env lines, JSON, YAML, flags, XML, comparisons. Pure.

Only the value is a finding. How little a value must show depends on what its name promises (`keys`) and on how it is
given (`links`); code, templates, paths and plain words are left alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from skilld.redact.findings import Finding
from skilld.redact.keys import STEMS, Promise, promise_of
from skilld.redact.links import Given, Way, compared, given
from skilld.redact.opacity import is_mixed, is_opaque
from skilld.redact.values import is_call, is_code, is_nominal, is_path, is_stand_in, is_template

_REACH = 64  # characters of a name on either side of its stem
_NAME_CHARS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-"
_NAME_AFTER = re.compile(rf"[\w.-]{{0,{_REACH}}}+")
_ABOUT_SECRETS = re.compile(r"(?i)pass|secret|token|key|login|sign|enter|\b(?:the|your|an?|is|for|of)\b")
_LABEL_WORDS = 6  # more words than this are a sentence
_VARIABLE = re.compile(r"_*[A-Za-z]+(?:_+[A-Za-z]+)+\d{0,2}|[A-Z]+(?:_[A-Z0-9]{1,16}+)+")  # the name of one
_ENDLESS = re.compile(r"[a-z]{24,}+|[A-Z]{24,}+")  # the longest common word has 20 letters
_KEY = re.compile(r"\S{8,}")  # no key is shorter or has a blank
_MADE_UP = tuple(map(re.compile, (r"[A-Za-z]", r"\d", r"[!@#$%^&*+?]")))
_ID = re.compile(r"[0-9a-fA-F]{7,40}|[0-9a-fA-F-]{36}")  # a git hash or a UUID
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_NAMES = re.compile(r"(?i)(?:key|access)[_-]?id$")  # a UUID so called names a key, and is none
_VERBS = frozenset({"pass"})  # "all tests pass: ..."
_JUDGED = 512  # characters that tell what the rest is
_TRIES = 8  # names tried inside one unbroken value; a value with more is neither code nor words
_SHORTEST = 4
# A number is no secret unless it has so many digits.
_DIGITS = {Promise.PASSWORD: 6, Promise.SECRET: 12, Promise.PERHAPS: 64}


def find(text: str) -> Iterator[Finding]:
    """Yield the value of every name in `text` that promises a secret and is given one."""
    done = run_end = tries = 0
    for stem in STEMS.finditer(text.replace("\u0130", "i").lower()):  # the one letter whose lower case is longer
        if stem.start() < done:
            continue
        start, done = _name_around(text, stem.start())
        name = text[start:done].removeprefix("-D").strip(".-")
        promise = promise_of(name)
        value = _value_of(text, start, done) if promise else None
        if not value or (_NAMES.search(name) and _UUID.fullmatch(text[value.start : value.end])):
            continue
        tries = tries + 1 if value.start < run_end else 0
        run_end = max(run_end, value.end)
        if tries > _TRIES or _is_secret(text[value.start : min(value.end, value.start + _JUDGED)], value, promise):
            yield Finding(value.start, value.end, "password" if promise is Promise.PASSWORD else "secret-value")
            done = max(done, value.end)


def _name_around(text: str, at: int) -> tuple[int, int]:
    before = text[max(0, at - _REACH) : at]
    after = _NAME_AFTER.match(text, at)
    return at - len(before) + len(before.rstrip(_NAME_CHARS)), after.end() if after else at + 1


def _value_of(text: str, start: int, end: int) -> Given | None:
    value = compared(text, start) or given(text, start, end)
    verb = text[start:end].lower() in _VERBS and not (value and value.equals)
    return None if verb else value


def _is_secret(text: str, value: Given, promise: Promise) -> bool:
    """Whether `text` is one, given how and by what name."""
    if len(text) < _SHORTEST or is_template(text) or _is_label(text, value):
        return False
    if text.isdigit():
        return len(text) >= _DIGITS[promise]
    if value.way is Way.NEXT:
        return _is_secret_word(text, promise)
    if _VARIABLE.fullmatch(text) and not is_opaque(text):
        return False
    return _is_secret_value(text, promise, literal=value.way is Way.LITERAL)


def _is_secret_value(text: str, promise: Promise, *, literal: bool) -> bool:
    """Whether `text` is one: a literal password may be any word, anything else may be code or a stand-in."""
    if promise is Promise.PASSWORD and literal:
        return not (is_nominal(text) or is_call(text) or ("/" in text and is_path(text)))
    if is_stand_in(text) or (not literal and is_code(text)):
        return False
    if is_opaque(text) or _ENDLESS.fullmatch(text):
        return True
    if promise is Promise.PASSWORD:
        return is_mixed(text)
    return promise is Promise.SECRET and _KEY.fullmatch(text) is not None and is_mixed(text)


def _is_secret_word(word: str, promise: Promise) -> bool:
    """Whether `word`, merely the next one in a sentence ("with password Xy7!kq"), can be nothing else."""
    if promise is Promise.PERHAPS or is_stand_in(word) or is_code(word):
        return False
    made_up = promise is Promise.PASSWORD and all(part.search(word) for part in _MADE_UP)
    return made_up or (is_opaque(word) and not _ID.fullmatch(word))


def _is_label(text: str, value: Given) -> bool:
    """Whether `text` is one about a secret, as interfaces and schemas have: `"password": "Enter your password"`."""
    words = text.split()
    if len(words) <= 1 or value.equals:
        return False
    return len(words) > _LABEL_WORDS or _ABOUT_SECRETS.search(text) is not None
