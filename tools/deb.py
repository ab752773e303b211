"""The Debian package of a release: an exported tree in, one `.deb` out. `debian/` says how it is built, and why so.

The tree's `debian/` names nobody; whoever made the tagged commit is put in as the maintainer, with its time.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from datetime import UTC, datetime
from email.utils import format_datetime
from pathlib import Path

PROGRAM = "dpkg-buildpackage"
_CHANGES = "skilld ({version}) unstable; urgency=medium\n\n  * See CHANGELOG.md.\n\n -- {who}  {when}\n"


class DebError(Exception):
    """The package cannot be built; the message says why."""


def missing() -> list[str]:
    """Return the Debian packages without which none can be built here."""
    needed = {PROGRAM: "dpkg-dev", "dh": "debhelper"}
    found = [package for program, package in needed.items() if shutil.which(program) is None]
    probe = ["/usr/bin/python3", "-c", "import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))"]
    try:
        fit = subprocess.run(probe, capture_output=True, check=False).returncode == 0
    except OSError:
        fit = False
    return found if fit else [*found, "python3-venv (3.11 or newer)"]


def describe(tree: Path, version: str, who: str, at: int) -> None:
    """Write the version, the maintainer and the time into `debian/`."""
    when = format_datetime(datetime.fromtimestamp(at, UTC))
    (tree / "debian/changelog").write_text(_CHANGES.format(version=version, who=who, when=when), encoding="utf-8")
    control = tree / "debian/control"
    text, found = re.subn(r"(?m)^Maintainer: .*$", lambda _: f"Maintainer: {who}", control.read_text(encoding="utf-8"))
    if found != 1:
        raise DebError("debian/control has no line Maintainer:")
    control.write_text(text, encoding="utf-8")


def build(tree: Path, into: Path, at: int) -> Path:
    """Build the package in `tree`, whose parent folder is scratch, and return it in `into`."""
    if lacking := missing():
        raise DebError(f"not installed: {', '.join(lacking)}")
    environment = {**os.environ, "SOURCE_DATE_EPOCH": str(at), "PYTHONHASHSEED": "0", "LC_ALL": "C.UTF-8"}
    command = [PROGRAM, "--build=binary", "--unsigned-changes", "--unsigned-buildinfo", "--no-pre-clean"]
    done = subprocess.run(command, cwd=tree, env=environment, stdout=2, check=False, umask=0o022)
    if done.returncode:
        raise DebError(f"{PROGRAM} ended with {done.returncode}; the reason stands above")
    (made,) = tree.parent.glob("skilld_*.deb")
    return Path(shutil.move(made, into / made.name))
