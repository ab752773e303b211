"""Finds secrets by the name they are assigned to: `password = ...`, .env lines, JSON, YAML, flags, XML. Pure.

Only the value is a finding. The more its name promises, and the plainer the assignment, the less a value must look like
a secret; code, templates, paths and plain words are left alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum, IntEnum, auto
from typing import NamedTuple

from skilld.redact.findings import (
    UUID,
    Finding,
    is_call,
    is_code,
    is_mixed,
    is_opaque,
    is_password_word,
    is_path,
    is_scrambled,
    is_stand_in,
    is_template,
)

# A name may promise a password, a secret, perhaps one, or nothing: `SONAR_TOKEN`, `dbPassword`, `x-api-key` do promise
# one; `max_tokens`, `keyboard`, `public_key`, `token_count`, `secretName` do not.


class Promise(IntEnum):
    """How much a name promises: the more, the less its value must look like a secret."""

    NOTHING = 0
    PERHAPS = 1  # a key, a login, an access ID: only machine-made values
    SECRET = 2  # a token, an API key: values that are no words
    PASSWORD = 3  # a password: made up by people


# Every name that promises something contains one of these.
STEMS = re.compile(
    r"pass|pw|secret|token|key|cred|auth|login|access_?-?id|client_?-?id|sas|cookie|salt|pat\b"
    r"|contrase|kennwort|senha|парол|密码|密碼|パスワード|비밀번호"
)
_FOREIGN_PASSWORD = re.compile(r"contraseñ?n?a|kennwort|\bsenha|парол|密码|密碼|パスワード|비밀번호")

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_PASSWORD = re.compile(
    r"\w*(?:passw(?:or)?d|passphrase|passcode)|\w{0,8}pwd|(?:db|my|user|root|admin|mysql|pg|ftp|smtp|ssh|sl)?pass|pw|secrete?"
)
_SECRET = re.compile(
    r"\w*(?:token|(?:api|access|secret|private|auth|shared|account|master|signing|encryption)key|(?:client|app)secret)"
    r"|creds?|credentials?"
)
_POSSIBLE_SECRET = re.compile(r"keys?|pat|auth|login|salt|cookie|sas")
# Words before "key" or "auth" that make it certainly a secret.
_OWNER = re.compile(
    r"api|aws|access|account|secret|private|priv|auth(?:orization)?|shared|master|signing|encryption|deploy|service|client"
    r"|admin|root|webhook|consumer|license|ssh|iam|bearer|db|database"
)
_ID_NAME = re.compile(r"(?:access|client|app|account|key)_?(?:id|identifier)$")
# Words that turn the name of a secret into the name of something about it, or of something public.
_PUBLIC_BEFORE = re.compile(
    r"pub(?:lic)?|primary|foreign|sort|partition|cached?|max|min|num|total|count|n|next|per|input|output|prompt"
    r"|completion|used?|no|has|is|with|without|missing|invalid|forgot|reset|show|hide|toggle"
)
_PUBLIC_AFTER = re.compile(
    r"names?|types?|length|len|size|counts?|limits?|max|min|num|paths?|files?|filename|dir|directory|folder|url|uri"
    r"|endpoint|host|port|vault|store|storage|ring|board|codes?|map|format|fields?|column|index|input|labels?"
    r"|placeholder|pattern|regex|policy|expir(?:y|es|ation)|ttl|timeout|prefix|suffix|version|alg(?:orithm)?|usage|used"
    r"|budget|costs?|price|window|rotation|enabled|required|valid(?:ators?|ation)?|hashers?|errors?|exception|help|hint|prompt"
    r"|manager|provider|services?|handler|helper|class|env|var(?:iable)?|arn|ref|fingerprint|ids?|identifier"
    r"|param(?:eter)?s?|at|time(?:stamp)?|date|since|thresholds?|settings|config|options|state|status|context|strategy"
    r"|mode|scopes?|method|middleware|page|form|reset|less|stream|png|svg|json|ya?ml|toml|ini|cfg|txt|pem|md|html|css|csv"
)


def judge_name(name: str) -> Promise:
    """Return what `name`, an identifier in any spelling (dots, dashes, camel case), promises about its value."""
    if _FOREIGN_PASSWORD.search(name.lower()):
        return Promise.PASSWORD
    words = [word.lower() for word in _WORD.findall(name[-3 * _MAX_NAME_SIDE :])]
    best = max((_judge_word(words, i) for i in range(len(words))), default=Promise.NOTHING)
    if best is Promise.NOTHING and _ID_NAME.search("_".join(words)):
        return Promise.PERHAPS
    return best


def _judge_word(words: list[str], i: int) -> Promise:
    """Return what word `i` promises; the other words may show that the name is only about a secret."""
    if any(map(_PUBLIC_AFTER.fullmatch, words[i + 1 :])):
        return Promise.NOTHING
    if _PASSWORD.fullmatch(words[i]):
        return Promise.PASSWORD
    if any(map(_PUBLIC_BEFORE.fullmatch, words[:i])):
        return Promise.NOTHING
    if _SECRET.fullmatch(words[i]):
        return Promise.SECRET
    if not _POSSIBLE_SECRET.fullmatch(words[i]):
        return Promise.NOTHING
    owned = words[i] in {"key", "auth"} and i > 0 and _OWNER.fullmatch(words[i - 1])
    return Promise.SECRET if owned else Promise.PERHAPS


# The syntax of assignments in code, data, shells, markup and prose. Every quantifier is bounded or possessive, and only
# text directly before or after the name is read.


class ValueForm(Enum):
    """How a value is written."""

    LITERAL = auto()  # certainly a string
    PLAIN = auto()  # the same without quotes or in a shell, where the name of a variable has a sign
    BARE = auto()  # without quotes or as an argument: it may be code
    NEXT = auto()  # only separated by a blank: it may be any word


class AssignedValue(NamedTuple):
    """A value at [start, end). `equals` says that the sign before it contains a `=`."""

    start: int
    end: int
    way: ValueForm
    equals: bool


# What may be between a name and its value.
_LINK = re.compile(
    r"""(?x)
      \\{0,3}["'`]? \*{0,2} \]? (?:\[["'\w]{0,24}\])? [ \t]{0,8}
      (?: :[ ]?[A-Za-z][\w.\[\]]{0,24}[ \t]{0,4}=(?![=>])              # name: type =
        | [ \t]{1,4}[A-Za-z][\w.*\[\]]{0,24}[ \t]{1,4}:?=(?![=>])      # name type =
        | ={2,3} | !={1,2} | :{0,3}=>? | \?= | \|\|= | -> | <- | :(?!:) | ： | \b(?:is|was)\b:?
      ) \*{0,2} \s{0,8} (?:\[\s{0,8}(?=["'`]))?
    # <add key="name" value="value"/>, {"name": "name", "value": "value"}, and the same in YAML
    | (?P<pair> \\{0,3}["'`]? (?: \s{0,40}, \s{0,40} | \s{1,40} ) \\{0,3}["'`]?(?:value|content)\\{0,3}["'`]?
        \s{0,4} [:=] \s{0,4} )
    | (?P<argument> \\{0,3}["'] [ \t]{0,4} , ) \s{0,8} (?=\\{0,3}["'])            # ("name", "value")
    | (?P<call> (?:\.(?:set\w{0,16}|assign|equals|put|append|push))? \( ) (?=@?\\{0,3}["'`])  # name("value")
    | [ \t]{1,4} (?=@?\\{0,3}["'])                                                # name "value"
    | (?P<element> > \s{0,40} )                                                   # <name>value</name>
    """
)
_BLANK = re.compile(r"[ \t]{1,4}(?!-)")  # --name value
_SET_COMMAND = re.compile(r"\b(?:setx|set -[a-zU]{0,3}x[a-zU]{0,3})[ \t]{1,4}\Z")  # of a variable: Windows, fish
_CONFIGURE = re.compile(r"\bconfig(?:ure|uration)?[ \t:]{1,4}(?:(?:set|add)[ \t]{1,4})?(?:--[\w-]{1,24}[ \t]{1,4})?\Z")
_QUOTED = re.compile(
    r"""(?:@|(?P<prefix>[fFrRbBuU]{1,2}))?(?P<quote>\\{0,3}(?:'''|\"{3}|["'`]))"""
    r"""(?P<value>(?:(?!(?P=quote))[^\n]){1,16384}+)(?P=quote)"""
)
_BRACED = re.compile(r"\{(?P<value>[^{}\n]{4,256}+)\}")  # in a connection string, which may contain semicolons
_FOLDED = re.compile(r"[|>][-+]?[ \t]{0,8}\r?\n[ \t]{1,40}(?P<value>\S{1,16384}+)")  # a block scalar of YAML
_ELEMENT = re.compile(r"(?P<value>[^<\s]{4,16384}+)\s{0,40}</")
_BARE_PATTERN = re.compile(
    r"""(?x)
    (?: (?! [;&,|]\s?["']?[A-Za-z_][\w.-]{0,63}+["']?[=:]  # the next pair of a query or a list
          | & | \\[nr] | <[/A-Za-z] | \\?["'`](?=[,;)\s}\]]|$) )
        \S ){1,16384}+"""
)
_TRAILING = ".,;:!?)]}'\"`\\"
_COMPARISON_BEFORE = re.compile(r"""(["'`])(?P<value>[^"'`\n]{4,256})\1\s{0,2}[=!]==?\s{0,2}$""")
_CONFIGURE_REACH = 48  # characters of such a command
_MAX_COMPARISON = 264  # the longest literal a name is compared with, and the operator
_ENV_LINE = re.compile(r"[ \t]*(?:(?:export|set|ENV|-)[ \t]+|\$env:)?[A-Z][A-Z0-9_]*=[ \t]*")
_SHELL_NAME = re.compile(r"(?:--?[A-Za-z][\w.-]*|[A-Z][A-Z0-9_]*)=")  # --password=..., env DB_PASSWORD=... program
_LINE_START = 80
_PAIR_SIGNS = (";", "&", "?")  # before a pair of a connection string or of a query


def assigned_value(text: str, start: int, end: int) -> AssignedValue | None:
    """Return the value assigned to the name at [start, end) of `text`, or None."""
    link = _LINK.match(text, end)
    if not link:
        blank = _BLANK.match(text, end)
        way = ValueForm.LITERAL if _SET_COMMAND.search(text, max(0, start - 12), start) else ValueForm.NEXT
        bare = text[start] == "-" or _CONFIGURE.search(text, max(0, start - _CONFIGURE_REACH), start)
        return _bare_value(text, blank.end(), ValueForm.BARE if bare else way) if blank else None
    if link["argument"] and not text[max(0, start - 4) : start].rstrip("\\\"'").endswith("("):
        return None  # a list of names
    at, equals = link.end(), "=" in link[0]
    if link["element"]:
        found = _ELEMENT.match(text, at)
        return AssignedValue(*found.span("value"), ValueForm.LITERAL, equals=True) if found else None
    is_string = (equals and text[start - 1 : start] in _PAIR_SIGNS) or _is_shell_name(text, start, at)
    if quoted := _QUOTED.match(text, at):
        if "f" in (quoted["prefix"] or "").lower() and "{" in quoted["value"]:
            return None
        may_be_code = link["argument"] or link["call"] or quoted["quote"] == "`"  # Markdown quotes names so
        literal = ValueForm.PLAIN if is_string else ValueForm.LITERAL
        return AssignedValue(*quoted.span("value"), ValueForm.BARE if may_be_code else literal, equals)
    marked = _BRACED.match(text, at) if equals and text[start - 1 : start] == ";" else _FOLDED.match(text, at)
    if marked:
        return AssignedValue(*marked.span("value"), ValueForm.LITERAL if equals else ValueForm.BARE, equals)
    if "\n" in link[0] and not link["pair"]:
        return None
    return _bare_value(text, at, ValueForm.PLAIN if is_string else ValueForm.BARE, equals=equals)


def compared_literal(text: str, start: int) -> AssignedValue | None:
    """Return the literal before the name at `start` that is compared with it, or None."""
    if not text[max(0, start - 4) : start].rstrip().endswith("="):
        return None
    offset = max(0, start - _MAX_COMPARISON)
    found = _COMPARISON_BEFORE.search(text[offset:start])
    return (
        AssignedValue(offset + found.start("value"), offset + found.end("value"), ValueForm.LITERAL, equals=True)
        if found
        else None
    )


def _bare_value(text: str, at: int, way: ValueForm, *, equals: bool = False) -> AssignedValue | None:
    found = _BARE_PATTERN.match(text, at)
    return AssignedValue(at, at + len(found[0].rstrip(_TRAILING)), way, equals) if found else None


def _is_shell_name(text: str, start: int, end: int) -> bool:
    """Whether the name at `start` begins a line of the form NAME= (possibly after export, set and the like).

    Also for an option, and a variable in the middle of a command: then no blank follows the sign.
    """
    if _SHELL_NAME.fullmatch(text, start, end) and (start == 0 or text[start - 1] in " \t\"'"):
        return True
    begin = text.rfind("\n", max(0, start - _LINE_START), start) + 1
    return _ENV_LINE.fullmatch(text, begin or max(0, start - _LINE_START), end) is not None


_MAX_NAME_SIDE = 64  # characters of a name on either side of its stem
_NAME_CHARS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-"
_NAME_AFTER = re.compile(rf"[\w.-]{{0,{_MAX_NAME_SIDE}}}+")
_ABOUT_SECRETS = re.compile(
    r"(?i)pass|secret|token|key|login|sign|enter|must|empty|wrong|invalid|\b(?:the|your|an?|is|for|of)\b"
)
_MAX_LABEL_WORDS = 6  # more words than this are a sentence
_VARIABLE_NAME = re.compile(r"_*[A-Za-z]+(?:_+[A-Za-z]+)+\d{0,2}|[A-Z]+(?:_[A-Z0-9]{1,16}+)+")  # the name of one
_LONG_LETTER_RUN = re.compile(r"[a-z]{24,}+|[A-Z]{24,}+")  # the longest common word has 20 letters
_KEY_PATTERN = re.compile(r"\S{8,}")  # no key is shorter or has a blank
_PASSWORD_PARTS = tuple(map(re.compile, (r"[A-Za-z]", r"\d", r"[!@#$%^&*+?]")))
_HASH_OR_UUID = re.compile(r"[0-9a-fA-F]{7,40}|[0-9a-fA-F-]{36}")  # a git hash or a UUID
_ID_OF_KEY = re.compile(r"(?i)(?:key|access)[_-]?id$")  # a UUID with such a name identifies a key, but is not a key
_VERBS = frozenset({"pass"})  # "all tests pass: ..."
_MAX_JUDGED = 512  # characters: they show what the rest is
_MAX_TRIES = 8  # names tried inside one unbroken value; a value with more is neither code nor words
_MIN_LENGTH = 4
# A shorter number is no secret.
_MIN_DIGITS = {Promise.PASSWORD: 6, Promise.SECRET: 12, Promise.PERHAPS: 64}


def find_assigned(text: str, lowered: str) -> Iterator[Finding]:
    """Yield the value of every name in `text` that promises a secret and is assigned one."""
    done = run_end = tries = 0
    for stem in STEMS.finditer(lowered):
        if stem.start() < done:
            continue
        start, done = _name_around(text, stem.start())
        name = text[start:done].removeprefix("-D").strip(".-")
        promise = judge_name(name)
        value = _find_value(text, start, done) if promise else None
        if not value or (_ID_OF_KEY.search(name) and UUID.fullmatch(text[value.start : value.end])):
            continue
        tries = tries + 1 if value.start < run_end else 0
        run_end = max(run_end, value.end)
        if tries > _MAX_TRIES or _is_secret(
            text[value.start : min(value.end, value.start + _MAX_JUDGED)], value, promise
        ):
            yield Finding(value.start, value.end, "password" if promise is Promise.PASSWORD else "secret-value")
            done = max(done, value.end)


def _name_around(text: str, at: int) -> tuple[int, int]:
    before = text[max(0, at - _MAX_NAME_SIDE) : at]
    after = _NAME_AFTER.match(text, at)
    return at - len(before) + len(before.rstrip(_NAME_CHARS)), after.end() if after else at + 1


def _find_value(text: str, start: int, end: int) -> AssignedValue | None:
    value = compared_literal(text, start) or assigned_value(text, start, end)
    quoted = text[end : end + 1] in {'"', "'"}
    verb = text[start:end].lower() in _VERBS and not quoted and not (value and value.equals)
    return None if verb else value


def _is_secret(text: str, value: AssignedValue, promise: Promise) -> bool:
    """Whether `text` is a secret, by its form and its name's promise."""
    if len(text) < _MIN_LENGTH or is_template(text) or _is_label(text, value):
        return False
    if text.isdigit():
        return len(text) >= _MIN_DIGITS[promise]
    if value.way is ValueForm.NEXT:
        return _is_secret_word(text, promise)
    plain = value.way is ValueForm.PLAIN and promise is Promise.PASSWORD and text != text.upper()
    if _VARIABLE_NAME.fullmatch(text) and not is_opaque(text) and (not plain or judge_name(text)):
        return False
    return _is_secret_value(text, promise, literal=value.way in {ValueForm.LITERAL, ValueForm.PLAIN})


def _is_secret_value(text: str, promise: Promise, *, literal: bool) -> bool:
    """Whether `text` is a secret: a literal password may be any word, other values may be code or stand-ins."""
    if promise is Promise.PASSWORD and literal:
        return not (is_password_word(text) or is_call(text) or ("/" in text and is_path(text)))
    if is_stand_in(text):
        return False
    if promise >= Promise.SECRET and is_scrambled(text):
        return True
    if not literal and is_code(text):
        return False
    if is_opaque(text) or _LONG_LETTER_RUN.fullmatch(text):
        return True
    if promise is Promise.PASSWORD:
        return is_mixed(text)
    return promise is Promise.SECRET and _KEY_PATTERN.fullmatch(text) is not None and is_mixed(text)


def _is_secret_word(word: str, promise: Promise) -> bool:
    """Whether `word`, just the next one in a sentence ("with password Xy7!kq"), can only be a secret."""
    if promise is Promise.PERHAPS or is_stand_in(word):
        return False
    if is_scrambled(word):
        return True
    if is_code(word):
        return False
    made_up = promise is Promise.PASSWORD and all(part.search(word) for part in _PASSWORD_PARTS)
    return made_up or (is_opaque(word) and not _HASH_OR_UUID.fullmatch(word))


def _is_label(text: str, value: AssignedValue) -> bool:
    """Whether `text` is a label about a secret, as in interfaces and schemas: `"password": "Enter your password"`."""
    words = text.split()
    if len(words) <= 1 or value.equals:
        return False
    return len(words) > _MAX_LABEL_WORDS or _ABOUT_SECRETS.search(text) is not None
