"""The words of gate_words.toml as sets, read once."""

from __future__ import annotations

import tomllib
from pathlib import Path

_DATA: dict[str, str] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


def _words(name: str) -> frozenset[str]:
    return frozenset(_DATA[name].split())


def _phrases(name: str) -> frozenset[str]:
    return frozenset(" ".join(phrase.split()) for phrase in _DATA[name].split(","))


ASSENTS = _words("assents")
OPENERS = _words("openers")
QUESTIONS = _words("questions")
ASKS_LAST = _words("asks_last")
DONE = _words("done")
REBUKES = _words("rebukes")
REBUKED = _words("rebuked")
REPORTS = _phrases("reports")
BROKEN = _phrases("broken")
ONCE = _phrases("once")
TASKS = _words("tasks")
MAKES = _words("makes")
ARTICLES = _words("articles")
HOW = _words("how")
BEGINS = _words("begins")
UNAWARE = _words("unaware")
HINTS = _words("hints")
HINT_PAIRS = _phrases("hint_pairs")
WISHES = _words("wishes")
DOUBTS = _words("doubts")
CJK_FAINT = tuple(_DATA["cjk_faint"].split())
CJK_HINTS = tuple(hint for hint in _DATA["cjk_hints"].split() if hint not in CJK_FAINT)
CJK_ASSENTS = _words("cjk_assents")
CJK_QUESTIONS = tuple(_DATA["cjk_questions"].split())
CJK_WONDERS = tuple(_DATA["cjk_wonders"].split())
CJK_REBUKED = tuple(_DATA["cjk_rebuked"].split())
CJK_REPORTS = tuple(_DATA["cjk_reports"].split())
CJK_ENDS = tuple(_DATA["cjk_ends"].split())
