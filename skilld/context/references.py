"""Finds references in rules to what no longer exists: paths, npm scripts, make targets, recipes, flags, packages.

Takes a text and a project. Certain rather than complete: what a line says to create or to avoid, what git ignores, and
what the tree cannot show is never reported. docs/measurements/trim.md has the figures.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from posixpath import basename, dirname, join, normpath
from urllib.parse import unquote

from skilld.context.disk import Disk
from skilld.context.patterns import matches
from skilld.context.resolution import folders_up, json_object, value_at
from skilld.context.values import Context, Kind, Surprise, within
from skilld.edit.tokens import FILE_ENDING
from skilld.markdown.structure import blank_code, code_spans
from skilld.values import value_class

_MAX_PATH = 1000  # characters; a .gitignore may be read in each folder of it
_MAX_LINE = 1000  # characters of a line that are searched
_MAX_ENTRIES = 30_000  # of a tree: nothing is reported in a larger one
_SKIPPED = frozenset({".git", "node_modules", ".venv", "venv", "__pycache__", "site-packages", ".next", "vendor"})
_MAKEFILES = re.compile(r"(?:GNU)?makefile|.*\.mk", re.IGNORECASE)
_MANIFESTS = re.compile(
    r"package\.json|pyproject\.toml|(?:.*-)?requirements.*\.(?:txt|in)|setup\.(?:py|cfg)|Pipfile|environment\.ya?ml"
    r"|Cargo\.toml|go\.mod|Gemfile|composer\.json|pom\.xml|build\.gradle(?:\.kts)?|deno\.jsonc?|.*\.csproj|mix\.exs"
)
# A line that creates, forbids, recalls or gives an example may name what does not exist.
_HEDGE_PATTERN = re.compile(
    r"\b(?:never|not|no|none|without|don['’]?t|avoid|instead|rather|replac\w+|migrat\w+|delet\w+|remov\w+|gone"
    r"|dropped|legacy|deprecated|old|former\w*|was|were|used to|would|could|might|may|if|unless|when|optional\w*"
    r"|example|e\.g\.|such as|like|another|other|add\w*|new|creat\w+|generat\w+|writ(?:e|es|ing)|sav\w+|stor\w+|put"
    r"|output\w*|export\w*|produc\w+|nam\w+|call|renam\w+|mov\w+|introduc\w+|install\w*|init|scaffold\w*|todo|planned|will"
    r"|should become)\b",
    re.IGNORECASE,
)
_EXTERNAL_PATTERN = re.compile(
    r"(?:^|[\s/])(?:~|\$|%)|[*?<>{}|$]|\.\.\.|\bN{2,}\b|\bX{2,}\b|\bY{4}\b|\bpath/to\b"
    r"|\b(?:foo|bar|baz|your|my)\b|-\d+\.\d"
    r"|(?<![A-Za-z])(?:NAME|FILE|FILENAME|FOLDER|DIR|ID|VERSION|USER|HOST|DATE|TITLE|SLUG|TICKET|BRANCH|MODULE)"
    r"(?![A-Za-z])",
    re.ASCII,
)
_LINK = re.compile(r"(?<!!)\[[^\]\n]*\]\(\s*<?([^)>\s]+)>?\s*\)")
_ENDING = re.compile(r"\w\.[A-Za-z]\w{0,9}$")
_PATH_PATTERN = re.compile(r"(?<![\w/:.@~$+-])\.?[\w@+-][\w.@+-]*(?:/[\w.@+-]+)+(?:/|:\d+)?")
_NPM_RUN = re.compile(
    r"\b(?:npm|pnpm|yarn|bun)(?:[ ]+-{1,2}[\w-]+(?:[ =][\w@./][\w@./-]*)?)*[ ]+run(?:-script)?[ ]+(\w[\w:.-]*)"
    r"|\b(?:pnpm|yarn)[ ]+(\w[\w-]*:[\w:.-]+)"
)
_MAKE_OR_JUST = re.compile(r"(?:^|&&|;|\|\|)\s*(?:\$\s+)?(make|just)((?:[ ]+[A-Za-z_][\w-]*)+)(?=\s*(?:$|&&|;|#|\|))")
_JUST_RECIPE = re.compile(r"(?:^|&&|;|\|\|)\s*(?:\$\s+)?just[ ]+([A-Za-z_][\w-]*)")
_SCRIPT_CALL = re.compile(r"(?:^|[\s])\.?/?((?:[\w.@-]+/)+[\w.-]+)((?:[ ]+\S+)+)")
_FLAG = re.compile(r"(?<!\S)--([A-Za-z][\w-]+)")
_NAME = re.compile(r"[A-Za-z_][\w-]*")
_FORWARDED_ARGUMENTS = re.compile(r"\$[@*]|\$\{@|sys\.argv|process\.argv|parse_known_args|ARGV|%\*")
_PACKAGE = re.compile(
    r"`(@?[\w./-]+)`\s+(?:npm |pypi |python |node )?(?:package|library|crate|gem|dependency)\b", re.IGNORECASE
)
_TARGET = re.compile(r"^([A-Za-z_][\w -]*+)::?(?!=)", re.MULTILINE)
_RECIPE = re.compile(r"^@?([A-Za-z_][\w-]*+)[^:=\n]*+:(?!=)|^alias[ \t]++([\w-]++)[ \t]*+:=", re.MULTILINE)

_MOVED = ", which has "  # and a path
_COMPOSITE = re.compile(r"[a-z0-9][-_A-Z][A-Za-z0-9]")
_COMMON_STEMS = frozenset(
    """__init__ __main__ _index app build changelog client common conftest config constants context contributing core
    dockerfile errors gemfile helpers index init layout lib license main makefile manage manifest mod models module
    next-env package page readme routes schema server settings setup skill styles test tests tsconfig types urls util
    utils version views vite-env claude agents package-lock pnpm-lock docker-compose""".split()  # noqa: SIM905 - a list of so many words is read more easily as text
)


@value_class
class DeadReference:
    """A reference to nothing: `name` as written in the line, and a clause that says why. `line` counts from 1.

    `now` is where the file is that it names, if it was moved: the line is to be corrected, and not to be cut.
    """

    line: int
    name: str
    why: str
    now: str = ""


@dataclass
class Project:
    """The tree below a project's root, against which references are checked."""

    root: str
    files: Disk
    _read: dict[str, str] = field(default_factory=dict)

    @cached_property
    def paths(self) -> frozenset[str]:
        """All paths below the root, folders with a trailing slash; none if the tree is too large or sparse."""
        found: list[str] = []
        left = [""]
        while left and len(found) <= _MAX_ENTRIES:
            folder = left.pop()
            for name, is_folder in self.files.names(join(self.root, folder)).items():
                path = join(folder, name)
                found.append(path + "/" * is_folder)
                if is_folder and name not in _SKIPPED and self.files.real(join(self.root, path)).endswith(path):
                    left.append(path)
        sparse = self.files.exists(join(self.root, ".git/info/sparse-checkout"))
        return frozenset() if left or sparse else frozenset(found)

    @cached_property
    def endings(self) -> frozenset[str]:
        """Every way to name a path by its last parts, in lower case."""
        ends: set[str] = set()
        for path in self.paths:
            parts = path.rstrip("/").casefold().split("/")
            ends |= {"/".join(parts[start:]) for start in range(len(parts))}
        return frozenset(ends)

    def text(self, path: str) -> str:
        """Return the text of a file in the project, "" if there is none."""
        found = self.files.read(join(self.root, path))
        return found.text if found else ""

    def texts_of(self, pattern: re.Pattern[str]) -> list[str]:
        """Return the texts of the files whose names match."""
        return [self.text(path) for path in sorted(self.paths) if pattern.fullmatch(basename(path))]

    @cached_property
    def scripts(self) -> frozenset[str]:
        """The scripts of all package.json files."""
        found: set[str] = set()
        for text in self.texts_of(re.compile(r"package\.json")):
            scripts = value_at(json_object(text), "scripts")
            found |= set(scripts) if isinstance(scripts, dict) else set()
        return frozenset(found)

    @cached_property
    def targets(self) -> frozenset[str]:
        """The targets of all makefiles; none if one has pattern rules or includes other files."""
        texts = self.texts_of(_MAKEFILES)
        if any(
            re.search(r"^(?:%\s*:|\.DEFAULT\b|-?include\s.*[$*/~]|\$\(|.*\$\(eval)", text, re.MULTILINE)
            for text in texts
        ):
            return frozenset()
        return frozenset(name for text in texts for names in _TARGET.findall(text) for name in names.split())

    @cached_property
    def recipes(self) -> frozenset[str]:
        """The recipes and aliases of all justfiles; none if one imports others."""
        texts = self.texts_of(re.compile(r"\.?justfile|.{1,250}\.just", re.IGNORECASE))
        if any(re.search(r"^(?:import|mod)\b", text, re.MULTILINE) for text in texts):
            return frozenset()
        return frozenset(name for text in texts for pair in _RECIPE.findall(text) for name in pair if name)

    @cached_property
    def manifests(self) -> str:
        """The text of all manifests, with names normalized."""
        return "\n".join(self.texts_of(_MANIFESTS)).casefold().replace("_", "-")

    def is_ignored(self, path: str) -> bool:
        """Whether a .gitignore file excludes a path, or its folder is never searched."""
        if len(path) > _MAX_PATH or not _SKIPPED.isdisjoint(path.split("/")):
            return True
        for folder in folders_up(dirname(path) or ".", "."):
            above = "" if folder == "." else folder
            lines = [one.strip() for one in self.text(join(above, ".gitignore")).splitlines()]
            rest = path[len(above) :].lstrip("/")
            if matches([one for one in lines if one and not one.startswith("#")], rest):
                return True
        return False


