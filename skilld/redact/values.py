"""Judge one value by its text alone: does it stand in for a secret, or is it code, a path, plain words? Pure.

The detectors know where a value stands and what it is called; whether it looks random is `opacity`'s question.
"""

from __future__ import annotations

import re
from collections import Counter

from skilld.redact.findings import BLANK
from skilld.redact.opacity import is_opaque

_QUOTES = "\"'`\\ "
_TEMPLATE = re.compile(
    r"""(?ix)
      \$ (?: [({\d] | [a-z_]\w*+ (?![^\s:;,.\])}'"/-]) )     # ${VAR}, $(command), $1, $VAR
    | [%][({]\w | %s | %[a-z_]\w+% | \#\{ | \{\{ | <% | @\{  # printf, cmd.exe, Ruby, Jinja, ERB
    | < [a-z_|][^<>]* >                                      # <your token>, <|pad|>
    | \{ \s? [a-z_$] | \[ [a-z_ ]+ \]                        # {token}, [TOKEN]
    | (?:op|vault|secret|ref|env|arn|file|https?):           # a reference to where the secret is kept
    """,
)
_ELLIPSIS = re.compile(r"\.{3}|…|\*{3}|•{3}|_{4}|-{6}|(?i:x{4})|(?i:\bredacted\b)")
# A pattern for secrets is none: [A-Za-z0-9]{36}, \\w+
_PATTERN = re.compile(r"\[\^?(?:[A-Za-z0-9]-[A-Za-z0-9]|\\[wdsS])[^\]\n]{0,32}\](?:[+*?]|\{\d)|\\[wdS](?:[+*]|\{\d)")
_SEPARATOR = re.compile(r"[-_.:/\s]+")
_ALPHABET = re.compile(r"(?i)abcdefghijkl|(?:1234567890){2}")
_FEW, _MOST, _LONG = 2, 0.7, 16  # so few different characters (one more if long), or so large a share of one

_PRETENCE = (
    r"fake|dummy|example|sample|placeholder|change_?me|insert|replace|redact|undefined"
    r"|(?<![a-z])(?:your|enter|none|null|unset)(?![a-z])"
)
_PRETENDED = re.compile(rf"(?i){_PRETENCE}")
_STAND_IN_WORD = re.compile(
    rf"(?i){_PRETENCE}|secret|passw|passphrase|token|api_?key|credential"
    r"|(?<![a-z])(?:my|todo|test|demo|here|empty|string|value|foo|bar|abc|xyz)(?![a-z])"
)
_NOMINAL = re.compile(
    r"(?i)(?:test|pass(?:word|wd|phrase|code)?|pwd|secret|token|credential|key|api_?key|true|false|none|null)s?"
)

_WORDS = re.compile(r"[^\W\d_]+(?:[ '’/_.-][^\W\d_]+)*[.,;:!?)'\"]*")
_NUMBER = re.compile(r"[-+]?[\d.,_:]++(?:[a-zA-Z]{1,3}|%)?[,;.)\]}]*+")
_PATH = re.compile(r"(?:~|\.{1,2})?/(?:[\w.@{}-]+/)*[\w.@{}-]*|[A-Za-z]:\\.*|[\w.-]+(?:/[\w.-]+)*\.[a-z]{2,5}\b.{0,2}")
_CALL = re.compile(r"[A-Za-z_$][\w$.]*+[(\[].*[)\]]")
_OPERATOR = re.compile(
    r"""(?x)
      => | === | && | \|\| | \?\? | \?[({] | \(\) | \)[({.] | =\( | \(function\b
    | ^ [(\[] | ^ [!&*]? [A-Za-z_$][\w$.]*+ \( | ^ [A-Za-z_$][\w$]{0,3} [})\]]+ [,;(){}=]
    """
)
_EXPRESSION = re.compile(
    r"""(?x)
    [&*!?@]?+ [A-Za-z_$][\w$]*+
    (?: (?:\.|::|->|\?\.) [\w$]++ | \( [^()]*+ \)? | \[ [^\[\]]*+ \]? | < [\w,.\ ]*+ > )*+
    [?!;,)\]}`'"]*+
    """,
)
_ACCESS = re.compile(r"[.(\[<]|::|->")
_RUN = re.compile(r"[A-Za-z0-9]+")


def is_template(value: str) -> bool:
    """Whether `value` is filled in later (`${VAR}`, `<token>`), cut short (`...`) or redacted already."""
    core = value.strip(_QUOTES)
    return _TEMPLATE.match(core) is not None or _ELLIPSIS.search(core) is not None or BLANK in core


def is_stand_in(value: str) -> bool:
    """Whether `value` only stands for a secret: a template, `xxxx`, `your_token_here`, the alphabet, all digits."""
    core = value.strip(_QUOTES)
    if is_template(core) or _PATTERN.search(core) or _ALPHABET.search(core) or not any(char.isalnum() for char in core):
        return True
    counts = Counter(_SEPARATOR.sub("", core.casefold()))
    few = len(counts) <= _FEW + (len(core) >= _LONG) or max(counts.values()) > _MOST * counts.total()
    if few and len(core) > _FEW:
        return True
    return is_words(core) and _STAND_IN_WORD.search(core) is not None


def is_nominal(value: str) -> bool:
    """Whether `value`, said to be a password, is only the word for one, a pretence, or one character over and over.

    Fewer words count here than in `is_stand_in`: people do choose passwords such as `newpassword`.
    """
    core = value.strip(_QUOTES + "<>")
    if len(set(_SEPARATOR.sub("", core))) <= _FEW or _NOMINAL.fullmatch(core):
        return True
    return _PRETENDED.search(core) is not None and is_words(core)


def is_words(value: str) -> bool:
    """Whether `value` is nothing but words (in any script), as in prose, an enum or a name."""
    return _WORDS.fullmatch(value) is not None and not is_opaque(value)


def is_path(value: str) -> bool:
    """Whether `value` is the path or name of a file: `~/.ssh/id_rsa`, `secrets.json`."""
    return _PATH.fullmatch(value) is not None and not is_opaque(value)


def is_call(value: str) -> bool:
    """Whether `value` is an expression with a call or a subscript in it."""
    return _CALL.fullmatch(value) is not None


def is_code(value: str) -> bool:
    """Whether `value` reads as an expression, a number or a path: `os.environ["TOKEN"]`, `get()`, `3.14`."""
    if _NUMBER.fullmatch(value) or _OPERATOR.search(value) or is_path(value):
        return True
    if not _EXPRESSION.fullmatch(value) or any(map(is_opaque, _RUN.findall(value))):
        return False
    return _ACCESS.search(value) is not None or not any(char.isdigit() for char in value)
