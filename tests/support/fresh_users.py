"""A new user who installs skilld: an empty home, and only this machine's settings for the package index."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

NOBODY = 4711  # a user who owns nothing on this machine
LIMIT = 900.0  # seconds; a package index may be slow


@dataclass(frozen=True, slots=True)
class FreshUser:
    """Somebody with an empty home: root, or, if root runs the tests, an unknown user if `ordinary`."""

    home: Path
    ordinary: bool

    @property
    def environment(self) -> dict[str, str]:
        own = {"HOME": str(self.home), "XDG_RUNTIME_DIR": str(self.home), "LANG": "C.UTF-8", "TMPDIR": "/tmp"}  # noqa: S108
        asking = {name: value for name, value in os.environ.items() if name.startswith(("PIP_", "UV_", "SSL_"))}
        # Compiling what is installed takes longer than installing it, and changes nothing that is tested here.
        fast = {"PIP_NO_COMPILE": "1", "PIP_ROOT_USER_ACTION": "ignore", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
        return {"PATH": "/usr/local/bin:/usr/bin:/bin", **own, **asking, **fast}

    def command(self, *words: str | Path) -> list[str]:
        drop = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--"] if self.ordinary else []
        return [*drop, *map(str, words)]

    def tries(self, *words: str | Path, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run a command to its end."""
        return subprocess.run(
            self.command(*words),
            cwd=self.home,
            env=self.environment | variables,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=LIMIT,
            check=False,
        )

    def runs(self, *words: str | Path, **variables: str) -> str:
        """Run a command that must succeed; return what it printed."""
        result = self.tries(*words, **variables)
        assert result.returncode == 0, (
            f"{' '.join(map(str, words))}: exit {result.returncode}\n{result.stdout}{result.stderr}"
        )
        return result.stdout

    def leftover_files(self) -> list[str]:
        """Return the files in the home that are named after skilld, except what an installer caches."""
        named = [str(path.relative_to(self.home)) for path in self.home.rglob("*skilld*")]
        return sorted(name for name in named if not name.startswith(".cache/"))


def pythons() -> dict[str, Path]:
    """Return the Pythons of this machine that skilld runs on and that can make environments, by minor version.

    The system's own comes first: it is the one that every user can run. A child looks for them, since some may lie in
    the person's home, which is closed to tests.
    """
    places = ["/usr/bin", *os.environ["PATH"].split(os.pathsep), f"{Path(sys.executable).resolve().parents[2]}/3.*/bin"]
    listing = (
        "import glob, sys; [print(path) for place in sys.argv[1:] for path in sorted(glob.glob(place + '/python3*'))]"
    )
    probe = "import sys, venv, ensurepip; print('%d.%d' % sys.version_info[:2], sys.prefix == sys.base_prefix)"
    found: dict[str, Path] = {}
    for name in _said([sys.executable, "-c", listing, *places]).splitlines():
        if re.fullmatch(r"python3(\.\d+)?", Path(name).name):
            version, _, whole = _said([name, "-c", probe]).partition(" ")
            if whole == "True" and tuple(map(int, version.split("."))) >= (3, 11):
                found.setdefault(version, Path(name))
    return found


def _said(command: list[str]) -> str:
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    return result.stdout.strip() if result.returncode == 0 else ""
