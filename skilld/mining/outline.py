"""What each session did for a task, one thing after another. Pure: rows in, parts with one proof each out.

Sessions that do the same task seldom run the same commands. A model that sees how several of them went can word a step
that covers them; `skilld.mining.wording` checks each of its words against what it names.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from itertools import takewhile

from skilld.mining.actions import Action, tokens, unfit_reason
from skilld.mining.kinds import is_look_command
from skilld.mining.requests import is_telling_look
from skilld.mining.session_summary import Row
from skilld.mining.similarity import ELLIPSIS, ActionRun, without_texts
from skilld.mining.values import Part, PartKind, Proof
from skilld.text import fold

MAX_SESSIONS = 6  # the newest ones
_MAX_ACTIONS = 14  # of one session: the first and last ones
_MAX_READS = 4
_MIN_WORDS, _MAX_WORDS = 2, 3  # of a command's beginning
_UNFIT_NOTE = ", with options that no skill may have"  # the comma: no command begins like this


def outline(rows: Sequence[Row], rounds: Sequence[Collection[str]]) -> tuple[Part, ...]:
    """Return what each session did in these turns, the newest session first, and how it answered at the end."""
    found: list[Part] = []
    shown = 0
    for row, turns in zip(rows, rounds, strict=True):
        parts = [*_work(row, turns), *_answer(row, turns)]
        shown += bool(parts)
        if shown <= MAX_SESSIONS:
            found += parts
    return tuple(found)


def _work(row: Row, turns: Collection[str]) -> list[Part]:
    """Return a session's commands and files in order; each once, a file with all parts of it that were written."""
    seen: dict[tuple[str, bool, bool], tuple[Part, tuple[str, ...]]] = {}
    for one, turn in row.actions:
        text = _fit_text(one) if turn in turns and one.ran and _is_telling(one) else ""
        if text:
            sort = PartKind.EDIT if one.edits else PartKind.READ if one.reads else PartKind.COMMAND
            key = text, one.edits, one.reads
            part, about = seen.get(key, (Part(sort, text, (Proof(row.session_id, turn, one.text, observed=True),)), ()))
            seen[key] = part, tuple(dict.fromkeys((*about, *one.about)))
    changed = {text for text, edits, _ in seen if edits}
    reads = [part for part, _ in seen.values() if part.sort is PartKind.READ and part.text not in changed][:_MAX_READS]
    kept = [each for each in seen.values() if each[0].sort is not PartKind.READ or each[0] in reads]
    if len(kept) > _MAX_ACTIONS:
        kept = [each for each in kept if not is_look_command(each[0].text)]
    if len(kept) > _MAX_ACTIONS:
        kept = [*kept[: _MAX_ACTIONS // 2], *kept[-_MAX_ACTIONS // 2 :]]
    return [replace(part, text=fold(f"{part.text}: {'; '.join(about)}")) if about else part for part, about in kept]


def _is_telling(one: Action) -> bool:
    return not one.read_only or is_telling_look(one)


def _fit_text(one: Action) -> str:
    """Return what may be shown of an action: of a command that no skill may repeat only what it was, in words."""
    if not unfit_reason(one.text):
        return one.text
    if one.edits or one.reads:
        return ""
    bare = one.text.rpartition("&& ")[2]
    words = [*takewhile(lambda word: word[0] not in "-\"'$|<>", tokens(bare))][:_MAX_WORDS]
    head = " ".join(words)
    if len(words) < _MIN_WORDS or unfit_reason(head):
        return ""
    only_its_texts = not unfit_reason(without_texts(ActionRun("", "", bare)))
    return f"{head} {ELLIPSIS}" if only_its_texts else f"{head}{_UNFIT_NOTE}"


def _answer(row: Row, turns: Collection[str]) -> Iterator[Part]:
    """Yield how the last of these turns with headings or a table was answered."""
    last = next((each for each in reversed(row.answers) if each[1] in turns), None)
    if last is not None:
        text = "; ".join(last[0])
        yield Part(PartKind.ANSWER, text, (Proof(row.session_id, last[1], text, observed=True),))
