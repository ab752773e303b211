"""Judges one word of prose: could it be a password that a person made up? Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum, auto

from skilld.redact.findings import Finding, is_opaque, is_password_word, is_stand_in
from skilld.redact.naming import CONJUNCTIONS, LINK_WORDS, STATE_WORDS, text_after_user


class Shape(Enum):
    """How little a value looks like a word."""

    STRONG = auto()  # only passwords look like this: Tr0ub-lampost, legia!1916
    WEAK = auto()  # a word with digits: hunter77
    POOR = auto()  # the same, but so common that it takes a sign: step2, admin123
    HOST = auto()  # like the names of machines, versions and algorithms: server01, python3


_LETTER, _DIGIT = re.compile(r"[^\W\d_]"), re.compile(r"\d")
_SYMBOL = re.compile(r"(?<=\w)[!@#$%^&*+?~§€£](?=\w)|[!$#%&](?=$)|(?<=^)[!@#$%&*](?=\w)")
_INNER = re.compile(r"[^\W\d_]\d+[^\W\d_]")
_CODE_SIGN = re.compile(r"[()\[\]{}<>\\;|,\"`]|://|::|->|=>|==|&&|\.\.\.|…|\*{3}|•{3}")
_EMAIL = re.compile(r"[\w.+-]+@(?:[\w-]+(?:\.[\w-]+)+|[a-z]{2,}\d{0,2}|[\w-]+(?=:))(?::\S*)?")
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
_WORD_NUMBER_WORD = re.compile(r"(?P<first>[^\W\d_]{3,32}\d{1,6})[^\W\d_]{1,32}")  # Quill7Fern, falafel99x
_MIN_LENGTH, _MAX_LENGTH, _LETTERS = 5, 64, 3


def judge_word(word: str) -> Shape | None:
    """Return the shape of `word`; None if it is a word, a number, code, an ID, a path or a stand-in."""
    if not _MIN_LENGTH <= len(word) <= _MAX_LENGTH or not _DIGIT.search(word) or not _LETTER.search(word):
        return None
    if _is_other_kind(word) or is_stand_in(word) or is_password_word(word):
        return None
    if _TECH.fullmatch(word):
        return Shape.HOST
    if _ACCOUNT.fullmatch(word) or _ONE_DIGIT.fullmatch(word):
        return Shape.POOR
    if _WEAK.fullmatch(word):
        return _judge_word_and_number(word)
    if _SYMBOL.search(word):
        return Shape.STRONG
    if _IDENTIFIER.fullmatch(word) and not is_opaque(word):
        return _judge_identifier(word)
    has_both = any(map(str.isupper, word)) and any(map(str.islower, word))
    return Shape.STRONG if has_both or _INNER.search(word) else Shape.WEAK


def _judge_identifier(word: str) -> Shape:
    """Return the shape of a word that may be a name in code: `Base64Decoder` is one, `Quill7Fern` a password."""
    if "." in word:
        return Shape.HOST
    if not _INNER.search(word):
        return Shape.WEAK
    turning = _WORD_NUMBER_WORD.fullmatch(word)
    return Shape.WEAK if turning and not _TECH.fullmatch(turning["first"]) else Shape.HOST


def _judge_word_and_number(word: str) -> Shape:
    if len(_LETTER.findall(word)) < _LETTERS:
        return Shape.HOST
    return Shape.STRONG if any(map(str.isupper, word)) and re.search(r"[._-]", word) else Shape.WEAK


def is_plain_password(word: str) -> bool:
    """Whether `word`, next to the name of a user, may be a password even if it is a plain word."""
    if not 4 <= len(word) <= _MAX_LENGTH or _is_other_kind(word) or is_stand_in(word) or is_password_word(word):  # noqa: PLR2004
        return False
    return not _TYPE_WORD.fullmatch(word)


# A phrase of words in quotes.
_PHRASE = re.compile(
    r"[\"'`\u201c\u201e\u00ab\u2018\u300c][ \u00a0]?(?P<phrase>[^\W_]{1,24}(?:[ -][^\W_]{1,24}){2,9})"
    r"[ \u00a0]?[\"'`\u201c\u201d\u00bb\u2019\u300d]"
)
_PHRASE_NAME = re.compile(r"(?i)phras|fras|фраз|lause|mond|zin$|フレーズ|短语|合言葉")  # names that promise one
_MESSAGE = re.compile(r"(?i)pass|secret|wrong|must|please|invalid|enter|\b(?:your|is|are|not|be)\b")


def find_phrase(text: str, at: int) -> tuple[int, int] | None:
    """Return the span of the words in quotes at `at` if they may be a passphrase, not a message."""
    found = _PHRASE.match(text, at)
    return found.span("phrase") if found and not _MESSAGE.search(found["phrase"]) else None


# Four to ten words after "passphrase:", to the end of the line or sentence; small words and these speak about one.
_BARE_PHRASE = re.compile(r"[^\W\d_]{3,24}(?:[ -][^\W\d_]{3,24}){3,9}+(?=[ \t]*(?:[.,;!]|$))", re.MULTILINE)
_SPEAKS_OF_PHRASE = re.compile(
    r"(?i)\b(?:the|and|for|with|from|that|this|not|never|always|only|please|must|should|can|will|was|are|has|have|who|why|how"
    r"|when|where|what|you|your|our|they|see|ask|use|set|stored?|kept|keep|wrong|missing|invalid|required|optional|empty"
    r"|words?|characters?|length|minimum|least|than|into|file|vault|manager|prompt|der|die|das|und|ist|nicht|les|des|pour|est"
    r"|que|una|para|con)\b"
)


def find_bare_phrase(text: str, at: int) -> tuple[int, int] | None:
    """Return the span of plain words at `at` if they may be a passphrase, and do not speak about one."""
    found = _BARE_PHRASE.match(text, at)
    return found.span() if found and not _SPEAKS_OF_PHRASE.search(found[0]) else None


# What a phrase is for, between its name and a link: "passphrase for the signing key: ...".
_PURPOSE = re.compile(
    r"(?i)[ \t]{1,3}(?:for|of|to|on|f\u00fcr|zu|von|pour|de|del|para)(?:[ \t]{1,3}[^\W\d_]{1,20}){1,4}?"
    r"(?=[ \t]{0,3}(?:[:=\uff1a\u2192]|->|[ \t](?:is|was|ist|war|lautet|est|es)[ \t]))"
)
_PHRASE_LINK = re.compile(r"(?i)[ \t]{1,3}(?P<is>(?:is|was|ist|war|lautet|est|es)[ \t]{1,3})?")
_DEVICE_BEFORE = re.compile(
    r"(?i)\b(?:luks|bitlocker|filevault|veracrypt|truecrypt|gpg|ssh|age|restic|borg|keepass|disk|drive|wallet|laptop|vault"
    r"|encryption|backup|platten\w{0,20})[ -]$"
)
# Behind the name of a phrase: what happens to it, or a thing of that name.
_TOLD_OF_PHRASE = re.compile(
    r"(?i)\A(?:\w+(?:ed|ing)|shown|sent|kept|written|too|very|now|still|also|just|already|only|wird|wurde)\b"
    r"|\b(?:pages?|fields?|inputs?|forms?|screens?|dialogs?|buttons?|generators?|looks?|needs?|shows?|asks?|before|after|in"
    r"|on|to|at|by|if|is|or|but|vor|nach|bei|wird|neu)\b"
)


def find_unmarked_phrase(text: str, begin: int, end: int) -> tuple[int, int] | None:
    """Return the span of the plain words after the name of a phrase at [begin, end): "luks passphrase correct ..."."""
    link = _PHRASE_LINK.match(text, end)
    found = find_bare_phrase(text, link.end()) if link else None
    if link is None or found is None or _TOLD_OF_PHRASE.search(text[slice(*found)]):
        return None
    device = _DEVICE_BEFORE.search(text[max(0, begin - _MAX_DEVICE) : begin])
    return found if link["is"] or device else None


def end_of_purpose(text: str, end: int) -> int:
    """Return where the name of a phrase that ends at `end` ends with what the phrase is for."""
    purpose = _PURPOSE.match(text, end)
    return purpose.end() if purpose else end


_MAX_DEVICE = 32  # characters before a name that are searched for what the phrase opens


def names_phrase(name: str) -> bool:
    """Whether a name promises a phrase: "passphrase"."""
    return _PHRASE_NAME.search(name) is not None


_TYPE_WORD = re.compile(
    r"(?i)[a-z]+(?:_[a-z]+)+|str(?:ing)?|text|bytes|required|optional|nullable|any|unknown|varchar|char|hash(?:ed)?|missing|empty|wrong|invalid"
    r"|valid|correct|incorrect|expired|secret|hidden|input|field|yes|no|same|different"
)


def _is_other_kind(word: str) -> bool:
    return (
        any(pattern.fullmatch(word) for pattern in (_EMAIL, _NUMBER, _ID, _FILE, _ASSIGNED))
        or _CODE_SIGN.search(word) is not None
    )


# Passwords next to the name of their user: `u: eve / p: hunter`, `user eve, password sunflower`. Next to a user, a
# password may be a plain word, so a table excludes what people say about passwords ("wrong", "vergessen"), and the word
# must end its clause.

_CHARS_BEFORE = 64  # characters that are searched for the user
_P_VALUE = re.compile(r"[pP] ?[:=] ?(?P<secret>[^\s,;]{4,64}+)")
_IN_WORD, _USER = re.compile(r"[\w.-]"), re.compile(r"[\w.@-]+")
_USER_BEFORE = re.compile(r"(?i)(?<![\w.-])(?:u|usr|user|username|login|name) ?[:=] ?[^\s,;]{1,64}[\s,;/|]{1,4}$")
# The sign is searched first, and a digit after it, since both together are rare.
_JOINED_PAIR = re.compile(r"(?:[:/](?<=\w.)| / (?<=\w...))(?=[^\s/:,;\d]{0,64}+\d)(?P<secret>[A-Za-z][^\s/:,;]{4,64}+)")
_ACCOUNTS = frozenset({"admin", "administrator", "root", "postgres", "guest", "superuser", "pi", "sa"})
_WITH_WORDS = frozenset("with as using auth creds mit als avec con com met med som jako как с под".split())  # noqa: SIM905
_ROLES = " as ", " als ", " como ", " come ", " comme ", " que ", " jako ", " som "
_USERS = "user", "account", "login", "nutzer", "usuario", "utilisateur", "utente", "usuário", "gebruiker"
_WITH = "with|using|mit|con|avec|com|met|med"
_LOGIN = re.compile(
    r"(?i)\b(?:log|sign|connect|auth|melde|anmeld|einlog|connecte|inicia|entra|acced)\w*[^\n.;]{0,60}?"
    rf"(?:(?P<role>{'|'.join(_ROLES)})|\b(?:{_WITH})\b[^\n.;,\d]{{0,12}}?(?:{'|'.join(_USERS)})(?:name)? )"
    rf"[\w.@-]{{1,64}}(?(role),? (?:{_WITH}|and)|(?:,| (?:and|und|et|y|e|en|och|og|{_WITH}))) "
    r"[\"'`]?(?P<secret>[^\s,;]{5,64}+)"
)
_RIGHT_MARGIN = "\"'`)]}>»”’.,!?"
_SEPARATORS = re.compile(r"[\s,;:=/|&，、：\"'`]+")
_WORDS_BETWEEN = CONJUNCTIONS | LINK_WORDS | {"name", "adı", "adi", "id", "名"}
# Where a clause ends, or continues with a place: "password sunflower for the demo".
_CLAUSE_END = re.compile(
    r"[\"'`)\]]{0,2}(?:$|[ \t]{0,2}[,.;!\n)\uff0c\u3002]|[ \t]{1,2}(?:for|on|in|at|to|für|auf|pour|sur|para|en|no|na"
    r"|per|su|voor|op|på|for|til|do|для|на)\b)"
)


def find_pairs(text: str, *, has_digit: bool) -> Iterator[Finding]:
    """Yield the passwords in pairs of user and password without a word for a password."""
    for found in _P_VALUE.finditer(text) if ":" in text or "=" in text else ():
        at = found.start()
        if not _IN_WORD.match(text, at - 1) and _USER_BEFORE.search(text[max(0, at - _CHARS_BEFORE) : at]):
            yield _password_finding(found)
    for found in _LOGIN.finditer(text) if has_digit and any(word in text for word in (*_ROLES, *_USERS)) else ():
        if judge_word(found["secret"].rstrip(_RIGHT_MARGIN)) in {Shape.STRONG, Shape.WEAK}:
            yield _password_finding(found)
    for found in _JOINED_PAIR.finditer(text) if has_digit else ():
        if _is_account(text[max(0, found.start() - _CHARS_BEFORE) : found.start()], text[found.start()]):
            word = found["secret"].rstrip(_RIGHT_MARGIN)
            if word != word.lower() and judge_word(word) is Shape.STRONG:
                yield _password_finding(found)


def _is_account(before: str, sign: str) -> bool:
    """Whether the last word of `before` is the name of a user: a common one, or one after "with" or "as"."""
    words = before.rsplit(None, 2)
    return words[-1].lower() in _ACCOUNTS or (
        sign == ":" and len(words) > 1 and words[-2].lower() in _WITH_WORDS and _USER.fullmatch(words[-1]) is not None
    )


def has_user_before(text: str, at: int) -> bool:
    """Whether only a word for a user and the user's name are before the word for a password at `at`."""
    behind = text_after_user(text[max(0, at - _CHARS_BEFORE) : at])
    if behind is None:
        return False
    words = [word for word in _SEPARATORS.split(behind.lower()) if word and word not in _WORDS_BETWEEN]
    return len(words) == 1


def is_password_beside_user(text: str, start: int, end: int) -> bool:
    """Whether the word at [start, end), right after the word for a password, is one, given that a user is named."""
    word = text[start:end]
    if judge_word(word):
        return True
    if not is_plain_password(word) or word.lower() in STATE_WORDS or word.lower() in LINK_WORDS:
        return False
    foreign = word.isascii() and not text[max(0, start - _CHARS_BEFORE) : start].isascii()
    return foreign or ends_clause(text, end)


def ends_clause(text: str, at: int) -> bool:
    """Whether the clause ends at `at`, or continues with a place."""
    return _CLAUSE_END.match(text, at) is not None


def _password_finding(found: re.Match[str]) -> Finding:
    return Finding(
        found.start("secret"), found.start("secret") + len(found["secret"].rstrip(_RIGHT_MARGIN)), "password"
    )
