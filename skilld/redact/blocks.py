"""Finds secrets in blocks: private keys, Kubernetes manifests, lists of values, and base64 one level deep. Pure."""

from __future__ import annotations

import binascii
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import chain

from skilld.redact.findings import Detector, Finding, Span, is_opaque, is_stand_in
from skilld.redact.passwords import is_plain_password, judge_word
from skilld.redact.tokens import URL_SAFE

_MAX_LENGTH = 16384  # a 16,384 bit RSA key takes 12,700 characters
_BEGIN = re.compile(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_END = re.compile(r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_KEY_MARK = "PRIVATE KEY"
_BASE64_LINE = re.compile(r"(?<![A-Za-z0-9+/=])[A-Za-z0-9+/]{24,}")
# What may be between the lines of a pasted key: line ends, also escaped, quotes, commas, `>` and `|`.
_JOIN = r"[\s\\\"'`,>|+#*]"
_LINES = rf"(?:{_JOIN}*+[A-Za-z0-9+/=]{{4,}}+)*+"
_FIELD = r"[A-Z][A-Za-z-]{1,40}+: [^\n]{1,80}+\n"  # Proc-Type and the like
_BODY = re.compile(rf"{_JOIN}*+(?:{_FIELD})*+{_LINES}")
_TAIL_REVERSED = re.compile(_LINES)
_PUTTY = re.compile(r"Private-Lines: \d{1,4}\s*+(?P<secret>(?:[A-Za-z0-9+/=]{4,}+[ \t]*+(?:\r?\n|$))++)")


def find_keys(text: str) -> Iterator[Finding]:
    """Yield every private key block in `text`, from its first line to its last, or to the end of its base64."""
    covered = 0
    for found in _key_lines(text, _BEGIN):
        if found.start() >= covered:
            covered = _end_of_block(text, found)
            if covered:
                yield Finding(found.start(), covered, "private-key")
    for found in _key_lines(text, _END):
        start = _start_of_tail(text, found.start())
        if start < found.start():
            yield Finding(start, found.end(), "private-key")
    for found in _PUTTY.finditer(text):
        yield Finding(*found.span("secret"), "private-key")


def _key_lines(text: str, pattern: re.Pattern[str]) -> Iterator[re.Match[str]]:
    return pattern.finditer(text) if _KEY_MARK in text else iter(())


def _end_of_block(text: str, begin: re.Match[str]) -> int:
    """Return the end of the block that `begin` opens, 0 if no key follows."""
    end = _END.search(text, begin.end(), begin.end() + _MAX_LENGTH)
    again = _BEGIN.search(text, begin.end(), end.start() if end else begin.end() + _MAX_LENGTH)
    if end and not again:
        return end.end() if _BASE64_LINE.search(text, begin.end(), end.start()) else 0
    body = _BODY.match(text, begin.end())
    return body.end() if body and _BASE64_LINE.search(text, begin.end(), body.end()) else 0


def _start_of_tail(text: str, at: int) -> int:
    """Return the start of the base64 that ends at `at` (the rest of a block whose first lines were cut off)."""
    reversed_text = text[max(0, at - _MAX_LENGTH) : at][::-1]
    tail = _TAIL_REVERSED.match(reversed_text)
    start = at - (tail.end() if tail else 0)
    return start if _BASE64_LINE.search(text, start, at) else at


# Values of Kubernetes Secret manifests, whose names promise nothing. Source: the Kubernetes API reference (kind Secret:
# `data` holds base64, `stringData` plain text), in YAML and JSON.

_SECRET_KIND = re.compile(r"""kind["']?:[ \t]{0,8}["']?[Ss]ecret\b""")
_DATA_FIELD = re.compile(r"""(?m)(?:^|[{,])[ \t]{0,16}["']?(?:data|stringData)["']?:\s{0,8}(?:\{|\n)""")
_ENTRY = re.compile(
    r"""(?x)
    \s{0,40} ["']? (?P<name>[\w.-]{1,128}+) ["']? : [ \t]{0,8}
    (?: [|>][+-]? [ \t]{0,8} \n \s{1,40} )?                       # a block scalar
    ["']? (?P<secret>[^\s"',{}]{4,8192}+) ["']? ,? [ \t]{0,8} (?:\#[^\n]{0,200})? (?=\n|\}|$)"""
)
_OTHER_FIELDS = frozenset({"kind", "metadata", "apiVersion", "type"})
_MAX_MANIFEST = 4096  # a manifest of a few values


def find_kubernetes(text: str) -> Iterator[Finding]:
    """Yield every value below `data` or `stringData` of a manifest of kind Secret in `text`."""
    done = 0
    for kind in _SECRET_KIND.finditer(text):
        begin = max(kind.start() - _MAX_MANIFEST, done, 0)
        begin = max(begin, text.rfind("\n---", begin, kind.start()))
        stop = min(len(text), kind.end() + _MAX_MANIFEST)
        end = text.find("\n---", kind.end(), stop)
        done = stop = end if end >= 0 else stop
        for data in _DATA_FIELD.finditer(text, begin, stop):
            yield from _manifest_values(text, data.end(), stop)


def _manifest_values(text: str, at: int, stop: int) -> Iterator[Finding]:
    while at < stop and (entry := _ENTRY.match(text, at)) and entry["name"] not in _OTHER_FIELDS:
        if not is_stand_in(entry["secret"]):
            yield Finding(*entry.span("secret"), "kubernetes-secret")
        at = entry.end()


# Secrets in lists of values: a line of `.pgpass`, a column below its name, backup codes.

_PGPASS = re.compile(
    r"(?<![\w:.*/-])(?:[\w.-]{1,255}+|\*):(?:\d{4,5}|\*):(?:[A-Za-z_][\w-]{0,62}|\*):(?:[A-Za-z_][\w.-]{0,62}|\*)"
    r":(?P<secret>(?:\\[:\\]|[^\s:\\]){4,128}+)(?![:\\])"
)
_PASSWORD_NAME = re.compile(r"(?i)(?:\w{1,20}[_ -])?(?:passwor[dt]|passwd|pwd|pass|passphrase)")
_SECRET_COLUMN = re.compile(rf"{_PASSWORD_NAME.pattern}|(?i:(?:\w{{1,20}}[_ -])?(?:token|secret|api[_ -]?key))")
_COLUMN_NAME = re.compile(r"(?i)(?:passwor[dt]|passwd|pwd|pass|phrase|token|secret|key)[\"'` ]{0,3}[,;\t|\r\n]")
_CELL_MARGIN = " \t\r\n\"'`"
_HEADER = re.compile(r"[\w .\"'/-]{0,40}")
_MAX_COLUMNS, _MAX_ROWS = 40, 1000


def find_listed(text: str, lowered: str) -> Iterator[Finding]:
    """Yield the passwords of `.pgpass` lines, the values below a column named for a secret, and lists of codes."""
    if text.count(":") > 3:  # noqa: PLR2004 - as a line of `.pgpass` has
        yield from (
            Finding(*found.span("secret"), "password")
            for found in _PGPASS.finditer(text)
            if not is_stand_in(found["secret"])
        )
    if "\n" in text and any(name in lowered for name in ("pass", "pwd", "token", "secret", "key")):
        yield from _find_columns(text)
    if "code" in lowered:
        yield from _find_codes(text)
    if any(name in lowered for name in ("otp", "2fa", "mfa", "authenticator", "factor", "faktor", "einmal")):
        yield from (Finding(*found.span("secret"), "code") for found in _SEED.finditer(text))


def _find_columns(text: str) -> Iterator[Finding]:
    done = 0
    for named in _COLUMN_NAME.finditer(text):
        start = text.rfind("\n", 0, named.start()) + 1
        at = text.find("\n", start) + 1
        header = _parse_header(text[start : at - 1]) if start >= done and at else None
        done = max(done, at)
        if header is None:
            continue
        separator, names = header
        tight = f"{separator} " not in text[start:at]
        for _ in range(_MAX_ROWS):
            end = text.find("\n", at) + 1 or len(text)
            cells = text[at:end].split(separator)
            if len(cells) != len(names):
                break
            yield from _row_secrets(names, cells, at, tight=tight)
            at = done = end


def _row_secrets(names: Sequence[str], cells: Sequence[str], at: int, *, tight: bool) -> Iterator[Finding]:
    """Yield the secrets of a row at `at`; in a `tight` table (no blank after separators) a password may be a word."""
    for name, cell in zip(names, cells, strict=True):
        value = cell.strip(_CELL_MARGIN)
        is_plain = tight and _PASSWORD_NAME.fullmatch(name) and is_plain_password(value)
        if _SECRET_COLUMN.fullmatch(name) and (is_plain or judge_word(value) or is_opaque(value)):
            begin = at + cell.index(value)
            yield Finding(begin, begin + len(value), "password")
        at += len(cell) + 1


def _parse_header(line: str) -> tuple[str, list[str]] | None:
    """Return the separator and names of a header line with a column for a secret; None for other lines."""
    for separator in ",;\t|" if len(line) <= _MAX_LENGTH else "":
        names = [cell.strip(_CELL_MARGIN).lower() for cell in line.split(separator)]
        if (
            1 < len(names) <= _MAX_COLUMNS
            and all(map(_HEADER.fullmatch, names))
            and any(map(_SECRET_COLUMN.fullmatch, names))
        ):
            return separator, names
    return None


_CODES = r"(?i)\b(?:backup|recovery|emergency|scratch|2fa|mfa|wiederherstellungs|reserve)[ -]?(?:2fa |mfa )?codes?\b"
_LIST_OF_CODES = re.compile(_CODES + r"[^\n:\d]{0,60}(?::|\n)")
_ONE_CODE = re.compile(
    _CODES + r"(?<=e)(?:[^\n:\d.;]{0,40}(?:[:=]|\b(?:is|was|ist|es|est)\b))?[ \t]{1,4}[\"'`]?"
    r"(?P<secret>\d{4}[ -]\d{4}|(?=(?:[a-z-]{0,20}\d){2})[a-z\d]{4,8}(?:-[a-z\d]{4,8}){1,3})(?![\w-]|\.\w)"
)
# A seed of one-time codes is base32, with or without blanks; a word of that form has no two digits apart.
_SEED = re.compile(
    r"(?i:\b(?:totp|hotp|otp|2fa|mfa|authenticator|two[- ]factor|zwei-?faktor|einmal(?:code|passwort)))\b[^\n.;]{0,40}?"
    r"(?<![\w/+-])(?P<secret>(?=[A-Z]{0,63}[2-7])[A-Z2-7]{16,64}={0,6}|(?=(?:[a-z]{1,60}[2-7]){2})[a-z2-7]{16,64}"
    r"|(?=(?:[A-Za-z -]{1,60}[2-7]){2})[A-Za-z2-7]{4}(?:[ -][A-Za-z2-7]{4}){3,15})(?![\w/+-])"
)
_CODE = re.compile(
    r"[\s,;|]{0,8}(?:\d{1,2}[.)]\s|[-*\u2022]\s)?\s{0,4}"
    r"(?P<secret>\d{4}[ ]\d{4}|[A-Za-z\d]{4,8}(?:-[A-Za-z\d]{4,8}){1,3}|(?=[A-Za-z]{0,9}\d)[A-Za-z\d]{6,12})(?![\w-])"
)


def _find_codes(text: str) -> Iterator[Finding]:
    """Yield the codes of a list, one of which has a digit (`backup codes: 1234-5678 abcd-efgh`), and single ones."""
    yield from (Finding(*found.span("secret"), "code") for found in _ONE_CODE.finditer(text))
    for heading in _LIST_OF_CODES.finditer(text):
        found, at = list[re.Match[str]](), heading.end()
        while (code := _CODE.match(text, at)) is not None:
            found.append(code)
            at = code.end()
        if len(found) > 1 and any(char.isdigit() for code in found for char in code["secret"]):
            yield from (Finding(*code.span("secret"), "code") for code in found)


# Secrets encoded once, in base64 or hexadecimal digits: decoded text is searched like other text. All decoded runs are
# joined and searched together, so that many short runs cost no more than one long one.

_RUN = re.compile(r"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{16,}+={0,2}")
_TEXT_BYTES = bytes([9, 10, 13, *range(32, 127)])


def find_encoded(text: str, runs: list[Span], detect: Detector) -> Iterator[Finding]:
    """Yield every encoded run in the `runs` of `text` in whose decoded text `detect` finds something."""
    spans: list[tuple[int, int]] = []
    starts: list[int] = []
    parts: list[str] = []
    size = 0
    for run in chain.from_iterable(_RUN.finditer(text, *span) for span in runs):
        text_of = decode_hex(run[0]) or decode_base64(run[0])
        if text_of:
            spans.append(run.span())
            starts.append(size)
            parts.append(text_of)
            size += len(text_of) + 1
    if not parts:
        return
    joined = "\n".join(parts)
    hit: set[int] = set()
    for finding in detect(joined):
        hit.update(range(bisect_right(starts, finding.start) - 1, bisect_right(starts, finding.end - 1)))
    for index in sorted(hit):
        yield Finding(*spans[index], "base64")


def decode_hex(run: str) -> str:
    """Return the text that `run` encodes in hexadecimal digits; empty if it does not."""
    try:
        data = bytes.fromhex(run.removeprefix("0x"))
    except ValueError:
        return ""
    return "" if data.translate(None, _TEXT_BYTES) else data.decode("ascii")


def decode_base64(run: str) -> str:
    """Return the text that `run` encodes; empty if it is not base64 or does not encode text."""
    core = run.rstrip("=").translate(URL_SAFE)
    core = core[: len(core) - (len(core) % 4 == 1)]
    try:
        data = binascii.a2b_base64(core + "=" * (-len(core) % 4))
    except binascii.Error:
        return ""
    return "" if data.translate(None, _TEXT_BYTES) else data.decode("ascii")
