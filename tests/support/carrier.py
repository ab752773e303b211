"""The carrier of forged content: a session with a prompt and, in one wrapper, somebody else's text."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

MARK = "FORGED"  # in every sentence of a content, and in no prompt

Records = list[dict[str, Any]]


@dataclass(frozen=True)
class Carrier:
    """A session with a prompt and, in one wrapper, somebody else's text.

    `wrapper` is one of the adapter's `INFO.wrappers`. `lines(content, prompt)` are its records. `told` says that the
    prompt can be told whatever the content is; else it may be lost. `typed_list(prompt)` is the client's list of what
    was typed, if the adapter wants one; `templates` make the files of templates out of the content; `beside(prompt)`
    are the files beside it that the adapter asks. `text` makes the session where it is no records.
    """

    wrapper: str
    lines: Callable[[str, str], Records]
    told: bool = True
    typed_list: Callable[[str], bytes] | None = None
    templates: tuple[Callable[[str], str], ...] = ()
    file: str = "s/session.jsonl"
    beside: Callable[[str], dict[str, bytes]] | None = None
    text: Callable[[str, str], bytes] | None = None

    def data(self, content: str, prompt: str) -> bytes:
        """Return the bytes of the session."""
        if self.text is not None:
            return self.text(content, prompt)
        return b"".join(json.dumps(record).encode() + b"\n" for record in self.lines(content, prompt))


def without_template_fields(content: str) -> str:
    """Return a content in which a client that fills templates in finds nothing to fill in."""
    return content.replace("$", "").replace("!`", "")
