"""Redact: text without secrets. Every text that is stored, sent, committed, logged or shown passes through here.

`Redactor(key).redact(text)` puts `[REDACTED:<kind>:<hmac8>]` in the place of each secret. Pure but for the key it is
given (`skilld.redact.key`); imports no library, so a worker that only redacts starts at once
(docs/decisions/0004-redaction.md).

What finds which secrets: `tokens` (and `formats.txt`) by their prefix or shape, `assignments` by a name before a value,
`spoken`, `passwords` and `naming` in sentences, `bare` keys and cards without a name, `blocks` such as private keys,
`credentials` in URLs, headers and commands.
"""

from __future__ import annotations

from skilld.redact.findings import Finding
from skilld.redact.redactor import KEY_BYTES, RedactionError, Redactor

__all__ = ["KEY_BYTES", "Finding", "RedactionError", "Redactor"]
