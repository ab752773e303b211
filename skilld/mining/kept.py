"""Whether the rules of one file are kept, by transcripts that lie anywhere: the map of `spread`, put together.

What was loaded in a session on another machine is not known. So the rules count in the sessions that were held in a
folder of the same name as the file's; those of a file in no repository count in all.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from skilld.effect.everything import RuleOutcome
from skilld.effect.lines import came_in, rules_in, text_of
from skilld.effect.mending import Prescription
from skilld.effect.rules import Origin, Rule, effects
from skilld.effect.survey import survey
from skilld.git.environment import scrub_environment
from skilld.mining.sessions import project_of
from skilld.mining.spread import Found, guarded
from skilld.past import PastSession
from skilld.protocol import Survey
from skilld.redact import Redactor

_PARTED = re.compile(r"[/\\]+")


@dataclass(frozen=True, slots=True)
class Kept:
    """Each rule with what became of it, in how many sessions it could have, and the files that could not be read."""

    rules: tuple[RuleOutcome, ...]
    sessions: int
    unreadable: tuple[tuple[str, str], ...]


def shown_in(url: str, key: bytes) -> Found:
    """Read one transcript for what it shows of rules, redacted with `key`. Raises only for bugs. Runs in a worker."""
    redact = Redactor(key).redact

    def surveyed(agent: str, path: Path) -> Found:
        shown = survey(Survey(agent, str(path), "", 0, 0.0), redact)
        return Found(url, past=tuple(replace(one, cwd=redact(one.cwd)) for one in shown.sessions), trouble=shown.detail)

    return guarded(url, surveyed)


def kept(results: Iterable[Found], path: Path) -> Kept:
    """Return what the results say of the rules of a file, whoever worked them out and in whatever order they came."""
    scrub_environment()
    file = str(path)
    rules = [
        Rule(file, line, text, Origin.PERSON, since)
        for line, text in rules_in(text_of(file))
        if (since := came_in(file, line)) is not None
    ]
    ordered = sorted(results, key=lambda one: one.url)
    folder = rules[0].folder if rules else ""
    place = _place(folder)
    here = [replace(one, cwd=folder, loaded=(file,)) for one in _each_once(ordered) if _is_in(one.cwd, place)]
    unreadable = tuple((one.url, one.trouble) for one in ordered if one.trouble)
    return Kept(tuple(RuleOutcome(one, Prescription(), ()) for one in effects(rules, here)), len(here), unreadable)


def _each_once(ordered: Iterable[Found]) -> Iterable[PastSession]:
    """Yield each session once, and what was said in the first that has it: one that was taken up again repeats it."""
    known: set[tuple[str, str]] = set()
    heard: set[str] = set()
    for one in (one for found in ordered for one in found.past):
        if (one.agent, one.session_id) in known:
            continue
        known.add((one.agent, one.session_id))
        said = tuple(words for words in one.said if words.turn not in heard)
        heard |= {words.turn for words in said}
        yield replace(one, said=said)


def _place(folder: str) -> tuple[str, ...]:
    """Return the names of a repository's folder and of those below it down to this one; none outside of any."""
    top = project_of(folder)
    if top is None or not (top / ".git").exists():
        return ()
    return top.name, *Path(folder).relative_to(top).parts


def _is_in(cwd: str, place: Sequence[str]) -> bool:
    parts = _PARTED.split(cwd)
    return any(parts[at : at + len(place)] == [*place] for at in range(len(parts)))
