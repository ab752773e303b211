"""The questions to a model about a session: which messages repeat a rule, and which rules applied.

Both are closed questions on the numbered rules of the loaded files; the answers are numbers. If an answer cannot be
read, only the comparison of words counts.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from pathlib import Path

from skilld.batching.gate import needs_classification
from skilld.classify.backends import Backend
from skilld.classify.backends.model import Model
from skilld.classify.closed_questions import relevance, repeats
from skilld.classify.rule_repeats import MAX_QUOTE
from skilld.effect.rule_lines import added_at, rules_in, text_of
from skilld.errors import SkilldError
from skilld.past import Correction, PastSession, Repeat
from skilld.text import Redact, fold, fold_case, truncate
from skilld.values import value_class

_MAX_ASKED, _MAX_RULES, _MAX_RULE = 12, 80, 200  # of one question; the last in characters
_MAX_TURNS, _MAX_TURN = 12, 300  # the same of a session's work
_MAX_COMMANDS, _MAX_COMMAND, _MAX_FILES = 30, 150, 40
_MIN_WORDS = 2  # a shorter turn is only assent


@value_class
class SessionExcerpt:
    """The parts of a session that a model may see, not yet redacted.

    `turns` has the key, the time and the person's own words of each turn; the words are empty if it is only a paste.
    """

    turns: tuple[tuple[str, float, str], ...]
    commands: tuple[str, ...] = ()
    files: tuple[str, ...] = ()


@value_class
class _RuleLine:
    path: str
    number: int
    text: str


def ask_model(session: PastSession, shown: SessionExcerpt, backend: Backend, redact: Redact) -> PastSession:
    """Return a session with the model's answers added. A question without an answer is not asked again."""
    return with_relevance(with_repeats(session, shown, backend, redact), shown, backend, redact)


def with_repeats(session: PastSession, shown: SessionExcerpt, backend: Backend, redact: Redact) -> PastSession:
    """Return a session with the repeats that a model finds and the comparison of words did not."""
    said = _corrections_to_ask(session, shown, redact) if isinstance(backend, Model) else []
    lines = _earlier_lines(session) if said else []
    if not lines or not isinstance(backend, Model):
        return session
    try:
        pairs = backend.answer(repeats([one.quote for one in said], _redacted_rules(lines, redact)))
    except SkilldError:
        return session
    found, added = [], dict.fromkeys(session.said)
    for one, line in ((said[one - 1], lines[rule - 1]) for one, rule in pairs):
        if (since := added_at(line.path, line.number)) is not None:
            found.append(Repeat(one.turn, one.quote, line.path, line.number, redact(line.text), since))
            added[one] = None
    return replace(session, said=tuple(added), repeats=(*session.repeats, *found))


def with_relevance(session: PastSession, shown: SessionExcerpt, backend: Backend, redact: Redact) -> PastSession:
    """Return a session with the rules that could or could not matter in it, according to a model."""
    lines, work = _lines(session), _work_rows(shown, redact)
    did = shown.commands or shown.files or any(needs_classification(typed) for _, _, typed in shown.turns)
    if not did or not work or not lines or not isinstance(backend, Model):
        return session
    try:
        numbers = backend.answer(relevance(work, _redacted_rules(lines, redact)))
    except SkilldError:
        return session
    keys = [(number in numbers, rule_key(line.text)) for number, line in enumerate(lines, 1)]
    mattered = dict.fromkeys(key for matters, key in keys if matters)
    idle = dict.fromkeys(key for _, key in keys if key not in mattered)
    return replace(session, mattered=tuple(mattered), idle=tuple(idle))


def _lines(session: PastSession) -> list[_RuleLine]:
    found = (_RuleLine(path, line, text) for path in session.loaded for line, text in rules_in(text_of(path)))
    return [*islice(found, _MAX_RULES)]


def _earlier_lines(session: PastSession) -> list[_RuleLine]:
    """Return the lines that stood there when a session began: what it taught, it did not repeat."""
    return [line for line in _lines(session) if _stood_at(line, session.at)]


def _stood_at(line: _RuleLine, at: float) -> bool:
    """Whether a line was there at a time. Git is asked only about a file that has changed since."""
    with suppress(OSError):
        if Path(line.path).stat().st_mtime <= at:
            return True
    since = added_at(line.path, line.number)
    return since is not None and since <= at


def _redacted_rules(lines: Sequence[_RuleLine], redact: Redact) -> list[str]:
    return [truncate(redact(line.text), _MAX_RULE) for line in lines]


def rule_key(text: str) -> str:
    """Return the key of a rule in a session: a hash, so that none of its words are stored."""
    return hashlib.sha256(fold_case(text).encode()).hexdigest()[:16]


def _corrections_to_ask(session: PastSession, shown: SessionExcerpt, redact: Redact) -> list[Correction]:
    """Return what to ask about: first the corrections not yet tied to a rule, then the other short turns.

    Corrections are found by their words; a model recognizes them better, so the other turns are asked about as well.
    If the gate takes all of it for chatter, there is nothing to ask.
    """
    told, known = {one.quote for one in session.repeats}, {one.turn for one in session.said}
    said = [one for one in session.said if one.quote not in told]
    shift = next((one.at - at for one in session.said for key, at, _ in shown.turns if key == one.turn), 0.0)
    matters = bool(said)
    for key, at, typed in shown.turns:
        text = fold(typed)
        if key not in known and len(text) <= MAX_QUOTE and len(text.split()) >= _MIN_WORDS:
            said.append(Correction(key, (at or -shift) + shift, redact(text)))
            matters = matters or needs_classification(typed)
    return said[:_MAX_ASKED] if matters else []


def _work_rows(shown: SessionExcerpt, redact: Redact) -> Sequence[dict[str, str]]:
    turns = [{"asked": truncate(redact(fold(typed)), _MAX_TURN)} for _, _, typed in shown.turns if typed.strip()]
    run = [{"ran": truncate(redact(fold(command)), _MAX_COMMAND)} for command in shown.commands if command.strip()]
    files = [{"file": truncate(redact(name), _MAX_COMMAND)} for name in shown.files]
    return [*turns[:_MAX_TURNS], *run[:_MAX_COMMANDS], *files[:_MAX_FILES]]
