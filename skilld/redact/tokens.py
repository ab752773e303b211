"""Finds tokens by their documented prefix, or by shape if they have none. Pure."""

from __future__ import annotations

import binascii
import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from skilld.redact.findings import (
    Detector,
    Finding,
    Span,
    is_example_key,
    is_opaque,
    is_scrambled,
    is_stand_in,
    is_template,
    trie_pattern,
)

_MAX_LENGTH = 2048  # a 1Password service account token has about 900 characters
_MAX_JUDGED = 512  # characters: they show what the rest is
_MAX_TRIES = 8  # prefixes tried inside one unbroken run of token characters; a run with more is no name or word
_HEAD_LENGTH = 2  # no prefix is shorter
_SHORT = re.compile(r".{1,3}|[a-z]{3}[-.]")  # may also be the middle of a name or of base64url text
_BASE64 = re.compile(r"[A-Za-z0-9+/]{32}")
_CHARACTER_KINDS = tuple(map(re.compile, ("[a-z]", "[A-Z]", "[0-9]")))
# After a letter or digit a token is part of a word, unless that ends an escape of JSON or of a URL.
_WORD_START = r"(?:(?<![A-Za-z0-9])|(?<=\\[nrtbf])|(?<=%[0-9A-Fa-f]{2})|(?<=\\u[0-9A-Fa-f]{4}))"
_ESCAPE = re.compile(r"\\[nrtbf]|%[0-9A-Fa-f]{2}|\\u[0-9A-Fa-f]{4}")
_WORD_START_PATTERN = re.compile(_WORD_START)


# The sets of characters that formats.txt names.
_CHARACTER_SETS = {
    "upper": "A-Z0-9",
    "hex": "0-9a-fA-F",
    "hex-dash": r"0-9a-fA-F\-",
    "alnum": "A-Za-z0-9",
    "word": "A-Za-z0-9_",
    "url": r"A-Za-z0-9_\-",  # base64url without padding
    "dotted": r"A-Za-z0-9_.=\-",
    "base64": r"A-Za-z0-9+/=_\-",
}


class Format(NamedTuple):
    """Tokens of one issuer, as explained in formats.txt; `alphabet` is the body of a regex class."""

    kind: str
    prefixes: tuple[str, ...]
    alphabet: str
    min_length: int
    opaque: bool
    repeats: bool


@cache
def load_formats() -> tuple[Format, ...]:
    """Return the formats in formats.txt."""
    text = Path(__file__).with_name("formats.txt").read_text(encoding="utf-8")
    return tuple(_parse_format(line) for line in text.splitlines() if line and not line.startswith("#"))


def _parse_format(line: str) -> Format:
    about, prefixes = line.split(":", 1)
    kind, characters, least, *marks = about.split()
    named, _, more = characters.partition("+")
    alphabet = _CHARACTER_SETS.get(named, named) + more
    return Format(kind, tuple(prefixes.split()), alphabet, int(least), "opaque" in marks, "repeats" in marks)


def find_tokens(text: str, runs: Iterable[Span]) -> Iterator[Finding]:
    """Yield every token of a known format in the `runs` of `text`."""
    run_end = tries = 0
    for begin, stop in runs:
        start = _prefix_pattern().search(text, begin, stop)
        while start:
            at = start.start()
            kind, end, is_token = _read_token(text, at)
            tries = tries + 1 if at < run_end else 0
            run_end = max(run_end, end)
            if is_token or tries > _MAX_TRIES:
                yield Finding(at, end, kind)
                at = end - 1
            start = _prefix_pattern().search(text, at + 1, stop)
        for escape in _ESCAPE.finditer(text, begin, stop):
            kind, end, is_token = _read_token(text, escape.end())
            if is_token:
                yield Finding(escape.end(), end, kind)


def begins_token(text: str, at: int, joiners: str = "") -> bool:
    """Whether a token may begin at `at`: not inside a word, nor after one of `joiners`, nor inside base64."""
    if at and text[at - 1] in joiners:
        return False
    return _WORD_START_PATTERN.match(text, at) is not None and not _in_base64(text, at)


