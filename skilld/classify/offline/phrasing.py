"""Turns a clause into an instruction: imperative, in the person's own words, without its introduction.

What is heard goes in, a `Phrase` comes out. Nothing is added but the grammar of a command ("do not", "never"). The
expressions stand in phrasing.toml.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skilld.classify.offline.detector import Match
from skilld.classify.offline.grammar import Cue, compiled
from skilld.text import fold
from skilld.words import content_stems, denies, stems

_MAX_LENGTH = 280  # characters
_MAX = 1000  # characters of what was heard that are looked at
_MIN_COUNT = 2  # stems: "always do it" is no rule
_SOME_WORDS = 4  # "always keep a backup"
_OF_A_TASK = 5  # words: "use tabs, write docs from now on" is two rules
_TURNS = 3  # "please make sure you don't": openings behind each other

_DATA: dict[str, Any] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
_HEADS = tuple((compiled(source), head) for source, head in _DATA["heads"])
_CARRIERS = tuple(map(compiled, _DATA["carriers"]))
_REMARKS = tuple(map(compiled, _DATA["remarks"]))
_COMPLAINT = compiled(rf"(?:^|\s*[,;–—(-]+ ?)(?:{'|'.join(_DATA['complaints'])})\)?(?=\s?(?:[,.;:!?–—-]|$))")
_LASTING = compiled(_DATA["lasting"])
_OWN_SAKES = tuple(map(compiled, _DATA["own_sakes"]))
_PLACES = tuple(map(compiled, _DATA["places"]))
_STATEMENTS = tuple(map(compiled, _DATA["statements"]))
_LEANING = tuple(map(compiled, _DATA["leaning"]))
_VERBS = frozenset(_DATA["verbs"].split())
_ORDERS = _VERBS | frozenset(_DATA["orders"].split())

_REQUEST = compiled(r"^(?:can|could|would|will) (?:you|we) ")
_GERUND = compiled(
    r"^(?:stop|quit|(?:you|u) (?:keep(?: on)?|are always|always keep)) (?!say|claim|tell)([a-z-]+)ing\b(.*)$"
)
_STANDS_ALONE = compiled(r"^always (?:in|as|with|by|on|at|the) |.*\b(?:mine|myself)\b")
_COMMA = re.compile(r",\s+")
# What is left of "note that" once its verb is cut as an opener.
_NOTED = compiled(r"^that (?=(?:do not|don'?t|dont|never|always|only|you|we)\b)")
_FULL_STOP = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]$")


@dataclass(frozen=True, slots=True)
class Phrase:
    """An instruction. `clear` says whether it can stand in a skill on its own, without the talk around it."""

    text: str
    clear: bool


def phrase(heard: Match) -> Phrase:
    """Return the instruction in `heard`; not clear when it leans on other sentences or cannot be made a command."""
    said = _without_complaints(fold(heard.said)[:_MAX].rstrip("?？ "))
    lasting = _LASTING.sub("", said)
    said = lasting if _says_enough(lasting) else said
    for remark in (heard.language.tags, *_REMARKS):
        said = remark.sub("", said).strip()
    carried = _carried(said)
    written_elsewhere = heard.cue is Cue.MEMORY and carried is None and any(place.search(said) for place in _PLACES)
    if written_elsewhere or heard.cue is Cue.REMINDER:
        return Phrase(_finished(said), clear=False)
    text = _unframed(carried or said, heard)
    text = _commanded(_carried(text) or text)
    for own_sake in () if heard.cue is Cue.TAKEN_UP else _OWN_SAKES:  # the reason may be all that turns it down
        shorter = own_sake.sub("", text)
        text = shorter if _says_enough(shorter) else text
    asked = heard.question and not _REQUEST.match(said)
    begins = _COMMA.split(text, maxsplit=1)[0]  # what is behind a comma may point to what is before it
    states = heard.language.code == "en" and any(pattern.search(text) for pattern in _STATEMENTS)
    leaning = states or any(one.search(begins) for one in _LEANING)
    clear = _says_enough(text) and len(text) <= _MAX_LENGTH and not asked and not leaning
    return Phrase(_finished(text), clear)


def phrase_joined(heard: Match) -> Phrase:
    """Return two clauses as they were said, the second of which points to the first."""
    text = fold(heard.said).rstrip("?？ ")
    return Phrase(_finished(text), clear=_says_enough(text) and len(text) <= _MAX_LENGTH)


def _says_enough(text: str) -> bool:
    """Whether `text` has content: two stems, or one that is denied ("no abbreviations") or done something with."""
    told = denies(text) or _STANDS_ALONE.match(text) or len(text.split()) >= _SOME_WORDS
    return len(stems(text)) >= _MIN_COUNT - bool(told)


def _without_complaints(said: str) -> str:
    """Return a clause without "I told you" and the like, and without what stood before it and is said again behind."""
    for found in reversed(list(_COMPLAINT.finditer(said))):
        before, behind = said[: found.start()].rstrip(), said[found.end() :].lstrip(" ,;:–—-")
        if not _says_enough(f"{before} {behind}"):
            continue
        told_again = content_stems(before) <= content_stems(behind) and denies(before) <= denies(behind)
        colon = said[found.end() :].lstrip().startswith(":")
        seam = "" if not before or behind[:1] in {"", ".", "!"} else "; " if colon else ", "
        said = behind if told_again and _says_enough(behind) else f"{before}{seam}{behind}"
    return said


def _carried(text: str) -> str | None:
    """Return what is behind "add this to the skill:" and the like."""
    for carrier in _CARRIERS:
        found = carrier.match(text)
        if found and _says_enough(text[found.end() :]):
            return text[found.end() :].strip(" `\"'“”")
    return None


def _unframed(text: str, heard: Match) -> str:
    """Return `text` without "from now on", what stood before it, and a task that it was not said of."""
    text = _lasting_half(_announced(text, heard), heard)
    without = heard.language.frames.sub(" ", text).replace(" ,", ",").strip(" ,:–—-，、：")
    opener = heard.language.openers.match(without)
    without = _NOTED.sub("", without[opener.end() if opener else 0 :])
    return without if stems(without) else text


def _announced(text: str, heard: Match) -> str:
    """Return what stands behind "a wish for all later pages:", whose words say nothing but that."""
    head, colon, rest = text.partition(": ")
    framed = heard.language.frames.search(head) or heard.cue is Cue.MEMORY
    announces = framed and not content_stems(heard.language.frames.sub(" ", head)) - heard.language.saying
    return rest if colon and announces and _says_enough(rest) else text


def _lasting_half(text: str, heard: Match) -> str:
    """Return what "from now on" is said of where it ends a sentence: the last order in it, behind a task of its own.

    "fix the login test of the API, use fixtures from now on"; with "and" or a comma before its end it holds for both.
    """
    end = next(
        (frame for frame in heard.language.frames.finditer(text) if frame.end() >= len(text.rstrip(" .!"))), None
    )
    if end is None or "," in end[0]:
        return text
    for comma in reversed(list(_COMMA.finditer(text, 0, end.start()))):
        first, task = text[comma.end() :].split(maxsplit=1)[0], text[: comma.start()].split()
        if first.lower() in _ORDERS:
            is_task = len(task) >= _OF_A_TASK and task[0].lower() in _ORDERS
            lasts = any(pattern.search(" ".join(task)) for _, _, pattern in heard.language.heard)
            return text[comma.end() :] if is_task and not lasts else text
    return text


def _commanded(text: str) -> str:
    for _ in range(_TURNS):
        for pattern, head in _HEADS:
            if found := pattern.match(text):
                text = head + text[found.end() :]
                break
    text = re.sub(r"^do not (always|never|only) ", r"\1 ", text, flags=re.IGNORECASE)
    text = re.sub(r"^not ", "do not ", text, flags=re.IGNORECASE)
    gerund = _GERUND.match(text)
    return _forbidden(gerund[1], gerund[2]) if gerund else text


def _forbidden(stem: str, rest: str) -> str:
    """Return "do not add ..." for "adding ...", or "no adding ..." where the verb is not known."""
    low = stem.lower()
    plain = next((verb for verb in (low, f"{low}e", low[:-1]) if verb in _VERBS), None)
    return f"do not {plain}{rest}" if plain else f"no {low}ing{rest}"


def _finished(text: str) -> str:
    text = text.strip().rstrip(".!,;:，；： ")
    if not text:
        return text
    stop = "" if text[-1] in "。！？?…" else "。" if _FULL_STOP.search(text) else "."
    return text[0].upper() + text[1:] + stop
