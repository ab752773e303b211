"""What sessions of one task have in common: steps in order, what failed and what worked instead, the check. Pure.

Actions of sessions in, steps out, each with the commands as they ran. A step ran in at least two sessions without
being marked failed; where the sessions differ in one exact word it is a variable. What `unfit` refuses is left out.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from skilld.library.patterns import CHECKS
from skilld.mining.actions import Action, is_called, is_generic, tokens, unfit
from skilld.mining.alike import SAID, ActionRun, gap_of, in_parts, is_next, likeness, unsaid, varying

SEVERAL = 2
_MAX_ACTIONS = 120  # of one session that are aligned: the work is their square
_OF_ANY = 3  # so many times less where any work in a project has them: their order says least
_TELLING = 3  # characters of a value that is hardly the same by accident
_HALF, _MAX = 0.5, 0.66
_CUT = ' \u2026"'  # the end of a text of which only the first line was kept
_MAX_CAUSES = 3  # steps that a pitfall names; more say nothing


@dataclass(frozen=True, slots=True)
class Episode:
    """What one session did about a task: `actions` by the key of the turn they followed, `asked` all that was typed."""

    session: str
    turn: str
    request: str
    asked: str
    actions: tuple[tuple[Action, str], ...]


@dataclass(frozen=True, slots=True)
class Step:
    """One step: `text` with `{{variables}}`, and where it was seen."""

    text: str
    seen: tuple[ActionRun, ...]
    edits: bool = False
    checks: bool = False


@dataclass(frozen=True, slots=True)
class Trap:
    """What failed and what worked afterwards. `until`: the same worked once `worked` had been done."""

    failed: str
    worked: str
    until: bool
    seen: tuple[ActionRun, ...]


@dataclass(frozen=True, slots=True)
class Procedure:
    """What sessions have in common. `examples` has of each variable what stood there; `left_out` why steps are not."""

    request: str
    steps: tuple[Step, ...]
    traps: tuple[Trap, ...]
    examples: Mapping[str, tuple[str, ...]]
    left_out: tuple[str, ...] = ()

    @property
    def check(self) -> Step | None:
        """The check at the end: what comes behind it is only what any work ends with, such as a commit."""
        ends = [step for step in self.steps if not is_generic(step.text) or step.checks]
        return ends[-1] if ends and ends[-1].checks else None


def procedure(episodes: Sequence[Episode], named: int = 0) -> Procedure:
    """Return what the episodes, the newest first, have in common; `named` is the one whose request is to name it."""
    columns = _columns(episodes)
    names = _Names(episodes)
    refused = [next((why for one in column.values() if (why := unfit(unsaid(one)))), "") for column in columns]
    fit = [column for column, why in zip(columns, refused, strict=True) if not why]
    told = [*_steps(fit, names)]
    left_out = tuple(dict.fromkeys(why for why in (*refused, *(unfit(step.text) for step in told)) if why))
    told = [step for step in told if not unfit(step.text)]
    steps = _ended(_tidy(told), {last for one in episodes for last in _last(one)})
    traps = _traps(episodes, steps, names)
    request = names.put(episodes[named].request, episodes[named].session, names.requested())
    return Procedure(request, tuple(steps), tuple(traps), names.examples(), left_out)


def _steps(columns: Sequence[_Column], names: _Names) -> Iterator[Step]:
    for column in columns:
        step = _step(column, names)
        if step is not None:
            yield step


def _last(episode: Episode) -> Collection[ActionRun]:
    """Return what a session did last before each thing that was typed, but for what any work ends with."""
    done = [
        ActionRun(episode.session, turn, one.text, edits=one.edits)
        for one, turn in episode.actions
        if one.ran and not one.looks and (not is_generic(one.text) or CHECKS.search(one.text))
    ]
    return {one.turn: one for one in done}.values()


def _ended(steps: list[Step], ends: Collection[ActionRun]) -> list[Step]:
    """Take the last step for the check where several sessions stopped there, unless it brings something out."""
    last = next((n for n in reversed(range(len(steps))) if steps[n].checks or not is_generic(steps[n].text)), None)
    if last and not (steps[last].edits or _brings_out(steps[last])):  # one step alone is what was asked for
        stopped = sum(one in ends for one in steps[last].seen) >= SEVERAL
        steps[last] = replace(steps[last], checks=steps[last].checks or stopped)
    return steps


def _brings_out(step: Step) -> bool:
    """Whether a step tells somebody something, or puts something out: it is no check, though work ends with it."""
    tells = is_called(step.text) or unsaid(step.seen[0]) != " ".join(step.seen[0].words)
    return tells or bool(_BRINGS_OUT.search(step.text))


# Sessions side by side: a column is one step, with what each session did there.

_Column = dict[str, ActionRun]


def _columns(episodes: Sequence[Episode]) -> list[_Column]:
    """Return the steps that several sessions have, in an order that each of them keeps."""
    columns: list[_Column] = []
    for episode in episodes:
        done = [
            ActionRun(episode.session, turn, one.text, edits=one.edits, asked=episode.asked)
            for one, turn in episode.actions
            if one.ran and not one.looks
        ]
        columns = [*_merged(columns, _once(done)[:_MAX_ACTIONS])]
    return [column for column in columns if len(column) >= max(SEVERAL, len(episodes) * _least(column))]


def _least(column: _Column) -> float:
    """Return the share of sessions that must have a step: more where it is what any work in a project has."""
    return _MAX if all(is_generic(one.text) for one in column.values()) else _HALF


def _once(done: Sequence[ActionRun]) -> list[ActionRun]:
    """Leave out that a file was changed again, and that a command was run again at once or for the next of several."""
    found: list[ActionRun] = []
    for one in done:
        if not (one.edits and one in found) and not (found and is_next(found[-1], one)):
            found.append(one)
    return found


def _merged(columns: Sequence[_Column], done: Sequence[ActionRun]) -> Iterator[_Column]:
    """Yield columns and what one more session did in one order: the alignment that is worth most."""
    worth = [[0] * (len(done) + 1) for _ in range(len(columns) + 1)]
    fits = [[_fit(column, one) for one in done] for column in columns]
    for i in reversed(range(len(columns))):
        for j in reversed(range(len(done))):
            both = fits[i][j] + worth[i + 1][j + 1] if fits[i][j] else 0
            worth[i][j] = max(both, worth[i + 1][j], worth[i][j + 1])
    i = j = 0
    while i < len(columns) or j < len(done):
        inside = i < len(columns) and j < len(done)
        if inside and fits[i][j] and worth[i][j] == fits[i][j] + worth[i + 1][j + 1]:
            yield columns[i] | {done[j].session: done[j]}
            i, j = i + 1, j + 1
        elif i < len(columns) and (not inside or worth[i][j] == worth[i + 1][j]):
            yield columns[i]
            i += 1
        else:
            yield {done[j].session: done[j]}
            j += 1


def _fit(column: _Column, one: ActionRun) -> int:
    """Return what it is worth to take an action for the step of a column, 0 where it is another one."""
    like = max(likeness(seen, one) for seen in column.values())
    return -(-like // _OF_ANY) if is_generic(one.text) else like


# Variables: what differs in the same way is one.


def _spelled(value: str) -> tuple[str, ...]:
    """Return how people write a value, the longest first: "release 1.4" is 1.4.0."""
    is_version = value.endswith(".0") and value.count(".") > 1 and value.replace(".", "").isdigit()
    return (value, value.removesuffix(".0")) if is_version else (value,)


@dataclass
class _Names:
    """The variables of a procedure by name, each with what it was in each session."""

    episodes: Sequence[Episode]
    values: dict[str, dict[str, str]] = field(default_factory=dict)

    def of(self, wanted: str, vector: Mapping[str, str]) -> str:
        """Return the variable that was this in each session, a new one where there is none."""
        for name, known in self.values.items():
            shared = known.keys() & vector.keys()
            many = SEVERAL if name != wanted or min(map(len, vector.values())) < _TELLING else 1
            if len(shared) >= many and all(known[one] == vector[one] for one in shared):
                known.update(vector)
                return name
        name, number = wanted, 2
        while name in self.values:
            name, number = f"{wanted}{number}", number + 1
        self.values[name] = dict(vector)
        return name

    def requested(self) -> set[str]:
        """Return the variables that several requests name: what differs in flags alone is not what was asked for."""
        said = {one.session: one.request.casefold() for one in self.episodes}
        return {
            name
            for name, known in self.values.items()
            if sum(
                any(form in said[session] for form in _spelled(value.casefold())) for session, value in known.items()
            )
            >= SEVERAL
        }

    def put(self, text: str, session: str, wanted: Collection[str] | None = None) -> str:
        """Return a text of a session with its values replaced, of `wanted` variables alone; only whole words.

        "test_cart" has the word "cart".
        """
        for name, known in sorted(self.values.items(), key=lambda one: -len(one[1].get(session, ""))):
            value = known.get(session, "")
            if value and name.rstrip("0123456789") not in SAID and (wanted is None or name in wanted):
                before = r"(?<![^\W_])(?<!\{)" if len(value) >= SEVERAL else "(?<=[/#])"
                forms = "|".join(map(re.escape, _spelled(value)))
                pattern = rf"{before}(?:{forms})(?![^\W_]|\}}|\.\d)"
                text = re.sub(pattern, lambda _, name=name: "{{" + name + "}}", text, flags=re.IGNORECASE)  # type: ignore[misc]
        return text

    def examples(self) -> dict[str, tuple[str, ...]]:
        """Return what each variable was, the newest first."""
        order = [episode.session for episode in self.episodes]
        return {
            name: tuple(dict.fromkeys(known[one] for one in order if one in known))
            for name, known in self.values.items()
        }

    def are_asked(self, seen: Sequence[ActionRun], words: Sequence[str]) -> bool:
        """Whether whole words are what each session was asked about, though they begin or end alike."""
        asked = {episode.session: episode.asked for episode in self.episodes}
        return all(
            re.fullmatch(r"[\w-]+", word) and re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", asked[one.session])
            for one, word in zip(seen, words, strict=True)
        )

    def is_named(self, gap: str, vector: Mapping[str, str]) -> bool:
        """Whether a word alone, or in a changed file's path, is a variable: exact, or what was asked about."""
        if gap != "name":
            return True
        asked = {episode.session: episode.asked.casefold() for episode in self.episodes}
        return all(value.casefold() in asked[session] for session, value in vector.items())


