"""How skilld recognizes its own questions if an agent's command line stores them.

Text and working folder of a turn enter, a yes or no leaves. It is the last of three guards: clients are told to keep
nothing, and adapters pass over sessions without a terminal.
"""

from __future__ import annotations

import os
import re
from pathlib import PurePath

ROOM_PREFIX = "skilld-ask-"

# Random, so that code and pages that speak of the mark do not carry it.
_MARK_PREFIX = "skilld-ask:"
_MARK = re.compile(rf"\b{_MARK_PREFIX}[0-9a-f]{{32}}\b")
_ROOM = re.compile(re.escape(ROOM_PREFIX) + r"\w{8,}", re.ASCII)  # what tempfile.mkdtemp makes of the prefix


def new_mark() -> str:
    """Return a mark for one question."""
    return f"{_MARK_PREFIX}{os.urandom(16).hex()}"


def is_own(text: str, cwd: str | None) -> bool:
    """Whether skilld itself asked this: the text carries its mark, or `cwd` is in a folder it made for a question.

    A turn or skill use for which it holds is nobody's; for the latter `text` is empty. Pure.
    """
    if _MARK_PREFIX in text and _MARK.search(text):
        return True
    return ROOM_PREFIX in (cwd or "") and any(_ROOM.fullmatch(part) for part in PurePath(cwd or "").parts)
