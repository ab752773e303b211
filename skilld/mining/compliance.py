"""Whether the rules of one file are followed, from transcripts anywhere: jobs for `parallel`, and their merged result.

What a session on another machine had loaded is unknown. So the rules of a file in a repository count in sessions in a
folder of the same name, those of any other file in all sessions.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from skilld.effect.outcomes import RuleOutcome
from skilld.effect.remedy_edits import RemedyPlan
from skilld.effect.rule_lines import added_at, rules_in, text_of
from skilld.effect.rules import Origin, Rule, effects
from skilld.effect.survey import survey
from skilld.git.top import is_top
from skilld.mining.parallel import FileResult, read_guarded
from skilld.mining.sessions import project_of
from skilld.past import PastSession
from skilld.protocol import SurveyRequest
from skilld.redact import Redactor
from skilld.values import value_class

_PATH_SEPARATOR = re.compile(r"[/\\]+")


@value_class
class ComplianceResult:
    """The outcome of each rule, the number of sessions in which the rules applied, and unreadable files."""

    rules: tuple[RuleOutcome, ...]
    sessions: int
    unreadable: tuple[tuple[str, str], ...]


def survey_file(url: str, key: bytes) -> FileResult:
    """Survey one transcript for rules, redacted with `key`. Raises only for bugs. Runs in a worker."""
    redact = Redactor(key).redact

    def surveyed(agent: str, path: Path) -> FileResult:
        shown = survey(SurveyRequest(agent, str(path), "", 0, 0.0), redact)
        return FileResult(
            url, past=tuple(replace(one, cwd=redact(one.cwd)) for one in shown.sessions), trouble=shown.detail
        )

    return read_guarded(url, surveyed)


def rule_compliance(results: Iterable[FileResult], path: Path) -> ComplianceResult:
    """Merge the results about the rules of a file, independent of their order."""
    file = str(path)
    rules = [
        Rule(file, line, text, Origin.PERSON, since)
        for line, text in rules_in(text_of(file))
        if (since := added_at(file, line)) is not None
    ]
    ordered = sorted(results, key=lambda one: one.url)
    folder = rules[0].folder if rules else ""
    place = _folder_names(folder)
    here = [
        replace(one, cwd=folder, loaded=(file,)) for one in _distinct_sessions(ordered) if _has_place(one.cwd, place)
    ]
    unreadable = tuple((one.url, one.trouble) for one in ordered if one.trouble)
    return ComplianceResult(
        tuple(RuleOutcome(one, RemedyPlan(), ()) for one in effects(rules, here)), len(here), unreadable
    )


def _distinct_sessions(ordered: Iterable[FileResult]) -> Iterable[PastSession]:
    """Yield each session once, and each turn only in the first session that has it: resumed ones repeat turns."""
    known: set[tuple[str, str]] = set()
    heard: set[str] = set()
    for one in (one for found in ordered for one in found.past):
        if (one.agent, one.session_id) in known:
            continue
        known.add((one.agent, one.session_id))
        said = tuple(words for words in one.said if words.turn not in heard)
        heard |= {words.turn for words in said}
        yield replace(one, said=said)


def _folder_names(folder: str) -> tuple[str, ...]:
    """Return the folder names from a repository's top folder down to this one; none outside a repository."""
    top = project_of(folder)
    if top is None or not is_top(top):
        return ()
    return top.name, *Path(folder).relative_to(top).parts


def _has_place(cwd: str, place: Sequence[str]) -> bool:
    parts = _PATH_SEPARATOR.split(cwd)
    return any(parts[at : at + len(place)] == [*place] for at in range(len(parts)))
