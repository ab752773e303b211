"""Write the hash locks in `requirements/` from `pyproject.toml`: `make lock`, with `--upgrade` for newer versions.

In: the project's dependencies, its build back-end and its groups `test` and `dev`; uv, on PATH or in `.venv`. Out:
three files for every platform and supported Python, each holding only what it adds to the one before. A lock names no
index and no host, so that pip and uv install from wherever the person's machine gets its packages.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from datetime import UTC, datetime, timedelta
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "requirements"
LEVELS: dict[str, tuple[str, ...]] = {"run": (), "test": ("test",), "dev": ("dev",)}  # lock -> dependency groups
HEADER = "# Written by `make lock`. Install with pip or uv: --require-hashes -r requirements/{level}.txt\n"
COOL_DOWN = timedelta(days=7)  # a stolen release is usually found and withdrawn within days
# Both were published with a stolen token and carried a credential stealer (MAL-2026-2144).
STOLEN = re.compile(r"^litellm==1\.82\.[78]\b", re.MULTILINE)


def entries(lock: str) -> dict[str, str]:
    """Split a lock into its entries: `name==version ; marker` -> that line with its hashes and notes."""
    found: dict[str, str] = {}
    for match in re.finditer(r"^(?P<pin>[A-Za-z0-9][^\\\n]*?) *\\\n(?:    .*\n)+", lock, re.MULTILINE):
        found[match["pin"]] = match[0]
    return found


def added(lock: str, below: str) -> str:
    """Return the entries of `lock` that `below` has not."""
    known = entries(below)
    return "".join(text for pin, text in entries(lock).items() if pin not in known)


def compile_lock(uv: str, level: str, pinned: str) -> str:
    """Resolve one level with uv, keeping the versions in `pinned`, and return the whole lock.

    Raises CalledProcessError; uv has then said why.
    """
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    command = [uv, "pip", "compile", "pyproject.toml", "-", "--quiet", "--no-header", "--universal"]
    command += ["--python-version", project["project"]["requires-python"].removeprefix(">=")]
    command += ["--generate-hashes", f"--exclude-newer={datetime.now(UTC) - COOL_DOWN:%Y-%m-%d}"]
    command += [f"--group={group}" for group in LEVELS[level]]
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "lock.txt"  # uv prefers the versions it finds in its output file
        output.write_text(pinned, encoding="utf-8")
        build = "\n".join(project["build-system"]["requires"])
        subprocess.run([*command, f"--output-file={output}"], cwd=ROOT, input=build, check=True, text=True)
        return output.read_text(encoding="utf-8")


def main() -> int:
    """Write all locks; return the exit code."""
    uv = shutil.which("uv") or shutil.which("uv", path=ROOT / ".venv" / "bin")
    if uv is None:
        print("make lock needs uv: pip install uv, or see its own installation page", file=sys.stderr)
        return 1
    upgrade = "--upgrade" in sys.argv[1:]
    below = nested = ""
    for level in LEVELS:
        path = FOLDER / f"{level}.txt"
        pinned = below if upgrade or not path.exists() else below + "".join(entries(path.read_text("utf-8")).values())
        try:
            lock = compile_lock(uv, level, pinned)
        except subprocess.CalledProcessError as failure:
            return failure.returncode
        if STOLEN.search(lock):
            print("refused: the resolution holds litellm 1.82.7 or 1.82.8", file=sys.stderr)
            return 1
        path.write_text(HEADER.format(level=level) + nested + added(lock, below), encoding="utf-8")
        print(f"{path.relative_to(ROOT)}: {len(entries(lock))} packages")
        below, nested = lock, f"-r {path.name}\n"
    return 0


if __name__ == "__main__":
    sys.exit(main())
