"""Removes secrets from text. Every text that is stored, sent, committed, logged or shown passes through here.

`Redactor(key).redact(text)` replaces each secret by `[REDACTED:<kind>:<hmac8>]`. Pure except for its key
(`skilld.redact.key`); imports no library, so that a worker that only redacts starts at once
(docs/decisions/0004-redaction.md).

Which module finds what: `tokens` (with `formats.txt`) by prefix or shape, `assignments` by a name before a value,
`sentences`, `passwords` and `naming` in prose, `unlabelled` keys and cards without a name, `blocks` such as private
keys, `credentials` in URLs and headers, `commands` in command lines.
"""

from __future__ import annotations

from skilld.redact.findings import Finding
from skilld.redact.redactor import KEY_BYTES, RedactionError, Redactor

__all__ = ["KEY_BYTES", "Finding", "RedactionError", "Redactor"]
