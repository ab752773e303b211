"""The gate: may a turn hold something lasting, or is it plain chatter?

One turn in, yes or no out, in microseconds and with no dependency: a window of five turns that all say no costs no
model call. It errs towards yes: no is said only of a turn whose every sentence is an approval, a question, a report of
what happened or a small task, or that has no hint of a rule and is nothing like one to a small linear model. Keeps no
text. The figures are in docs/quality.md.
"""

from __future__ import annotations

import re
from pathlib import Path
from string import punctuation

from skilld.window.gate_model import buckets, load, score
from skilld.window.gate_words import (
    ASSENTS,
    CJK_ASSENTS,
    CJK_HINTS,
    CJK_QUESTIONS,
    DONE,
    DOUBTS,
    HINTS,
    OPENERS,
    QUESTIONS,
    REBUKED,
    REBUKES,
    REPORTS,
    TASKS,
    WISHES,
)

_LONGEST = 4000  # characters: of longer turns the gate says yes unread
_SHORT = 8  # words: a sentence this short is an approval if it begins as one
_ONE_TASK = 14  # words: a longer task has room for a rule
_FEWEST, _MOST = 3, 80  # words: the model has too little to go by below; above, a rule may stand anywhere

# str.translate and split take a tenth of the time of a regular expression over words.
_SEPARATORS = str.maketrans({**dict.fromkeys(punctuation + "¿¡«»“”„–—…•\n\t", " "), "'": "'", "’": "'"})
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_CODE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_LOG = re.compile(
    r"^\s*(?:[$❯➜%]\s|\[?\d{4}-\d\d-\d\d|\[?\d\d:\d\d:\d\d|at\s+\S+[(:]|File \"|Traceback|Caused by|"
    r"\[?(?:DEBUG|INFO|WARN|WARNING|ERROR|FATAL)\b|npm ERR|\w*(?:Error|Exception)\b\s*[:(]|(?:error|fatal|warning)\b.*:|"
    r"(?:GET|POST|PUT|DELETE)\s+\S+|https?://\S+\s*$|[\w./-]+:\d+(?::\d+)?\b|[\]\[{}\"].*[\]\[{},]\s*$|.*[;{}]\s*$)"
)
_MODEL = load(Path(__file__).with_name("gate_weights.json"))


def may_hold_something_lasting(text: str) -> bool:
    """Whether `text`, one whole turn, might hold something worth remembering. False only for plain chatter."""
    return decide(text, None, _MODEL.floor)


def decide(text: str, likeness: float | None, floor: float) -> bool:
    """Return the gate's word on `text`, given the model's score and the floor below which it is chatter.

    `likeness` None means: ask the shipped model. The training script passes its own, of weights that did not see this
    turn.
    """
    if len(text) > _LONGEST:
        return True
    prose = _without_logs(text)
    if _CJK.search(prose):
        return not _cjk_chatter(prose)
    words = _words(prose)
    if len(words) > _MOST:
        return True
    if not any(_may_last(sentence) for sentence in _SENTENCE.split(prose) if sentence):
        return False
    if len(words) < _FEWEST or not HINTS.isdisjoint(words):
        return True
    return (score(_MODEL, features(text)) if likeness is None else likeness) >= floor


def features(text: str) -> set[int]:
    """Return what the model sees of `text`: its prose, without code and logs."""
    prose = _without_logs(text).rstrip()
    return buckets(_words(prose), prose[-1:])


def _without_logs(text: str) -> str:
    if "```" in text:
        text = _CODE.sub("\n", text)
    if "\n" not in text:
        return "" if _LOG.match(text) else text
    return "\n".join(line for line in text.split("\n") if not _LOG.match(line))


def _words(text: str) -> list[str]:
    return text.lower().translate(_SEPARATORS).split()


def _may_last(sentence: str) -> bool:
    words = _words(sentence)
    if not words or (len(words) == 1 and len(words[0]) <= 1):
        return False
    if not HINTS.isdisjoint(words):
        return True
    start = next((i for i, word in enumerate(words) if word not in OPENERS), len(words))
    rest = words[start:]
    if not rest or all(word in ASSENTS or word.isdigit() for word in rest):
        return False
    if not (rest[0] == "do" and rest[1:2] and rest[1] in DONE) and (
        sentence.rstrip().endswith("?") or rest[0] in QUESTIONS
    ):
        return not REBUKES.isdisjoint(rest[:2]) and not REBUKED.isdisjoint(rest)
    if not WISHES.isdisjoint(words):
        return True
    if rest[0] in REPORTS or " ".join(rest[:2]) in REPORTS:
        return False
    if not DOUBTS.isdisjoint(words):
        return True
    if rest[0] in TASKS:
        return len(words) > _ONE_TASK
    return not (words[0] in ASSENTS and len(words) <= _SHORT)


def _cjk_chatter(prose: str) -> bool:
    if any(hint in prose for hint in CJK_HINTS):
        return False
    return prose.strip("。！!?？.~ ,，、\n") in CJK_ASSENTS or any(mark in prose for mark in CJK_QUESTIONS)
