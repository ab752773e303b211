"""Checks the project's pages, and writes the part of README.md that is generated: `python -m tools.docs check|write`.

In: the files that git tracks or would track, and the parser of the command line. Out: one line per finding and exit
code 1, or README.md with a current command reference.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from skilld.cli.parser import build_parser
from tools import pages
from tools.reference import reference

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "README.md"
GENERATED = re.compile(r"(?<=<!-- commands:start -->\n).*?(?=<!-- commands:end -->)", re.DOTALL)


def texts() -> dict[str, str]:
    """Return the texts of all files of the project by path; what is no UTF-8 is no text."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(command, cwd=ROOT, check=True, capture_output=True).stdout.decode().split("\0")
    found: dict[str, str] = {}
    for name in filter(None, names):
        try:
            found[name] = (ROOT / name).read_text(encoding="utf-8")
        except (UnicodeDecodeError, FileNotFoundError):
            continue  # a picture, or deleted and not yet committed
    return found


def with_reference(readme: str) -> str:
    """Return the README with a current command reference. Raises ValueError where it has no place for one."""
    if not GENERATED.search(readme):
        raise ValueError("no `<!-- commands:start -->` and `<!-- commands:end -->`, each on a line of its own")
    made = reference(build_parser())
    return GENERATED.sub(lambda _: made, readme)


def findings() -> list[str]:
    """Return everything that is wrong with the project's pages and files."""
    files = texts()
    prose = {path: text for path, text in files.items() if path.endswith(".md") and not path.startswith("tests/")}
    prose = {path: text for path, text in prose.items() if not path.startswith("skilld/")}
    bounded = {path: text for path, text in prose.items() if path != "CHANGELOG.md"}
    found = [*pages.links(prose, files.keys()), *pages.sizes(bounded), *pages.decisions(prose)]
    found += pages.places(files, [str(ROOT), str(ROOT.parent / "shared")])
    try:
        if with_reference(files["README.md"]) != files["README.md"]:
            found.append("README.md:1: the command reference is out of date; run: make docs")
    except (KeyError, ValueError) as error:
        found.append(f"README.md:1: no command reference: {error}")
    return found


def main(action: str) -> int:
    """Check or write; return the exit code."""
    if action == "write":
        README.write_text(with_reference(README.read_text(encoding="utf-8")), encoding="utf-8")
        return 0
    found = findings()
    print("\n".join(found) or "docs: links, lengths, decisions and command reference are right")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
