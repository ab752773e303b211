"""Which project a folder of a log belongs to, as far as this machine tells."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path


def project_of(folder: str) -> Path | None:
    """Return the top of the repository a folder lies in, or the folder; None where it is not on this machine."""
    here = [*folders_around(folder)]
    return here[-1] if here else None


def folders_around(folder: str) -> Iterator[Path]:
    """Yield a folder and those around it up to the top of its repository; nothing where it is not on this machine."""
    here = Path(folder)
    # os.path: Path.is_dir raises for a folder that is closed to us, or whose name no disk takes. It is a log's claim.
    if not here.is_absolute() or ".." in here.parts or not os.path.isdir(here):  # noqa: PTH112
        return
    above = [here, *here.parents]
    top = next((number for number, one in enumerate(above) if os.path.lexists(one / ".git")), 0)
    yield from above[: top + 1]
