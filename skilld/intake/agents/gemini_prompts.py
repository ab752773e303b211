"""What was typed of a prompt to Gemini CLI or Qwen Code: the clients append the files that an `@path` names.

Content of a message in, the person's part of it out. Seen: the appended text is parts of its own (Gemini CLI 0.61.0,
Qwen Code 0.15.10); where older files join them it stands at the end, between two marks. It is behind the prompt always,
so the first mark that opens it is the client's, or comes before it.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import takewhile
from typing import Any

from skilld.intake.agents.fields import objects, string
from skilld.intake.agents.wrapped import Wrappers

_FILES = "\n--- Content from referenced files ---"
WRAPPERS = Wrappers(opens=_FILES, closes="--- End of content ---", before=False)


def typed_text(content: object) -> str:
    """Return what was typed of a message's content: a string, a part, or a list of parts; thoughts are left out."""
    if isinstance(content, str):
        return WRAPPERS.typed(string(content))
    return "".join(takewhile(lambda text: not text.startswith(_FILES), map(_text, _parts(content))))


def whole_text(content: object) -> str:
    """Return all of a message's text."""
    return string(content) if isinstance(content, str) else "".join(map(_text, _parts(content)))


def _parts(content: object) -> list[Mapping[str, Any]]:
    return objects([content] if isinstance(content, dict) else content)


def _text(part: Mapping[str, Any]) -> str:
    return "" if part.get("thought") else string(part.get("text"))
