"""Installs what the live tests of notices and of the service drive, from Debian: a notification server, systemd.

In: nothing; out: dunst, Xvfb, dbus-daemon and systemctl on PATH. Does nothing where they are there.

Exit codes: 0 they are there, 77 skipped because there is no apt-get or no right to use it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

SKIPPED = 77
# Program on PATH -> Debian's package of it.
NEEDED = {"dunst": "dunst", "Xvfb": "xvfb", "dbus-daemon": "dbus-daemon", "xdotool": "xdotool"}
SERVICE = {"systemctl": "systemd"}
_LIMIT = 300  # seconds


def missing() -> list[str]:
    """Return the programs that are not on PATH."""
    return [program for program in NEEDED if shutil.which(program) is None]


def main() -> int:
    """Install what is missing and say so; see the module's docstring for the exit codes."""
    wanted = [NEEDED[program] for program in missing()]
    wanted += [package for program, package in SERVICE.items() if shutil.which(program) is None]
    if not wanted:
        print("live desktop: already installed")
        return 0
    apt = shutil.which("apt-get")
    if apt is None or os.geteuid() != 0:
        print(f"live desktop: skipped, {' '.join(wanted)} not installed and apt-get cannot be used")
        return SKIPPED
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for arguments in (["update", "-qq"], ["install", "-y", "-qq", "--no-install-recommends", *wanted]):
        done = subprocess.run([apt, *arguments], env=environment, check=False, timeout=_LIMIT)
        if done.returncode:
            print(f"live desktop: skipped, apt-get {arguments[0]} failed", file=sys.stderr)
            return SKIPPED
    print(f"live desktop: installed {' '.join(wanted)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
