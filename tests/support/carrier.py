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

    `wrapper` is one of the adapter's `INFO.wrappers`; `lines(content, prompt)` are the session's records, or `text` its
    text if it has none. Unless it is `recognizable`, the prompt may be missed, depending on the content.
    `typed_list(prompt)` is the client's list of typed prompts, `templates` make template files out of the content, and
    `side_files(prompt)` are the files beside the session, as far as the adapter reads them.
    """

    wrapper: str
    lines: Callable[[str, str], Records]
    recognizable: bool = True
    typed_list: Callable[[str], bytes] | None = None
    templates: tuple[Callable[[str], str], ...] = ()
    file: str = "s/session.jsonl"
    side_files: Callable[[str], dict[str, bytes]] | None = None
    text: Callable[[str, str], bytes] | None = None

    def data(self, content: str, prompt: str) -> bytes:
        """Return the bytes of the session."""
        if self.text is not None:
            return self.text(content, prompt)
        return b"".join(json.dumps(record).encode() + b"\n" for record in self.lines(content, prompt))


def without_template_fields(content: str) -> str:
    """Return a content in which a client that fills templates in finds nothing to fill in."""
    return content.replace("$", "").replace("!`", "")