_BRINGS_OUT = re.compile(
    r"(?:^|[\s/:_-])(?:deploy|publish|push|release|upload|apply|send|install|start|up|tag|create|add|open|submit)"
    r"(?:$|[\s/:._-])",
    re.IGNORECASE,
)


def _step(column: _Column, names: _Names) -> Step | None:
    """Return a column as a step; None where what differs between its sessions is no variable."""
    seen = list(column.values())
    text = _text(seen, names)
    if text is None:
        seen = max(([one for one in seen if one.text == other.text or varying(one, other)] for other in seen), key=len)
        text = _text(seen, names) if len(seen) >= SEVERAL else None
    if text is None and is_called(column_text := next(iter(column.values())).text):
        seen = list(column.values())  # of a call what all of them give
        text = " ".join(word for word in tokens(column_text) if all(word in one.words for one in seen))
    if text is None:
        return None
    return Step(text, tuple(seen), seen[0].edits, bool(CHECKS.search(text)) and not seen[0].edits)


def _text(seen: Sequence[ActionRun], names: _Names) -> str | None:
    """Return one command for all of these, with variables; None where they are different ones."""
    words = [one.words for one in seen]
    if len({len(one) for one in words}) > 1:
        return None
    text = seen[0].text
    for number, word in enumerate(words[0]):
        column = [one[number] for one in words]
        if len(set(column)) > 1 or word.endswith(_CUT):
            filled = _filled(seen, column, words[0][number - 1] if number else "", names)
            if filled is None:
                return None
            text = _replaced(text, word, filled)
    return text


