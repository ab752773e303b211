"""Other people's words that the person makes their own: "make a rule for it", said of what stands quoted beside it.

Pure. A turn, which of its characters the person typed, and the agent's text before it go in; the endorsing words and
the endorsed ones come out. What is pasted can endorse nothing, itself least of all (docs/decisions/0025).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from skilld.classify.offline.provenance import without_quotations
from skilld.text import fold

_MOST_LINES = 12  # of a quotation: more is a document, and no rule
_MOST_CHARACTERS = 800
_IT = (
    r"(?:this|that|it|these|those|them|the\s+(?:above|following|quote[sd]?|rule|point)|"
    r"what\s+\w+\s+(?:wrote|said|says))"
)
_PLACE = (
    r"(?:skills?|rules?|rule\s*book|memory|memories|instructions?|guidelines?|conventions?|notes\s+for\s+next\s+time|"
    r"(?:claude|agents|skill|gemini)\.md|cursor\s*rules)"
)
_ENDORSES = re.compile(
    rf"""
      \b(?:make|turn|write|add|create|record|save|note|put|keep|store|include)\b\s+
        (?:(?:{_IT}|a|an|into|to|as|new|one|global|general|project|permanent|standing|lasting)\s+){{0,4}}
        (?:rules?|guidelines?|conventions?|standing\s+instructions?)\b
        (?=\s*(?:(?:for|of|out\s+of|from|about|on)\s+{_IT}\b|$|[.,;!:)]|\s(?:please|now|too|as\s+well)\b))
    | \b(?:add|put|save|write|record|copy|take|include|store|move)\b\s+{_IT}\b(?:\s+\w+){{0,3}}?\s+
        (?:down\s+)?(?:in|to|into|as|among|with)\s+(?:(?:the|our|your|my|its|a|an|project|global|new)\s+){{0,3}}{_PLACE}\b
    | \b(?:remember|memori[sz]e|internali[sz]e)\s+{_IT}\b(?=\s*(?:$|[.,;!:)]|for\b|from\b|next\b|please\b|in\s+future))
    | \b(?:always|from\s+now\s+on,?)\s+(?:please\s+)?(?:do|follow|apply|obey|stick\s+to|use)\s+{_IT}\b
    | \b(?:do|follow|apply|obey)\s+{_IT}\b[^.!?\n]{{0,20}}
        \b(?:always|from\s+now\s+on|every\s+time|in\s+(?:the\s+)?future)\b
    | \b(?:mach|schreib|nimm|füge?)\b[^.!?\n]{{0,20}}\b(?:das|dies\w*|daraus|es)\b[^.!?\n]{{0,30}}
        \b(?:regel|skill|anleitung|regeln)\b | \bmerk(?:e)?\s+dir\s+(?:das|dies)\b
    | \b(?:haz|crea|añade|agrega|pon|guarda|anota|apunta)\w*\b[^.!?\n]{{0,30}}
        \b(?:reglas?|skill|instrucciones|memoria)\b
    | \brecu[eé]rda(?:lo|\s+esto)\b
    | \b(?:faz|fa[çc]a|cria|adiciona|coloca|guarda|anota|p[oõ]e)\w*\b[^.!?\n]{{0,30}}
        \b(?:regras?|skill|instru[çc][õo]es)\b
    | \b(?:fais|ajoute|mets|note|retiens|crée)\b[^.!?\n]{{0,20}}\b(?:ça|cela|ceci|en|le|la|une)\b[^.!?\n]{{0,20}}
        \b(?:règle|règles|skill|consignes)\b | \bretiens\s+(?:ça|cela|ceci)\b
    | \b(?:fai|aggiungi|metti|scrivi)\w*\b[^.!?\n]{{0,30}}\b(?:regola|regole|skill)\b
    | \b(?:сделай|добавь|запиши|внеси)\b[^.!?\n]{{0,30}}\b(?:правил\w*|скилл?|skill|инструкци\w*)\b | \bзапомни\s+это\b
    | \b(?:udělej|přidej|zapiš|dej)\b[^.!?\n]{{0,30}}\b(?:pravid\w*|skillu?|návod\w*)\b | \bzapamatuj\s+si\s+to\b
    | \b(?:zrób|dodaj|zapisz|wpisz)\b[^.!?\n]{{0,30}}\b(?:reguł\w*|zasad\w*|skilla?)\b | \bzapamiętaj\s+to\b
    | (?:这个|这条|上面|这些|它|此)[^。！？\n]{{0,8}}
        (?:写进|加到|加入|加进|记到|作为|写成|设为)[^。！？\n]{{0,8}}(?:规则|技能|skill|说明|记忆)
    | 记住(?:这个|这条|上面|这些)
    | (?:これ|それ|上記)を[^。！？\n]{{0,8}}(?:ルール|スキル|skill)(?:に|として) | (?:これ|それ)を覚えて
    | (?:이걸|이것을|위\s?내용을?)[^.!?\n]{{0,8}}(?:규칙|스킬|skill)(?:에|으로|로)
    """,
    re.IGNORECASE | re.VERBOSE,
)
# Said of it, but no wish: a no, a question, a condition, or somebody else's words in a relative clause.
NO_WISH = re.compile(
    r"[?\uff1f]|\b(?:don['\u2019]?t|do\s+not|never|not|no\s+need|should\s+(?:i|we)|if|unless|whether|would|says?|said|wants?|"
    r"asks?|asked|tells?|told|nicht|kein\w*|no\s+lo|não|pas|non|не|ne(?:dělej|přidávej|dávej|zapisuj|piš)\w*|nie|falls|wenn|"
    r"si)\b|不|别|別|ない|말아|마세요",
    re.IGNORECASE,
)
# Before the endorsing words: somebody who speaks, or does it by habit.
_NOT_ASKED = re.compile(
    r"[:：]|\b(?:he|she|they|we|i|you|who|which|that|it|people|everyone)"
    r"(?:\s+(?:always|never|often|usually|just|also|all|then|really|will|can))?\s*$",
    re.IGNORECASE,
)
SENTENCE = re.compile(r"[^.!?\n。！？]+(?:[.](?=\w)[^.!?\n。！？]*)*[.!?。！？]*")
_QUOTED = re.compile(r"^\s*>+\s?")
_FENCE = re.compile(r"^\s*(?:```|~~~)")


@dataclass(frozen=True, slots=True)
class Endorsed:
    """`by` is the person's own sentence that endorses, `words` what it endorses; `quoted`, where they quote it."""

    by: str
    words: str
    quoted: bool = True


