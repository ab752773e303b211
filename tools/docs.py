"""Checks the project's pages, and writes the parts that are generated: `python -m tools.docs check|write`.

In: the files that git tracks or would track, the parser of the command line, the adapters' data records. Out: one line
per finding and exit code 1, or the generated pages and tables, current.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from skilld.agents import ADAPTERS
from skilld.cli.parser import build_parser
from tools import pages
from tools.agents_table import tables
from tools.json_documents import page as json_page
from tools.json_documents import schemas
from tools.manual import manual
from tools.measure_matching import report
from tools.messages import collect, listing
from tools.reference import reference

ROOT = Path(__file__).resolve().parents[1]
SCHEMA = ROOT / "docs/json.schema.json"
MESSAGES = ROOT / "build/messages.txt"  # for review; 2,500 lines are no page


@dataclass(frozen=True, slots=True)
class Generated:
    """A part of a page that is made by `make`; it stands between `<!-- NAME:start -->` and `<!-- NAME:end -->`."""

    page: str
    name: str
    what: str
    make: Callable[[], str]

    def put_into(self, text: str) -> str:
        """Return the page's text with a current part. Raises ValueError where it has no place for one."""
        place = re.compile(rf"(?<=<!-- {self.name}:start -->\n).*?(?=\S* ?<!-- {self.name}:end -->)", re.DOTALL)
        if not place.search(text):
            raise ValueError(
                f"no `<!-- {self.name}:start -->` and `<!-- {self.name}:end -->`, each on a line of its own"
            )
        made = self.make()
        return place.sub(lambda _: made, text, count=1)


PARTS = (
    Generated("docs/commands.md", "commands", "command reference", lambda: reference(build_parser())),
    Generated("docs/skilld.1", "manual", "man page", lambda: manual(build_parser())),
    Generated("docs/agents.md", "agents", "table of agents", lambda: tables(it.INFO for it in ADAPTERS.values())),
    Generated("docs/json.md", "json", "list of JSON documents", json_page),
    Generated("docs/measurements/quality.md", "matching", "figures of matching", lambda: "\n".join([*report(), ""])),
)


def texts() -> dict[str, str]:
    """Return the texts of all files of the project by path; what is no UTF-8 has none."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(command, cwd=ROOT, check=True, capture_output=True).stdout.decode().split("\0")
    found: dict[str, str] = {}
    for name in filter(None, names):
        try:
            found[name] = (ROOT / name).read_text(encoding="utf-8")
        except UnicodeDecodeError:
            found[name] = ""  # a picture
        except FileNotFoundError:
            continue  # deleted and not yet committed
    return found


def generated(part: Generated, files: Mapping[str, str]) -> list[str]:
    """Return what is wrong with a generated part in the texts of `files`."""
    try:
        if part.put_into(files[part.page]) != files[part.page]:
            return [f"{part.page}:1: the {part.what} is out of date; run: make docs"]
    except (KeyError, ValueError) as error:
        return [f"{part.page}:1: no {part.what}: {error}"]
    return []


def findings() -> list[str]:
    """Return everything that is wrong with the project's pages and files."""
    files = texts()
    prose = {path: text for path, text in files.items() if path.endswith(".md") and not path.startswith("tests/")}
    prose = {path: text for path, text in prose.items() if not path.startswith("skilld/")}
    bounded = {path: text for path, text in prose.items() if path != "CHANGELOG.md"}
    found = [*pages.links(prose, files.keys()), *pages.sizes(bounded), *pages.decisions(prose)]
    # Records and the changelog tell of what was.
    today = {path: text for path, text in bounded.items() if not path.startswith("docs/decisions/")}
    found += pages.named(today, files.keys())
    found += pages.places(files, [str(ROOT), str(ROOT.parent / "shared")])
    found += [finding for part in PARTS for finding in generated(part, files)]
    if files.get("docs/json.schema.json") != schemas():
        found.append("docs/json.schema.json:1: the schema is out of date; run: make docs")
    return found


def main(action: str) -> int:
    """Check or write; return the exit code."""
    if action == "write":
        for part in PARTS:
            page = ROOT / part.page
            page.write_text(part.put_into(page.read_text(encoding="utf-8")), encoding="utf-8")
        SCHEMA.write_text(schemas(), encoding="utf-8")
        MESSAGES.parent.mkdir(exist_ok=True)
        MESSAGES.write_text(listing(collect()), encoding="utf-8")
        return 0
    found = findings()
    print("\n".join(found) or "docs: links, lengths, decisions and generated parts are right")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