def dead_references(text: str, path: str, project: Project) -> Iterator[DeadReference]:
    """Yield the dead references in a text; `path` is that of its file, below the project's root."""
    if not within(path, project.root):
        return
    folder = dirname(path)[len(project.root) :].strip("/")
    fenced = ""
    for number, whole in enumerate(text.split("\n"), 1):
        line = whole[:_MAX_LINE]
        fence = re.match(r"\s*(```+|~~~+)", line)
        if fence:
            fenced = "" if fenced and fence[1].startswith(fenced) else fenced or fence[1]
            continue
        if _HEDGE_PATTERN.search(line if fenced else blank_code(line)):
            continue
        code = [line] if fenced else [span.content for span in code_spans(line)]
        found = [*_commands(code, project)]
        if not fenced:
            found += [
                *_named_paths(line, code, folder, project),
                *_flags(code, folder, project),
                *_packages(line, project),
            ]
        named = {one.removeprefix("./"): why for one, why in found}
        yield from (DeadReference(number, name, why, why.partition(_MOVED)[2]) for name, why in named.items())


def find_dead_references(context: Context) -> list[Surprise]:
    """Return the dead references in all project files that an agent loads, including skills.

    Those in imports, which the resolver reports, are left out.
    """
    project = Project(context.root, Disk())
    known = {(one.path, one.line) for one in context.of(Kind.DEAD)}
    found: list[Surprise] = []
    for file in context.files:
        there = project.files.read(file.path) if context.is_inside(file) else None
        found += [
            Surprise(Kind.DEAD, file.path, f"{one.name}: {one.why}", one.line)
            for one in (dead_references(there.text, file.path, project) if there else ())
            if (file.path, one.line) not in known
        ]
    return found


