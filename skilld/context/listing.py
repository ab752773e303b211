"""The skills listed in an agent's first request, one line each, measured with the real clients."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import inf
from posixpath import basename, dirname, join

from skilld.context import markup
from skilld.context.disk import FileText
from skilld.context.resolution import Resolution, files_below
from skilld.context.values import Kind, LoadedFile, LoadTime, Scope, plain_segments
from skilld.skills.spec import read_front, scalar
from skilld.values import value_class

SKILL_FILE = "SKILL.md"


# Which of several skills with the same name is listed: the first in the order that one of these returns. Each gets the
# folders with skills in the project, nearest first, and the personal ones.
Order = Callable[[Sequence[str], Sequence[str]], list[str]]


def _nearest_first(project: Sequence[str], personal: Sequence[str]) -> list[str]:
    return [*project, *personal]


def _personal_first(project: Sequence[str], personal: Sequence[str]) -> list[str]:
    return [*personal, *project]


def _by_name(*names: str) -> Order:
    """Order by the names of folders, other names first, in the project wherever they are."""

    def rank(path: str) -> int:
        return next((number for number, name in enumerate(names, 1) if path.endswith(f"/{name}")), 0)

    return lambda project, personal: [*sorted(project, key=rank), *sorted(personal, key=rank)]


def _last_read_first(project: Sequence[str], personal: Sequence[str]) -> list[str]:
    """Return the reverse of opencode's search: it keeps what it read last, and reads all at once, so this is likely."""
    shared = ("/.claude/skills", "/.agents/skills")
    every = [*personal, *project]
    return [*(one for one in every if one.endswith(shared)), *(one for one in every if not one.endswith(shared))][::-1]


@value_class
class Listing:
    """How one agent lists skills.

    `nested`: subfolders are searched. `described`: a skill without a description is not listed. `hides`:
    `disable-model-invocation` hides a skill. `quoted`: a description with `: ` must be quoted. One of over `longest`
    characters is cut off, or `drops` the skill. All descriptions together have `room` characters; after that only names
    are listed. `order`: which of several skills with the same name is listed, `why_hidden` what is said of the others;
    a version up to `repeats_until` lists all of them. `above`: folders above the working folder count, `to_the_top`
    even outside a repository, except those in `not_above`; those in `not_at_home` do not count in the home. `by_path`:
    a skill with `paths` is listed once a matching file was read.
    """

    nested: bool = False
    described: bool = True
    hides: bool = False
    quoted: bool = False
    longest: int = 0
    drops: bool = False
    room: int = 0
    order: Order = _nearest_first
    why_hidden: str = "another skill with the same name is listed instead"
    repeats_until: tuple[float, ...] = ()
    above: bool = True
    to_the_top: bool = False
    by_path: bool = False
    not_at_home: tuple[str, ...] = ()
    not_above: tuple[str, ...] = ()


LISTINGS: Mapping[str, Listing] = {
    # A hundredth of the context window: 7 kB for a model with 200,000 tokens.
    "claude-code": Listing(
        described=False,
        hides=True,
        longest=1536,
        room=7_000,
        order=_personal_first,
        repeats_until=(2, 1, 197),
        to_the_top=True,
        by_path=True,
    ),
    "codex": Listing(nested=True, longest=1024, repeats_until=(inf,)),
    "opencode": Listing(
        nested=True,
        order=_last_read_first,
        why_hidden="another skill with the same name is likely to be listed instead (opencode reads both at once)",
    ),
    "gemini-cli": Listing(above=False, order=_by_name(".agents/skills", ".gemini/skills")),
    "qwen-code": Listing(hides=True, above=False),
    "copilot-cli": Listing(
        nested=True,
        hides=True,
        quoted=True,
        longest=1024,
        drops=True,
        order=_by_name(".github/skills", ".agents/skills", ".claude/skills"),
        not_at_home=(".claude/skills",),
    ),
    "pi": Listing(nested=True, hides=True, quoted=True, not_above=(".pi/skills",)),
}  # fmt: skip


def add_listed_skills(found: Resolution, rules: Listing, in_project: Sequence[str], personal: Sequence[str]) -> None:
    """Add the skills that are listed, and a surprise for each that is not."""
    where = found.where
    ways = where.folders_up(
        (where.root or ("/" if rules.to_the_top else where.project)) if rules.above else where.project
    )
    project = [
        path
        for folder in ways
        for below in in_project
        if (path := join(folder, below)) not in personal and (folder == where.project or below not in rules.not_above)
    ]
    repeats = (where.version or (inf,)) <= rules.repeats_until
    left = rules.room
    seen: dict[str, str] = {}
    for folder in rules.order(project, personal):
        for path in sorted(_skill_files(found, folder, nested=rules.nested)):
            there = where.files.read(path)
            if there is None or there.real in found.real_paths:
                continue
            found.real_paths.add(there.real)
            name = basename(dirname(path))
            told, why = _listed_description(there.text, rules)
            if name in seen and not repeats:
                found.add_surprise(Kind.HIDDEN, path, rules.why_hidden, by=seen[name])
                continue
            if told and rules.room and len(told) > left:
                told, why = (
                    "",
                    ("its description does not fit in the list; models with larger context windows get a longer list"),
                )
            if why:
                found.add_surprise(Kind.UNLISTED, path, why)
            if told is not None:
                seen[name] = path
                left -= len(told)
                found.files.append(_listed_file(found, path, there, told, rules))


def _listed_file(found: Resolution, path: str, there: FileText, told: str, rules: Listing) -> LoadedFile:
    paths = tuple(markup.list_values(markup.front_entries(there.text), "paths") or ()) if rules.by_path else ()
    where = found.where
    return LoadedFile(
        path,
        there.real,
        LoadTime.ON_USE if paths else LoadTime.LISTING,
        Scope.SKILL,
        paths=paths,
        base=where.project,
        segments=plain_segments(f"- {basename(dirname(path))}: {told}".removesuffix(": ")),
        entered=not paths or where.touches_match(paths, where.project),
    )


def _skill_files(found: Resolution, folder: str, *, nested: bool) -> Iterator[str]:
    if nested:
        yield from (one for one in files_below(found.where.files, folder, SKILL_FILE, 8) if basename(one) == SKILL_FILE)
        return
    for name, is_folder in found.where.files.names(folder).items():
        if is_folder and found.where.files.read(one := join(folder, name, SKILL_FILE)):
            yield one


def _listed_description(text: str, rules: Listing) -> tuple[str | None, str]:
    """Return the description in the list (None: not listed), and why it is not what the person wrote."""
    keys = markup.front_entries(text)
    if rules.hides and "disable-model-invocation" in keys and scalar(*keys["disable-model-invocation"][1:]) == "true":
        return None, ""  # as it asks
    description = read_front(text).description
    raw = keys["description"][1] if "description" in keys else ""
    if rules.quoted and ": " in raw and raw[0] not in "\"'|>":
        return None, "its description contains an unquoted colon, so the skill is not loaded"
    if not description and rules.described:
        return None, "it has no description"
    if not description:
        body = (line for line in markup.split_front_matter(text)[1] if line.strip())
        description = next(body, "").lstrip("# ").strip()
    if rules.longest and len(description) > rules.longest:
        if rules.drops:
            return None, (f"its description is longer than {rules.longest} characters, so the skill is not loaded")
        return description[: rules.longest], f"its description is cut off after {rules.longest} characters"
    return description, ""
