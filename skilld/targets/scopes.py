"""Finds the files that words are about, as path patterns, and the rule file for them. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from skilld.context.patterns import matches
from skilld.values import value_class

# File name endings, by what people call such files.
_ENDINGS_BY_KIND: Mapping[str, tuple[str, ...]] = {
    **{name: (name,) for name in ("css", "go", "html", "java", "json", "php", "scss", "sql", "swift", "toml")},
    "bash": ("sh",),
    "c#": ("cs",),
    "javascript": ("js", "jsx"),
    "kotlin": ("kt",),
    "markdown": ("md",),
    "python": ("py",),
    "ruby": ("rb",),
    "rust": ("rs",),
    "shell": ("sh",),
    "terraform": ("tf",),
    "typescript": ("ts", "tsx"),
    "yaml": ("yaml", "yml"),
}
_ALSO_WORDS = frozenset(("go", "swift", "shell"))  # names of languages only with a capital
_FOLDER = r"(?P<{}>(?:\./)?[\w.-]+(?:/[\w.-]+)*)/?"
_ENDING = r"\*?\.(?P<ending>[a-z][a-z0-9]{0,9})"
_QUOTE = "[`'\"\u201c\u201d]?"
_FILES_WORD = r"(?:files?|scripts?|dateien?|fichiers?|archivos?|ficheros|arquivos|файл\w*|文件)"
_FOR_PHRASE = (
    r"\b(?:for|in|on|inside|within|of|to|f\u00fcr|bei|pour|dans|para|en|em|per|для|в)\s+"
    r"(?:(?:all|every|any|each|the|our|my|new|alle[nr]?|tous|les|todos|los|tutti|i)\s+){0,2}"
)
# A folder, called so or written as a path or a glob; files with one ending, or of a named kind.
_SCOPE_PATTERN = re.compile(
    rf"(?:\b(?:in|under|inside|within|below|for)\s+(?:the\s+|our\s+|my\s+)?{_QUOTE}{_FOLDER.format('named')}{_QUOTE}"
    rf"\s+(?:folder|directory|dir)\b)"
    rf"|(?:\b(?:in|under|inside|within|below|for|im|für|dans|pour|en|para|no|в|для)\s+(?:the\s+)?{_QUOTE}"
    rf"(?P<path>(?:\./)?[\w.-]+(?:/[\w.-]+)*/|(?:\./)?[\w.-]+(?:/[\w.-]+)+){_QUOTE}(?=[\s,:;!?)]|$))"
    rf"|(?:\b(?:in|under|inside|within|below|for|im|für|dans|pour|en|para|no|в|для)\s+{_QUOTE}"
    rf"(?P<glob>(?:\./)?[\w.-]+(?:/[\w.-]+)*/(?:\*\*/)?\*(?:\.[\w]+)?){_QUOTE}(?=[\s,:;!?)]|$))"
    rf"|(?:\b(?:im|in) (?:ordner|verzeichnis)\s+{_QUOTE}{_FOLDER.format('ordner')})"
    rf"|(?:{_FOR_PHRASE}{_QUOTE}{_ENDING}{_QUOTE}\s+{_FILES_WORD}\b)"
    rf"|(?:{_FOR_PHRASE}(?P<kind>{'|'.join(map(re.escape, _ENDINGS_BY_KIND))})\s+{_FILES_WORD}\b)",
    re.IGNORECASE,
)
# A word that may name a folder: "for web only, ...", "the AGENTS.md of web: ...".
_BARE_PATTERN = re.compile(
    r"\b(?:in|for|of|under|inside|within|im|für|von|dans|pour|de|en|para|no|в|для)\s{1,4}(?:(?:the|our|der)\s{1,4})?"
    rf"{_QUOTE}(?P<bare>[\w-]{{1,64}}+){_QUOTE}"
    r"(?=\s{1,4}(?:only|always|never|we|please|nur|immer|nie)\b|\s{0,4}(?:[,:;!?)]|\.?\s{0,4}$))",
    re.IGNORECASE,
)
_MAX_SCOPES = 2
_MAX_BARE = 8
_MAX_EXAMPLES = 10  # more than any scope has patterns
_MAX_LENGTH = 2000  # characters that are searched
_WILD_PART = re.compile(r"(?:^|(?<=/))[^/]*[*?\[{]|(?<=/)[^/]*$|^[^/]*$")
_DOT_SEGMENT = re.compile(r"(?:^|/)\.\.?(?:/|$)")


@value_class
class Scope:
    """Some files: the patterns that match them, the name of a rule for them, and the folder that must exist.

    A `bare` one is meant only if its folder has a file of instructions or a rule.
    """

    name: str
    patterns: tuple[str, ...]
    folder: str = ""
    bare: bool = False

    @property
    def examples(self) -> tuple[str, ...]:
        """A matching path for each of the first patterns."""
        return tuple(pattern.replace("**", "a").replace("*", "a") for pattern in self.patterns[:_MAX_EXAMPLES])


@lru_cache(maxsize=1024)  # the words of one update are compared with each rule
def find_scopes(text: str) -> tuple[Scope, ...]:
    """Return the files that a text is about; none if it is about all files."""
    found: dict[tuple[str, ...], Scope] = {}
    for match in _SCOPE_PATTERN.finditer(text[:_MAX_LENGTH]):
        if (scope := _scope(match)) is not None:
            found.setdefault(scope.patterns, scope)
    return tuple(found.values())[:_MAX_SCOPES]


def find_bare_scopes(text: str) -> tuple[Scope, ...]:
    """Return the folders that a text may be about, named without a slash and without the word "folder"."""
    words = dict.fromkeys(match["bare"] for match in _BARE_PATTERN.finditer(text[:_MAX_LENGTH]))
    return tuple(Scope(word.lower(), (f"{word}/**",), word, bare=True) for word in words)[:_MAX_BARE]


def _scope(match: re.Match[str]) -> Scope | None:
    if kind := (match["kind"] or "").lower():
        return Scope(kind.replace("#", "sharp"), tuple(f"**/*.{ending}" for ending in _ENDINGS_BY_KIND[kind]))
    if ending := (match["ending"] or "").lower():
        return Scope(ending, (f"**/*.{ending}",))
    if glob := (match["glob"] or "").removeprefix("./"):
        return Scope(re.sub(r"[^\w-]+", "-", glob).strip("-").lower(), (glob,), fixed_folder(glob))
    said = match["named"] or match["path"] or match["ordner"]
    folder = (
        (said if said.endswith("..") else said.removesuffix(".")).removeprefix("./").strip("/")
    )  # "in packages/api."
    if not folder or _DOT_SEGMENT.search(folder) or folder.startswith("."):
        return None
    return Scope(folder.replace("/", "-").lower(), (f"{folder}/**",), folder)


def names_files(text: str, scope: Scope) -> bool:
    """Whether a text names the files of a scope, if only in passing: "indent YAML with tabs"."""
    return bool(_names(scope).search(text))


def without_files(text: str, scope: Scope) -> str:
    """Return a text without the names of a scope's files: "use tabs" of "use tabs in YAML files"."""
    own = rf"(?:{_FOR_PHRASE})?(?:{_names(scope).pattern})(?:\s+{_FILES_WORD})?"
    return re.sub(own, " ", text).strip(" ,:")