def _commands(code: Sequence[str], project: Project) -> Iterator[tuple[str, str]]:
    for text in code:
        for match in _NPM_RUN.finditer(text):
            name = match[1] or match[2]
            if project.scripts and name not in project.scripts and not FILE_ENDING.search(name):
                yield name, "no package.json defines this script"
        for match in _MAKE_OR_JUST.finditer(text):
            for name in match[2].split() if match[1] == "make" and project.targets else ():
                if name not in project.targets and name not in project.endings:
                    yield name, "no makefile defines this target"
        for match in _JUST_RECIPE.finditer(text):
            if project.recipes and match[1] not in project.recipes:
                yield match[1], "no justfile defines this recipe"


def _named_paths(line: str, code: Sequence[str], folder: str, project: Project) -> Iterator[tuple[str, str]]:
    links = [match[1] for match in _LINK.finditer(blank_code(line))]
    prose = _LINK.sub(" ", blank_code(line))
    imported = re.fullmatch(r"\s*(?:[-*]\s+)?@(\S+)", line)
    searched = [text for text in (*code, prose) if not text.startswith("make ")]  # make may create the path
    words = [
        match[0].rstrip(".")
        for text in searched
        for match in _PATH_PATTERN.finditer(text)
        if not _is_external(text, match)
    ]
    for name in [*links, *([imported[1]] if imported else [])]:
        bare = unquote(name.partition("#")[0])
        relative = (
            bare and ":" not in bare and not bare.startswith(("/", "~", "#")) and not _EXTERNAL_PATTERN.search(bare)
        )
        if relative and not _exists(bare, folder, project):
            yield name, "not found in the project"
    for name in dict.fromkeys(word.removeprefix("./") for word in words):
        bare = re.sub(r":\d+$", "", name)
        first = bare.removeprefix("./").partition("/")[0]
        is_path = _ENDING.search(bare) or bare.endswith("/")
        rooted = any(project.files.exists(join(project.root, above, first)) for above in _bases(folder))
        if is_path and rooted and not _exists(bare, folder, project):
            yield name, "not found in the project"
        elif is_path and not rooted and (now := _moved_to(bare, project)) and not _exists(bare, folder, project):
            yield name, f"not found in the project{_MOVED}{now}"


