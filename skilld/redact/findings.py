"""The findings of detectors, how overlapping ones are merged, and how one value is judged. Pure; imports no module.

A placeholder is `[REDACTED:<kind>:<hmac8>]`. Detectors never see one: it is blanked out first, so that a second pass
finds nothing inside the output of the first.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator

from skilld.values import value_class

PLACEHOLDER = re.compile(r"\[REDACTED:[a-z0-9-]{1,40}:[0-9a-f]{8}\]")
_PLACEHOLDER_START = "[REDACTED:"
BLANK = "\0"  # stands for a character of a placeholder; no format, key or word contains it


@value_class
class Finding:
    """A secret at [start, end) of a text, in characters. `kind` is `[a-z0-9-]+` and becomes part of the placeholder."""

    start: int
    end: int
    kind: str

    @property
    def span(self) -> tuple[int, int]:
        """Return (start, end)."""
        return self.start, self.end


Detector = Callable[[str], Iterable[Finding]]
Span = tuple[int, int]
_MIN_TOKEN_LENGTH = 11  # characters; most typed text has no word this long


def long_runs(text: str, words: list[str]) -> list[Span]:
    """Return the spans of those `words` of a text that are long enough to contain a token."""
    spans, at = [], 0
    for run in [word for word in words if len(word) >= _MIN_TOKEN_LENGTH]:
        at = text.index(run, at)
        spans.append((at, at := at + len(run)))
    return spans


def lower_same_length(text: str) -> str:
    """Return `text` in lower case with the same length: one letter has a longer lower case."""
    return text.replace("\u0130", "i").lower()


def trie_pattern(words: set[str]) -> str:
    """Return a regex that matches the longest of `words` at a place; common beginnings are shared."""
    tails: dict[str, set[str]] = {}
    for word in words:
        if word:
            tails.setdefault(word[0], set()).add(word[1:])
    branches = [re.escape(head) + trie_pattern(rest) for head, rest in sorted(tails.items())]
    if not branches:
        return ""
    joined = branches[0] if len(branches) == 1 and "" not in words else f"(?:{'|'.join(branches)})"
    return f"{joined}?" if "" in words else joined


def blank_placeholders(text: str) -> str:
    """Return `text` with every placeholder overwritten by blanks, with the same length."""
    if _PLACEHOLDER_START not in text:
        return text
    return PLACEHOLDER.sub(lambda found: BLANK * len(found[0]), text)


def outside_placeholders(findings: Iterable[Finding], blanked: str) -> Iterator[Finding]:
    """Remove the parts of `findings` that cover blanks; findings without a letter or digit left are dropped."""
    for finding in findings:
        for part in re.finditer(rf"[^{BLANK}]+", blanked[finding.start : finding.end]):
            if any(char.isalnum() for char in part[0]):
                yield Finding(finding.start + part.start(), finding.start + part.end(), finding.kind)


def merge(findings: Iterable[Finding], gap: int = 0) -> list[Finding]:
    """Return `findings` in order; those that overlap or are less than `gap` characters apart are merged.

    A merged finding gets the kind of the first one given: the most precise detectors come first.
    """
    ranked = sorted(enumerate(findings), key=lambda item: (item[1].start, item[1].end))
    merged: list[tuple[int, Finding]] = []
    for rank, finding in ranked:
        if merged and finding.start < merged[-1][1].end + gap:
            last_rank, last = merged[-1]
            kind = finding.kind if rank < last_rank else last.kind
            merged[-1] = min(rank, last_rank), Finding(last.start, max(last.end, finding.end), kind)
        else:
            merged.append((rank, finding))
    return [finding for _, finding in merged]


# Judging one value by its text alone: is it a stand-in for a secret, code, a path, plain words? The detectors know its
# context. Machine-made strings are recognized without a word list or a model.

UUID = re.compile(r"(?i)[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}")
_RUN = re.compile(r"[A-Za-z0-9]+")
_DIGIT, _LETTER, _UPPER = re.compile(r"\d"), re.compile(r"[A-Za-z]"), re.compile(r"[A-Z]")
# Where the kind of character changes: letter and digit, lower to upper case, into a symbol that names do not have.
_KIND_CHANGE = re.compile(r"(?<=[A-Za-z])(?=\d)|(?<=\d)(?=[A-Za-z])")
_CHANGE = re.compile(rf"{_KIND_CHANGE.pattern}|(?<=[a-z])(?=[A-Z])|(?<=\w)(?=[^\w\s./:,-])")
_CLUSTER = re.compile(r"(?i)[bcdfghjklmnpqrstvwxz]{6}")  # nobody can pronounce it
_SYMBOL = re.compile(r"[^\w\s./:,'’-]")

_NO_WORD, _MIN_KIND_CHANGES = 24, 3  # the longest common English word has 20 letters; a name may end in digits
_MIXED_RUN, _LETTER_RUN, _CLUSTER_RUN = 12, 16, 12  # characters from which a run can be judged
_MIN_CHANGES, _UPPER_SHARE = 4, (0.25, 0.8)  # of a run of letters: camel case has fewer capitals, a constant more
_MIN_JUDGED, _LONG_VALUE = (
    8,
    14,
)  # characters from which a value can be judged, and from which its share is steady
_SHARE_SHORT, _SHARE_LONG = 0.3, 0.25


def is_opaque(value: str) -> bool:
    """Whether `value` looks machine-made: a UUID, a long digest, or frequent changes between letters and digits.

    Measured: 3 % of 108,000 identifiers of Python's library and its packages look like that; of random strings of hex
    digits or of letters and digits 88 to 98 % with 16 characters, more than 99 % with 24 or more.
    """
    if UUID.fullmatch(value):
        return True
    return any(map(_is_opaque_run, _RUN.findall(value))) or _changes_often(value)


# How surprising one letter is after another in a word or a name: bits, 0 to 9. A row for the start of a word and each
# letter; in it a digit for each letter and the end. Counted over 36,000 parts of names in Python's library.
_SURPRISES = (
    "453444554774455484345657889854497595973439593436677695366737884583774794563999593386738935944772894635999794"
    "477527893885874795575899792574466697995538673348674792487644892994773794654999693588828644995755894565899992"
    "288728993986673895646999692564555599984523595448696966376626895767863687483879793587727684885756797465869792"
    "377528793984883798555899593258728994986573398575999793484445385977864798436599893665486696964425493554657994"
    "397737855984883593545889593777686998995779775561789993385627693966563795446799692695837854976775588435889692"
    "486737943996784794556989592545646695994436493439999996275817883997775797679979794377647843976744794479989992"
    "674726974997587497638896592676757696995556396449879881387716873997784798768999673"
)
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")  # of a name in camel case
_ROW, _CAPITALS_BITS, _CAPITAL_BITS = 27, 2.0, 4.5  # an abbreviation, and each of its letters
_MAX_ABBREVIATION = 5
_MIN_SCRAMBLED, _STEADY = 8, 12  # letters that can be judged, and from which their mean is steady
_SCRAMBLED_BITS = 5.5, 5.25  # bits a letter of shorter and of longer runs


def is_scrambled(value: str) -> bool:
    """Whether `value` is letters in no order that words or names have: `pIjXebblno`, not `getUserName`.

    Measured on random strings of 8 to 24 letters: 93 to 99 % look like that; of 19,700 identifiers that the counts were
    not taken from 0.8 % of those with 8 letters, 0.1 % of those with 12, fewer of longer ones.
    """
    parts = _PART.findall(value)
    letters = sum(map(len, parts))
    if letters < _MIN_SCRAMBLED or not (value.isascii() and value.isalnum()):
        return False
    return sum(map(_surprise, parts)) / letters > _SCRAMBLED_BITS[letters >= _STEADY]


def _surprise(part: str) -> float:
    """Return the bits of a word, given where it begins and ends."""
    if part.isupper() and 1 < len(part) <= _MAX_ABBREVIATION:
        return _CAPITALS_BITS + _CAPITAL_BITS * len(part)
    places = [ord(letter) - ord("a") for letter in part.lower()]
    rows = [0, *(place + 1 for place in places)]
    return float(sum(int(_SURPRISES[_ROW * row + place]) for row, place in zip(rows, [*places, _ROW - 1], strict=True)))


def is_mixed(value: str) -> bool:
    """Whether `value` has letters and also digits or unusual symbols, like a password made up by a person."""
    core = value.rstrip(".,;:!?)'\"")
    return any(map(str.isalpha, core)) and bool(_DIGIT.search(core) or _SYMBOL.search(core))


def _is_opaque_run(run: str) -> bool:
    digits, upper, turns = (len(pattern.findall(run)) for pattern in (_DIGIT, _UPPER, _CHANGE))
    letters = len(run) - digits
    if digits == 0:
        capitals = _UPPER_SHARE[0] <= upper / len(run) <= _UPPER_SHARE[1]
        return (len(run) >= _CLUSTER_RUN and _CLUSTER.search(run) is not None) or (
            len(run) >= _LETTER_RUN and turns >= _MIN_CHANGES and capitals
        )
    if len(run) >= _NO_WORD and len(_KIND_CHANGE.findall(run)) >= _MIN_KIND_CHANGES:
        return True
    return len(run) >= _MIXED_RUN and 0 < upper < letters and turns >= len(run) / 5


def _changes_often(value: str) -> bool:
    if len(value) < _MIN_JUDGED or not (_DIGIT.search(value) and _LETTER.search(value)):
        return False
    share = len(_CHANGE.findall(value)) / (len(value) - 1)
    return share >= (_SHARE_LONG if len(value) >= _LONG_VALUE else _SHARE_SHORT)


_QUOTES = "\"'`\\ "
_TEMPLATE = re.compile(
    r"""(?ix)
      \$ (?: [({\d] | [a-z_]\w*+ (?![^\s:;,.\])}'"/-]) )     # ${VAR}, $(command), $1, $VAR
    | [%][({]\w | %s | %[a-z_]\w+% | \#\{ | \{\{ | <% | @\{  # printf, cmd.exe, Ruby, Jinja, ERB
    | < [a-z_|][^<>]* >                                      # <your token>, <|pad|>
    | \{ \s? [a-z_$] | \[ [a-z_ ]+ \]                        # {token}, [TOKEN]
    | (?:op|vault|secret|ref|env|arn|file|https?):           # a reference to where the secret is kept
    """
)
_ELLIPSIS = re.compile(r"\.{3}|…|\*{3}|•{3}|_{4}|-{6}|(?i:x{4})|(?i:\bredacted\b)")
# A pattern for secrets is not a secret: [A-Za-z0-9]{36}, \\w+
_PATTERN = re.compile(r"\[\^?(?:[A-Za-z0-9]-[A-Za-z0-9]|\\[wdsS])[^\]\n]{0,32}\](?:[+*?]|\{\d)|\\[wdS](?:[+*]|\{\d)")
_DOCUMENTED = re.compile(r"[A-Z0-9]EXAMPLE$|RANDOMSTRING")  # as issuers mark the keys in their manuals
_REPEATS = re.compile(r"(?:(.)\1{4,}+){2,}+")  # aaaaaaaaaa1111111111
# As the DER of a public key begins (RFC 5280, RFC 8410): of RSA, of elliptic curves, of Ed25519.
_PUBLIC_KEY = re.compile(r"MCowBQYDK2V|MIIBIjAN|MIICIjAN|MIGfMA0|MFkwEwYH|MHYwEAYH")
_SEPARATOR = re.compile(r"[-_.:/\s]+")
_ALPHABET = re.compile(r"(?i)abcdefghijkl|(?:1234567890){2}")
_FEW_CHARACTERS, _MAX_CHARACTER_SHARE, _LONG_STAND_IN = (
    2,
    0.7,
    16,
)  # so few different characters (one more if long), or so large a share of one

_FAKE_WORDS = (
    r"fake|dummy|example|sample|placeholder|change_?me|insert|replace|redact|undefined"
    r"|(?<![a-z])(?:your|enter|none|null|unset)(?![a-z])"
)
_FAKE_PATTERN = re.compile(rf"(?i){_FAKE_WORDS}")
_STAND_IN_WORD = re.compile(
    rf"(?i){_FAKE_WORDS}|secret|passw|passphrase|token|api_?key|credential"
    r"|(?<![a-z])(?:my|todo|test|demo|here|empty|string|value|foo|bar|abc|xyz)(?![a-z])"
)
_PASSWORD_WORD = re.compile(
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
    """
)
_ACCESS = re.compile(r"[.(\[<]|::|->")


def is_template(value: str) -> bool:
    """Whether `value` is filled in later (`${VAR}`, `<token>`), truncated (`...`) or already redacted."""
    core = value.strip(_QUOTES)
    return _TEMPLATE.match(core) is not None or _ELLIPSIS.search(core) is not None or BLANK in core


def is_stand_in(value: str) -> bool:
    """Whether `value` is a stand-in for a secret: a template, `xxxx`, `your_token_here`, the alphabet, all digits."""
    core = value.strip(_QUOTES)
    if (
        is_template(core)
        or _PATTERN.search(core)
        or _ALPHABET.search(core)
        or is_example_key(core)
        or not any(char.isalnum() for char in core)
    ):
        return True
    counts = Counter(_SEPARATOR.sub("", core.casefold()))
    few = (
        len(counts) <= _FEW_CHARACTERS + (len(core) >= _LONG_STAND_IN)
        or max(counts.values()) > _MAX_CHARACTER_SHARE * counts.total()
    )
    if few and len(core) > _FEW_CHARACTERS:
        return True
    return is_words(core) and _STAND_IN_WORD.search(core) is not None


def is_example_key(core: str) -> bool:
    """Whether `core` is a documented example, or a public key."""
    return bool(_DOCUMENTED.search(core) or _REPEATS.fullmatch(core) or _PUBLIC_KEY.match(core))


def is_password_word(value: str) -> bool:
    """Whether `value`, in place of a password, is only a word for one, a fake, or one repeated character.

    Fewer words count here than in `is_stand_in`: people do choose passwords such as `newpassword`.
    """
    core = value.strip(_QUOTES + "<>")
    if len(set(_SEPARATOR.sub("", core))) <= _FEW_CHARACTERS or _PASSWORD_WORD.fullmatch(core):
        return True
    return _FAKE_PATTERN.search(core) is not None and is_words(core)


def is_words(value: str) -> bool:
    """Whether `value` consists of words (in any script), as in prose, an enum or a name."""
    return _WORDS.fullmatch(value) is not None and not is_opaque(value)


def is_path(value: str) -> bool:
    """Whether `value` is the path or name of a file: `~/.ssh/id_rsa`, `secrets.json`."""
    return _PATH.fullmatch(value) is not None and not is_opaque(value)


def is_call(value: str) -> bool:
    """Whether `value` is an expression with a call or a subscript."""
    return _CALL.fullmatch(value) is not None


def is_code(value: str) -> bool:
    """Whether `value` reads as an expression, a number or a path: `os.environ["TOKEN"]`, `get()`, `3.14`."""
    if _NUMBER.fullmatch(value) or _OPERATOR.search(value) or is_path(value):
        return True
    if not _EXPRESSION.fullmatch(value) or any(map(is_opaque, _RUN.findall(value))):
        return False
    return _ACCESS.search(value) is not None or not any(char.isdigit() for char in value)
