"""Whether two actions are the same step, and where they differ: a difference may be a variable. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import takewhile
from pathlib import PurePosixPath

from skilld.mining.actions import Action, is_generic, is_mcp_call, tokens
from skilld.values import value_class

# The score of two actions in an alignment: equal, differing in variables, or with the same start only.
EXACT, VARIABLE, SAME_START = 6, 4, 1
ELLIPSIS = "\u2026"  # in a step, for what differs each time
_MAX_VAGUE_WORDS = 2  # words
_STEM_PATTERN = re.compile(r"[\w./-]{2,100}[:=](?!//)(?=.)")
_MIN_FIXED_SHARE = 0.5
_MAX_WORDS = 200  # of a command: matching them takes quadratic time


@value_class
class ActionRun:
    """One action in a session: the turn it followed, and the command as it ran.

    `asked` is all that was typed in the session: its words may be variables. `reviewed`: a model will review the step.
    `about`: the names in its commands of files that the session changed; they may be variables, too.
    `early`: it ran again later, after other work for the same turn, and is a step of its own.
    """

    session: str
    turn: str
    text: str
    edits: bool = field(default=False, kw_only=True)
    reads: bool = field(default=False, kw_only=True)
    early: bool = field(default=False, kw_only=True)
    asked: str = field(default="", kw_only=True, compare=False, repr=False)
    about: frozenset[str] = field(default=frozenset(), kw_only=True, compare=False, repr=False)
    reviewed: bool = field(default=False, kw_only=True, compare=False, repr=False)

    @property
    def words(self) -> Sequence[str]:
        """The words of the command, or the path of the file that was changed or read."""
        return (self.text,) if self.edits or self.reads else tokens(self.text)


def step_similarity(one: ActionRun, other: ActionRun) -> int:
    """Return the score of taking two actions for one step, 0 if they are different steps."""
    if one.edits is not other.edits or one.early is not other.early:
        return 0
    if one.text == other.text:
        return EXACT
    if differs_in_variables(one, other):
        return VARIABLE
    start = () if one.edits else _command_start(one.text)
    if not start or start != _command_start(other.text):
        return 0
    same_thing = is_mcp_call(one.text) or any("/0" in word for word in start)
    return VARIABLE if same_thing else SAME_START


def common_words(one: Sequence[str], other: Sequence[str]) -> list[str]:
    """Return the words that two commands share in order, with "…" for others; nothing if they have little in common.

    They must begin alike, such as `docker build`. Of a word with a value ("name:1.2") the name is enough: "name:…".
    """
    one, other = one[:_MAX_WORDS], other[:_MAX_WORDS]
    start = 5 if "cd" in one[:1] else 2  # `cd web && npm run`
    if [*one[:start]] != [*other[:start]]:
        return []
    stems = [[_stem(word) for word in words] for words in (one, other)]
    matcher = SequenceMatcher(None, stems[0], stems[1], autojunk=False)
    found: list[str] = []
    at = there = 0
    for match in matcher.get_matching_blocks():  # the last one is empty, at both ends
        if (match.a > at or match.b > there) and found[-1:] != [ELLIPSIS]:
            found.append(ELLIPSIS)
        for mine, theirs, stem in zip(
            one[match.a :], other[match.b :], stems[0][match.a : match.a + match.size], strict=False
        ):
            found.append(mine if mine == theirs else stem)
        at, there = match.a + match.size, match.b + match.size
    shared = [word for word in found if word != ELLIPSIS]
    telling = any(word[0] != "-" for word in shared[start:])
    return found if telling and len(shared) / min(len(one), len(other)) >= _MIN_FIXED_SHARE else []


def _stem(word: str) -> str:
    """Return a word of a command without its value: "name:…" for "name:1.2"."""
    found = _STEM_PATTERN.match(word)
    return f"{found[0]}{ELLIPSIS}" if found else word


def bare_words(text: str) -> list[str]:
    """Return the words of a command that are not texts in quotes."""
    return [word for word in tokens(text) if word[0] not in "\"'"]


@lru_cache(maxsize=4096)
def _command_start(text: str) -> tuple[str, ...]:
    """Return a command up to its first flag, such as "gh pr create"; nothing if that is too short."""
    words = list(takewhile(lambda word: word[0] not in "-\"'", tokens(text)))
    if is_mcp_call(text):
        return (words[0],)
    if len(words) <= _MAX_VAGUE_WORDS:
        return ()
    return tuple(re.sub(r"(?<=/)\d+(?=/|\Z)|\A\d+\Z", "0", word) for word in words)


# Where two commands differ.

_SEPARATORS = "/_.=:-@,\"' "  # blanks occur only within quotes
# Flags followed by a text for people, with its name; and flags followed by NAME=VALUE.
_TEXT_FLAGS = {
    "-m": "message", "-am": "message", "--message": "message", "--title": "title", "--subject": "subject",
    "--body": "body", "--notes": "notes", "-t": "title", "-b": "body",
}  # fmt: skip
_BUNDLED_TEXT_FLAG = re.compile(r"-[aeinopqsv]{1,5}m")  # of git: -qam
_TEXT_IN_WORD = re.compile(
    r"""(--(?:message|title|subject|body|notes)=|-[aeinopqsv]{0,5}m)(["']).*\2""", re.DOTALL
)  # -m'Release 1.2', --body="Closes #3"
_FIELD_FLAGS = frozenset({"-f", "-F", "--field", "--raw-field"})
_QUOTED_PATTERN = re.compile(r"""(?:(\w{1,20})=)?(["']).*\2""", re.DOTALL)
TEXT_NAMES = frozenset(_TEXT_FLAGS.values())
_NUMBER_PATTERN = re.compile(r"[#v]?\d+(?:[.,]\d+)*(?:-[\w.]+)?")
_VERSION_PATTERN = re.compile(r"\d\.\d")
_VALUE_PATTERN = re.compile(r"[\w.-]+")
# Words of git before the name of a branch: one of `feat/a` and `fix/b` has nothing in common with the other.
_BEFORE_BRANCH = frozenset(
    {"-b", "-c", "origin", "upstream", "checkout", "switch", "merge", "rebase", "--head", "--base"}
)
_DATE_START_PATTERN = re.compile(r"(?<!\d)(?:19|20)\d\d-(?:\d\d-){0,2}\Z")
_BRANCH_PATTERN = re.compile(r"\w[\w./-]*")


@value_class
class Gap:
    """Where two words differ: their common ends, and a name for the variable.

    `said`: it is a text for people. `of_flag`: it is the value of a flag, and has its name.
    """

    before: str
    behind: str
    name: str
    said: bool = False
    of_flag: bool = False

    @property
    def is_name(self) -> bool:
        """Whether it may be the name of a target, as in "make licence" and "make nightly"."""
        return self.name == "name" and not self.of_flag

    @property
    def is_bare(self) -> bool:
        """Whether the whole word differs, as the name of a target does: "test:unit" counts as "test"."""
        return not self.behind and (not self.before or self.before.endswith(":"))


def differs_in_variables(one: ActionRun, other: ActionRun) -> bool:
    """Whether two actions differ only in what can be a variable, and share at least half of their words.

    Words that were typed in each session count as shared: "bin/grant orders billing", "bin/grant refunds payments".
    """
    mine, theirs = one.words, other.words
    if len(mine) != len(theirs) or not mine or (not one.edits and mine[0] != theirs[0]):
        return False
    whole = 0
    for number in range(len(mine)):
        if mine[number] != theirs[number]:
            previous = mine[number - 1] if number else ""
            gap = find_gap(mine[number], theirs[number], previous, branches=one.reviewed)
            if gap is None and not differs_in_numbers(mine[number], theirs[number]):
                return False
            if gap and " " in gap.before + gap.behind and not gap.said:  # in a quoted text, only what was asked for
                value, its = (w[len(gap.before) : len(w) - len(gap.behind)] for w in (mine[number], theirs[number]))
                if not _is_asked(value, its, one, other):
                    return False
            if gap and gap.is_bare:
                typed = has_word(one.asked, mine[number]) and has_word(other.asked, theirs[number])
                whole += not (gap.said or typed or _is_changed(mine[number], theirs[number], one, other))
                if gap.is_name and (is_generic(one.text) or not _is_asked(mine[number], theirs[number], one, other)):
                    return False  # "make build" and "make test"
    return (len(mine) - whole) / len(mine) >= _MIN_FIXED_SHARE


def differs_in_target(one: ActionRun, other: ActionRun) -> bool:
    """Whether two similar actions differ in a whole word, as "make licence" and "make nightly" do."""
    pairs = enumerate(zip(one.words, other.words, strict=False))
    gaps = (find_gap(mine, theirs, one.words[n - 1] if n else "") for n, (mine, theirs) in pairs if mine != theirs)
    return any(gap and gap.is_bare and gap.is_name for gap in gaps)


def _is_asked(mine: str, theirs: str, one: ActionRun, other: ActionRun) -> bool:
    """Whether each session's requests contain the word of its command, and not both those of both, as verbs are.

    Or each session changed a file of that name.
    """
    if _is_changed(mine, theirs, one, other):
        return True
    both = has_word(one.asked, theirs) and has_word(other.asked, mine)
    return not both and mine.casefold() in one.asked.casefold() and theirs.casefold() in other.asked.casefold()


def _is_changed(mine: str, theirs: str, one: ActionRun, other: ActionRun) -> bool:
    return mine in one.about - other.about and theirs in other.about - one.about


def has_word(text: str, word: str) -> bool:
    """Whether a text contains a whole word; "audit" is no word of "audit-log"."""
    return bool(re.search(rf"(?<![\w.-]){re.escape(word)}(?![\w-]|\.\w)", text, re.IGNORECASE))


def differs_in_numbers(one: str, other: str) -> bool:
    """Whether two paths differ only in numbers."""
    parts = one.split("/"), other.split("/")
    if len(parts[0]) != len(parts[1]) or len(parts[0]) == 1 or {one[0], other[0]} & {"'", '"'}:
        return False
    pairs = [pair for pair in zip(*parts, strict=True) if pair[0] != pair[1]]
    return len(pairs) < len(parts[0]) and all(_NUMBER_PATTERN.fullmatch(part) for pair in pairs for part in pair)


def text_argument_name(previous: str, word: str) -> str:
    """Return the name of a text for people that follows a flag, "" if the word is not one."""
    quoted = _QUOTED_PATTERN.fullmatch(word)
    if previous in _FIELD_FLAGS:
        return quoted[1] or "" if quoted else ""
    if previous in _TEXT_FLAGS and (quoted or len(previous) > len("-m")):
        return _TEXT_FLAGS[previous]
    return "message" if previous == "-m" or _BUNDLED_TEXT_FLAG.fullmatch(previous) else ""


def find_gap(one: str, other: str, previous: str, *, branches: bool = False) -> Gap | None:
    """Return the gap between two words that follow `previous`, None if it cannot be a variable.

    Whole names of `branches` may differ.
    """
    if text := _text_gap(one, other, previous):
        return text
    if (one[0] in "\"'") != (other[0] in "\"'"):
        return None
    if branches and previous in _BEFORE_BRANCH and all(_BRANCH_PATTERN.fullmatch(word) for word in (one, other)):
        return Gap("", "", "branch")
    before, behind = _common_ends(one, other)
    inner = [word[len(before) : len(word) - len(behind)] for word in (one, other)]
    if not all(_VALUE_PATTERN.fullmatch(part) for part in inner):
        return None
    if all(_NUMBER_PATTERN.fullmatch(part) for part in inner):
        mark = inner[0][0] if not inner[0][0].isdigit() and inner[0][0] == inner[1][0] else ""
        before, inner = before + mark, [part.removeprefix(mark) for part in inner]
        kind = "version" if "." in inner[0] else "number"
        return Gap(before, behind, _flag_name(previous, kind) if previous.startswith("--") and not before else kind)
    if before.strip("\"'-") or behind.strip("\"'"):
        flag = before.partition("=")[0]
        of_flag = before.endswith("=")
        return Gap(before, behind, _flag_name(flag) if of_flag else "name", of_flag=of_flag)
    if one.startswith("-") or other.startswith("-"):
        return None
    of_flag = previous.startswith("--")
    return Gap(before, behind, _flag_name(previous) if of_flag else "name", of_flag=of_flag)


def _text_gap(one: str, other: str, previous: str) -> Gap | None:
    """Return the gap between two texts for people, None if these words are none."""
    argument = text_argument_name(previous, one)
    if argument and argument == text_argument_name(previous, other):
        return Gap(f"{argument}=" if previous in _FIELD_FLAGS else "", "", argument, said=True)
    within = [_TEXT_IN_WORD.fullmatch(word) for word in (one, other)]
    if within[0] is None or within[1] is None or within[0][1] != within[1][1]:
        return None
    name = within[0][1].strip("-=")
    return Gap(within[0][1], "", name if name in TEXT_NAMES else "message", said=True)


def _flag_name(flag: str, other: str = "name") -> str:
    name = re.sub(r"\W", "_", flag.strip("-").casefold())
    return name if re.fullmatch(r"[a-z][a-z_]{1,20}", name) else other


def _common_ends(one: str, other: str) -> tuple[str, str]:
    """Return the common start and end of two words, cut back to where a name can begin and end."""
    most = min(len(one), len(other))
    head = next((n for n in range(most) if one[n] != other[n]), most)
    while head and not (_is_edge(one, head) and _is_edge(other, head)):
        head -= 1
    if date := _DATE_START_PATTERN.search(one[:head]):
        head = date.start()  # that of both sessions is not the next one's
    most -= head
    tail = next((n for n in range(most) if one[-1 - n] != other[-1 - n]), most)
    while tail and not (_is_edge(one, len(one) - tail) and _is_edge(other, len(other) - tail)):
        tail -= 1
    return one[:head], one[len(one) - tail :]


def _is_edge(word: str, at: int) -> bool:
    """Whether a name may begin or end at a position: at a separator or before a capital, never in a version."""
    if at in {0, len(word)}:
        return True
    if any(_VERSION_PATTERN.match(word, max(0, at - back)) for back in (1, 2)):
        return False
    return word[at - 1] in _SEPARATORS or word[at] in _SEPARATORS or (word[at].isupper() and not word[at - 1].isupper())


def without_texts(one: ActionRun) -> str:
    """Return a command without its texts for people, which are variables of the step or checked with it."""
    words = [_TEXT_IN_WORD.sub(r"\1...", word) for word in one.words]
    return " ".join("..." if n and text_argument_name(words[n - 1], word) else word for n, word in enumerate(words))


# Which kinds of action the sessions of a task share, in whatever order.
#
# Two sessions that do the same task run different commands around it, in a different order, and change different files
# of the same folder. So a kind is counted by the sessions that have it, wherever in them: a command or what similar
# commands share, a changed file or several of one folder, a file that is read.

MIN_SESSIONS = 2
_MIN_SHARE, _MIN_READ_SHARE = 0.3, 0.5  # of the sessions
_MAX_RUNS = 150  # different actions of one session: the time is quadratic
_MAX_KINDS_PER_PROGRAM = 60
# Of what only looks, the commands that compare or show what is in the history are what a review consists of.
_LOOK_PATTERN = re.compile(r"(?:cd \S+ && )?git (?:-C \S+ )?(?:diff|log|show|blame)\b")

Column = dict[str, ActionRun]  # one step, with the action of each session
_Placed = tuple[float, ActionRun]  # an action, and how far into its session it was (0 to 1)
Names = Callable[[str], list[str]]


@dataclass(slots=True)
class _Kind:
    """One kind: the first action of each session, and its place."""

    runs: dict[str, ActionRun]
    places: dict[str, float]

    @property
    def place(self) -> float:
        return sum(self.places.values()) / len(self.places)

    def is_before(self, other: _Kind) -> bool:
        """Whether all sessions that have both did this one first."""
        both = self.places.keys() & other.places.keys()
        return bool(both) and all(self.places[one] < other.places[one] for one in both)


def is_look(action: Action) -> bool:
    """Whether an action only looks at something, in a way that can be a step."""
    return action.read_only and is_look_command(action.text)


def is_look_command(text: str) -> bool:
    """Whether a command compares or shows what is in the history."""
    return bool(_LOOK_PATTERN.match(text))


def shared_kinds(sessions: Mapping[str, Sequence[ActionRun]]) -> list[Column]:
    """Return the kinds that enough sessions have, in the order that all sessions share, or else in the usual one."""
    placed = {session: _places(list(dict.fromkeys(runs))[:_MAX_RUNS]) for session, runs in sessions.items()}
    kinds = [*_command_kinds(placed), *_file_kinds(placed, edits=True), *_file_kinds(placed, edits=False)]
    ordered: list[_Kind] = []
    for kind in sorted(kinds, key=lambda kind: kind.place):
        at = next((n for n, other in enumerate(ordered) if kind.is_before(other)), len(ordered))
        ordered.insert(at, kind)
    return [kind.runs for kind in ordered]


def _places(runs: Sequence[ActionRun]) -> list[_Placed]:
    return [(number / len(runs), one) for number, one in enumerate(runs)]


def _least(sessions: Mapping[str, object], share: float = _MIN_SHARE) -> float:
    return max(MIN_SESSIONS, len(sessions) * share)


def _command_kinds(sessions: Mapping[str, Sequence[_Placed]]) -> Iterator[_Kind]:
    by_program: dict[tuple[str, ...], list[_Kind]] = {}
    for session, runs in sessions.items():
        for place, run in runs:
            if run.edits or run.reads:
                continue
            kinds = by_program.setdefault(_program(run), [])
            fit = [(like, kind) for kind in kinds if session not in kind.runs and (like := _likeness(kind, run))]
            if fit:
                best = max(fit, key=lambda one: one[0])[1]
                best.runs[session], best.places[session] = run, place
            elif len(kinds) < _MAX_KINDS_PER_PROGRAM:
                kinds.append(_Kind({session: run}, {session: place}))
    for kinds in by_program.values():
        yield from (kind for kind in kinds if len(kind.runs) >= _least(sessions))


def _program(run: ActionRun) -> tuple[str, ...]:
    """Return the words that all commands of a kind begin with."""
    words = tuple(run.words)
    return words[3:4] if words[:1] == ("cd",) else words[:1]


def _likeness(kind: _Kind, run: ActionRun) -> int:
    """Return the score of an action as one of a kind, 0 if it is of another: the first of a session counts most."""
    like = max(step_similarity(seen, run) for seen in kind.runs.values())
    if like <= SAME_START and all(common_words(seen.words, run.words) for seen in kind.runs.values()):
        return SAME_START + 1
    return like if like > SAME_START else 0


def _file_kinds(sessions: Mapping[str, Sequence[_Placed]], *, edits: bool) -> Iterator[_Kind]:
    """Yield the files that enough sessions changed, or read before they did; and the folders they changed one of."""
    wanted = {
        session: [(place, one) for place, one in runs if (one.edits if edits else one.reads)]
        for session, runs in sessions.items()
    }
    least = _least(sessions, _MIN_SHARE if edits else _MIN_READ_SHARE)
    exact = _by_name(wanted, lambda text: [text])
    same = {name: kind for name, kind in exact.items() if len(kind.runs) >= least}
    yield from same.values()
    if edits:
        rest = {
            session: [(place, one) for place, one in files if one.text not in same] for session, files in wanted.items()
        }
        seen: set[ActionRun] = set()
        for kind in sorted(_by_name(rest, _patterns).values(), key=lambda kind: -len(kind.runs)):
            runs = set(kind.runs.values())
            if len(kind.runs) >= least and len({one.text for one in runs}) >= MIN_SESSIONS and not runs & seen:
                seen |= runs
                yield kind


def _by_name(sessions: Mapping[str, Iterable[_Placed]], names: Names) -> dict[str, _Kind]:
    found: dict[str, _Kind] = {}
    for session, files in sessions.items():
        for place, one in files:
            for name in names(one.text):
                kind = found.setdefault(name, _Kind({}, {}))
                kind.runs.setdefault(session, one)
                kind.places.setdefault(session, place)
    return found


def _patterns(text: str) -> list[str]:
    """Return what files of the same folder and ending, and those of the same name, have in common."""
    path = PurePosixPath(text)
    alike = path.with_name(ELLIPSIS + path.suffix) if len(path.parts) > 1 else None
    return [str(alike), f"{ELLIPSIS}/{path.name}"] if alike else []


def common_path(paths: Sequence[str]) -> str:
    """Return what paths share, with "…" for the rest: the folder and the ending, or the name. "" if neither."""
    found = (pattern for pattern in _patterns(paths[0]) if all(pattern in _patterns(one) for one in paths))
    return next(found, "")
