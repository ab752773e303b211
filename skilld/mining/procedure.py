"""Finds what the sessions of one task have in common: steps in order, pitfalls, and a final check. Pure.

Actions of sessions in, steps out, each with the commands as they ran. A step ran in at least two sessions without
being marked as failed; a word in which the sessions differ is a variable. What `unfit_reason` refuses is left out.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, takewhile
from pathlib import PurePosixPath

from skilld.library.patterns import CHECK_PATTERN
from skilld.mining.actions import is_generic, is_mcp_call, is_test, tokens, unfit_reason
from skilld.mining.similarity import (
    MIN_SESSIONS,
    ActionRun,
    Column,
    common_path,
    common_words,
    differs_in_numbers,
    differs_in_variables,
    find_gap,
    has_word,
    is_look,
    shared_kinds,
    without_texts,
)
from skilld.mining.values import LeftOut, Recurrence
from skilld.mining.variables import Episode, Variables
from skilld.values import value_class

_MIN_SHARE, _MIN_GENERIC_SHARE = 0.5, 0.66  # of the sessions
_CUT_END = ' \u2026"'  # the end of a text that was cut after its first line
_MAX_CAUSES = 3  # steps that a pitfall names; more explain nothing
_PATH_WITH_ENDING = re.compile(r"[\w@~.-]*(?:/[\w@.-]+)*/[\w@-][\w@.-]*\.[A-Za-z]\w{0,7}")


@value_class
class Step:
    """One step: `text` with `{{variables}}`, and the actions it comes from."""

    text: str
    seen: tuple[ActionRun, ...]
    edits: bool = False
    checks: bool = False
    reads: bool = False

    @property
    def is_own(self) -> bool:
        """Whether it is a command that distinguishes this task from other work."""
        return not (self.edits or self.reads or is_generic(self.text))


@value_class
class Trap:
    """What failed and what worked afterwards. `until`: the same command worked once `worked` had run."""

    failed: str
    worked: str
    until: bool
    seen: tuple[ActionRun, ...]


@value_class
class Procedure:
    """What the sessions have in common: the task as they asked for it, its steps, and pitfalls."""

    task: Recurrence
    steps: tuple[Step, ...]
    traps: tuple[Trap, ...]

    @property
    def check(self) -> Step | None:
        """The check at the end; only generic steps, such as a commit, may follow it."""
        ends = [step for step in self.steps if not step.reads and (not is_generic(step.text) or step.checks)]
        return ends[-1] if ends and ends[-1].checks else None


def find_procedure(episodes: Sequence[Episode], named: int = 0, *, reviewed: bool = False) -> Procedure:
    """Return what the episodes, the newest first, have in common; the request of number `named` names it.

    If the steps will be `reviewed`, fewer sessions need to have each.
    """
    episodes = episodes if reviewed else [one.without_private_words() for one in episodes]
    done = {one.session: _with_early([*_runs(one, reviewed=reviewed)]) for one in episodes}
    if reviewed:
        columns = shared_kinds(done)
    else:  # if something was done again, the last time counts: a check is at the end
        last = {session: [*dict.fromkeys(reversed(runs))][::-1] for session, runs in done.items()}
        columns = [one for one in shared_kinds(last) if len(one) >= len(done) * _min_share(one)]
    names = Variables(episodes)
    refusals = [refusal(column) for column in columns]
    fit = [column for column, why in zip(columns, refusals, strict=True) if why is None]
    likely = [_column_step(column, names) or (_common_step(column) if reviewed else None) for column in fit]
    found = [step for step in likely if step is not None]
    found = [_with_known_values(step, names) for step in found]
    left_out = [one for one in refusals if one]
    left_out += [refused(step.text, why) for step in found if (why := unfit_reason(step.text))]
    found = [step for step in found if not unfit_reason(step.text)]
    steps = _with_final_check(_without_duplicates(found), {*filter(None, map(_last_action, episodes))})
    traps = [*_find_traps(episodes, steps, names)]
    steps = _without_remedies(steps, traps, episodes)
    used = chain(*(one.seen for one in steps), *(one.seen for one in traps))
    if not reviewed:
        left_out += unexplained(episodes, [*(one.text for one in used), *(one.command for one in left_out)])
    asked = names.requested()
    worded = names.open_words([names.put(one.request, one.session, asked) for one in episodes])
    wordings = _without_single_places(worded, episodes)
    task = Recurrence(wordings[named], names.examples(), left_out=tuple(dict.fromkeys(left_out)), wordings=wordings)
    return Procedure(task, tuple(steps), tuple(traps))


def _without_single_places(requests: Sequence[str], episodes: Sequence[Episode]) -> tuple[str, ...]:
    """Replace the files and hosts that only some of the requests name: the next time it is another one."""
    named = [
        {word: hole for word in map(_trimmed, request.split()) if (hole := _hole_for(word, one))}
        for request, one in zip(requests, episodes, strict=True)
    ]
    single = {
        word: hole
        for words in named
        for word, hole in words.items()
        if sum(word in other for other in named) <= len(named) / 2
    }
    if not single:
        return tuple(requests)
    return tuple(
        " ".join(word.replace(own, single.get(own, own)) for word in one.split() for own in [_trimmed(word)])
        for one in requests
    )


def _hole_for(word: str, episode: Episode) -> str:
    """Return the variable for a word that is a file or a host, "" for any other.

    A file is a path with an ending, or the name of one that was changed or read.
    """
    names = (PurePosixPath(one.text).name for one, _ in episode.actions if one.edits or one.reads)
    if _PATH_WITH_ENDING.fullmatch(word) if "/" in word else word in names:
        return "{{file}}"
    return "{{host}}" if is_host(word) else ""


def _trimmed(word: str) -> str:
    return word.lstrip("`\"'([").rstrip("`\"')],;:!?.")


def _runs(episode: Episode, *, reviewed: bool) -> Iterator[ActionRun]:
    """Yield what worked in a session; for a review, also what only looks."""
    for one, turn in episode.actions:
        if one.ran and (not one.read_only or (reviewed and (one.reads or is_look(one)))):
            yield ActionRun(
                episode.session,
                turn,
                one.text,
                edits=one.edits,
                reads=one.reads,
                asked=episode.asked,
                about=episode.about,
                reviewed=reviewed,
            )


def _with_early(runs: list[ActionRun]) -> list[ActionRun]:
    """Mark the first run of each command that ran again after another one of the task, such as one that undid it.

    Only within a turn: what is done again after the person spoke may be a repair. Checks are often done twice.
    """
    own = [one for one in runs if not (one.edits or one.reads or is_generic(one.text) or is_test(one.text))]
    first = {one: number for number, one in reversed([*enumerate(own)])}
    last = {one: number for number, one in enumerate(own)}
    again = {one for one in own if {*own[first[one] : last[one]]} - {one}}
    marked: list[ActionRun] = []
    for one in runs:
        marked.append(replace(one, early=True) if one in again else one)
        again.discard(one)
    return marked


def _last_action(episode: Episode) -> ActionRun | None:
    """Return the last action for the request itself, except generic ones: what came later was asked for separately."""
    done = [
        one
        for one, turn in episode.actions
        if turn == episode.turn
        if one.ran and not one.read_only and (not is_generic(one.text) or CHECK_PATTERN.search(one.text))
    ]
    return ActionRun(episode.session, episode.turn, done[-1].text, edits=done[-1].edits) if done else None


def _with_final_check(steps: list[Step], ends: Collection[ActionRun]) -> list[Step]:
    """Make the last step the check if several sessions stopped there, unless it has an effect, as `drain` has."""
    ends_at = (n for n in reversed(range(len(steps))) if steps[n].checks or not is_generic(steps[n].text))
    last = next((n for n in ends_at if not steps[n].reads), None)
    if last and not (steps[last].edits or _has_outside_effect(steps[last])):  # a single step is the task itself
        stopped = sum(one in ends for one in steps[last].seen) >= MIN_SESSIONS
        steps[last] = replace(steps[last], checks=steps[last].checks or stopped)
    return steps


def _has_outside_effect(step: Step) -> bool:
    """Whether a step tells, publishes or changes something: such a step is not a check, even at the end."""
    tells = is_mcp_call(step.text) or without_texts(step.seen[0]) != " ".join(step.seen[0].words)
    return tells or ">" in step.text or bool(_OUTSIDE_EFFECT_PATTERN.search(step.text))


def _min_share(column: Column) -> float:
    """Return the share of sessions that must have a step; more for a generic one."""
    return _MIN_GENERIC_SHARE if all(is_generic(one.text) for one in column.values()) else _MIN_SHARE


# Steps.


_OUTSIDE_EFFECT_PATTERN = re.compile(
    r"(?:^|[\s/:_-])(?:deploy|publish|push|release|upload|apply|send|install|start|up|tag|create|add|open|submit|merge|rm|mv|cp"
    r"|mkdir|view|list|drain|delete|remove|stop|restart|reload|restore|grant|label|register|backup|migrate|update"
    r"|sync|move|rename|enable|disable)"
    r"(?:$|[\s/:._-])",
    re.IGNORECASE,
)


def _column_step(column: Column, names: Variables) -> Step | None:
    """Return a column as a step, None if its sessions differ in more than variables."""
    seen = list(column.values())
    text = _common_text(seen, names)
    if text is None:
        seen = max(
            ([one for one in seen if one.text == other.text or differs_in_variables(one, other)] for other in seen),
            key=len,
        )
        text = _common_text(seen, names) if len(seen) >= MIN_SESSIONS else None
    if text is None and is_mcp_call(column_text := next(iter(column.values())).text):
        seen = list(column.values())  # the arguments that all calls share
        text = " ".join(word for word in tokens(column_text) if all(word in one.words for one in seen))
    if text is None:
        return None
    is_file = seen[0].edits or seen[0].reads
    tests = not is_file and is_test(text)
    return Step(text, tuple(seen), seen[0].edits, tests, seen[0].reads)


def _with_known_values(step: Step, names: Variables) -> Step:
    """Replace the value of a variable in a step that only sessions with that one value had."""
    texts = {names.put(step.text, one.session) for one in step.seen}
    return replace(step, text=texts.pop()) if len(texts) == 1 else step


def _common_step(column: Column) -> Step | None:
    """Return what all actions of a column share, with "…" for the rest, None if that is too little."""
    seen = list(column.values())
    if seen[0].edits:
        path = common_path([one.text for one in seen])
        return Step(path, tuple(seen), edits=True) if path else None
    shared: Sequence[str] = seen[0].words
    for one in seen[1:]:
        shared = common_words(shared, one.words)
    text = " ".join(shared)
    return Step(text, tuple(seen), checks=is_test(text)) if shared else None


def _common_text(seen: Sequence[ActionRun], names: Variables) -> str | None:
    """Return one command with variables that stands for all given ones, None if they are different commands."""
    words = [one.words for one in seen]
    if len({len(one) for one in words}) > 1:
        return None
    text = seen[0].text
    for number, word in enumerate(words[0]):
        column = [one[number] for one in words]
        if len(set(column)) > 1 or word.endswith(_CUT_END):
            filled = _common_word(seen, column, words[0][number - 1] if number else "", names)
            if filled is None:
                return None
            text = _replace_word(text, word, filled)
    return text


def _common_word(seen: Sequence[ActionRun], column: Sequence[str], previous: str, names: Variables) -> str | None:
    """Return a word with a variable where the commands differ, None if that is not possible."""
    # Texts with the same first line differ in what was cut off.
    other = next((word for word in column if word != column[0]), column[0] if column[0].endswith(_CUT_END) else None)
    if other is None:
        return column[0]
    gap = find_gap(column[0], other, previous, branches=seen[0].reviewed)
    if gap is None:
        parts = [word.split("/") for word in column]
        if any(not differs_in_numbers(column[0], word) for word in column if word != column[0]):
            return None
        named = ["", *parts[0]]
        across = zip(named, zip(*parts, strict=True), strict=False)
        filled = [_common_word(seen, part, f"--{name.removesuffix('s')}", names) for name, part in across]
        return "/".join(part or "" for part in filled) if None not in filled else None
    before, behind = ("", "") if names.are_asked(seen, column) else (gap.before, gap.behind)
    if previous.startswith("--") and not all(word.startswith(before) and word.endswith(behind) for word in column):
        before, behind, gap = "", "", find_gap("a", "b", previous) or gap  # the flag names the whole value
    if not all(word.startswith(before) and word.endswith(behind) for word in column):
        return None
    inner = [word[len(before) : len(word) - len(behind)] for word in column]
    vector = {one.session: value for one, value in zip(seen, inner, strict=True)}
    if gap.said:
        texts = {names.put(value, session) for session, value in vector.items()}
        return gap.before + (texts.pop() if len(texts) == 1 else f'"{{{{{names.of(gap.name, vector)}}}}}"')
    if (gap.is_bare or seen[0].edits) and not names.is_named(gap, vector):
        return None
    return f"{before}{{{{{names.of(gap.name, vector)}}}}}{behind}"


def _replace_word(text: str, word: str, filled: str) -> str:
    return re.sub(rf"(?<!\S){re.escape(word)}(?!\S)", lambda _: filled, text, count=1)


def _without_duplicates(steps: Sequence[Step]) -> list[Step]:
    """Leave out duplicates: of checks and generic steps the earlier ones, of others the later ones.

    Whoever changes a file also reads it.
    """
    changed = {step.text for step in steps if step.edits}
    steps = [step for step in steps if not (step.reads and step.text in changed)]
    # The numbers of variables do not matter.
    texts = [(re.sub(r"(?<!\d)\d{1,3}(?=\}\})", "", step.text), step.seen[0].early) for step in steps]
    last = {
        text: number
        for number, (text, step) in enumerate(zip(texts, steps, strict=True))
        if step.checks or is_generic(step.text)
    }
    first = {text: number for number, text in reversed([*enumerate(texts)])}
    return [step for number, step in enumerate(steps) if (first | last)[texts[number]] == number]


# Pitfalls: what failed, and what worked afterwards.


_NOUN_VERB_PROGRAMS = {(name,) for name in ("gh", "glab", "az", "aws", "gcloud", "fly", "flyctl", "doctl")}
_VERB_PLACE = 3  # words up to the verb


def _find_traps(episodes: Sequence[Episode], steps: Sequence[Step], names: Variables) -> Iterator[Trap]:
    by_seen = {one: step for step in steps for one in step.seen if not step.edits}
    texts = {step.text for step in steps}
    found: dict[tuple[str, str, bool], tuple[list[ActionRun], tuple[str, ...]]] = {}
    for episode in episodes:
        for number, (action, turn) in enumerate(episode.actions):
            run = ActionRun(episode.session, turn, action.text, asked=episode.asked)
            if not action.failed or not action.alone or action.read_only or action.edits or run_problem(run):
                continue
            after = _what_worked(episode, number, by_seen)
            failed = names.put(action.text, episode.session)
            if unfit_reason(failed) or after is None or (failed in texts) is not after[1] or (failed,) == after[0]:
                continue
            worked, until = after
            if not until and _is_instance(worked[0], action.text):
                continue
            key = failed, "" if until else worked[0], until
            seen, known = found.get(key, ([], worked))
            if shared := tuple(one for one in known if one in worked):
                found[key] = [*seen, run], shared
    return (
        Trap(failed, "` and `".join(worked), until, tuple(seen))
        for (failed, _, until), (seen, worked) in found.items()
        if len(worked) <= _MAX_CAUSES
    )


def _without_remedies(steps: list[Step], traps: Sequence[Trap], episodes: Sequence[Episode]) -> list[Step]:
    """Leave out the steps that a pitfall names as its cure if the command also worked in a session without them."""
    cures: set[str] = set()
    for trap in traps:
        cure = {step.text for step in steps if f"`{step.text}`" in f"`{trap.worked}`"} if trap.until else set[str]()
        took = {one.session for step in steps if step.text in cure for one in step.seen}
        failed = {one.text for one in trap.seen}
        if any(
            one.session not in took and any(action.ran and action.text in failed for action, _ in one.actions)
            for one in episodes
        ):
            cures |= cure
    return [step for step in steps if step.text not in cures]


def _is_instance(step: str, command: str) -> bool:
    words, given = tokens(step), tokens(command)
    return len(words) == len(given) and all(
        word == one
        or ("{{" in word and one.startswith(word.partition("{{")[0]) and one.endswith(word.rpartition("}}")[2]))
        for word, one in zip(words, given, strict=True)
    )


def _what_worked(episode: Episode, failed: int, steps: Mapping[ActionRun, Step]) -> tuple[tuple[str, ...], bool] | None:
    """Return the step that worked instead of a failed command, and False; or the steps that made it work, and True."""
    action = episode.actions[failed][0]
    done = [(one, steps.get(ActionRun(episode.session, turn, one.text))) for one, turn in episode.actions]
    later = [(one, step) for one, step in done[failed + 1 :] if one.ran and not one.read_only]
    again = next((number for number, (one, _) in enumerate(later) if one.text == action.text), None)
    if again is not None:
        before = {one.text for one, _ in done[:failed] if one.ran}
        between = later[:again]
        if any(one.edits or (step is None and one.text not in before) for one, step in between):
            return None  # the code was at fault, or perhaps a command helped that is no step
        new = dict.fromkeys(step.text for one, step in between if step is not None and one.text not in before)
        return (tuple(new), True) if new else None  # the log does not show which of them was needed
    if CHECK_PATTERN.search(action.text):  # what passes once code was changed is no other way to run it
        later = [*takewhile(lambda each: not each[0].edits, later)]
    near = [
        (_shared_words(action.text, one.text), -at, step)
        for at, (one, step) in enumerate(later)
        if not (one.edits or _is_other_verb(action.text, one.text))
    ]
    likeness, at, best = max(near, key=lambda one: one[:2], default=(0.0, 0, None))
    if best is None or likeness < _MIN_SHARE or any(step is None for _, step in later[:-at]):
        return None  # perhaps a command or a change helped that is no step
    return (best.text,), False


def _is_other_verb(failed: str, worked: str) -> bool:
    """Whether two commands do different things to the same kind of thing, as "gh pr checks" and "gh pr ready" do."""
    one, other = tokens(failed)[:_VERB_PLACE], tokens(worked)[:_VERB_PLACE]
    return one[:1] == other[:1] and one[:1] in _NOUN_VERB_PROGRAMS and one != other


def _shared_words(failed: str, worked: str) -> float:
    """Return the share of a failed command's words that another command also has."""
    one, other = tokens(failed), set(tokens(worked))
    return sum(word in other for word in one) / len(one)


