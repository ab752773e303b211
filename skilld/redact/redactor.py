"""Replace secrets in text by stable placeholders. Text in, text out; knows no file, clock or setting.

Fails closed: whatever goes wrong inside becomes a RedactionError that carries none of the text, and the caller refuses
the batch. Redacting twice is redacting once, because a text is searched until nothing more is found in it.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterator

from skilld.errors import SkilldError
from skilld.redact import assignments, bare, blocks, broken, commands, credentials, numbers, spoken, tokens
from skilld.redact import blocks as encoded
from skilld.redact import blocks as kubernetes
from skilld.redact import tokens as shapes
from skilld.redact.findings import Detector, Finding, blank_placeholders, merge, outside_placeholders

KEY_BYTES = 32
_DETECTORS: tuple[Detector, ...] = (
    blocks.find_keys,
    tokens.find_tokens,
    shapes.find_shapes,
    credentials.find_in_urls,
    credentials.find_in_headers,
    credentials.find_logins,
    commands.find,
    numbers.find,
    kubernetes.find_kubernetes,
    assignments.find,
    spoken.find,
    bare.find,
)
_TOKENS: tuple[Detector, ...] = (
    tokens.find_tokens,
    shapes.find_shapes,
    credentials.find_in_urls,
)  # what a line end may break
# Characters without a blank that a text must have for these to find anything; most that people type has fewer.
_LEAST: dict[Detector, int] = {tokens.find_tokens: 16, shapes.find_shapes: 11, bare.find: 12}
_ENCODED = 16
_ROUNDS = 8  # a text with secrets needs two: one that finds them, one that finds nothing more
_GAPS = (0, 32, 256)  # findings nearer than this are made one; the wider ones only if the result is too long
_SLACK = 256  # characters that a short text may grow by beyond twice its length


class RedactionError(SkilldError):
    """The text could not be redacted, so it must not be used."""


class Redactor:
    """Redacts with the key of one installation: `key` is 32 random bytes, kept in the state directory."""

    def __init__(self, key: bytes) -> None:
        if len(key) != KEY_BYTES:
            raise RedactionError("Nothing can be redacted", f"the key has {len(key)} bytes, not {KEY_BYTES}")
        self._key = key

    def findings(self, text: str) -> list[Finding]:
        """Return the secrets in `text` in order, not overlapping. Raises RedactionError if it cannot tell."""
        try:
            return _search(text)
        except Exception as error:  # noqa: BLE001 - fail closed: whatever it was, the text is unsafe
            raise _refusal(error) from None

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
        except Exception as error:  # noqa: BLE001 - fail closed: whatever it was, the text is unsafe
            raise _refusal(error) from None

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
    found = (broken.extended(blanked, finding) for finding in merge(_detect(blanked)))
    return merge(outside_placeholders(found, blanked))


def _detect(text: str) -> Iterator[Finding]:
    longest = max(map(len, text.split()), default=0)
    for detector in _DETECTORS:
        if longest >= _LEAST.get(detector, 0):
            yield from detector(text)
    if "\n" in text:
        yield from broken.find(text, _TOKENS)
    if longest >= _ENCODED:
        yield from encoded.find_encoded(text, _DETECTORS)


def _refusal(error: Exception) -> RedactionError:
    return RedactionError("A text could not be redacted", f"{type(error).__name__} in the redactor")
