"""Cues per language: which words make a wish last. Data in TOML files; `listen` knows what to do with it."""

from __future__ import annotations

from pathlib import Path

from skilld.classify.offline.cues.base import Cue, Language, Pattern, compiled, read

__all__ = ["LANGUAGES", "Cue", "Language", "Pattern", "compiled"]

_CODES = ("en", "zh", "ja", "ko", "es", "pt", "fr", "it", "de", "ru", "cs", "pl", "vi")

LANGUAGES: tuple[Language, ...] = tuple(read(Path(__file__).with_name(f"{code}.toml")) for code in _CODES)
