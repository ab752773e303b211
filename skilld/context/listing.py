"""The skills listed in an agent's first request, one line each, measured with the real clients."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from posixpath import basename, dirname, join

from skilld.context import markup
from skilld.context.disk import FileText
from skilld.context.gather import Resolution, files_below
from skilld.context.values import Kind, LoadedFile, LoadTime, Scope, plain
from skilld.skills.spec import front, scalar

FILE = "SKILL.md"


@dataclass(frozen=True, slots=True)
class Listing:
    """How one agent lists skills.

    `nested` folders are looked into, a skill needs to be `described`, `disable-model-invocation` `hides` it, a
    description that is not `quoted` may hold no `: `. One of over `longest` characters is cut, or `drops` the skill;
    for all descriptions there is `room` characters, after which come bare names. `personal_wins` where names clash.
    Folders `above` the working folder count, `to_the_top` where there is no repository; those in `not_at_home` and
    `not_above` do not there. `by_path`: a skill with `paths` is listed once a file that matches was read.
    """

    nested: bool = False
    described: bool = True
    hides: bool = False
    quoted: bool = False
    longest: int = 0
    drops: bool = False
    room: int = 0
    personal_wins: bool = False
    above: bool = True
    to_the_top: bool = False
    by_path: bool = False
    not_at_home: tuple[str, ...] = ()
    not_above: tuple[str, ...] = ()


LISTINGS: Mapping[str, Listing] = {
    # A hundredth of the window: 7 kB is what a model with 200,000 tokens has for it.
    "claude-code": Listing(
        described=False, hides=True, longest=1536, room=7_000, personal_wins=True, to_the_top=True, by_path=True
    ),
    "codex": Listing(nested=True, longest=1024),
    "opencode": Listing(nested=True),
    "gemini-cli": Listing(above=False),
    "qwen-code": Listing(hides=True, above=False),
    "copilot-cli": Listing(
        nested=True, hides=True, quoted=True, longest=1024, drops=True, not_at_home=(".claude/skills",)
    ),
    "pi": Listing(nested=True, hides=True, quoted=True, not_above=(".pi/skills",)),
}  # fmt: skip


def take(found: Resolution, rules: Listing, in_project: Sequence[str], personal: Sequence[str]) -> None:
    """Add the skills that are listed, and note those that are not."""
    where = found.where
    ways = where.up((where.root or ("/" if rules.to_the_top else where.project)) if rules.above else where.project)
    project = [
        path
        for folder in ways
        for below in in_project
        if (path := join(folder, below)) not in personal and (folder == where.project or below not in rules.not_above)
    ]
    left = rules.room
    seen: dict[str, str] = {}
    for folder in (*personal, *project) if rules.personal_wins else (*project, *personal):
        for path in sorted(_in(found, folder, nested=rules.nested)):
            there = where.files.read(path)
            if there is None or there.real in found.taken:
                continue
            found.taken.add(there.real)
            name = basename(dirname(path))
            told, why = _told(there.text, rules)
            if name in seen:
                found.tell(Kind.HIDDEN, path, "another skill with the same name is listed instead", by=seen[name])
                continue
            if told and rules.room and len(told) > left:
                told, why = (
                    "",
                    ("its description does not fit in the list; models with larger context windows get a longer list"),
                )
            if why:
                found.tell(Kind.UNLISTED, path, why)
            if told is not None:
                seen[name] = path
                left -= len(told)
                found.files.append(_listed(found, path, there, told, rules))


def _listed(found: Resolution, path: str, there: FileText, told: str, rules: Listing) -> LoadedFile:
    keys = markup.front_entries(markup.split_front(there.text)[0] or ())
    paths = tuple((markup.listed(keys["paths"]) or ()) if rules.by_path and "paths" in keys else ())
    where = found.where
    return LoadedFile(
        path,
        there.real,
        LoadTime.ON_USE if paths else LoadTime.LISTING,
        Scope.SKILL,
        paths=paths,
        base=where.project,
        segments=plain(f"- {basename(dirname(path))}: {told}".removesuffix(": ")),
        entered=not paths or where.touches_match(paths, where.project),
    )


def _in(found: Resolution, folder: str, *, nested: bool) -> Iterator[str]:
    if nested:
        yield from (path for path in files_below(found.where.files, folder, FILE, 8) if basename(path) == FILE)
        return
    for name, is_folder in found.where.files.names(folder).items():
        if is_folder and found.where.files.read(path := join(folder, name, FILE)):
            yield path


def _told(text: str, rules: Listing) -> tuple[str | None, str]:
    """Return what is behind the name (None: it is not listed), and why that is not what the person wrote."""
    keys = markup.front_entries(markup.split_front(text)[0] or ())
    if rules.hides and "disable-model-invocation" in keys and scalar(*keys["disable-model-invocation"][1:]) == "true":
        return None, ""  # as it asks
    told = front(text).description
    raw = keys["description"][1] if "description" in keys else ""
    if rules.quoted and ": " in raw and raw[0] not in "\"'|>":
        return None, "its description contains an unquoted colon, so the skill is not loaded"
    if not told and rules.described:
        return None, "it has no description"
    if not told:
        body = (line for line in markup.split_front(text)[1] if line.strip())
        told = next(body, "").lstrip("# ").strip()
    if rules.longest and len(told) > rules.longest:
        if rules.drops:
            return None, (f"its description is longer than {rules.longest} characters, so the skill is not loaded")
        return told[: rules.longest], f"its description is cut off after {rules.longest} characters"
    return told, ""