def _read_token(text: str, at: int) -> tuple[str, int, bool]:
    """Return kind and end of a possible token at `at`, and whether it is one."""
    kind, end = "", at + 1
    for prefix, token_format in _formats_by_head().get(text[at : at + _HEAD_LENGTH], ()):
        if not text.startswith(prefix, at) or not begins_token(text, at, "_-+/." if _SHORT.fullmatch(prefix) else ""):
            continue
        found = _body_pattern(token_format.alphabet, token_format.min_length).match(text, at + len(prefix))
        if not found:
            continue
        kind, end = token_format.kind, found.end()
        if not text[end : end + 1].isalnum() and _is_body(found[0][:_MAX_JUDGED], token_format):
            return kind, end, True
    return kind, end, False


def _is_body(body: str, token_format: Format) -> bool:
    if is_template(body) or is_example_key(body) or (token_format.opaque and not is_opaque(body)):
        return False
    return token_format.repeats or not is_stand_in(body)


def _in_base64(text: str, at: int) -> bool:
    """Whether a long piece of base64 ends at `at`, so that a prefix there is a coincidence."""
    before = _BASE64.fullmatch(text, max(0, at - 32), at)
    return before is not None and all(case.search(before[0]) for case in _CHARACTER_KINDS)


@cache
def _body_pattern(alphabet: str, min_length: int) -> re.Pattern[str]:
    return re.compile(rf"[{alphabet}]{{{min_length},{_MAX_LENGTH}}}+")


@cache
def _formats_by_head() -> dict[str, list[tuple[str, Format]]]:
    """Return prefixes and their formats by the first characters, longer prefixes first."""
    by_head: dict[str, list[tuple[str, Format]]] = {}
    for token_format in load_formats():
        for prefix in token_format.prefixes:
            by_head.setdefault(prefix[:_HEAD_LENGTH], []).append((prefix, token_format))
    for entries in by_head.values():
        entries.sort(key=lambda entry: -len(entry[0]))
    return by_head


@cache
def _prefix_pattern() -> re.Pattern[str]:
    """Return a regex for prefixes that are not after a letter or digit; to include escapes takes twice as long."""
    return re.compile(
        r"(?<![A-Za-z0-9])" + trie_pattern({prefix for entries in _formats_by_head().values() for prefix, _ in entries})
    )


# Tokens without a prefix are found by their shape: bots, JWTs, keys with a mark in the middle. A shape has an anchor, a
# plain substring of every such token, and only the text around it is matched; or it begins with a rare character.
# Sources: the issuers' documentation; RFC 7519 for JWTs.

_JOSE_HEADER = re.compile(rb'\{"[\w.-]+"\s*:')  # how a JOSE header begins, whatever follows
URL_SAFE = str.maketrans("-_", "+/")
_VOWEL = re.compile(r"(?i)[aeiouy]")


class Shape(NamedTuple):
    """Tokens that match `pattern`, from at most `before` characters before an occurrence of `anchor` to `after` after.

    If `before` is 0, they begin with the anchor; if the anchor is empty, with a rare character. `is_real` judges the
    whole token. `inside` says that the shape is unusual enough to count inside a longer word, too.
    """

    kind: str
    anchor: str
    pattern: re.Pattern[str]
    is_real: Callable[[str], bool]
    before: int
    after: int
    inside: bool


