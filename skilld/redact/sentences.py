"""Finds secrets that people state in plain sentences, in any language of `naming`. Pure.

Near a name ("das Passwort", "пароль", 密码), a value that does not look like a word is searched. How near, and how
unlike a word, depends on what the name promises and on what is between them. Only names in prose count: `assignments`
handles identifiers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import IntEnum
from itertools import chain
from typing import NamedTuple

from skilld.redact import passwords
from skilld.redact.findings import Finding, is_scrambled, is_stand_in
from skilld.redact.naming import COPULAS, LINK_WORDS, Name, Role, find_names, names_a_user
from skilld.redact.passwords import (
    Shape,
    end_of_purpose,
    find_bare_phrase,
    find_phrase,
    find_unmarked_phrase,
    is_plain_password,
    judge_word,
    names_phrase,
)

_CHARS_AFTER, _CHARS_BEFORE = 90, 48  # characters of a clause around a name
_WORDS_NEAR, _WORDS_NEAR_BEFORE, _WORDS_NEXT = (
    6,
    5,
    2,
)  # words between a name and a value, by how much the value looks like one
_CJK = "\u0e00-\u0e7f\u3000-\u30ff\u3400-\u9fff\uac00-\ud7af\uff00-\uffef"
# A word; in scripts without blanks a run of characters, so that a value in other letters is a word of its own.
_WORD = re.compile(rf"[^\s{_CJK}]{{1,256}}+|[{_CJK}]{{1,64}}+")
_WHOLE_WORD = re.compile(r"[^\s\u3000-\u3002\uff0c\uff1b]{1,256}+")
_VALUE_HINT = re.compile(r"[\d\"'`\u201c\u201e\u00ab\u2018\u300c:=\uff1a]")  # without any of these there is no value
_QUOTE = re.compile(r"[\"'`\u201c\u201e\u00ab\u2018\u300c](?<!\w.)")  # or a digit: the same of a whole text
_SIGN = re.compile(r"[ \t]{0,3}(?:[:=\uff1a]|->|=>|\u2192)[ \t]{0,3}\n?[ \t]{0,8}")
_QUOTED = re.compile(
    r"[\"'`\u201c\u201e\u00ab\u2018\u300c]([^\"'`\u201c\u201d\u00ab\u00bb\u2018\u2019\u300c\u300d\n]{4,48})[\"'`\u201c\u201d\u00bb\u2019\u300d]"
)
_LEFT_MARGIN, _RIGHT_MARGIN = "\"'`([{<«“„‘*_~", "\"'`)]}>»”“’*,.;:!?…।،؛۔。，！？"
_PARAGRAPH = re.compile(r"\n\s{0,8}\n|```")
_RTL_PREFIX = re.compile(r"[\u0590-\u06ff]{1,3}-?(?=[A-Za-z0-9])")
_SUFFIX = re.compile(r"(?<=\w)['’][^\W\d_]{1,6}$")  # "fener1907'ydi"
_PAIR = re.compile(r"[\w.@-]{1,64}[/:]([^/:\s]{4,64})")  # user/pass: eve/hunter2
_WITH_BEFORE = re.compile(r"(?i)(?:\b(?:with|using|mit|avec|con|com|met|med|the|new|my)|(?<!\w)(?:с|з|με))\s{1,2}$")
_VERB_PASS_BEFORE = re.compile(
    r"(?i)\b(?:tests?|checks?|all|must|should|will|to|they|now|can|not|first|second|\d[a-z]{2}|one|each)\s{1,2}$"
)
_PASS, _PIN = "pass", "pin"  # also a verb, and what keeps a version
_WORDS_SHORT_NAME = 4  # words between a short name and a value after "is"
# In languages whose verb comes last, the word after a value introduces it.
_VERB_AFTER = re.compile(
    r"[\"'`]?\s{0,2}(?:است|هست|है|hai\b|ہے|です|だ|입니다|이야|이에요|예요|olarak|yap\b|lett\b|kar\b|করে)"
)
_CHARS_BESIDE = 20  # characters after a password that are searched for its user
_CODE = re.compile(r"\d{4,8}")
_USUAL_CODE_DIGITS = 6  # digits of a code that was sent
_CODE_DIGITS = re.compile(r"(?<![\w.,:-])\d{4,8}(?![\w:-]|[.,]\d)", re.ASCII)
_DIGITS = re.compile(r"\d{6,32}")
_SPLIT_CODE = re.compile(r"(?<![\w.,:-])\d{3}[ \u00a0-]\d{3}(?![\w-]|[.,]\d)", re.ASCII)
_FOUR_GROUPS = re.compile(r"(?<![\w-])[a-z]{4}(?:[ \u00a0-][a-z]{4}){3}(?![\w-])")
_UNIT = re.compile(
    r"\s?(?:entries|or|ms|s|sec|min|px|kb|mb|gb|%|chars?|digits?|bits?|bytes?|stellen|zeichen|знак|символ|cifr|chiffres)\b"
)
_SMS = re.compile(r"sms|SMS|Sms")
_SMS_OTHER = re.compile(
    r"смс|СМС|סמס|اس ام اس|پیامک|رسالة|短信|簡訊|短訊|ショートメ|문자|एसएमएस|এসএমএস|tin nhắn|ข้อความ"
)
_ANY_CODE = re.compile(
    r"(?i)\b(?:code|kod|kód|codice|código|codigo|cod|код|κωδικ|mã)|קוד|كود|رمز|کد|کوڈ|कोड|কোড|รหัส|验证|驗證|コード|番号|코드|번호"
)
_CHARS_AROUND_SMS = 48
_STOP_SIGNS = frozenset(",;،，")
_LEADING_SIGNS = frozenset({":", "=", "：", "->", "=>", "/"})


class Lead(IntEnum):
    """How clearly the text before a word introduces it as a value."""

    NONE = 0
    LINK = 1  # "to"
    IS = 2
    SIGN = 3


class _Token(NamedTuple):
    start: int
    end: int
    text: str


def find_stated(text: str, lowered: str, *, has_digit: bool) -> Iterator[Finding]:
    """Yield every value near the name of a secret in the prose of `text`."""
    if has_digit:
        yield from _find_sent_codes(text)
    yield from passwords.find_pairs(text, has_digit=has_digit)
    yield from _find_groups(text)
    if not (has_digit or _QUOTE.search(text) or names_a_user(lowered) or names_phrase(lowered)):
        return
    found = sorted(find_names(text, lowered), key=lambda name: name.start)
    stops = dict.fromkeys(Role, len(text))
    limits = []
    for name in reversed(found):
        limits.append(stops[name.role])
        stops[name.role] = name.start
    # Text after the next name of the same role belongs to that name, so that no word is judged twice for one role.
    for name, stop in zip(found, reversed(limits), strict=True):
        yield from _find_near_name(text, name, stop)


def _find_groups(text: str) -> Iterator[Finding]:
    """Yield passwords of four groups of four letters, as Google makes them for programs, after a name for one."""
    for found in _FOUR_GROUPS.finditer(text):
        before = text[max(0, found.start() - _CHARS_BEFORE) : found.start()]
        joined = re.sub(r"\W", "", found[0])
        if (
            is_scrambled(joined)
            and not is_stand_in(joined)
            and any(name.role is Role.PASSWORD for name in find_names(before, before.lower()))
        ):
            yield Finding(*found.span(), "password")


def _find_near_name(text: str, name: Name, stop: int) -> Iterator[Finding]:
    is_phrase = names_phrase(text[name.start : name.end])
    name = name._replace(end=end_of_purpose(text, name.end)) if is_phrase else name
    end = min(stop, name.end + _CHARS_AFTER)
    if is_phrase and (bare := find_unmarked_phrase(text, name.start, name.end)):
        yield Finding(*bare, "password")
        return
    if not (
        _VALUE_HINT.search(text, max(0, name.start - _CHARS_BEFORE), min(len(text), end + 1))
        or (name.role is Role.PASSWORD and passwords.has_user_before(text, name.start))
    ):
        return
    paragraph = _PARAGRAPH.search(text, name.end, end)
    end = paragraph.start() if paragraph else _to_word_end(text, end)
    if text[name.start : name.end].lower() == _PASS and _VERB_PASS_BEFORE.search(
        text[max(0, name.start - _CHARS_BESIDE) : name.start]
    ):
        return
    sign = _SIGN.match(text, name.end)
    if sign and (finding := _value_after_sign(text, sign.end(), name)):
        yield finding
        return
    at = sign.end() if sign else name.end
    if name.role is Role.CODE:
        yield from _find_codes(text, name, at, end, signed=sign is not None)
    else:
        yield from _find_before(text, name)
        yield from _find_after(text, name, at, end, signed=sign is not None)


def _to_word_end(text: str, at: int) -> int:
    word = _WHOLE_WORD.match(text, at)
    return word.end() if word and at and not text[at - 1].isspace() else at


def _value_after_sign(text: str, at: int, name: Name) -> Finding | None:
    """Return the value right after a name and a sign."""
    if name.role is Role.PASSWORD and (phrase := find_phrase(text, at)):
        return Finding(*phrase, "password")
    if names_phrase(text[name.start : name.end]) and (bare := find_bare_phrase(text, at)):
        return Finding(*bare, "password")
    quoted = _QUOTED.match(text, at)
    if quoted and name.role is Role.PASSWORD and not _is_no_password(quoted[1]):
        return Finding(*quoted.span(1), "password")
    whole = _WHOLE_WORD.match(text, at)
    if whole is None:
        return None
    word = _strip_word(whole.start(), whole[0])
    has_user = _has_user(text, name, word.end)
    if has_user and (pair := _PAIR.fullmatch(word.text)):
        word = _Token(word.start + pair.start(1), word.end, pair[1])
    if name.role is Role.CODE:
        return _word_finding(word) if _CODE.fullmatch(word.text) else None
    if word.text.isdigit():
        return _word_finding(word) if len(word.text) >= 6 else None  # noqa: PLR2004 - as for a name in code
    if judge_word(word.text) or (has_user and is_plain_password(word.text) and passwords.ends_clause(text, word.end)):
        return _word_finding(word)
    return None


def _has_user(text: str, name: Name, end: int) -> bool:
    """Whether a user is named next to a password that ends at `end`, which then may be any word."""
    around = f"{text[max(0, name.start - _CHARS_BEFORE) : name.start]} {text[end : end + _CHARS_BESIDE]}"
    return names_a_user(around)


def _is_no_password(value: str) -> bool:
    """Whether a quoted value is a message, a name in code or a stand-in."""
    return " " in value.strip() or not (judge_word(value) or is_plain_password(value)) or is_stand_in(value)


def _find_before(text: str, name: Name) -> Iterator[Finding]:
    """Yield values before a name: `Kaas-molen!5 als wachtwoord`."""
    if name.role is Role.LOGIN:
        return
    tokens = _split_words(text, _line_start(text, name.start), name.start)[::-1]
    for distance, token in enumerate(tokens[: _WORDS_NEAR_BEFORE + 1]):
        shape = judge_word(token.text)
        is_next = distance <= 1 or tokens[distance - 1].text.lower() in LINK_WORDS
        if shape is Shape.STRONG or (
            distance <= _WORDS_SHORT_NAME - 1 and shape is Shape.WEAK and is_next and not name.is_short
        ):
            yield _word_finding(token)


def _find_after(text: str, name: Name, at: int, end: int, *, signed: bool) -> Iterator[Finding]:
    """Yield values after a name; `signed` says that a sign is before the first word."""
    tokens = _split_words(text, at, end)
    if name.role is Role.PASSWORD and tokens and passwords.has_user_before(text, name.start):
        token = tokens[0] if tokens[0].text.lower() not in LINK_WORDS or len(tokens) == 1 else tokens[1]
        if passwords.is_password_beside_user(text, token.start, token.end):
            yield _word_finding(token)
    lead = Lead.SIGN if signed else _lead_of_name(text, name)
    for distance, token in enumerate(tokens):
        reach = _WORDS_NEAR if not name.is_short else _WORDS_SHORT_NAME if lead >= Lead.IS else _WORDS_NEXT
        is_near = distance <= reach
        is_quoted = text[token.start - 1] in "\"'`"
        is_led = "," not in text[token.start - 3 : token.start] and (
            is_quoted or (not distance and not name.is_short and name.role is Role.PASSWORD)
        )
        led = max(lead, Lead.LINK) if is_led else lead
        led = max(led, Lead.IS) if led < Lead.IS and _VERB_AFTER.match(text, token.end) else led
        if _is_value(token.text, name, led, is_near=is_near):
            yield _word_finding(token)
        elif is_near and (finding := _quoted_value(text, at, token, name, lead)):
            yield finding
        lead = _lead_of_word(text, token)


def _lead_of_name(text: str, name: Name) -> Lead:
    """Return how clearly a name introduces the next word: "with pass Quill7Fern"."""
    return (
        Lead.IS
        if name.is_short and _WITH_BEFORE.search(text[max(0, name.start - _CHARS_BESIDE) : name.start])
        else Lead.NONE
    )


def _quoted_value(text: str, at: int, token: _Token, name: Name, lead: Lead) -> Finding | None:
    """Return the contents of the quotes that begin with `token` if they are the value of `name`."""
    if name.role is not Role.PASSWORD or "\n" in text[at : token.start]:
        return None
    begin = token.start - (2 if text[token.start - 1] in " \u00a0" else 1)
    if (lead >= Lead.IS or names_phrase(text[name.start : name.end])) and (phrase := find_phrase(text, begin)):
        return Finding(*phrase, "password")
    quoted = _QUOTED.match(text, token.start - 1) if lead else None
    return Finding(*quoted.span(1), "password") if quoted and not _is_no_password(quoted[1]) else None


def _is_value(word: str, name: Name, lead: Lead, *, is_near: bool) -> bool:
    """Whether a word after a name is its value: the less it looks like one, the clearer its introduction must be."""
    shape = judge_word(word)
    if shape is Shape.STRONG:
        return bool(lead) or is_near or not name.is_short
    if name.role is Role.LOGIN:
        return lead is Lead.SIGN and shape in {Shape.WEAK, Shape.POOR}
    if not is_near:
        return shape is Shape.WEAK and lead >= Lead.IS
    if shape is Shape.WEAK:
        return lead >= Lead.IS or not name.is_short
    if shape is Shape.POOR:
        return lead >= (Lead.IS if name.is_short else Lead.LINK)
    return lead >= Lead.IS and (shape is Shape.HOST or _DIGITS.fullmatch(word) is not None)


def _lead_of_word(text: str, token: _Token) -> Lead:
    """Return how clearly a word introduces the value after it: "to", "is", or a sign."""
    word = token.text.lower()
    if text[token.end : token.end + 1] in _STOP_SIGNS:
        return Lead.NONE
    if word in _LEADING_SIGNS or text[token.end : token.end + 1] in _LEADING_SIGNS:
        return Lead.SIGN
    if word in COPULAS:
        return Lead.IS
    return Lead.LINK if word in LINK_WORDS else Lead.NONE


def _find_codes(text: str, name: Name, at: int, end: int, *, signed: bool) -> Iterator[Finding]:
    lead = Lead.SIGN if signed else Lead.NONE
    near = 0 if text[name.start : name.end].lower() == _PIN else _WORDS_NEXT
    for distance, token in enumerate(_split_words(text, at, end)):
        if distance > _WORDS_NEAR:
            return
        if (split := _SPLIT_CODE.match(text, token.start)) and not _UNIT.match(text, split.end()):
            yield Finding(*split.span(), "code")
        if (
            _CODE.fullmatch(token.text)
            and not _UNIT.match(text, token.end)
            and (lead or distance <= near or (near and len(token.text) == _USUAL_CODE_DIGITS))
        ):
            yield _word_finding(token)
            return
        lead = _lead_of_word(text, token)


def _find_sent_codes(text: str) -> Iterator[Finding]:
    """Yield codes that were sent by message: near a word for the message, any word for "code" will do."""
    ascii_only = text.isascii()
    for sms in chain(_SMS.finditer(text), () if ascii_only else _SMS_OTHER.finditer(text)):
        start, end = max(0, sms.start() - _CHARS_AROUND_SMS), min(len(text), sms.end() + _CHARS_AROUND_SMS)
        if _ANY_CODE.search(text, start, end):
            for found in _CODE_DIGITS.finditer(text, start, end):
                yield Finding(*found.span(), "code")


def _split_words(text: str, start: int, end: int) -> list[_Token]:
    found = (_strip_word(word.start(), word[0]) for word in _WORD.finditer(text, start, end))
    return [token for token in found if token.text]


def _strip_word(start: int, word: str) -> _Token:
    core = word.lstrip(_LEFT_MARGIN)
    start += len(word) - len(core)
    prefix = _RTL_PREFIX.match(core)
    if prefix:
        core = core[prefix.end() :]
        start += prefix.end()
    core = core.rstrip(_RIGHT_MARGIN)
    core = _SUFFIX.sub("", core)
    return _Token(start, start + len(core), core)


def _line_start(text: str, at: int) -> int:
    start = max(0, at - _CHARS_BEFORE)
    start = max(start, text.rfind("\n", start, at) + 1)
    while start and start < at and not text[start - 1].isspace():
        start += 1  # not from the middle of a word
    return start


def _word_finding(token: _Token) -> Finding:
    return Finding(token.start, token.end, "password" if not token.text.isdigit() else "code")
