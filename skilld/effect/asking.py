"""What a model is asked about a session: which words repeat a rule, and which rules applied.

Two closed questions on the numbered rules of the files that were loaded; numbers come back. Words alone count where no
answer can be read.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from skilld.classify.again import MAX_QUOTE
from skilld.classify.backends import Backend
from skilld.classify.backends.model import Model
from skilld.effect.lines import came_in, rules_in, text_of
from skilld.errors import SkilldError
from skilld.past import Correction, PastSession, Repeat
from skilld.text import cut, fold, folded

_MAX_ASKED, _MAX_RULES, _MAX_RULE = 12, 80, 200  # of one question; the last in characters
_MAX_TURNS, _MAX_TURN = 12, 300  # the same of a session's work
_MAX_RUN, _MAX_COMMAND, _MAX_FILES = 30, 150, 40
_MIN_COUNT = 2  # words: less is an assent

Redact = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class SessionExcerpt:
    """What a model may be shown of a session, not redacted yet.

    `turns` has the key, the time and the person's own words of each; of one that is only a paste there are none.
    """

    turns: tuple[tuple[str, float, str], ...]
    commands: tuple[str, ...] = ()
    files: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Line:
    path: str
    number: int
    text: str


def asked(session: PastSession, shown: SessionExcerpt, backend: Backend, redact: Redact) -> PastSession:
    """Return a session with what a model makes of it. A question that is not answered is not asked again."""
    return with_matters(with_repeats(session, shown, backend, redact), shown, backend, redact)


def with_repeats(session: PastSession, shown: SessionExcerpt, backend: Backend, redact: Redact) -> PastSession:
    """Return a session with what a model takes for repeats, of what words do not tell."""
    lines, said = _lines(session), _words(session, shown, redact)
    if not said or not lines or not isinstance(backend, Model):
        return session
    try:
        pairs = backend.repeats([one.quote for one in said], _rules(lines, redact))
    except SkilldError:
        return session
    repeats, added = [], dict.fromkeys(session.said)
    for one, line in ((said[one - 1], lines[rule - 1]) for one, rule in pairs):
        if (since := came_in(line.path, line.number)) is not None:
            repeats.append(Repeat(one.turn, one.quote, line.path, line.number, redact(line.text), since))
            added[one] = None
    return replace(session, said=tuple(added), repeats=(*session.repeats, *repeats))


def with_matters(session: PastSession, shown: SessionExcerpt, backend: Backend, redact: Redact) -> PastSession:
    """Return a session with the rules that a model says could, or could not, matter in it."""
    lines, work = _lines(session), _work(shown, redact)
    if not work or not lines or not isinstance(backend, Model):
        return session
    try:
        numbers = set(backend.matters(work, _rules(lines, redact)))
    except SkilldError:
        return session
    keys = [(number in numbers, rule_key(line.text)) for number, line in enumerate(lines, 1)]
    mattered = dict.fromkeys(key for matters, key in keys if matters)
    idle = dict.fromkeys(key for _, key in keys if key not in mattered)
    return replace(session, mattered=tuple(mattered), idle=tuple(idle))


def _lines(session: PastSession) -> list[_Line]:
    found = (_Line(path, line, text) for path in session.loaded for line, text in rules_in(text_of(path)))
    return [*islice(found, _MAX_RULES)]


def _rules(lines: Sequence[_Line], redact: Redact) -> list[str]:
    return [cut(redact(line.text), _MAX_RULE) for line in lines]


def rule_key(text: str) -> str:
    """Return what a rule is known by in a session: no words of it."""
    return hashlib.sha256(folded(text).encode()).hexdigest()[:16]


def _words(session: PastSession, shown: SessionExcerpt, redact: Redact) -> list[Correction]:
    """Return what is asked about: corrections of which words do not tell what they repeat, then the other short turns.

    Whether words correct anything is told by words, too, and a model tells it better.
    """
    told, known = {one.quote for one in session.repeats}, {one.turn for one in session.said}
    said = [one for one in session.said if one.quote not in told]
    shift = next((one.at - at for one in session.said for key, at, _ in shown.turns if key == one.turn), 0.0)
    for key, at, typed in shown.turns:
        text = fold(typed)
        if key not in known and len(text) <= MAX_QUOTE and len(text.split()) >= _MIN_COUNT:
            said.append(Correction(key, (at or -shift) + shift, redact(text)))
    return said[:_MAX_ASKED]


def _work(shown: SessionExcerpt, redact: Redact) -> Sequence[dict[str, str]]:
    turns = [{"asked": cut(redact(fold(typed)), _MAX_TURN)} for _, _, typed in shown.turns if typed.strip()]
    run = [{"ran": cut(redact(fold(command)), _MAX_COMMAND)} for command in shown.commands if command.strip()]
    files = [{"file": cut(redact(name), _MAX_COMMAND)} for name in shown.files]
    return [*turns[:_MAX_TURNS], *run[:_MAX_RUN], *files[:_MAX_FILES]]
