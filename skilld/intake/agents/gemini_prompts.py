"""What was typed of a prompt to Gemini CLI or Qwen Code: the clients append the files that an `@path` names.

Content of a message in, the person's part of it out. Seen: the appended text is parts of its own (Gemini CLI 0.61.0,
Qwen Code 0.15.10); where older files join them it stands at the end, between two marks.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import takewhile
from typing import Any

from skilld.intake.agents.fields import objects, string

_FILES = "\n--- Content from referenced files ---"
_FILES_END = "--- End of content ---"


def typed_text(content: object) -> str:
    """Return what was typed of a message's content: a string, a part, or a list of parts; thoughts are left out."""
    if isinstance(content, str):
        text = string(content)
        return text.partition(_FILES)[0] if text.rstrip().endswith(_FILES_END) else text
    return "".join(takewhile(lambda text: not text.startswith(_FILES), map(_text, _parts(content))))


def whole_text(content: object) -> str:
    """Return all of a message's text."""
    return string(content) if isinstance(content, str) else "".join(map(_text, _parts(content)))


def _parts(content: object) -> list[Mapping[str, Any]]:
    return objects([content] if isinstance(content, dict) else content)


def _text(part: Mapping[str, Any]) -> str:
    return "" if part.get("thought") else string(part.get("text"))
