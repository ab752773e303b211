"""Find tokens by the prefix their issuer documents. Pure: text in, findings out.

All prefixes are looked for at once, by one regex made as a trie (10 MB in 0.7 s; one search per prefix took 2.9 s);
what follows is read with a bounded, possessive class. The time is linear in the text whatever it holds.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache

from skilld.redact.findings import Finding
from skilld.redact.formats import FORMATS, Format
from skilld.redact.opacity import is_opaque
from skilld.redact.values import is_stand_in, is_template

_LONGEST = 2048  # a 1Password service account token has about 900 characters
_JUDGED = 512  # characters that tell what the rest is
_TRIES = 8  # prefixes tried inside one unbroken run of token characters; a run with more is no name or word
_HEAD = 2  # no prefix is shorter
_SHORT = re.compile(r".{1,3}|[a-z]{3}[-.]")  # prefixes that may also be the middle of a name or of base64url text
_BASE64 = re.compile(r"[A-Za-z0-9+/]{32}")
_CASES = tuple(map(re.compile, ("[a-z]", "[A-Z]", "[0-9]")))
# A letter or digit before a token makes it part of a word, unless it ends an escape of JSON or of a URL.
_BEGIN = r"(?:(?<![A-Za-z0-9])|(?<=\\[nrtbf])|(?<=%[0-9A-Fa-f]{2})|(?<=\\u[0-9A-Fa-f]{4}))"
_ESCAPE = re.compile(r"\\[nrtbf]|%[0-9A-Fa-f]{2}|\\u[0-9A-Fa-f]{4}")
_BEGIN_HERE = re.compile(_BEGIN)


def find(text: str) -> Iterator[Finding]:
    """Yield every token of a known format in `text`."""
    start = _starts().search(text)
    run_end = tries = 0
    while start:
        at = start.start()
        kind, end, is_token = _read(text, at)
        tries = tries + 1 if at < run_end else 0
        run_end = max(run_end, end)
        if is_token or tries > _TRIES:
            yield Finding(at, end, kind)
            at = end - 1
        start = _starts().search(text, at + 1)
    for escape in _ESCAPE.finditer(text):
        kind, end, is_token = _read(text, escape.end())
        if is_token:
            yield Finding(escape.end(), end, kind)


def begins_token(text: str, at: int, joiners: str = "") -> bool:
    """Whether a token may begin at `at`: not inside a word, nor behind one of `joiners`, nor inside base64."""
    if at and text[at - 1] in joiners:
        return False
    return _BEGIN_HERE.match(text, at) is not None and not _in_base64(text, at)


def _read(text: str, at: int) -> tuple[str, int, bool]:
    """Return kind and end of what may be a token at `at`, and whether it is one."""
    kind, end = "", at + 1
    for prefix, token_format in _formats().get(text[at : at + _HEAD], ()):
        if not text.startswith(prefix, at) or not begins_token(text, at, "_-+/." if _SHORT.fullmatch(prefix) else ""):
            continue
        found = _body(token_format.alphabet, token_format.least).match(text, at + len(prefix))
        if not found:
            continue
        kind, end = token_format.kind, found.end()
        if not text[end : end + 1].isalnum() and _is_body(found[0][:_JUDGED], token_format):
            return kind, end, True
    return kind, end, False


def _is_body(body: str, token_format: Format) -> bool:
    if is_template(body) or (token_format.opaque and not is_opaque(body)):
        return False
    return token_format.repeats or not is_stand_in(body)


def _in_base64(text: str, at: int) -> bool:
    """Whether a long piece of base64 runs up to `at`, so that a prefix there is chance."""
    before = _BASE64.fullmatch(text, max(0, at - 32), at)
    return before is not None and all(case.search(before[0]) for case in _CASES)


@cache
def _body(alphabet: str, least: int) -> re.Pattern[str]:
    return re.compile(rf"[{alphabet}]{{{least},{_LONGEST}}}+")


@cache
def _formats() -> dict[str, list[tuple[str, Format]]]:
    """Return prefixes and their formats by the first characters, longer prefixes first."""
    by_head: dict[str, list[tuple[str, Format]]] = {}
    for token_format in FORMATS:
        for prefix in token_format.prefixes.split():
            by_head.setdefault(prefix[:_HEAD], []).append((prefix, token_format))
    for entries in by_head.values():
        entries.sort(key=lambda entry: -len(entry[0]))
    return by_head


@cache
def _starts() -> re.Pattern[str]:
    """Return what finds prefixes behind no letter or digit; to look behind escapes as well takes twice as long."""
    return re.compile(r"(?<![A-Za-z0-9])" + _trie({prefix for entries in _formats().values() for prefix, _ in entries}))


def _trie(words: Iterable[str]) -> str:
    """Return a regex of all `words` that shares their beginnings; a word that begins another stands for both."""
    tails: dict[str, set[str]] = {}
    for word in words:
        if not word:
            return ""
        tails.setdefault(word[0], set()).add(word[1:])
    branches = [re.escape(head) + _trie(rest) for head, rest in sorted(tails.items())]
    return branches[0] if len(branches) == 1 else f"(?:{'|'.join(branches)})"