def _is_jwt(token: str) -> bool:
    header = token.partition(".")[0].rstrip("=").translate(URL_SAFE)
    return _JOSE_HEADER.match(binascii.a2b_base64(header[: len(header) // 4 * 4])) is not None


def _is_artifactory(token: str) -> bool:
    """Whether it is not just a name that begins with the two letters, such as `APDocument`."""
    return token[2].isdigit() or is_opaque(token) or not _VOWEL.search(token[3:])


def _shape(
    kind: str,
    anchor: str,
    pattern: str,
    is_real: Callable[[str], bool] = lambda token: not is_stand_in(token),
    *,
    before: int = 0,
    after: int = 0,
    inside: bool = False,
) -> Shape:
    return Shape(kind, anchor, re.compile(pattern, re.ASCII), is_real, before, after, inside)


SHAPES = (
    _shape("jwt", "eyJ", r"eyJ[\w-]{8,}+=*+\.[\w-]{8,}+=*+(?:\.[\w-]*+){0,3}=*+", _is_jwt),
    _shape("azure-client-secret", "Q~", r"[\w.~-]{3}\dQ~[\w.~-]{31,34}", before=4, after=40),
    _shape("telegram", ":A", r"\d{5,16}+:A[\w-]{34}", before=16, after=40, inside=True),
    _shape("discord", "", r"[MNO][\w-]{23,27}+\.[\w-]{6}\.[\w-]{27,40}", inside=True),
    _shape("mailchimp", "-us", r"[0-9a-f]{32}-us\d{1,2}", before=32, after=6),
    _shape("facebook", "|", r"\d{15,16}\|[\w-]{27}", before=16, after=32),
    _shape("airtable", "pat", r"pat\w{14}\.[0-9a-f]{64}"),
    _shape("asana", "", r"[012]/\d{15,18}(?:/\d{15,18})?:[0-9a-f]{32}"),
    _shape("terraform", ".atlasv1.", r"\w{14}\.atlasv1\.[\w=-]{50,200}", before=14, after=216),
    _shape("password-hash", "$", r"\$(?:2[abxy]?|[1567y]|gy|apr1|argon2(?:id|[id])|scrypt)\$[\w./$=,+-]{20,256}", bool),
    _shape("password-hash", "pbkdf2_", r"pbkdf2_sha\d{1,3}\$\d{1,8}\$[\w./+-]{1,128}\$[\w./+=-]{20,128}", bool),
    _shape("maxmind", "_mmk", r"\w{6}_\w{29}_mmk", before=37, after=4),
    _shape("twilio", "SK", r"SK[a-z0-9]{32}", bool),
    _shape("twilio", "AC", r"AC[a-z0-9]{32}", bool),
    _shape("artifactory", "AKC", r"AKC[A-Za-z0-9]{10,512}", bool),
    _shape("artifactory", "AP", r"AP[0-9A-F][A-Za-z0-9]{8,512}", _is_artifactory),
)


_MIN_UNANCHORED = 50  # characters of the shortest token whose shape has no anchor


def find_shapes(text: str, runs: list[Span]) -> Iterator[Finding]:
    """Yield every token of a known shape in `text`, whose long runs are `runs`."""
    runs = [run for run in runs if run[1] - run[0] >= _MIN_UNANCHORED]
    for shape in SHAPES:
        if not (shape.anchor in text if shape.anchor else runs):
            continue
        for found in _find_shape(text, shape, runs):
            ends = not text[found.end() : found.end() + 1].isalnum()
            if ends and (shape.inside or begins_token(text, found.start())) and shape.is_real(found[0]):
                yield Finding(*found.span(), shape.kind)


def _find_shape(text: str, shape: Shape, runs: list[Span]) -> Iterator[re.Match[str]]:
    if not shape.anchor:
        yield from chain.from_iterable(shape.pattern.finditer(text, *run) for run in runs)
        return
    at = text.find(shape.anchor)
    while at >= 0:
        if shape.before:
            found = shape.pattern.search(text, max(0, at - shape.before), at + shape.after)
        else:
            found = shape.pattern.match(text, at) if begins_token(text, at, "_-") else None
        if found:
            yield found
        at = text.find(shape.anchor, max(at + 1, found.end() if found else 0))


# Tokens that a terminal or a mail broke across line ends: the pieces are joined and searched together. A piece counts
# only if it fills the end or beginning of a line and looks machine-made, so that the first word of the next line is not
# included.

_MAX_LINES = 8  # lines of one token
_LINE_BREAK = re.compile(r"\n[ \t>|]{0,8}(?P<piece>[A-Za-z0-9_.+/~-]{3,512}+={0,2})(?=[\s\"'`,;)]|$)")
_CHARACTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.=+/:~-"
_MAX_PIECE, _MIN_LENGTH = 512, 4  # characters of the piece at a line's end
_PIECE_KINDS = tuple(map(re.compile, ("[A-Z]", "[a-z]", "[0-9]")))
_MIN_KINDS = 2  # kinds of characters in a piece, including digits or inner capitals


# A known prefix, and the rest of the token after a blank or a plus.
_PARTED = re.compile(
    r"(?<![A-Za-z0-9])(?:sk-(?:ant-(?:api|admin|oat)\d\d|proj|svcacct|or-v1)-|gh[pousr]_|github_pat_|glpat-|xox[abeprs]-|npm_"
    r"|pypi-|hf_|dop_v1_|shpat_|[rs]k_(?:live|test)_)[\"'`]?[ \t]{1,3}(?:(?:\+|and|und|et|y|plus)[ \t]{1,3})?[\"'`]?"
    r"(?P<rest>[\w-]{16,512}+)"
)


def find_parted(text: str) -> Iterator[Finding]:
    """Yield the rest of every token that a blank parts from its prefix."""
    for found in _PARTED.finditer(text):
        if (is_opaque(found["rest"]) or is_scrambled(found["rest"])) and not is_stand_in(found["rest"]):
            yield Finding(*found.span("rest"), "token")


def find_broken(text: str, detect: Detector) -> Iterator[Finding]:
    """Yield every finding of `detect` that crosses a line end, after joining the lines."""
    done = 0
    for found in _LINE_BREAK.finditer(text):
        if found.start() < done or not _is_piece(found["piece"]):
            continue
        head = _piece_before(text, found.start())
        if head is None:
            continue
        pieces = [head, *_following_pieces(text, found)]
        done = pieces[-1][0]
        joined = "".join(text[start:end] for start, end in pieces)
        for finding in detect(joined):
            if finding.start < head[1] - head[0] < finding.end:
                yield Finding(head[0] + finding.start, _end_in_text(pieces, finding.end), finding.kind)


def extend_over_lines(text: str, finding: Finding) -> Finding:
    """Return a finding that ends with its line, extended by its continuation on the next lines."""
    end = finding.end
    for _ in range(_MAX_LINES):
        piece = _LINE_BREAK.match(text, end)
        if piece is None or not is_opaque(piece["piece"]):
            break
        end = piece.end()
    return finding if end == finding.end else Finding(finding.start, end, finding.kind)


def _is_piece(piece: str) -> bool:
    kinds = sum(kind.search(piece) is not None for kind in _PIECE_KINDS)
    return kinds >= _MIN_KINDS and (
        is_opaque(piece) or _PIECE_KINDS[2].search(piece) is not None or piece[1:] != piece[1:].lower()
    )


def _piece_before(text: str, at: int) -> tuple[int, int] | None:
    """Return the run of token characters at the end of the line before `at`."""
    end = at
    while end and text[end - 1] in " \t\r\\":
        end -= 1
    before = text[max(0, end - _MAX_PIECE) : end]
    length = len(before) - len(before.rstrip(_CHARACTERS))
    return (end - length, end) if length >= _MIN_LENGTH else None


def _following_pieces(text: str, first: re.Match[str]) -> Iterator[tuple[int, int]]:
    """Yield the pieces from the first one on, as long as each fills its line."""
    found: re.Match[str] | None = first
    for _ in range(_MAX_LINES):
        if found is None or not _is_piece(found["piece"]):
            return
        yield found.span("piece")
        found = _LINE_BREAK.match(text, found.end())


def _end_in_text(pieces: list[tuple[int, int]], length: int) -> int:
    """Return the position in the text after the first `length` characters of the pieces."""
    for start, end in pieces:
        if length <= end - start:
            return start + length
        length -= end - start
    return pieces[-1][1]
