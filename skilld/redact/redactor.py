"""Replaces secrets in text with stable placeholders. Text in, text out; knows no file, clock or setting.

Fails closed: any error inside becomes a RedactionError without any of the text, and the caller refuses the batch.
Redacting twice equals redacting once, because a text is searched until nothing more is found.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Iterator

from skilld.errors import SkilldError
from skilld.redact import assignments, blocks, commands, credentials, disguised, sentences, tokens, unlabelled
from skilld.redact.findings import (
    Finding,
    Span,
    blank_placeholders,
    long_runs,
    lower_same_length,
    merge,
    outside_placeholders,
)

KEY_BYTES = 32
_DIGIT = re.compile(r"\d")
_MIN_LONG_RUN = 16  # characters of the shortest token with a prefix, and of the shortest encoded text
_MAX_ROUNDS = 8  # a text with secrets needs two: one that finds them, one that finds no more
_GAPS = (0, 32, 256)  # findings closer than this are merged; the wider gaps only if the result is too long
_MAX_GROWTH = 256  # characters that a short text may grow by beyond twice its length


class RedactionError(SkilldError):
    """The text could not be redacted, so it must not be used."""


class Redactor:
    """Redacts with the key of one installation: `key` is 32 random bytes from the state directory."""

    def __init__(self, key: bytes) -> None:
        if len(key) != KEY_BYTES:
            raise RedactionError("Cannot redact anything", f"the key has {len(key)} bytes, not {KEY_BYTES}")
        self._key = key

    def findings(self, text: str) -> list[Finding]:
        """Return the secrets in `text` in order, not overlapping. Raises RedactionError if it cannot tell."""
        try:
            return _search(text)
        except Exception:  # noqa: BLE001 - fail closed: whatever it was, the text is unsafe
            raise _redaction_error() from None

    def redact(self, text: str) -> str:
        """Return `text` with every secret replaced by `[REDACTED:<kind>:<hmac8>]`.

        The same secret always gets the same eight hex digits of HMAC-SHA256. The result is at most twice as long as
        `text` plus 256 characters: if secrets are too dense for that, the text between them is replaced as well, in the
        worst case the whole text. Raises RedactionError if anything goes wrong.
        """
        try:
            return self._redact(text)
        except RedactionError:
            raise
        except Exception:  # noqa: BLE001 - fail closed: whatever it was, the text is unsafe
            raise _redaction_error() from None

    def _redact(self, text: str) -> str:
        for gap in _GAPS:
            redacted = self._until_clean(text, gap)
            if redacted is not None and len(redacted) <= 2 * len(text) + _MAX_GROWTH:
                return redacted
        return self._placeholder(text, Finding(0, len(text), "dense"))

    def _until_clean(self, text: str, gap: int) -> str | None:
        """Return `text` redacted until nothing more is found, or None if that takes too many rounds."""
        for _ in range(_MAX_ROUNDS):
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
    extended = (tokens.extend_over_lines(blanked, finding) for finding in found)
    return merge(outside_placeholders(extended, blanked)) if found else []


def _detect(text: str, *, deep: bool = True) -> Iterator[Finding]:
    """Yield the findings of the detectors, the most precise first; those that cannot find anything are skipped.

    With `deep`, also secrets that are broken across lines, encoded or disguised.
    """
    words = text.split()
    runs = long_runs(text, words)
    longer = [run for run in runs if run[1] - run[0] >= _MIN_LONG_RUN]
    lowered = lower_same_length(text)
    has_digit = _DIGIT.search(text) is not None
    if "PRIVATE KEY" in text or "Private-Lines" in text:
        yield from blocks.find_keys(text)
    yield from _detect_tokens(text, runs, longer)
    if longer:
        yield from tokens.find_parted(text)
    yield from credentials.find_in_headers(text, lowered)
    if "//" in text or "BUNDLE_" in text or "curl" in text:
        yield from credentials.find_logins(text)
    yield from credentials.find_login_pairs(text, lowered)
    yield from commands.find_in_commands(text)
    if has_digit:
        yield from unlabelled.find_cards(text)
        yield from unlabelled.find_accounts(text)
        yield from unlabelled.find_personal_numbers(text)
    yield from unlabelled.find_seeds(text, words)
    if "kind" in text:
        yield from blocks.find_kubernetes(text)
    yield from blocks.find_listed(text, lowered)
    yield from assignments.find_assigned(text, lowered)
    yield from sentences.find_stated(text, lowered, has_digit=has_digit)
    if has_digit and runs:
        yield from unlabelled.find_unlabelled(text, runs)
    if deep and "\n" in text:
        yield from tokens.find_broken(text, _detect_joined)
    if deep and longer:
        yield from blocks.find_encoded(text, longer, lambda decoded: _detect(decoded, deep=False))
    if deep:
        yield from disguised.find_disguised(text, lambda plain: _detect(plain, deep=False))


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


def _redaction_error() -> RedactionError:
    return RedactionError("Could not redact a text", "an internal error in the redactor")
