"""Whether two things that were done are one step, and where they differ: what can be a variable of it. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import takewhile

from skilld.mining.actions import is_called, is_generic, tokens

# What two actions add to an alignment that are equal, that differ in a variable, and that only begin alike.
EXACT, LIKE, SAME_START = 6, 4, 1
_SAYS_LITTLE = 2  # words
_HALF = 0.5


@dataclass(frozen=True, slots=True)
class ActionRun:
    """One time that something was done: the session, the turn it followed, the command as it ran.

    `asked` is all that was typed in the session: a word of it may be a variable.
    """

    session: str
    turn: str
    text: str
    edits: bool = field(default=False, kw_only=True)
    asked: str = field(default="", kw_only=True, compare=False, repr=False)

    @property
    def words(self) -> Sequence[str]:
        """The words of the command; the path of a file that was changed is one."""
        return (self.text,) if self.edits else tokens(self.text)


def likeness(one: ActionRun, other: ActionRun) -> int:
    """Return what it is worth to take two actions for one step, 0 where they are two."""
    if one.edits is not other.edits:
        return 0
    if one.text == other.text:
        return EXACT
    if varying(one, other):
        return LIKE
    start = () if one.edits else _start(one.text)
    if not start or start != _start(other.text):
        return 0
    return LIKE if is_called(one.text) or any("/0" in word for word in start) else SAME_START  # of one thing at least


def is_next(last: ActionRun, one: ActionRun) -> bool:
    """Whether an action is the one before it, again or for the next of several things."""
    if last == one or one.edits or last.edits:
        return last == one
    return bool(_start(one.text)) and _start(last.text) == _start(one.text) and varying(last, one)


@lru_cache(maxsize=4096)
def _start(text: str) -> tuple[str, ...]:
    """Return what a command begins with, up to its first flag: "gh pr create"; nothing where that says little."""
    words = list(takewhile(lambda word: word[0] not in "-\"'", tokens(text)))
    if is_called(text):
        return (words[0],)
    if len(words) <= _SAYS_LITTLE:
        return ()
    return tuple(re.sub(r"(?<=/)\d+(?=/|\Z)|\A\d+\Z", "0", word) for word in words)


# Where two commands differ.

_SEPARATORS = "/_.=:-@,\"'"
# Flags with a text for people behind them, by what it is called; and those with NAME=VALUE.
_TEXTS = {"-m": "message", "-am": "message", "--message": "message", "--title": "title", "--subject": "subject"} | {
    "--body": "body", "--notes": "notes", "-t": "title", "-b": "body",
}  # fmt: skip
_FIELDS = frozenset({"-f", "-F", "--field", "--raw-field"})
_QUOTED = re.compile(r"""(?:(\w{1,20})=)?(["']).*\2""", re.DOTALL)
SAID = frozenset(_TEXTS.values())
_NUMBER = re.compile(r"[#v]?\d+(?:[.,]\d+)*(?:-[\w.]+)?")
_IN_VERSION = re.compile(r"\d\.\d")
_VALUE = re.compile(r"[\w.-]+")


@dataclass(frozen=True, slots=True)
class Gap:
    """Where two words differ: what stands before and behind in them, what is called for; `said`: a text for people."""

    before: str
    behind: str
    name: str
    said: bool = False

    @property
    def is_bare(self) -> bool:
        """Whether the word stands alone, as the name of a target does: "test:unit" is no other than "test"."""
        return not self.behind and (not self.before or self.before.endswith(":"))


def varying(one: ActionRun, other: ActionRun) -> bool:
    """Whether two actions differ in nothing but what can be a variable, and are more alike than not."""
    mine, theirs = one.words, other.words
    if len(mine) != len(theirs) or not mine or (not one.edits and mine[0] != theirs[0]):
        return False
    whole = 0
    for number in range(len(mine)):
        if mine[number] != theirs[number]:
            previous = mine[number - 1] if number else ""
            gap = gap_of(mine[number], theirs[number], previous)
            if gap is None and not in_parts(mine[number], theirs[number]):
                return False
            if gap and gap.is_bare:
                whole += not gap.said
                if gap.name == "name" and (is_generic(one.text) or not _both_asked(number, one, other)):
                    return False  # "make build" and "make test"
    return (len(mine) - whole) / len(mine) >= _HALF


def names_another(one: ActionRun, other: ActionRun) -> bool:
    """Whether two actions that are alike differ in a word that stands alone: "make licence" and "make nightly"."""
    pairs = enumerate(zip(one.words, other.words, strict=False))
    gaps = (gap_of(mine, theirs, one.words[n - 1] if n else "") for n, (mine, theirs) in pairs if mine != theirs)
    return any(gap and gap.is_bare and gap.name == "name" for gap in gaps)


def _both_asked(number: int, one: ActionRun, other: ActionRun) -> bool:
    """Whether a word that stands alone is in either session what was asked about."""
    return all(seen.words[number].casefold() in seen.asked.casefold() for seen in (one, other))


def in_parts(one: str, other: str) -> bool:
    """Whether two paths differ in single numbers only."""
    parts = one.split("/"), other.split("/")
    if len(parts[0]) != len(parts[1]) or len(parts[0]) == 1 or {one[0], other[0]} & {"'", '"'}:
        return False
    pairs = [pair for pair in zip(*parts, strict=True) if pair[0] != pair[1]]
    return len(pairs) < len(parts[0]) and all(_NUMBER.fullmatch(part) for pair in pairs for part in pair)


def text_name(previous: str, word: str) -> str:
    """Return what a text for people is called that stands behind a flag; "" where the word is none."""
    quoted = _QUOTED.fullmatch(word)
    if previous in _FIELDS:
        return quoted[1] or "" if quoted else ""
    if previous in _TEXTS and (quoted or len(previous) > len("-m")):
        return _TEXTS[previous]
    return "message" if previous == "-m" else ""


def gap_of(one: str, other: str, previous: str) -> Gap | None:
    """Return where two words differ that stand behind `previous`; None where that can be no variable."""
    said = text_name(previous, one)
    if said and said == text_name(previous, other):
        return Gap(f"{said}=" if previous in _FIELDS else "", "", said, said=True)
    if (one[0] in "\"'") != (other[0] in "\"'"):
        return None
    before, behind = _common_ends(one, other)
    inner = [word[len(before) : len(word) - len(behind)] for word in (one, other)]
    if not all(_VALUE.fullmatch(part) for part in inner):
        return None
    if all(_NUMBER.fullmatch(part) for part in inner):
        mark = inner[0][0] if not inner[0][0].isdigit() and inner[0][0] == inner[1][0] else ""
        before, inner = before + mark, [part.removeprefix(mark) for part in inner]
        kind = "version" if "." in inner[0] else "number"
        return Gap(before, behind, _flag_name(previous, kind) if previous.startswith("--") and not before else kind)
    if before.strip("\"'-") or behind.strip("\"'"):
        flag = before.partition("=")[0]
        return Gap(before, behind, _flag_name(flag) if before.endswith("=") else "name")
    if one.startswith("-") or other.startswith("-"):
        return None
    return Gap(before, behind, _flag_name(previous) if previous.startswith("--") else "name")


def _flag_name(flag: str, other: str = "name") -> str:
    name = re.sub(r"\W", "_", flag.strip("-").casefold())
    return name if re.fullmatch(r"[a-z][a-z_]{1,20}", name) else other


def _common_ends(one: str, other: str) -> tuple[str, str]:
    """Return what two words begin and end with alike, cut back to where a name can begin and end."""
    most = min(len(one), len(other))
    head = next((n for n in range(most) if one[n] != other[n]), most)
    while head and not (_is_edge(one, head) and _is_edge(other, head)):
        head -= 1
    most -= head
    tail = next((n for n in range(most) if one[-1 - n] != other[-1 - n]), most)
    while tail and not (_is_edge(one, len(one) - tail) and _is_edge(other, len(other) - tail)):
        tail -= 1
    return one[:head], one[len(one) - tail :]


def _is_edge(word: str, at: int) -> bool:
    """Whether a name may begin or end at a place: at a separator, or where a capital begins; never in a version."""
    if at in {0, len(word)}:
        return True
    if any(_IN_VERSION.match(word, max(0, at - back)) for back in (1, 2)):
        return False
    return word[at - 1] in _SEPARATORS or word[at] in _SEPARATORS or (word[at].isupper() and not word[at - 1].isupper())


def unsaid(one: ActionRun) -> str:
    """Return a command without its texts for people: in a step they are variables, or checked with it."""
    words = one.words
    return " ".join("..." if n and text_name(words[n - 1], word) else word for n, word in enumerate(words))
