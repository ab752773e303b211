"""The shipped files of systemd/ and launchd/: inside the package when installed, beside it in a checkout."""

from __future__ import annotations

from pathlib import Path

from skilld.errors import SkilldError

_PACKAGE = Path(__file__).resolve().parents[1]


def template(name: str) -> bytes:
    """Return a shipped file by its place, such as `systemd/skilld.service`."""
    for folder in (_PACKAGE / "_units", _PACKAGE.parent):
        try:
            return (folder / name).read_bytes()
        except FileNotFoundError:
            continue
    raise SkilldError("The service cannot be installed", f"{name} is not part of this installation", "Install again.")