# Which commands of a task's sessions are in no step of its draft, and why.

_FAILED_REASON = "it failed each time"
_DIFFERENT_REASON = "it was not the same command in enough sessions, even with variables"
_HOST_PATTERN = re.compile(
    r"(?<![\w.@/:%-])(?:(?:[\w-]{1,63}\.){1,6}[a-z]{2,24}|(?:\d{1,3}\.){3}\d{1,3})(?![\w@/:-]|\.\w)", re.IGNORECASE
)
_NETWORK_PROGRAMS = frozenset({"curl", "wget", "ssh", "scp", "sftp", "rsync", "nc", "ncat", "ftp", "telnet", "http"})


def refusal(column: Column) -> LeftOut | None:
    """Return why no skill may have the command of a column, with the command; None if one may."""
    for run in column.values():
        if why := run_problem(run):
            return refused(run.text, why)
    return None


def refused(command: str, why: str) -> LeftOut:
    """Return a command that no skill may have, with the reason as a clause."""
    return LeftOut(command, f"{why[:1].lower()}{why[1:]}", refused=True)


def run_problem(run: ActionRun) -> str | None:
    """Return why no skill may repeat a command, None if one may with a variable for each host that was typed.

    What goes to a host directly, such as curl, is judged as it is.
    """
    text = without_texts(run)
    if _NETWORK_PROGRAMS.isdisjoint(tokens(text)):
        text = _HOST_PATTERN.sub(lambda host: "{{host}}" if has_word(run.asked, host[0]) else host[0], text)
    return unfit_reason(text)


