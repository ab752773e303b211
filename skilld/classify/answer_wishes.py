"""What a rule asks of the agent's answers, whatever its words and language: "Responde em português", "keep it brief".

Texts in, wishes out, by the table of meanings. Pure. Only of a rule that asks for nothing else.
"""

from __future__ import annotations

import re
from functools import lru_cache

from skilld.classify.conversation_style import is_about_conversation
from skilld.meanings import field_of, terms
from skilld.words import has_negation, numbers, stem

BRIEF = "brief"
_LENGTH, _ANSWERING, _LANGUAGES = "answer-length", "to-answer", "languages"
_MAX_LENGTH = 120  # characters
# Words that any such wish has, by their stems.
_FILLER = frozenset(
    map(
        stem,
        """
        be keep make use give answer answers reply replies response responses message messages talk speak chat always
        only please strictly sei sein fasse fass dich halte halt sprich rede bleib seja fala fale mantenha sé sea habla
        mantén sois soyez garde parle fais sii sia parla tieni mantieni houd hou spreek wees bądź mów buď mluv будь
        говори пиши
        """.split(),  # noqa: SIM905 - a list of so many words is read more easily as text
    )
)
_TO_THE_AGENT = re.compile(
    r"\W*(?:(?:please|bitte|por favor|do not|don['\u2019]?t|never)\W+){0,3}"
    r"(?:be|sei|sois|sé|seja|sii|fass?e? dich|будь)\b",
    re.IGNORECASE,
)
_SHORT = re.compile(
    r"\b(?:short|brief|concise|terse|succinct|few|kurz|kürzer|knapp|brev|concis|cort|court|bref|kort|bondig|krótk|zwięź)\w*"
    r"|коротк|короче|кратк|лаконич|简短|简洁|短く|簡潔|짧|간결",
    re.IGNORECASE,
)
_LONG = re.compile(r"\b(?:long|verbose|wordy|rambling|lang|larg|longo?)\w*|длинн|长|長|길", re.IGNORECASE)


@lru_cache(maxsize=2048)
def answer_wishes(text: str) -> frozenset[str]:
    """Return the language of answers that a rule asks for, and `BRIEF` if they are to be; empty if it says more."""
    found = terms(text) if len(text) <= _MAX_LENGTH and not numbers(text) else ()
    said = frozenset(meaning for term in found for meaning in term.meanings)
    spoken = frozenset(one for one in said if field_of(one) == _LANGUAGES)
    known = spoken | {_LENGTH, _ANSWERING}
    if any(not term.meanings & known and term.stem not in _FILLER for term in found) or len(spoken) > 1:
        return frozenset()
    if not (_ANSWERING in said or is_about_conversation(text) or _TO_THE_AGENT.match(text)):
        return frozenset()
    wishes = spoken
    if _LENGTH in said:
        brief = bool(_SHORT.search(text)) is not has_negation(text) and bool(_SHORT.search(text) or _LONG.search(text))
        wishes |= {BRIEF} if brief else {"?"}
    elif has_negation(text):
        return frozenset()
    return frozenset() if "?" in wishes else wishes


def same_answer_wish(one: str, other: str) -> bool:
    """Whether two rules ask the same of the agent's answers, and nothing else."""
    return bool(answer_wishes(one)) and answer_wishes(one) == answer_wishes(other)


def has_answer_wish(change: str, line: str) -> bool:
    """Whether a line asks of the agent's answers all that a change asks of them."""
    return bool(answer_wishes(change)) and answer_wishes(change) <= answer_wishes(line)
