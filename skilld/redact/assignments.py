"""Find secrets by the name they are given: `password = ...`, .env lines, JSON, YAML, flags, XML, comparisons. Pure.

Only the value is a finding. How little a value must show depends on what its name promises (`keys`) and on how it is
given (`links`); code, templates, paths and plain words are left alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from skilld.redact.findings import Finding
from skilld.redact.keys import STEMS, Promise, promise_of
from skilld.redact.links import Given, compared, given
from skilld.redact.values import is_call, is_code, is_mixed, is_nominal, is_opaque, is_stand_in, is_template

_REACH = 64  # characters of a name on either side of its stem
_NAME_CHARS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-"
_NAME_AFTER = re.compile(rf"[\w.-]{{0,{_REACH}}}+")
_ABOUT_SECRETS = re.compile(r"(?i)pass|secret|token|key|login|sign|enter|\b(?:the|your|an?|is|for|of)\b")
_LABEL_WORDS = 6  # more words than this are a sentence
_CONSTANT = re.compile(r"[A-Z]+(?:_[A-Z0-9]{1,16}+)+")  # the name of a variable
_ENDLESS = re.compile(r"[a-z]{24,}+|[A-Z]{24,}+")  # the longest common word has 20 letters
_KEY = re.compile(r"\S{8,}")  # no key is shorter or has a blank
_VERBS = frozenset({"pass", "pin"})  # "all tests pass: ...", "pin 'x'"
_SHORTEST = 4
# A number is no secret unless it has so many digits.
_DIGITS = {Promise.PASSWORD: 6, Promise.SECRET: 12, Promise.PERHAPS: 64}


def find(text: str) -> Iterator[Finding]:
    """Yield the value of every name in `text` that promises a secret and is given one."""
    done = 0
    for stem in STEMS.finditer(text.replace("\u0130", "i").lower()):  # the one letter whose lower case is longer
        if stem.start() < done:
            continue
        before = text[max(0, stem.start() - _REACH) : stem.start()]
        start = stem.start() - len(before) + len(before.rstrip(_NAME_CHARS))
        after = _NAME_AFTER.match(text, stem.start())
        done = after.end() if after else stem.end()
        finding = _value_of(text, start, done)
        if finding:
            done = max(done, finding.end)
            yield finding


def _value_of(text: str, start: int, end: int) -> Finding | None:
    """Return the secret that the name at [start, end) is given or compared with, if it is one."""
    name = text[start:end].removeprefix("-D").strip(".-")
    promise = promise_of(name)
    if promise is Promise.NOTHING:
        return None
    value = given(text, start, end) or compared(text, start)
    if not value or (name.lower() in _VERBS and not value.equals):
        return None
    if not _is_secret(text[value.start : value.end], value, promise):
        return None
    return Finding(value.start, value.end, "password" if promise is Promise.PASSWORD else "secret-value")


def _is_secret(text: str, value: Given, promise: Promise) -> bool:
    """Whether `text` is one, given how and by what name: a literal may be a word, anything else may be code."""
    if len(text) < _SHORTEST or is_template(text) or _CONSTANT.fullmatch(text) or _is_label(text, value):
        return False
    if text.isdigit():
        return len(text) >= _DIGITS[promise]
    if promise is Promise.PASSWORD and value.literal:
        return not is_nominal(text) and not is_call(text)
    if is_stand_in(text) or (not value.literal and is_code(text)):
        return False
    if is_opaque(text):
        return True
    if promise is Promise.PASSWORD:
        return is_mixed(text)
    return (
        promise is Promise.SECRET
        and _KEY.fullmatch(text) is not None
        and (is_mixed(text) or _ENDLESS.fullmatch(text) is not None)
    )


def _is_label(text: str, value: Given) -> bool:
    """Whether `text` is one about a secret, as interfaces and schemas have: `"password": "Enter your password"`."""
    words = text.split()
    if len(words) <= 1 or value.equals:
        return False
    return len(words) > _LABEL_WORDS or _ABOUT_SECRETS.search(text) is not None
