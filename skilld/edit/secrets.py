"""Refuses an edit that would store a secret: in a commit, in the database or in its journal."""

from __future__ import annotations

import os
from collections.abc import Iterable

from skilld.errors import RefusedError
from skilld.redact import KEY_BYTES, Redactor
from skilld.text import Redact, fold, safe_text, truncate
from skilld.types import Operation

_MAX_SHOWN = 100


def refuse_secrets(title: str, operations: Iterable[Operation], path: str, redact: Redact | None = None) -> None:
    """Raise RefusedError, with that title, if the edit of the file at `path` contains a secret.

    Existing lines count if the edit is anchored on them, because they are stored with it. The message masks them.
    """
    redact = redact or Redactor(os.urandom(KEY_BYTES)).redact
    for operation in operations:
        if redact(operation.anchor) != operation.anchor:
            where = "a line that it changes or is placed next to contains a secret, which skilld never stores"
            remedy = f"Take the secret out of {path}: {_masked(operation.anchor, redact)}"
            raise RefusedError(title, where, remedy)
        if redact(operation.text) != operation.text:
            cause = f"it contains a secret, which skilld never stores: {_masked(operation.text, redact)}"
            raise RefusedError(title, cause, f"Take it out; if it must be there, type it into {path} yourself.")


def _masked(text: str, redact: Redact) -> str:
    """Return the first line with a secret, masked."""
    line = next((redact(one) for one in text.split("\n") if redact(one) != one), redact(text))
    return truncate(safe_text(fold(line)), _MAX_SHOWN)
