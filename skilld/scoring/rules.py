"""Figures on rules: which messages repeat one, and in which sessions one applied.

Labelled pairs are judged by the code that reads past sessions. The pairs of a half are put into sessions that have
loaded all rules of that half: ten messages per session for repeats, one piece of work for relevance.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path, PurePath
from typing import Any

from skilld.classify.backends import Backend
from skilld.classify.offline.provenance import own_words
from skilld.classify.rule_repeats import corrections
from skilld.effect.figures import wilson
from skilld.effect.model_questions import SessionExcerpt, rule_key, with_relevance, with_repeats
from skilld.effect.relevance import could_matter
from skilld.effect.survey import find_repeats, work_of
from skilld.errors import SkilldError
from skilld.past import Correction, PastSession
from skilld.scoring.stored import NoAnswerError
from skilld.text import Redact
from skilld.values import value_class

_MAX_PER_SESSION = 10  # messages
_FILE_NAME = "CLAUDE.md"
_POSITIVE_LABELS = frozenset({"repeat", "yes"})

MakeBackend = Callable[[], Backend]


@value_class
class Pair:
    """A loaded rule with a message or a piece of work; `half` is its part of the set."""

    half: str
    label: str
    rule: str
    text: str

    @property
    def wanted(self) -> bool:
        """Whether the rule was repeated, or could matter."""
        return self.label in _POSITIVE_LABELS


@value_class
class JudgedPair:
    """A pair and the judgement of it; an unanswered pair counts as not found."""

    pair: Pair
    found: bool
    answered: bool = True


def load(paths: Sequence[Path]) -> list[Pair]:
    """Load pairs: lines of `label | rule | text` under `== half`. Raises SkilldError for other files."""
    found = []
    for path in paths:
        half = path.stem
        try:
            lines = path.read_text("utf-8").splitlines()
        except (OSError, ValueError) as error:
            raise SkilldError(f"Cannot read {path}", str(error)) from error
        for number, line in enumerate(lines, 1):
            if line.startswith("== "):
                half = line[3:].strip()
            elif line.strip() and not line.startswith("#"):
                parts = [part.strip() for part in line.split(" | ", 2)]
                if len(parts) != len(("label", "rule", "text")) or not all(parts):
                    raise SkilldError(f"Cannot read {path}", f"line {number} is not `label | rule | text`")
                found.append(Pair(half, *parts))
    return found


Judge = Callable[[Sequence[Pair], MakeBackend, Redact], Iterator[JudgedPair]]


def judge_repeats(pairs: Sequence[Pair], make: MakeBackend, redact: Redact) -> Iterator[JudgedPair]:
    """Yield for each pair whether the message counts as a repeat of its rule."""
    for half, path in _rule_files(pairs):
        count = -(-len(half) // _MAX_PER_SESSION)
        for first in range(count):
            pairs_here = half[first::count]
            turns = tuple((str(number), 1.0, own_words(pair.text)) for number, pair in enumerate(pairs_here))
            quotes = [Correction(key, 1.0, redact(quote)) for key, _, text in turns for quote in corrections(text)]
            began = Path(path).stat().st_mtime  # the rules stood there before
            session = PastSession(
                "", "", "", "", began, (path,), (), tuple(quotes), (*find_repeats(quotes, [path], redact),)
            )
            try:
                found, answered = with_repeats(session, SessionExcerpt(turns), make(), redact), True
            except NoAnswerError:
                found, answered = session, False
            repeated = {(one.turn, one.text) for one in found.repeats}
            for number, pair in enumerate(pairs_here):
                is_found = (str(number), f"- {pair.rule}") in repeated or (str(number), pair.rule) in repeated
                yield JudgedPair(pair, is_found, answered)


def judge_relevance(pairs: Sequence[Pair], make: MakeBackend, redact: Redact) -> Iterator[JudgedPair]:
    """Yield for each pair whether its rule is judged to matter."""
    for half, path in _rule_files(pairs):
        for pair in half:
            asked, run, files = _split_work(pair.text)
            work = work_of(["\n".join((asked, *run))], files)
            session = PastSession("", "", "", "", 1.0, (path,), tuple(work), (), ())
            excerpt = SessionExcerpt((("0", 1.0, asked),), tuple(run), tuple(files))
            key, answered = rule_key(pair.rule), True
            try:
                session = with_relevance(session, excerpt, make(), redact)
            except NoAnswerError:
                answered = False
            found = key in session.mattered or (key not in session.idle and could_matter(pair.rule, work))
            yield JudgedPair(pair, found, answered)


def figures(kind: str, judged: Sequence[JudgedPair]) -> dict[str, Any]:
    """Return the figures for `skilld eval repeats --json`: for all pairs, and for each half."""
    halves = list(dict.fromkeys(one.pair.half for one in judged))
    return {
        "kind": kind,
        "n": len(judged),
        "unanswered": sum(not one.answered for one in judged),
        **_figures(judged),
        "by_half": {half: _figures([one for one in judged if one.pair.half == half]) for half in halves},
    }


def outcome_rows(judged: Sequence[JudgedPair]) -> list[dict[str, Any]]:
    """Return the outcome of each pair."""
    return [
        {"half": one.pair.half, "label": one.pair.label, "rule": one.pair.rule, "text": one.pair.text}
        | {"found": one.found, "answered": one.answered}
        for one in judged
    ]


def _figures(judged: Sequence[JudgedPair]) -> dict[str, Any]:
    wanted, found = sum(one.pair.wanted for one in judged), sum(one.found for one in judged)
    right = sum(one.found and one.pair.wanted for one in judged)
    return {
        "wanted": wanted,
        "found": found,
        "right": right,
        "precision": right / found if found else None,
        "precision_between": [round(end, 4) for end in wilson(right, found)],
        "recall": right / wanted if wanted else None,
        "recall_between": [round(end, 4) for end in wilson(right, wanted)],
    }


def _rule_files(pairs: Sequence[Pair]) -> Iterator[tuple[list[Pair], str]]:
    """Yield the pairs of each half with a file of their rules."""
    with tempfile.TemporaryDirectory(prefix="skilld-eval-") as folder:
        for half in dict.fromkeys(pair.half for pair in pairs):
            those = [pair for pair in pairs if pair.half == half]
            path = Path(folder) / _FILE_NAME
            rules = dict.fromkeys(pair.rule for pair in those)
            path.write_text("# Rules\n\n" + "".join(f"- {rule}\n" for rule in rules), "utf-8")
            yield those, str(path)


def _split_work(text: str) -> tuple[str, list[str], list[str]]:
    """Split a text at semicolons into the request, the commands and the touched files."""
    asked, *parts = [part.strip() for part in text.split("; ")]
    are_files = [all("." in word or "/" in word for word in part.split()[:1]) for part in parts]
    run = [part for part, is_file in zip(parts, are_files, strict=True) if not is_file]
    files = [word for part, is_file in zip(parts, are_files, strict=True) if is_file for word in part.split()]
    return asked, run, [name for name in files if PurePath(name).name]
