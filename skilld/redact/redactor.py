"""Replaces secrets in text with stable placeholders. Text in, text out; knows no file, clock or setting.

Fails closed: whatever goes wrong inside becomes a RedactionError that carries none of the text, and the caller refuses
the batch. Redacting twice is redacting once, because a text is searched until nothing more is found in it.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Iterator

from skilld.errors import SkilldError
from skilld.redact import assignments, bare, blocks, credentials, spoken, tokens
from skilld.redact.findings import Finding, Span, blank_placeholders, long_runs, lower, merge, outside_placeholders

KEY_BYTES = 32
_DIGIT = re.compile(r"\d")
_LONGER = 16  # characters of the shortest token with a prefix, and of the shortest text that is encoded
_ROUNDS = 8  # a text with secrets needs two: one that finds them, one that finds nothing more
_GAPS = (0, 32, 256)  # findings nearer than this are made one; the wider ones only if the result is too long
_SLACK = 256  # characters that a short text may grow by beyond twice its length


class RedactionError(SkilldError):
    """The text could not be redacted, so it must not be used."""


class Redactor:
    """Redacts with the key of one installation: `key` is 32 random bytes, kept in the state directory."""

    def __init__(self, key: bytes) -> None:
        if len(key) != KEY_BYTES:
            raise RedactionError("Cannot redact anything", f"the key has {len(key)} bytes, not {KEY_BYTES}")
        self._key = key

    def findings(self, text: str) -> list[Finding]:
        """Return the secrets in `text` in order, not overlapping. Raises RedactionError if it cannot tell."""
        try:
            return _search(text)
        except Exception:  # noqa: BLE001 - fail closed: whatever it was, the text is unsafe
            raise _refusal() from None

    def redact(self, text: str) -> str:
        """Return `text` with every secret replaced by `[REDACTED:<kind>:<hmac8>]`.

        The same secret gets the same eight hex digits of HMAC-SHA256 wherever it stands. The result is at most twice
        as long as `text` plus 256 characters: where secrets stand denser than that, what lies between them goes too,
        in the worst case the whole text. Raises RedactionError if anything goes wrong.
        """
        try:
            return self._redact(text)
        except RedactionError:
            raise
        except Exception:  # noqa: BLE001 - fail closed: whatever it was, the text is unsafe
            raise _refusal() from None

    def _redact(self, text: str) -> str:
        for gap in _GAPS:
            redacted = self._until_clean(text, gap)
            if redacted is not None and len(redacted) <= 2 * len(text) + _SLACK:
                return redacted
        return self._placeholder(text, Finding(0, len(text), "dense"))

    def _until_clean(self, text: str, gap: int) -> str | None:
        """Return `text` redacted until nothing more is found in it, or None if that does not come to an end."""
        for _ in range(_ROUNDS):
            found = _search(text)
            if not found:
                return text
            text = self._replace(text, merge(found, gap))
        return None

    def _replace(self, text: str, findings: list[Finding]) -> str:
        parts, at = [], 0
        for finding in findings:
            parts += [text[at : finding.start], self._placeholder(text, finding)]
            at = finding.end
        return "".join([*parts, text[at:]])

    def _placeholder(self, text: str, finding: Finding) -> str:
        secret = text[finding.start : finding.end].encode("utf-8", "surrogatepass")
        digest = hmac.new(self._key, secret, hashlib.sha256).hexdigest()[:8]
        return f"[REDACTED:{finding.kind}:{digest}]"


def _search(text: str) -> list[Finding]:
    blanked = blank_placeholders(text)
    found = merge(_detect(blanked))
    extended = (tokens.extended(blanked, finding) for finding in found)
    return merge(outside_placeholders(extended, blanked)) if found else []


def _detect(text: str, *, deep: bool = True) -> Iterator[Finding]:
    """Yield what the detectors find, the most precise first; those that cannot find anything are not asked.

    `deep`: also what is broken across lines, or encoded.
    """
    words = text.split()
    runs = long_runs(text, words)
    longer = [run for run in runs if run[1] - run[0] >= _LONGER]
    lowered = lower(text)
    has_digit = _DIGIT.search(text) is not None
    if "PRIVATE KEY" in text or "Private-Lines" in text:
        yield from blocks.find_keys(text)
    yield from _detect_tokens(text, runs, longer)
    yield from credentials.find_in_headers(text, lowered)
    if "//" in text or "BUNDLE_" in text or "curl" in text:
        yield from credentials.find_logins(text)
    yield from credentials.find_in_commands(text)
    if has_digit:
        yield from bare.find_cards(text)
    yield from bare.find_seeds(text, words)
    if "kind" in text:
        yield from blocks.find_kubernetes(text)
    yield from blocks.find_listed(text, lowered)
    yield from assignments.find(text, lowered)
    yield from spoken.find(text, lowered, has_digit=has_digit)
    if has_digit and runs:
        yield from bare.find(text, runs)
    if deep and "\n" in text:
        yield from tokens.find_broken(text, _detect_joined)
    if deep and longer:
        yield from blocks.find_encoded(text, longer, lambda decoded: _detect(decoded, deep=False))


def _detect_joined(text: str) -> Iterator[Finding]:
    runs = long_runs(text, text.split())
    return _detect_tokens(text, runs, runs)


def _detect_tokens(text: str, runs: list[Span], longer: list[Span]) -> Iterator[Finding]:
    if longer:
        yield from tokens.find_tokens(text, longer)
    if runs:
        yield from tokens.find_shapes(text, runs)
    if "/" in text or "=" in text:
        yield from credentials.find_in_urls(text)


def _refusal() -> RedactionError:
    return RedactionError("Could not redact a text", "an internal error in the redactor")
