"""Merging random skills: no line is lost unless it is listed, nothing comes twice, and a second merge is empty."""

from __future__ import annotations

import os
import re
from collections import Counter
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from skilld.edit.operations import apply
from skilld.library.merge import Merge, merge_skills

EXAMPLES = int(os.environ.get("HYPOTHESIS_EXAMPLES", "16"))  # `make soak` sets more

VERBS = ("Run", "Check", "Write", "Never skip", "Tag", "Prüfe")
THINGS = ("the tests", "the release notes", "`make lint`", "the query plan", "die Zahlen z. B. mit Quelle", "port 80")
ENDS = ("", " before pushing", " with `--slow`", " on the staging host", " twice a day", " in the 3. Quartal")
TITLES = ("Steps", "Pitfalls", "Before", "Example", "Never")

sentence = st.builds(
    "{}{}{}.".format, st.sampled_from(VERBS), st.sampled_from([f" {it}" for it in THINGS]), st.sampled_from(ENDS)
)
text = st.lists(sentence, min_size=1, max_size=2).map(" ".join)
nested = st.lists(text, max_size=2).map(lambda found: [f"- {line}" for line in found])


@st.composite
def list_blocks(draw: st.DrawFn) -> list[str]:
    """Return the lines of a list: numbered or not, tight or loose, some items with nested ones."""
    numbered, loose = draw(st.booleans()), draw(st.booleans())
    bullet = draw(st.sampled_from(("-", "*", "- [ ]")))
    lines: list[str] = []
    for number, line in enumerate(draw(st.lists(text, min_size=1, max_size=4)), 1):
        marker = f"{number}." if numbered else bullet
        lines += [*([""] if loose and lines else []), f"{marker} {line}"]
        lines += ["   " + below if numbered else "  " + below for below in draw(nested)]
    return lines


paragraphs = text.map(lambda line: [line])
wrapped = st.lists(sentence, min_size=2, max_size=3)
leads = st.sampled_from((["Do this:"], ["Good:"]))
codes = st.lists(st.sampled_from(("make", "npm test", "cd app", "")), min_size=1, max_size=3).map(
    lambda lines: ["```sh", *lines, "make end", "```"]
)
tables = st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from("xyz")), min_size=1, max_size=3).map(
    lambda rows: ["| key | value |", "| --- | --- |", *(f"| {one} | {other} |" for one, other in dict(rows).items())]
)
quotes = sentence.map(lambda line: [f"> {line}"])
blocks = st.one_of(list_blocks(), list_blocks(), paragraphs, wrapped, leads, codes, tables, quotes)
some = st.lists(blocks, max_size=3)


@st.composite
def skills(draw: st.DrawFn) -> bytes:
    """Return a skill with some headings, of which several may have the same name."""
    found = [["# " + draw(st.sampled_from(("One", "Other", "Steps")))]] if draw(st.booleans()) else []
    found += draw(some)
    for level, title in draw(st.lists(st.tuples(st.sampled_from("23"), st.sampled_from(TITLES)), max_size=3)):
        found += [["#" * int(level) + " " + title], *draw(some)]
    lines = ["---", "name: one", "description: Some work.", "---", ""]
    for block in found or [["Be kind."]]:
        lines += [*block, ""]
    ending = draw(st.sampled_from(("\n", "\n", "\r\n")))
    whole = ending.join(lines[:-1] if draw(st.booleans()) else lines)
    return (draw(st.sampled_from(("", "", "\ufeff"))) + whole).encode()


def body_of(data: bytes) -> list[str]:
    return data.decode("utf-8-sig").replace("\r", "").split("---\n", 2)[2].split("\n")


def plain(line: str) -> str:
    """Return a line without marker, number, box and full stop."""
    return re.sub(r"^\s*(?:[-*]|\d+\.)\s+(?:\[ \] )?", "", line).strip().rstrip(".")


def sentences(line: str) -> list[str]:
    """Return the sentences of a line; each begins with one of VERBS."""
    return [plain(one) for one in re.split(rf"(?<=\.) (?={'|'.join(VERBS)})", plain(line))]


def check_nothing_lost(data: bytes, result: bytes, found: Merge) -> None:
    there = {one for line in body_of(result) for one in (plain(line), *sentences(line))}
    told = " \n ".join(re.sub(r"\[ \] ", "", one.what) for one in found.left)
    for line in body_of(data):
        if not plain(line) or line.startswith("#"):
            continue
        for one in [line] if plain(line) in there else sentences(line):
            fuller = any(whole.startswith(plain(one)) for whole in there)
            assert plain(one) in there or fuller or plain(one) in told, (line, found.left)


def merged(keep: bytes, found: Merge) -> bytes:
    return apply(keep, found.operations) if found.operations else keep


def counts(data: bytes) -> Counter[tuple[str, ...]]:
    """Count the lines of prose, each with where it stands.

    A step may also be a rule, nested in an item or above nested ones; below a heading "Never" it says the opposite.
    """
    outside = re.sub(r"```.*?```", "", "\n".join(body_of(data)), flags=re.DOTALL).split("\n")
    found: Counter[tuple[str, ...]] = Counter()
    path: dict[int, str] = {}
    above = ""
    lines = [*filter(plain, outside), ""]
    for line, below in pairwise(lines):
        if line.startswith("#"):
            level = line.index(" ")
            path = {at: title for at, title in path.items() if at < level} | (
                {level: line[level:]} if level > 1 else {}
            )
            found["heading", *path.values()] += level > 1
        elif not line.startswith(("|", "Do this:", "Good:")):
            above = above if line.startswith(" ") else plain(line)
            steps = "step in " + "/".join(path.values())
            kind = steps if line[0].isdigit() else "parent" if below.startswith(" ") else "text"
            place = ("in", above) if line.startswith(" ") else (kind,)
            found[*place, str("Never" in " ".join(path.values())), plain(line)] += 1
    return found


@given(skills(), skills())
@settings(max_examples=EXAMPLES)
def test_no_line_is_lost_unless_listed_and_nothing_comes_twice(keep: bytes, away: bytes) -> None:
    found = merge_skills(keep, away, "other", str)
    result = merged(keep, found)
    check_nothing_lost(keep, result, found)
    check_nothing_lost(away, result, found)
    mine, theirs = counts(keep), counts(away)
    for one, number in counts(result).items():
        assert number <= max(1, mine[one], theirs[one]), one
    for _ in range(5):  # what one edit may not change comes with the next merge
        result = merged(result, merge_skills(result, away, "other", str))
    again = merge_skills(result, away, "other", str)
    assert again.operations == (), again.carried
