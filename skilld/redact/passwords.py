"""Judges one word of prose: could it be a password that a person made up? Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum, auto

from skilld.redact.findings import Finding, is_nominal, is_opaque, is_stand_in
from skilld.redact.naming import AND, LINKS, STATES, user_before


class Shape(Enum):
    """How unlike a word a value is."""

    STRONG = auto()  # nothing but a password looks so: Tr0ub-lampost, legia!1916
    WEAK = auto()  # a word with digits: hunter77
    POOR = auto()  # the same, but so many things are called so that it takes a sign: step2, admin123
    HOST = auto()  # machines, versions and algorithms are called so: server01, python3


_LETTER, _DIGIT = re.compile(r"[^\W\d_]"), re.compile(r"\d")
_SYMBOL = re.compile(r"(?<=\w)[!@#$%^&*+?~§€£](?=\w)|[!$#%&](?=$)|(?<=^)[!@#$%&*](?=\w)")
_INNER = re.compile(r"[^\W\d_]\d+[^\W\d_]")
_CODE = re.compile(r"[()\[\]{}<>\\;|,\"`]|://|::|->|=>|==|&&|\.\.\.|…|\*{3}|•{3}")
_MAIL = re.compile(r"[\w.+-]+@(?:[\w-]+(?:\.[\w-]+)+|[a-z]{2,}\d{0,2}|[\w-]+(?=:))(?::\S*)?")
_NUMBER = re.compile(r"[#v€$£~<>+-]?\d[\d.,:/xX%-]*[^\W\d_]{0,4}(?:/[a-z]{1,5})?")
_ID = re.compile(
    r"(?i)(?:0x)?[0-9a-f]{7,128}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|(?-i:[A-Z]{1,10}-\d+)|sha\d.*|h1:.*|1password"
)
_FILE = re.compile(
    r"(?i)[\w.@/~-]*\.(?:[a-z]{1,4}|json|html|yaml|toml|lock|[a-z]{2}[a-z\d]\d?)(?::\d+)*|(?:\.{0,2}/|~/).*|[\w.-]+/[\w./-]+"
)
_IDENTIFIER = re.compile(r"[a-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)*|[A-Z][A-Z0-9_]+|[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]*)+")
_ASSIGNED = re.compile(r"[\w.-]+=.*|--?\w[\w-]*")
_WEAK = re.compile(r"[^\W\d_]+(?:[._-][^\W\d_]+)*[._-]?\d{1,6}")
_TECH = re.compile(
    r"(?i)(?:o?auth|sha|md|utf|base|bcrypt|scrypt|argon|pbkdf|http|ipv|ip|x|pkcs|web|python|py|java|node|es|ec|s|k|h|v|ver"
    r"|version|ubuntu|debian|windows|win|centos|postgres|pg|mysql|redis|angular|vue|react|php|ruby|go|rust|gpt|claude|aes"
    r"|rsa|ed|hs|rs|es|tls|ssl|smb|ntlm|nt|wpa|usb|mp|rfc|iso|log|zip|gzip|b|i|u|int|uint|float|c|d|p|q|t"
    r"|server|srv|host|box|node|db|app|api|vm|machine|stage|staging|prod|ci|step|case|page|line|row|col|field"
    r"|iphone|ipad|ios|macos|android|galaxy|pixel|chrome|firefox|safari|edge|min|max|len|length|feature|branch|fix"
    r"|team|group|table|schema|module|layer|level|part|chapter|section|item|option|option|build|release|room"
    r"|port|eth|wlan|cluster|worker|shard|replica|rev|issue|pr|ticket|task|story|sprint|phase|round|day|week|q|col|h|col"
    r"|zeile|seite|schritt|kapitel|maquina|servidor|serveur|sasl|scram|totp|otp|fa"
    r"|field|input|button|form|var|val|value|arg|param|func|fn|class|model|branch)[._-]?\d{1,6}"
)
_ACCOUNT = re.compile(
    r"(?i)(?:admin|administrator|root|user|usuario|utilisateur|utente|nutzer|benutzer|kunde|client|test|dev|demo|guest|gast"
    r"|key|token|secret|password|passwort|passwd|pass|pwd|login)[._-]?\d{1,6}"
)
_ONE_DIGIT = re.compile(r"[^\W\d_]+\d|[a-z]+(?:_[a-z]+)+\d")
_TURNING = re.compile(r"(?P<first>[^\W\d_]{3,32}\d{1,6})[^\W\d_]{1,32}")  # Quill7Fern, falafel99x
_MIN_LENGTH, _MAX_LENGTH, _LETTERS = 5, 64, 3


def shape_of(word: str) -> Shape | None:
    """Return how unlike a word `word` is; None if it is a word, a number, code, an id, a path or a stand-in."""
    if not _MIN_LENGTH <= len(word) <= _MAX_LENGTH or not _DIGIT.search(word) or not _LETTER.search(word):
        return None
    if _is_other(word) or is_stand_in(word) or is_nominal(word):
        return None
    if _TECH.fullmatch(word):
        return Shape.HOST
    if _ACCOUNT.fullmatch(word) or _ONE_DIGIT.fullmatch(word):
        return Shape.POOR
    if _WEAK.fullmatch(word):
        return _of_word_and_number(word)
    if _SYMBOL.search(word):
        return Shape.STRONG
    if _IDENTIFIER.fullmatch(word) and not is_opaque(word):
        return _of_identifier(word)
    has_both = any(map(str.isupper, word)) and any(map(str.islower, word))
    return Shape.STRONG if has_both or _INNER.search(word) else Shape.WEAK


def _of_identifier(word: str) -> Shape:
    """Return the shape of what may also be a name in code: `Base64Decoder` is one, `Quill7Fern` a password."""
    if "." in word:
        return Shape.HOST
    if not _INNER.search(word):
        return Shape.WEAK
    turning = _TURNING.fullmatch(word)
    return Shape.WEAK if turning and not _TECH.fullmatch(turning["first"]) else Shape.HOST


def _of_word_and_number(word: str) -> Shape:
    if len(_LETTER.findall(word)) < _LETTERS:
        return Shape.HOST
    return Shape.STRONG if any(map(str.isupper, word)) and re.search(r"[._-]", word) else Shape.WEAK


def is_plain_password(word: str) -> bool:
    """Whether `word`, given as a password next to the name of a user, may be one though it is a plain word."""
    if not 4 <= len(word) <= _MAX_LENGTH or _is_other(word) or is_stand_in(word) or is_nominal(word):  # noqa: PLR2004
        return False
    return not _TYPE.fullmatch(word)


# A phrase of words, which only quotes hold together.
_PHRASE = re.compile(
    r"[\"'`\u201c\u201e\u00ab\u2018\u300c][ \u00a0]?(?P<phrase>[^\W_]{1,24}(?:[ -][^\W_]{1,24}){2,9})"
    r"[ \u00a0]?[\"'`\u201c\u201d\u00bb\u2019\u300d]"
)
_OF_WORDS = re.compile(r"(?i)phras|fras|фраз|lause|mond|zin$|フレーズ|短语|合言葉")  # names that promise one
_MESSAGE = re.compile(r"(?i)pass|secret|wrong|must|please|invalid|enter|\b(?:your|is|are|not|be)\b")


def phrase_at(text: str, at: int) -> tuple[int, int] | None:
    """Return the span of the words in the quotes that begin at `at`, if they may be a passphrase and no message."""
    found = _PHRASE.match(text, at)
    return found.span("phrase") if found and not _MESSAGE.search(found["phrase"]) else None


def promises_words(name: str) -> bool:
    """Whether a name promises a phrase: "passphrase"."""
    return _OF_WORDS.search(name) is not None


_TYPE = re.compile(
    r"(?i)[a-z]+(?:_[a-z]+)+|str(?:ing)?|text|bytes|required|optional|nullable|any|unknown|varchar|char|hash(?:ed)?|missing|empty|wrong|invalid"
    r"|valid|correct|incorrect|expired|secret|hidden|input|field|yes|no|same|different"
)


def _is_other(word: str) -> bool:
    return (
        any(pattern.fullmatch(word) for pattern in (_MAIL, _NUMBER, _ID, _FILE, _ASSIGNED))
        or _CODE.search(word) is not None
    )


# Find passwords that stand beside the name of their user: `u: eve / p: hunter`, `user eve, password sunflower`. Beside
# a user a password may be a plain word, so what people say of passwords ("wrong", "vergessen") is told apart by a
# table, and the word must end its clause.

_BEFORE = 64  # characters in which the user is named
_P = re.compile(r"[pP] ?[:=] ?(?P<secret>[^\s,;]{4,64}+)")
_IN_WORD, _USER = re.compile(r"[\w.-]"), re.compile(r"[\w.@-]+")
_U = re.compile(r"(?i)(?<![\w.-])(?:u|usr|user|username|login|name) ?[:=] ?[^\s,;]{1,64}[\s,;/|]{1,4}$")
# The sign is searched for first, and a digit behind it, since both together are rare.
_JOINED = re.compile(r"[:/](?<=\w.)(?=[^\s/:,;\d]{0,64}+\d)(?P<secret>[A-Za-z][^\s/:,;]{4,64}+)")
_ACCOUNTS = frozenset({"admin", "administrator", "root", "postgres", "guest", "superuser", "pi", "sa"})
_WITH = frozenset("with as using auth creds mit als avec con com met med som jako как с под".split())  # noqa: SIM905
_ROLES = " as ", " als ", " como ", " come ", " comme ", " que ", " jako ", " som "
_LOGIN = re.compile(
    r"(?i)\b(?:log|sign|connect|auth|melde|anmeld|einlog|connecte|inicia|entra|acced)\w*[^\n.;]{0,60}?"
    rf"(?:{'|'.join(_ROLES)})[\w.@-]{{1,64}},? (?:with|using|and|mit|con|avec|com|met|med) "
    r"[\"'`]?(?P<secret>[^\s,;]{5,64}+)"
)
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
    for found in _LOGIN.finditer(text) if has_digit and any(word in text for word in _ROLES) else ():
        if shape_of(found["secret"].rstrip(_RIGHT)) in {Shape.STRONG, Shape.WEAK}:
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