def _names(scope: Scope) -> re.Pattern[str]:
    if scope.folder:
        return re.compile(rf"(?<![\w/-])(?i:{re.escape(scope.folder)})(?:/|\s+(?i:folder|directory)\b)")
    endings = {pattern.rpartition(".")[2] for pattern in scope.patterns}
    names = endings.union(kinds_of_files(scope.patterns))
    known = [re.escape(name.title()) if name in _ALSO_WORDS else f"(?i:{re.escape(name)})" for name in sorted(names)]
    return re.compile(rf"(?<!\w)(?:\*?\.(?i:{'|'.join(map(re.escape, endings))})|{'|'.join(known)})(?!\w)")


def kinds_of_files(patterns: Sequence[str]) -> list[str]:
    """Return what people call the files with the endings of patterns: "rust" for "tests/**/*.rs"."""
    endings = {pattern.rpartition(".")[2] for pattern in patterns}
    return [kind for kind, own in _ENDINGS_BY_KIND.items() if endings & {*own}]


def fixed_folder(pattern: str) -> str:
    """Return the folder that all paths of a pattern are in: "tests" for "tests/**/*.rs"; "" if there is none."""
    return _WILD_PART.split(pattern.removeprefix("./"))[0].rstrip("/")


def fits(patterns: Sequence[str], scope: Scope) -> bool:
    """Whether a rule with these patterns is one for a scope: it covers it, or is for some files of just that folder."""
    return covers(patterns, scope) or bool(scope.folder and {scope.folder} == {*map(fixed_folder, patterns)})


def covers(patterns: Sequence[str], scope: Scope) -> bool:
    """Whether patterns match all files of a scope."""
    return all(matches(patterns, example) for example in scope.examples)


@value_class
class RuleFiles:
    """A kind of rule files: their folder, suffix and key in the front matter, and the agents that read them."""

    folder: str
    suffix: str
    key: str
    readers: frozenset[str]

    def path(self, scope: Scope) -> str:
        """Return the path of a scope's rule in the project."""
        return f"{self.folder}/{scope.name}{self.suffix}"

    def front(self, scope: Scope) -> str:
        """Return the front matter that activates the rule, with the blank line below it."""
        if self.key == "paths":
            lines = ["paths:", *(f'  - "{pattern}"' for pattern in scope.patterns)]
        elif self.key == "applyTo":
            lines = [f'applyTo: "{",".join(scope.patterns)}"']
        else:
            lines = [f"globs: {','.join(scope.patterns)}", "alwaysApply: false"]
        return "\n".join(["---", *lines, "---", "", ""])


# The first kind that a session's agent reads is its own.
RULE_FILES = (
    RuleFiles(".github/instructions", ".instructions.md", "applyTo", frozenset({"copilot-cli"})),
    RuleFiles(".claude/rules", ".md", "paths", frozenset({"claude-code", "copilot-cli"})),
    RuleFiles(".cursor/rules", ".mdc", "globs", frozenset({"cursor"})),
)


def rule_files(agents: frozenset[str]) -> RuleFiles | None:
    """Return the first kind of rule files that all of these agents read; None if there is none."""
    return next((one for one in RULE_FILES if agents <= one.readers), None)
