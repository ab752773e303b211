r"""Text as a reader or a program sees it: without invisible characters and colours, with escapes decoded. Pure.

A terminal's colours, a soft hyphen or `%40` in the middle of a secret hide it from every pattern. Decoded are the
escapes of URLs (%5F), HTML (&#95;) and string literals (\x5f, \u005f, \137), and the wide forms of ASCII letters.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator

from skilld.redact.findings import Detector, Finding

_PIECE = re.compile(
    r"""(?x)
    (?P<hidden> \x1b (?: \[ [0-?]{0,32} [\ -/]{0,4} [@-~] | \] [^\x07\x1b\n]{0,256} (?:\x07|\x1b\\) )
        | [\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff] )
    | (?: % | \\x ) (?P<two> [2-7][0-9A-Fa-f] ) | \\u (?P<four> 00[2-7][0-9A-Fa-f] )
    | \\ (?P<octal> (?: 0?[4-7] | 1[0-7] ) [0-7] ) (?![0-7])
    | &\# (?: x(?P<html>[2-7][0-9A-Fa-f]) | (?P<decimal>[1-9]\d{1,2}) ) ;
    | (?P<wide> [\uff10-\uff19\uff21-\uff3a\uff3f\uff41-\uff5a] )"""
)
_SIGNS = re.compile(r"[\x1b%\\]|&#|[^\x00-\x7f]")
_WIDE = 0xFEE0  # from an ASCII character to its wide form


def find_disguised(text: str, detect: Detector) -> Iterator[Finding]:
    """Yield what `detect` finds in those lines of `text` in which something is hidden or escaped, once it is not."""
    if not _SIGNS.search(text):
        return
    pieces = list(_PIECE.finditer(text))
    if not pieces:
        return
    plain, places, ends = _decode(text, pieces)
    for finding in detect(plain):
        last = finding.end - 1
        yield Finding(places[finding.start], ends.get(last, places[last] + 1), finding.kind)


def _decode(text: str, pieces: list[re.Match[str]]) -> tuple[str, array[int], dict[int, int]]:
    """Return the lines of `text` with pieces, decoded, where each character begins in `text`, and where escapes end."""
    out: list[str] = []
    places = array("L")  # 8 bytes a character: tuples took 140
    ends: dict[int, int] = {}
    at = 0  # all before it is in `out`, or on a line without a piece
    for piece in pieces:
        start = text.rfind("\n", at, piece.start()) + 1
        if start > at:
            end = text.find("\n", at)
            _copy(text, at, end + 1, out, places)
            at = start
        _copy(text, at, piece.start(), out, places)
        if letter := _letter(piece):
            out.append(letter)
            ends[len(places)] = piece.end()
            places.append(piece.start())
        at = piece.end()
    end = text.find("\n", at)
    _copy(text, at, len(text) if end < 0 else end, out, places)
    return "".join(out), places, ends


def _copy(text: str, start: int, end: int, out: list[str], places: array[int]) -> None:
    out.append(text[start:end])
    places.extend(range(start, end))


def _letter(piece: re.Match[str]) -> str:
    if piece["hidden"]:
        return ""
    if piece["wide"]:
        return chr(ord(piece["wide"]) - _WIDE)
    if piece["decimal"]:
        code = int(piece["decimal"])
    elif piece["octal"]:
        code = int(piece["octal"], 8)
    else:
        code = int(piece["two"] or piece["four"] or piece["html"], 16)
    return chr(code)
