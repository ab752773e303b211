"""Which commands of a task's sessions are in no step of its draft, and why. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from skilld.mining.actions import is_generic, tokens, unfit_reason
from skilld.mining.kinds import MIN_SESSIONS, Column
from skilld.mining.similarity import ActionRun, has_word, without_texts
from skilld.mining.values import LeftOut
from skilld.mining.variables import Episode

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
    """Return what a command runs: its program, of `git` and other programs for all work with the verb."""
    words = tokens(text.rpartition("&& ")[2])
    return words[: 2 if is_generic(text) or words[:1] == ("git",) else 1]
