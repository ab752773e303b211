"""The key for this machine's redaction placeholders: created once, mode 0600, never sent or copied."""

from __future__ import annotations

import os
import secrets
import tempfile
from pathlib import Path

from skilld.errors import SkilldError
from skilld.redact import KEY_BYTES


def load_key(path: Path) -> bytes:
    """Return the key at `path`, creating it if missing. Raises SkilldError if it cannot be used."""
    try:
        if not path.exists():
            _create_key(path)
        key = path.read_bytes()
    except OSError as error:
        raise SkilldError("Cannot use the redaction key", error.strerror or str(error)) from error
    if len(key) != KEY_BYTES:
        raise SkilldError("The redaction key is damaged", str(path), f"Delete {path}; skilld will create a new one.")
    return key


def _create_key(path: Path) -> None:
    fd, name = tempfile.mkstemp(dir=path.parent, prefix=f"{path.name}.")  # mode 0600
    new = Path(name)
    try:
        with os.fdopen(fd, "wb") as file:
            file.write(secrets.token_bytes(KEY_BYTES))
            file.flush()
            os.fsync(fd)
        os.link(new, path)
    except FileExistsError:
        return  # another worker was faster: use its key
    finally:
        new.unlink()
