"""Find passwords that stand beside the name of their user: `u: eve / p: hunter`, `user eve, password sunflower`. Pure.

Beside a user a password may be a plain word, so what people say of passwords ("wrong", "vergessen") is told apart by a
table, and the word must end its clause.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from skilld.redact.findings import Finding
from skilld.redact.languages import AND, STATES
from skilld.redact.naming import LINKS, user_before
from skilld.redact.passwords import Shape, is_plain_password, shape_of

_BEFORE = 64  # characters in which the user is named
_P = re.compile(r"[pP] ?[:=] ?(?P<secret>[^\s,;]{4,64}+)")
_IN_WORD, _USER = re.compile(r"[\w.-]"), re.compile(r"[\w.@-]+")
_U = re.compile(r"(?i)(?<![\w.-])(?:u|usr|user|username|login|name) ?[:=] ?[^\s,;]{1,64}[\s,;/|]{1,4}$")
# The sign is searched for first, and a digit behind it, since both together are rare.
_JOINED = re.compile(r"[:/](?<=\w.)(?=[^\s/:,;\d]{0,64}+\d)(?P<secret>[A-Za-z][^\s/:,;]{4,64}+)")
_ACCOUNTS = frozenset({"admin", "administrator", "root", "postgres", "guest", "superuser", "pi", "sa"})
_WITH = frozenset("with as using auth creds mit als avec con com met med som jako как с под".split())  # noqa: SIM905
_RIGHT = "\"'`)]}>»”’.,!?"
_SEPARATORS = re.compile(r"[\s,;:=/|&，、：\"'`]+")
_BETWEEN = AND | LINKS | {"name", "adı", "adi", "id", "名"}
# Where a clause ends, or goes on with a place: "password sunflower for the demo".
_ENDS = re.compile(
    r"[\"'`)\]]{0,2}(?:$|[ \t]{0,2}[,.;!\n)\uff0c\u3002]|[ \t]{1,2}(?:for|on|in|at|to|für|auf|pour|sur|para|en|no|na"
    r"|per|su|voor|op|på|for|til|do|для|на)\b)"
)


def find(text: str, *, has_digit: bool) -> Iterator[Finding]:
    """Yield the passwords of pairs that no name of a password gives away."""
    for found in _P.finditer(text) if ":" in text or "=" in text else ():
        at = found.start()
        if not _IN_WORD.match(text, at - 1) and _U.search(text[max(0, at - _BEFORE) : at]):
            yield _finding(found)
    for found in _JOINED.finditer(text) if has_digit else ():
        if _is_account(text[max(0, found.start() - _BEFORE) : found.start()], text[found.start()]):
            word = found["secret"].rstrip(_RIGHT)
            if word != word.lower() and shape_of(word) is Shape.STRONG:
                yield _finding(found)


def _is_account(before: str, sign: str) -> bool:
    """Whether the last word of `before` is the name of a user: a usual one, or one behind "with" or "as"."""
    words = before.rsplit(None, 2)
    return words[-1].lower() in _ACCOUNTS or (
        sign == ":" and len(words) > 1 and words[-2].lower() in _WITH and _USER.fullmatch(words[-1]) is not None
    )


def has_user_before(text: str, at: int) -> bool:
    """Whether a user and the name of that user, and nothing more, stand before the name of a password at `at`."""
    behind = user_before(text[max(0, at - _BEFORE) : at])
    if behind is None:
        return False
    words = [word for word in _SEPARATORS.split(behind.lower()) if word and word not in _BETWEEN]
    return len(words) == 1


def is_beside(text: str, start: int, end: int) -> bool:
    """Whether the word at [start, end), right behind the name of a password, is one, given that a user is named."""
    word = text[start:end]
    if shape_of(word):
        return True
    if not is_plain_password(word) or word.lower() in STATES or word.lower() in LINKS:
        return False
    foreign = word.isascii() and not text[max(0, start - _BEFORE) : start].isascii()
    return foreign or ends_clause(text, end)


def ends_clause(text: str, at: int) -> bool:
    """Whether the clause ends at `at`, or goes on with a place."""
    return _ENDS.match(text, at) is not None


def _finding(found: re.Match[str]) -> Finding:
    return Finding(found.start("secret"), found.start("secret") + len(found["secret"].rstrip(_RIGHT)), "password")
