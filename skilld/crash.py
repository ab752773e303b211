"""Reports of bugs in skilld: a file with versions and a traceback, and never with anyone's words."""

from __future__ import annotations

import hashlib
import os
import platform
import time
import traceback
from collections.abc import Sequence

from skilld import __version__
from skilld.clock import rfc3339
from skilld.errors import SkilldError


def report(error: BaseException, command: Sequence[str]) -> str:
    """Write a crash file and return the message for the person.

    The error's own message is left out: it may contain text of a transcript.
    """
    kind = f"{type(error).__module__}.{type(error).__qualname__}".removeprefix("builtins.")
    frames = traceback.extract_tb(error.__traceback__)
    where = "".join(f"  {frame.filename}:{frame.lineno} in {frame.name}\n" for frame in frames)
    text = (
        f"skilld {__version__}, Python {platform.python_version()}, "
        f"{platform.system()} {platform.release()} {platform.machine()}\n"
        f"command: {' '.join(command)}\nerror: {kind}\n{where}"
    )
    headline = f"skilld: Internal error: {kind}\n"
    try:
        from skilld.paths import places, private_dir

        private_dir(places().state)
        folder = private_dir(places().crashes)
        # One file per bug, however often it strikes.
        path = folder / f"{type(error).__name__}-{hashlib.sha256(text.encode()).hexdigest()[:8]}.txt"
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        with os.fdopen(fd, "w", encoding="utf-8") as file:
            file.write(f"{text}at: {rfc3339(time.time())}\n")
    except (OSError, SkilldError):
        return headline + text
    return f"{headline}  Details for a bug report (they contain none of your text): {path}\n"
