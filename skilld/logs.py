"""The log: one line of JSON per event, with an allow-list of fields, and nothing that anyone said."""

from __future__ import annotations

import logging
import logging.handlers
import os
import sys
from collections.abc import MutableMapping
from io import TextIOWrapper
from pathlib import Path
from typing import Any

from skilld.text import safe_text

# structlog imports rich, if installed, for tracebacks on a terminal, which this log never has: 3.6 MB of the daemon's
# 51. So structlog is imported here without rich, and nowhere else (tests/unit/test_imports.py).
_RICH = sys.modules.get("rich")
sys.modules["rich"] = None  # type: ignore[assignment]
import structlog  # noqa: E402

if _RICH is None:
    del sys.modules["rich"]
else:
    sys.modules["rich"] = _RICH

get_logger = structlog.get_logger

# Ids, counts, durations and outcomes. All other fields are dropped, so that no text gets into a log by mistake.
FIELDS = frozenset(
    """event level timestamp agent batch file_id session turns chatter outcome proposals error attempts seconds
    files agents folders new version pid reason signal channel kind count""".split()  # noqa: SIM905 - read as text
)
_MAX_FILE_BYTES = 2 << 20
_MAX_FILES = 5


class _PrivateFile(logging.handlers.RotatingFileHandler):
    """A rotated log whose files all have mode 0600, regardless of the umask."""

    def _open(self) -> TextIOWrapper:
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
        return os.fdopen(os.open(self.baseFilename, flags, 0o600), "a", encoding=self.encoding)


def set_up(path: Path | None, *, terminal: bool) -> None:
    """Send the log to `path` (mode 0600, rotated), or to standard error: as lines for people on a terminal."""
    handler: logging.Handler
    if path is None:
        handler = logging.StreamHandler(sys.stderr)
    else:
        handler = _PrivateFile(path, maxBytes=_MAX_FILE_BYTES, backupCount=_MAX_FILES, encoding="utf-8")
    handler.setFormatter(logging.Formatter("%(message)s"))
    root = logging.getLogger("skilld")
    root.handlers[:] = [handler]
    root.setLevel(logging.INFO)
    root.propagate = False
    render = structlog.dev.ConsoleRenderer() if terminal and path is None else structlog.processors.JSONRenderer()
    structlog.configure(
        processors=[
            structlog.stdlib.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            _drop_unknown_fields,
            render,
        ],
        logger_factory=_make_logger,
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=False,
    )


def _make_logger(*names: Any) -> logging.Logger:  # noqa: ANN401 - structlog's signature
    del names
    return logging.getLogger("skilld")


def _drop_unknown_fields(logger: Any, method: str, event: MutableMapping[str, Any]) -> dict[str, Any]:  # noqa: ANN401 - structlog's signature
    del logger, method
    return {key: safe_text(value) if isinstance(value, str) else value for key, value in event.items() if key in FIELDS}
