"""What an agent loads, as values."""

from __future__ import annotations

from dataclasses import field
from enum import StrEnum

from skilld.values import value_class


class LoadTime(StrEnum):
    """When a file enters the conversation."""

    START = "start"  # with the first request
    ON_USE = "on use"  # once the agent has touched a file of its folder or one that its patterns match
    LISTING = "listing"  # a skill that is one line in the first request


class Scope(StrEnum):
    """Whose file it is, and what it applies to."""

    MANAGED = "managed"
    PERSONAL = "personal"
    PROJECT = "project"
    LOCAL = "local"  # in the project, but the person's own and not checked in
    NESTED = "nested"  # in a folder below the working folder
    RULE = "rule"
    MEMORY = "memory"  # written by the agent itself
    SKILL = "skill"


class Kind(StrEnum):
    """What a surprise is about."""

    DEAD = "dead"  # a reference to nothing
    HIDDEN = "hidden"  # a file that another one replaces
    CUT = "cut"  # text cut off by a limit
    IGNORED = "ignored"  # front matter that the agent does not read
    NEVER = "never"  # a rule that nothing can activate
    UNLISTED = "unlisted"  # a skill that the agent does not name, or names without its description


@value_class
class Segment:
    """Lines of a file as the agent sees them; `line` is the number of the first one in the file.

    `above` counts the blank lines between it and the segment before.
    """

    line: int
    text: str
    above: int = 1


@value_class
class LoadedFile:
    """One file that an agent loads.

    `path` is where the agent finds it and `real` the path with links resolved. `via` is the file that imports it.
    `paths` are the patterns that activate a rule, relative to `base`; for a nested file, `base` is the folder below
    which a file must be touched. `entered` says whether it is already in the conversation.
    """

    path: str
    real: str
    loaded: LoadTime
    scope: Scope
    via: str = ""
    paths: tuple[str, ...] = ()
    base: str = ""
    segments: tuple[Segment, ...] = field(default=(), repr=False)
    entered: bool = True

    @property
    def text(self) -> str:
        """What the agent sees of it, including the blank lines between segments."""
        rest = "".join("\n" * (segment.above + 1) + segment.text for segment in self.segments[1:])
        return self.segments[0].text + rest if self.segments else ""

    @property
    def depth(self) -> int:
        """The depth of the folder that it applies to."""
        return self.base.removesuffix("/.claude").removesuffix("/.github").count("/")


@value_class
class Surprise:
    """Something that a person would not expect; `why` is a clause, `by` another file that causes it, if any."""

    kind: Kind
    path: str
    why: str
    line: int = 0
    by: str = ""


@value_class
class Context:
    """What one agent loads in one folder, in load order.

    `version` is the one whose rules were applied; `is_assumed` says that it is not known to be the installed one.
    `source` says where the rules come from: "measured" with the real client, "documented", or "not known", in which
    case `files` is empty.
    """

    agent: str
    version: str
    source: str
    root: str
    files: tuple[LoadedFile, ...] = ()
    surprises: tuple[Surprise, ...] = ()
    is_assumed: bool = False

    @property
    def nearest(self) -> LoadedFile | None:
        """The project's instruction file nearest to the current work, if it is really in the project."""
        fitting = [
            file
            for file in self.files
            if file.entered and not file.via and file.scope in {Scope.PROJECT, Scope.NESTED} and self.is_inside(file)
        ]
        return max(fitting, key=lambda file: file.depth, default=None)

    def is_inside(self, file: LoadedFile) -> bool:
        """Whether a file is in the project, with links resolved."""
        return within(file.real, self.root)

    def of(self, *kinds: Kind) -> list[Surprise]:
        """Return the surprises of these kinds."""
        return [surprise for surprise in self.surprises if surprise.kind in kinds]


def within(path: str, folder: str) -> bool:
    """Whether a path is a folder or below it, judged by the text of both."""
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def parse_version(text: str) -> tuple[int, ...]:
    """Return the leading numbers of a version; empty if it has none."""
    numbers: list[int] = []
    for part in text.split("."):
        digits = part[: len(part) - len(part.lstrip("0123456789"))]
        if not digits:
            break
        numbers.append(int(digits[:9]))
        if digits != part:
            break
    return tuple(numbers)


def plain_segments(text: str) -> tuple[Segment, ...]:
    """Return a text as one segment; none if it is blank."""
    return (Segment(1, text),) if text.strip() else ()
