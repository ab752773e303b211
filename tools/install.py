"""Put the locked packages and the project itself into `.venv`; do nothing where that is already so.

In: a level (`run`, `test` or `dev`), the lock of that level, `pyproject.toml`. Out: a virtual environment that has at
least that level. It runs before anything is installed, so it knows the standard library only. uv is used where it is on
PATH and never needed.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path

LEVELS = ("run", "test", "dev")  # each holds the ones before it
ROOT = Path(__file__).resolve().parents[1]
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
UV = shutil.which("uv")
STAMP = VENV / "skilld-installed.json"


class InstallError(Exception):
    """Installation cannot go on; the message says why and what to do."""


def digest(level: str) -> str:
    """Return what identifies an installation of this level: place, Python, locks and project file."""
    parts = [str(ROOT), *map(str, sys.version_info[:2])]
    locks = [ROOT / "requirements" / (name + ".txt") for name in LEVELS[: LEVELS.index(level) + 1]]
    parts += [path.read_text(encoding="utf-8") for path in [*locks, ROOT / "pyproject.toml"]]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def installed() -> dict[str, str]:
    """Return the record of the last installation: its level's digest, and its place; empty where there is none."""
    try:
        record = json.loads(STAMP.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return record if isinstance(record, dict) else {}


def usable() -> bool:
    """Whether `.venv` is a working environment of this place and this Python's minor version."""
    if installed().get("place", str(ROOT)) != str(ROOT):
        return False  # it was moved along with the checkout, and its programs name the old place
    probe = "import sys; print(sys.prefix, *sys.version_info[:2])" + ("" if UV else "; import pip")
    try:
        done = subprocess.run([PYTHON, "-c", probe], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    except OSError:
        return False
    expected = " ".join([str(VENV), *map(str, sys.version_info[:2])])
    return done.returncode == 0 and os.fsdecode(done.stdout).strip() == expected


def create() -> None:
    """Make a fresh `.venv`. Raises InstallError where this Python cannot."""
    base = getattr(sys, "_base_executable", sys.executable)  # not the one in the `.venv` that is about to go
    ensurepip = importlib.util.find_spec("ensurepip")
    if ensurepip and ensurepip.origin:  # a removed package can leave its folder behind, which has no origin
        command = [base, "-m", "venv", "--clear", str(VENV)]
    elif UV:
        command = [UV, "venv", "--quiet", "--clear", "--python", base, str(VENV)]
    else:
        raise InstallError(
            f"{base} comes without venv. Debian and Ubuntu have it in a package of its own:\n"
            f"  sudo apt install python3-venv\n"
            f"(python3.{sys.version_info[1]}-venv, where python3 is not the system's own). Then run it again."
        )
    if not succeeds(command):
        raise InstallError(f"No virtual environment could be made in {VENV}; the reason stands above.")


def succeeds(command: list[str]) -> bool:
    """Run an installer and return whether it succeeded; what went wrong it says itself, on standard error."""
    return subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=2, check=False).returncode == 0


def tell(text: str) -> None:
    """Say how it goes, on standard error: standard output is for what is installed for, such as `make bench`."""
    print(text, file=sys.stderr, flush=True)


def install(level: str) -> None:
    """Install the lock, then the project itself, editable and built by the back-end that the lock brought."""
    locked = ["--require-hashes", "-r", f"requirements/{level}.txt"]
    project = ["--no-deps", "--no-build-isolation", "-e", "."]
    if UV:
        into = [UV, "pip", "install", "--quiet", "--python", str(PYTHON)]
        if succeeds([*into, "--compile-bytecode", *locked]) and succeeds([*into, *project]):
            return
        tell("uv did not manage; trying pip")
    into = [str(PYTHON), "-m", "pip", "install", "-qq", "--disable-pip-version-check", "--progress-bar=off"]
    if not (succeeds([*into, *locked]) and succeeds([*into, *project])):
        raise InstallError("The packages could not be installed; the reason stands above.")


def next_step(program: str) -> str:
    """Return what to do once `program` is installed; a running skilld would stop at the next message."""
    folders = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config", Path.home() / "Library/Application Support"
    if not any(Path(folder, "skilld", "config.toml").exists() for folder in folders):
        return f"set it up: {program} setup"
    return f"start it again if it ran in a terminal: {program} run (a service restarts on its own)"


def main(level: str) -> int:
    """Bring `.venv` to a level; return the exit code."""
    try:
        record = installed()
        if PYTHON.exists() and any(record.get(name) == digest(name) for name in LEVELS[LEVELS.index(level) :]):
            return 0
        start = time.monotonic()
        tell(f"installing into {VENV.name}: about a minute, again only when what it needs changes")
        if not usable():
            create()
        STAMP.unlink(missing_ok=True)
        install(level)
        STAMP.write_text(json.dumps({"place": str(ROOT), level: digest(level)}), encoding="utf-8")
        tell(f"installed in {time.monotonic() - start:.0f} s")
        if level == "run":
            program = shlex.quote(str(VENV / "bin" / "skilld"))
            tell(f"To type only skilld in this shell: alias skilld={program}")
            tell(f"Next, {next_step(program)}")
    except InstallError as error:
        tell(str(error))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