def _filled(seen: Sequence[ActionRun], column: Sequence[str], previous: str, names: _Names) -> str | None:
    """Return a word with a variable where the commands differ; None where that can be none."""
    # The first line of a document may be the same each time, what follows is not.
    other = next((word for word in column if word != column[0]), column[0] if column[0].endswith(_CUT) else None)
    if other is None:
        return column[0]
    gap = gap_of(column[0], other, previous)
    if gap is None:
        parts = [word.split("/") for word in column]
        if any(not in_parts(column[0], word) for word in column if word != column[0]):
            return None
        named = ["", *parts[0]]
        across = zip(named, zip(*parts, strict=True), strict=False)
        filled = [_filled(seen, part, f"--{name.removesuffix('s')}", names) for name, part in across]
        return "/".join(part or "" for part in filled) if None not in filled else None
    before, behind = ("", "") if names.are_asked(seen, column) else (gap.before, gap.behind)
    if not all(word.startswith(before) and word.endswith(behind) for word in column):
        return None
    inner = [word[len(before) : len(word) - len(behind)] for word in column]
    vector = {one.session: value for one, value in zip(seen, inner, strict=True)}
    if gap.said:
        said = {names.put(value, session) for session, value in vector.items()}
        return gap.before + (said.pop() if len(said) == 1 else f'"{{{{{names.of(gap.name, vector)}}}}}"')
    if (gap.is_bare or seen[0].edits) and not names.is_named(gap.name, vector):
        return None
    return f"{before}{{{{{names.of(gap.name, vector)}}}}}{behind}"