def is_host(word: str) -> bool:
    """Whether a word is the name or number of a host outside of this machine's network."""
    found = unfit_reason(word) if _HOST_PATTERN.fullmatch(word) else None
    return bool(found and found.startswith("It contains a network address"))


def unexplained(episodes: Sequence[Episode], told: Iterable[str]) -> Iterator[LeftOut]:
    """Yield the commands that every session ran, one of each kind, and none of a kind that is `told` already."""
    known = set(map(_kind, told))
    ran: dict[tuple[str, ...], dict[str, ActionRun]] = {}
    worked: set[tuple[str, ...]] = set()
    for episode in episodes:
        for action, turn in episode.actions:
            if action.read_only or action.edits or action.reads:
                continue
            run = ActionRun(episode.session, turn, action.text, asked=episode.asked)
            ran.setdefault(_kind(action.text), {}).setdefault(episode.session, run)
            worked |= {_kind(action.text)} if action.ran else set()
    for kind, runs in ran.items():
        if kind not in known and len(runs) == len(episodes) >= MIN_SESSIONS:
            why = _DIFFERENT_REASON if kind in worked else _FAILED_REASON
            yield refusal(runs) or LeftOut(next(iter(runs.values())).text, why)


def _kind(text: str) -> tuple[str, ...]:
    """Return what a command runs: its program, with the verb for `git` and other programs used in all work."""
    words = tokens(text.rpartition("&& ")[2])
    return words[: 2 if is_generic(text) or words[:1] == ("git",) else 1]
