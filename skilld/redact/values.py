"""Judge one value: is it a stand-in, code, plain words, or something nobody would write by hand? Pure.

The detectors know where a value stands; these questions are about the value alone. Every pattern here is linear: no
quantifier can give back what another could take.
"""

from __future__ import annotations

import re
from collections import Counter

from skilld.redact.findings import BLANK

_UUID = re.compile(r"(?i)[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}")
_TEMPLATE = re.compile(
    r"""(?ix)
      \$ (?: [({] | [a-z_]\w*+ (?![^\s:;,.\])}'"/-]) )      # ${VAR}, $(command), $VAR
    | [%][({]\w | %s | %[a-z_]\w+% | \#\{ | \{\{ | <% | @\{  # printf, cmd.exe, Ruby, Jinja, ERB
    | < [a-z_][^<>]* >                                       # <your token>
    | \{ \s? [a-z_$]                                         # {token}
    | (?:op|vault|secret|ref|env|arn|file|https?):           # a reference to where the secret is kept
    """,
)
_ELLIPSIS = re.compile(r"\.{3}|…|\*{3}|•{3}|_{4}|-{6}|(?i:x{4})|(?i:\bredacted\b)")
_PRETENCE = re.compile(
    r"(?i)fake|dummy|example|sample|placeholder|change_?me|insert|replace|redact|undefined"
    r"|(?<![a-z])(?:your|enter|none|null|unset)(?![a-z])"
)
_NOMINAL = re.compile(
    r"(?i)(?:pass(?:word|wd|phrase|code)?|pwd|secret|token|credentials?|key|api_?key|true|false|none|null)s?"
)
_OPERATORS = re.compile(
    r"=>|===|&&|\|\||\?\?|\?[({]|\(\)|\)[({.]|=\(|\(function\b|^[(\[]|^[!&*]?[A-Za-z_$][\w$.]*\(|^[A-Za-z_$][\w$]{0,3}[})\]]+[,;(){}=]"
)
_CALL = re.compile(r"[A-Za-z_$][\w$.]*+[(\[].*[)\]]")
_STAND_IN_WORD = re.compile(
    r"(?i)fake|dummy|example|sample|placeholder|change_?me|insert|replace|redact|secret|passw|passphrase|token|api_?key"
    r"|credential|undefined"
    r"|(?<![a-z])(?:your|my|enter|todo|test|demo|here|none|null|unset|empty|string|value|foo|bar|abc|xyz)(?![a-z])"
)
_CODE = re.compile(
    r"""(?x)
    [&*!?@]?+ [A-Za-z_$][\w$]*+
    (?: (?:\.|::|->|\?\.) [\w$]++ | \( [^()]*+ \)? | \[ [^\[\]]*+ \]? | < [\w,.\ ]*+ > )*+
    [?!;,)\]}`'"]*+
    """,
)
_ACCESS = re.compile(r"[.(\[<]|::|->")
_PATH = re.compile(r"(?:~|\.{1,2})?/(?:[\w.@{}-]+/)*[\w.@{}-]*|[A-Za-z]:\\.*|[\w.-]+(?:/[\w.-]+)*\.[a-z]{2,5}\b.{0,2}")
_WORDS = re.compile(r"[^\W\d_]+(?:[ '’/_.-][^\W\d_]+)*[.,;:!?)'\"]*")
_RUN = re.compile(r"[A-Za-z0-9]+")
_DIGIT, _LETTER, _UPPER = re.compile(r"\d"), re.compile(r"[A-Za-z]"), re.compile(r"[A-Z]")
_NUMBER = re.compile(r"[-+]?[\d.,_:]+(?:[a-zA-Z]{1,3}|%)?[,;.)\]}]*")
_TURNS = re.compile(r"(?<=[A-Za-z])(?=\d)|(?<=\d)(?=[A-Za-z])|(?<=[a-z])(?=[A-Z])|(?<=\w)(?=[^\w\s./:,-])")
_SEPARATOR = re.compile(r"[-_.:/\s]+")
_CLUSTER = re.compile(r"(?i)[bcdfghjklmnpqrstvwxz]{6}")
_FEW, _MOST, _LONG = 2, 0.7, 16  # so few different characters (one more if long), or so large a share of one