def endorsed(text: str, own: str, offer: str) -> Endorsed | None:
    """Return what the person endorses in a turn, None where nothing is.

    `own` is the turn with newlines for all that the person did not type (`own_words`); `offer` is the agent's text
    directly before. It is what stands as a quotation or in a fence directly above or below the endorsing sentence's
    paragraph; where the turn quotes nothing at all, it is the offer.
    """
    lines, mine = _lines(text, own)
    for place, line in enumerate(mine):
        by = next((s.strip() for s in SENTENCE.findall(line) if _is_wish(without_quotations(s))), "")
        if not by:
            continue
        words = _above(lines, mine, place) or _below(lines, mine, place)
        if words:
            return Endorsed(by, words)
        if fold(own) == fold(text) and offer.strip():
            return Endorsed(by, offer, quoted=False)
    return None


def _is_wish(sentence: str) -> bool:
    asked = _ENDORSES.search(sentence)
    return asked is not None and not (NO_WISH.search(sentence) or _NOT_ASKED.search(sentence[: asked.start()]))


def _lines(text: str, own: str) -> tuple[list[str], list[str]]:
    """Return the lines of a turn, and of each what the person typed: both texts have the same length."""
    lines = text.split("\n")
    mine, at = [], 0
    for line in lines:
        mine.append(own[at : at + len(line)].strip("\n"))
        at += len(line) + 1
    return lines, mine


def _above(lines: list[str], mine: list[str], place: int) -> str:
    end = _paragraph_edge(mine, place, -1)
    while end >= 0 and not lines[end].strip():
        end -= 1
    if end < 0 or mine[end].strip():
        return ""
    start = end
    while start > 0 and lines[start - 1].strip() and not mine[start - 1].strip():
        start -= 1
    return _quotation(lines[start : end + 1])


def _below(lines: list[str], mine: list[str], place: int) -> str:
    start = _paragraph_edge(mine, place, 1)
    while start < len(lines) and not lines[start].strip():
        start += 1
    if start == len(lines) or mine[start].strip():
        return ""
    end = start
    while end + 1 < len(lines) and lines[end + 1].strip() and not mine[end + 1].strip():
        end += 1
    return _quotation(lines[start : end + 1])


def _paragraph_edge(mine: list[str], place: int, step: int) -> int:
    while 0 <= place < len(mine) and mine[place].strip():
        place += step
    return place


def _quotation(lines: list[str]) -> str:
    """Return what is set off as a block quotation or a fenced block; empty where it is not, or is no rule in length."""
    if all(_QUOTED.match(line) for line in lines):
        inner = [_QUOTED.sub("", line) for line in lines]
    elif len(lines) > 2 and _FENCE.match(lines[0]) and _FENCE.match(lines[-1]):  # noqa: PLR2004 - something between
        inner = lines[1:-1]
    else:
        return ""
    words = "\n".join(inner).strip()
    return words if len(inner) <= _MOST_LINES and len(words) <= _MOST_CHARACTERS else ""
