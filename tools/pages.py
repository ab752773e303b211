"""What must hold of the project's pages and of every file in it. Pure: texts by path in, findings out.

A finding is one line, `path:line: what is wrong`. Nothing here reads the disk, so each rule is tested on texts.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterator, Mapping

PAGE_LIMIT = 250  # lines
LIMITS = {"README.md": 120, "docs/commands.md": 400, "docs/json.md": 400}  # the last two are looked up, not read
DECISION_LINES = range(15, 41)
DECISION_NAME = re.compile(r"docs/decisions/(\d{4})-[a-z0-9-]+\.md")
DATE = re.compile(r"\b20\d\d-\d\d-\d\d\b")
NAMED = re.compile(r"`((?:skilld|tests|tools)/(?:[\w-]+/)*(?:[\w-]+\.\w+)?)`")
LINK = re.compile(r"\]\(<?([^)\s>]+)[^)]*\)|^ {0,3}\[[^\]^]+\]: *(\S+)", re.MULTILINE)
FENCED = re.compile(r"^ {0,3}(```+|~~~+).*?^ {0,3}\1", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"`[^`\n]*`")
HEADING = re.compile(r"^#+ +(.+?) *#*$", re.MULTILINE)
REGISTRY = re.compile(r"(?:https?://|\b)(?:[\w-]+\.)*(?:pypi|pythonhosted|npmjs|yarnpkg|jfrog)\.(?:org|com|io)\b")
HOME_PATH = re.compile(r"(?<![\w.~])/(?:home|Users)/\w|(?<![\w.~])/root/")
LOCK_OPTION = re.compile(r"^-(?!r \w+\.txt$).*", re.MULTILINE)


def at(path: str, text: str, offset: int, what: str) -> str:
    """Return a finding about the line of `text` that holds `offset`."""
    return f"{path}:{text.count(chr(10), 0, offset) + 1}: {what}"


def blank(match: re.Match[str]) -> str:
    """Return white space of the same length and lines: code is no prose, and offsets stay."""
    return re.sub(r"[^\n]", " ", match[0])


def anchors(page: str) -> set[str]:
    """Return the anchors of a page's headings, as code hosts make them."""
    found: set[str] = set()
    for heading in HEADING.findall(FENCED.sub(blank, page)):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        anchor = re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")
        number = next(n for n in range(len(found) + 1) if (f"{anchor}-{n}" if n else anchor) not in found)
        found.add(f"{anchor}-{number}" if number else anchor)
    return found


def links(pages: Mapping[str, str], files: Collection[str]) -> Iterator[str]:
    """Yield links of the pages that lead to no file of the project, or to no heading of a page."""
    folders = {posixpath.dirname(path) for path in files}
    for path, text in pages.items():
        prose = CODE.sub(blank, FENCED.sub(blank, text))
        for match in LINK.finditer(prose):
            target = match[1] or match[2]
            if re.match(r"[a-z][a-z0-9+.-]*:", target):
                continue  # another site's
            name, _, anchor = target.partition("#")
            place = posixpath.normpath(posixpath.join(posixpath.dirname(path), name)) if name else path
            if place not in files and place not in folders:
                yield at(path, text, match.start(), f"the link leads nowhere: {target}")
            elif anchor and place in pages and anchor not in anchors(pages[place]):
                yield at(path, text, match.start(), f"{place} has no heading for #{anchor}")


def sizes(pages: Mapping[str, str]) -> Iterator[str]:
    """Yield pages that are too long to be read."""
    for path, text in pages.items():
        lines, limit = len(text.splitlines()), LIMITS.get(path, PAGE_LIMIT)
        if lines > limit:
            yield f"{path}:{limit + 1}: {lines} lines, more than {limit}"


def named(pages: Mapping[str, str], files: Collection[str]) -> Iterator[str]:
    """Yield files and folders of the project that a page names in code and that are not there."""
    for path, text in pages.items():
        for match in NAMED.finditer(FENCED.sub(blank, text)):
            name = match[1]
            if not any(file == name or file.startswith(f"{name.rstrip('/')}/") for file in files):
                yield at(path, text, match.start(), f"there is no {name}")


def decisions(pages: Mapping[str, str]) -> Iterator[str]:
    """Yield decision records of another name, length or number than agreed, or without a date near the top."""
    numbers: set[str] = set()
    for path, text in sorted(pages.items()):
        if not path.startswith("docs/decisions/"):
            continue
        name = DECISION_NAME.fullmatch(path)
        if name is None or name[1] in numbers:
            yield f"{path}:1: not named NNNN-title.md, or the number is taken"
        numbers.add(name[1] if name else "")
        lines = text.splitlines()
        if len(lines) not in DECISION_LINES:
            yield f"{path}:1: {len(lines)} lines, not {DECISION_LINES[0]} to {DECISION_LINES[-1]}"
        if not DATE.search("\n".join(lines[:5])):
            yield f"{path}:1: no date in the first five lines"


def places(files: Mapping[str, str], private: Collection[str]) -> Iterator[str]:
    """Yield traces of one machine: a package registry's host, a path in `private`, a home folder on a page.

    Test data may name homes, since transcripts do.
    """
    own = re.compile("|".join(rf"{re.escape(path)}(?![\w-])" for path in private) or r"(?!)")
    for path, text in files.items():
        rules = {"a registry's host": REGISTRY, "a path of this machine": own}
        rules |= {"a path in somebody's home": HOME_PATH} if path.endswith(".md") else {}
        rules |= {"an option in a lock": LOCK_OPTION} if path.startswith("requirements/") else {}
        for what, rule in rules.items():
            for match in rule.finditer(text):
                yield at(path, text, match.start(), f"{what}: {match[0]}")
