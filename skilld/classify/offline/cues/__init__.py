"""Cues per language: which words make a wish lasting. Data only; `listen` knows what to do with it."""

from __future__ import annotations

from skilld.classify.offline.cues.base import Cue, Language, Pattern
from skilld.classify.offline.cues.eastasian import CHINESE, JAPANESE, KOREAN
from skilld.classify.offline.cues.english import ENGLISH
from skilld.classify.offline.cues.european import CZECH, GERMAN, POLISH, RUSSIAN
from skilld.classify.offline.cues.romance import FRENCH, ITALIAN, PORTUGUESE, SPANISH

__all__ = ["LANGUAGES", "Cue", "Language", "Pattern"]

LANGUAGES: tuple[Language, ...] = (
    ENGLISH,
    CHINESE,
    JAPANESE,
    KOREAN,
    SPANISH,
    PORTUGUESE,
    FRENCH,
    ITALIAN,
    GERMAN,
    RUSSIAN,
    CZECH,
    POLISH,
)