def is_template(value: str) -> bool:
    """Whether `value` is filled in later (`${VAR}`, `{{ name }}`, `<token>`), cut short (`...`), or redacted already."""
    core = value.strip("\"'`\\ ")
    return _TEMPLATE.match(core) is not None or _ELLIPSIS.search(core) is not None or BLANK in core


def is_stand_in(value: str) -> bool:
    """Whether `value` only stands for a secret: a template, `xxxx`, `your_token_here`, a placeholder."""
    core = value.strip("\"'`\\ ")
    if is_template(core) or not any(char.isalnum() for char in core):
        return True
    counts = Counter(_SEPARATOR.sub("", core.casefold()))
    if len(core) > _FEW and (
        len(counts) <= _FEW + (len(core) >= _LONG) or max(counts.values()) > _MOST * counts.total()
    ):
        return True
    return is_words(core) and _STAND_IN_WORD.search(core) is not None


def is_nominal(value: str) -> bool:
    """Whether `value`, said to be a password, is only the word for one, or one character over and over.

    More words are stand-ins elsewhere, but people do choose passwords such as `rootpasswd`.
    """
    core = value.strip("\"'`\\ ")
    return (
        _NOMINAL.fullmatch(core) is not None
        or (_PRETENCE.search(core) is not None and is_words(core))
        or (len(set(_SEPARATOR.sub("", core))) <= _FEW)
    )


def is_call(value: str) -> bool:
    """Whether `value` is an expression with a call or a subscript in it."""
    return _CALL.fullmatch(value) is not None


def is_words(value: str) -> bool:
    """Whether `value` is nothing but words (in any script), as in prose, an enum or a name."""
    return _WORDS.fullmatch(value) is not None and not is_opaque(value)


def is_code(value: str) -> bool:
    """Whether `value` reads as an expression, a number or a path: `os.environ["TOKEN"]`, `get()`, `3.14`, `~/.ssh/k`."""
    if _NUMBER.fullmatch(value) or _OPERATORS.search(value):
        return True
    if _PATH.fullmatch(value) and not is_opaque(value):
        return True
    return (
        _CODE.fullmatch(value) is not None
        and (not _DIGIT.search(value) or _ACCESS.search(value) is not None)
        and not any(is_opaque(run) for run in _RUN.findall(value))
    )


def is_mixed(value: str) -> bool:
    """Whether `value` has letters and also digits or unusual symbols, as a password made up by a person has."""
    core = value.rstrip(".,;:!?)'\"")
    return _LETTER.search(core) is not None and re.search(r"\d|[^\w\s./:,'’-]", core) is not None


def is_opaque(value: str) -> bool:
    """Whether `value` looks made by a machine: a UUID, a long digest, or letters and digits that change all the time.

    The measure is the share of turns between letter and digit, from lower to upper case, or into a symbol. Identifiers,
    versions, host names and file names stay below 0.2, random strings are above 0.25 but for a few short ones.
    """
    if _UUID.fullmatch(value):
        return True
    runs = _RUN.findall(value)
    return any(map(_is_opaque_run, runs)) or _churns(value)


def _is_opaque_run(run: str) -> bool:
    digits = len(_DIGIT.findall(run))
    letters = len(run) - digits
    if len(run) >= 24 and digits >= 2 and letters >= 2:  # noqa: PLR2004 - no word is so long
        return True
    upper = len(_UPPER.findall(run))
    turns = len(_TURNS.findall(run))
    if digits == 0 and len(run) >= 12 and _CLUSTER.search(run):  # noqa: PLR2004 - nobody can pronounce it
        return True
    if digits == 0:
        return len(run) >= 16 and turns >= 4 and 0.25 <= upper / len(run) <= 0.8  # noqa: PLR2004 - no camel case has it
    return len(run) >= 12 and 0 < upper < letters and turns >= len(run) / 5  # noqa: PLR2004 - all three kinds mixed


def _churns(value: str) -> bool:
    if len(value) < 8 or not _DIGIT.search(value) or not _LETTER.search(value):  # noqa: PLR2004 - too short to tell
        return False
    share = len(_TURNS.findall(value)) / (len(value) - 1)
    return share >= (0.25 if len(value) >= 14 else 0.3)  # noqa: PLR2004 - short strings vary more