def _replaced(text: str, word: str, filled: str) -> str:
    return re.sub(rf"(?<!\S){re.escape(word)}(?!\S)", lambda _: filled, text, count=1)


def _tidy(steps: Sequence[Step]) -> list[Step]:
    """Leave out what stands there twice: of a check and of what any work has the earlier ones, of another the later."""
    told = [
        re.sub(r"(?<!\d)\d{1,3}(?=\}\})", "", step.text) for step in steps
    ]  # whichever numbers their variables have
    last = {
        text: number
        for number, (text, step) in enumerate(zip(told, steps, strict=True))
        if step.checks or is_generic(step.text)
    }
    first = {text: number for number, text in reversed([*enumerate(told)])}
    return [step for number, step in enumerate(steps) if (first | last)[told[number]] == number]


# What failed, and what worked afterwards.


def _traps(episodes: Sequence[Episode], steps: Sequence[Step], names: _Names) -> Iterator[Trap]:
    by_seen = {one: step for step in steps for one in step.seen if not step.edits}
    texts = {step.text for step in steps}
    found: dict[tuple[str, str, bool], tuple[list[ActionRun], tuple[str, ...]]] = {}
    for episode in episodes:
        for number, (action, turn) in enumerate(episode.actions):
            if not action.failed or not action.alone or action.looks or action.edits or unfit(action.text):
                continue
            after = _after(episode, number, by_seen)
            failed = names.put(action.text, episode.session)
            if after is None or (failed in texts) is not after[1] or (failed,) == after[0]:
                continue
            worked, until = after
            if not until and _is_of(worked[0], action.text):
                continue
            key = failed, "" if until else worked[0], until
            seen, known = found.get(key, ([], worked))
            if shared := tuple(one for one in known if one in worked):
                found[key] = [*seen, ActionRun(episode.session, turn, action.text)], shared
    return (
        Trap(failed, "` and `".join(worked), until, tuple(seen))
        for (failed, _, until), (seen, worked) in found.items()
        if len(worked) <= _MAX_CAUSES
    )


def _is_of(step: str, command: str) -> bool:
    """Whether a command is a step with other values."""
    words, given = tokens(step), tokens(command)
    return len(words) == len(given) and all(
        word == one
        or ("{{" in word and one.startswith(word.partition("{{")[0]) and one.endswith(word.rpartition("}}")[2]))
        for word, one in zip(words, given, strict=True)
    )


def _after(episode: Episode, failed: int, by_seen: Mapping[ActionRun, Step]) -> tuple[tuple[str, ...], bool] | None:
    """Return the step that worked instead of a failed command, and False; or those after which it worked, and True."""
    action = episode.actions[failed][0]
    done = [(one, _step_of(episode, one, turn, by_seen)) for one, turn in episode.actions]
    later = [(one, step) for one, step in done[failed + 1 :] if one.ran and not one.looks]
    again = next((number for number, (one, _) in enumerate(later) if one.text == action.text), None)
    if again is not None:
        before = {one.text for one, _ in done[:failed] if one.ran}
        between = later[:again]
        if any(one.edits for one, _ in between):
            return None  # it was the code that failed
        new = dict.fromkeys(step.text for one, step in between if step is not None and one.text not in before)
        return (tuple(new), True) if new else None  # the log does not tell which of them it took
    near = [(_shared(action.text, one.text), step) for one, step in later if not one.edits]
    likeness, best = max(near, key=lambda one: one[0], default=(0.0, None))
    return ((best.text,), False) if best is not None and likeness >= _HALF else None


def _step_of(episode: Episode, action: Action, turn: str, by_seen: Mapping[ActionRun, Step]) -> Step | None:
    return by_seen.get(ActionRun(episode.session, turn, action.text))


def _shared(failed: str, worked: str) -> float:
    """Return the share of the words of a command that failed which another has, too: more than the program's name."""
    one, other = tokens(failed), set(tokens(worked))
    return sum(word in other for word in one) / len(one)
