"""Words of a text as comparable stems: how the offline back-end tells whether two texts are about the same thing.

Text in, sets of stems out. No dictionaries: endings are cut by rule, which is coarse but equal on both sides.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from pathlib import Path
from typing import Any

# Letters and digits, kept together over the marks that names, options, paths and versions contain.
_TOKEN = re.compile(r"[^\W_]+(?:[._/@'’+-][^\W_]+)*", re.UNICODE)
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_CJK_RUN = re.compile(r"[\u3400-\u9fff\u30a0-\u30ff\uac00-\ud7af]{2,}")
_MEASURE = re.compile(r"([^\W\d_]+)?[ -]*(?<![\d.])(\d+)(?![\d.])[ -]*([^\W\d_]+)?")
_DENIES = re.compile(
    r"\b(?:not|never|no|none|without|avoid|\w+n't|(?:do|does|did|is|are|was|ca|wo|must|should|could|would)nt|cannot|stop|nunca|jam[aá]s|sin|não|jamais|sem|pas|sans|mai|non|senza|"
    r"nicht|nie|niemals|kein\w*|ohne|не|никогда|без|nikdy|bez|nie|nigdy|đừng|không)\b"
    r"|不要|别|別|勿|禁止|不得|永远不|ない|禁止|마세요|말아|지\s?마|금지",
    re.IGNORECASE,
)
_STEM_LENGTH = 7
_SHORT = 3

TOPICS: dict[str, Any] = tomllib.loads(Path(__file__).with_name("topics.toml").read_text(encoding="utf-8"))
_COMMON = frozenset(
    word
    for line in Path(__file__).with_suffix(".txt").read_text(encoding="utf-8").splitlines()
    if not line.startswith("#")
    for word in line.split()
)


def stems(text: str) -> frozenset[str]:
    """Return the stems of the content words of `text`: function words and cue words left out, endings cut.

    Scripts without blanks give pairs of neighbouring characters instead.
    """
    out: set[str] = set()
    for token in _TOKEN.findall(text):
        low = token.lower().replace("’", "'")
        if low in _COMMON or _CJK.search(low):
            continue
        if "'" in low and low.split("'")[0] in _COMMON | {"don", "doesn", "isn"}:
            continue
        stem = _stem(low)
        if len(stem) > 1 or stem.isdigit():
            out.add(stem)
    for run in _CJK_RUN.findall(text):
        out.update(run[i : i + 2] for i in range(len(run) - 1))
    return frozenset(out)


def numbers(text: str) -> frozenset[str]:
    """Return the numbers written in `text`."""
    return frozenset(re.findall(r"\d+(?:[.,]\d+)?", text))


def measures(text: str) -> dict[str, str]:
    """Return the numbers of `text` by the word that stands before or behind them: "under" and "characters" for "60"."""
    out: dict[str, str] = {}
    for before, number, after in _MEASURE.findall(text.lower()):
        for unit in (before, after):
            if unit:
                out[unit] = number
    return out


def denies(text: str) -> bool:
    """Whether `text` says no to something: "not", "never", "without" and their counterparts."""
    return bool(_DENIES.search(text))


def _stem(word: str) -> str:
    plain = "".join(c for c in unicodedata.normalize("NFD", word) if unicodedata.category(c) != "Mn")
    if not plain.isalpha() or len(plain) <= _SHORT:
        return plain
    for ending in ("ing", "ed", "es", "s"):
        if plain.endswith(ending) and len(plain) - len(ending) >= _SHORT and not plain.endswith("ss"):
            plain = plain[: -len(ending)]
            if ending in {"ing", "ed"} and len(plain) > _SHORT and plain[-1] == plain[-2] and plain[-1] not in "lsz":
                plain = plain[:-1]
            break
    if plain.endswith("y"):
        plain = plain[:-1] + "i"
    return plain.removesuffix("e")[:_STEM_LENGTH]