def _is_external(text: str, match: re.Match[str]) -> bool:
    """Whether a path is part of a URL or pattern, or has placeholders."""
    start = max(text.rfind(" ", 0, match.start()), -1) + 1
    end = text.find(" ", match.end())
    word = text[start : end if end >= 0 else len(text)]
    return "://" in word or bool(_EXTERNAL_PATTERN.search(word))


def _bases(folder: str) -> list[str]:
    """Return the folders that a path may be relative to: the file's own, and those above it."""
    return [one.removeprefix(".").removeprefix("/") for one in folders_up(f"./{folder}" if folder else ".", ".")]


def _exists(name: str, folder: str, project: Project) -> bool:
    """Whether a path exists, or cannot be checked."""
    bare = name.removeprefix("./").rstrip("/")
    if any(project.files.exists(join(project.root, above, bare)) for above in _bases(folder)):
        return True  # without listing the whole tree
    if ".." in bare.split("/"):
        target = normpath(join(project.root, folder, bare))
        return not within(target, project.root) or project.files.exists(target)
    if not project.paths or bare.casefold() in project.endings:
        return True
    for above in _bases(folder):
        path = join(above, bare)
        if project.is_ignored(path):
            return True
        parent = next((one for one in folders_up(dirname(path), "") if f"{one}/" in project.paths), "")
        if parent and not project.files.names(join(project.root, parent)):
            return True  # a submodule that was not fetched
    return False


def _moved_to(name: str, project: Project) -> str:
    """Return where a file is whose first folder is gone: the one path that ends as it does, under other folders.

    A path with a name that many projects have may be one of another project; one that is right without its first
    folders may be written from above the project.
    """
    parts = name.rstrip("/").split("/")
    stem = parts[-1].partition(".")[0]
    tail = "/".join(parts[-1:] if _COMPOSITE.search(stem) else parts[-2:])
    if stem.casefold() in _COMMON_STEMS or len(tail) == len(name.rstrip("/")):
        return ""
    found = [path for path in project.paths if f"/{path}".endswith(f"/{tail}")]
    is_below = any("/".join(parts[cut:]) in project.paths for cut in range(1, len(parts)))
    return found[0] if len(found) == 1 and not is_below else ""


def _flags(code: Sequence[str], folder: str, project: Project) -> Iterator[tuple[str, str]]:
    for text in code:
        match = _SCRIPT_CALL.search(text)
        script = next(
            (join(above, match[1]) for above in _bases(folder) if match and join(above, match[1]) in project.paths), ""
        )
        source = project.text(script) if script else ""
        if not source or not match or _FORWARDED_ARGUMENTS.search(source):
            continue
        known = set(_NAME.findall(source))
        for flag in _FLAG.findall(match[2]):
            if known.isdisjoint(_spellings(flag)):
                yield f"--{flag}", f"{script} does not support this option"


def _spellings(flag: str) -> set[str]:
    camel = re.sub(r"-(\w)", lambda match: match[1].upper(), flag)
    return {flag, flag.replace("-", "_"), camel, camel[:1].upper() + camel[1:], flag.upper().replace("-", "_")}


def _packages(line: str, project: Project) -> Iterator[tuple[str, str]]:
    for match in _PACKAGE.finditer(line):
        name = match[1].casefold().replace("_", "-")
        is_known = name in project.manifests or name.replace("-", "_") in sys.stdlib_module_names
        if project.manifests and not is_known:
            yield match[1], "no manifest in the project lists this package"
