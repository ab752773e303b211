"""Recognizes skilld's own questions if an agent's command line has stored them.

This is the last of three guards: clients are told to store nothing, and adapters skip sessions without a terminal.
"""

from __future__ import annotations

import os
import re
from pathlib import PurePath

FOLDER_PREFIX = "skilld-ask-"

# Random, so that code and pages about the mark do not contain it.
_MARK_PREFIX = "skilld-ask:"
_MARK = re.compile(rf"\b{_MARK_PREFIX}[0-9a-f]{{32}}\b")
_FOLDER_NAME = re.compile(re.escape(FOLDER_PREFIX) + r"\w{8,}", re.ASCII)  # what tempfile.mkdtemp makes of the prefix


def new_mark() -> str:
    """Return a mark for one question."""
    return f"{_MARK_PREFIX}{os.urandom(16).hex()}"


def is_own_question(text: str, cwd: str | None) -> bool:
    """Whether skilld itself asked this: the text has its mark, or `cwd` is in a folder made for a question.

    Such a turn or skill use does not count; for the latter `text` is empty. Pure.
    """
    if _MARK_PREFIX in text and _MARK.search(text):
        return True
    return FOLDER_PREFIX in (cwd or "") and any(_FOLDER_NAME.fullmatch(part) for part in PurePath(cwd or "").parts)
