"""A clause as an instruction: imperative, in the person's own words, without what only framed it.

What is heard goes in, a `Phrase` comes out. Nothing is added but the grammar of a command ("do not", "never").
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from skilld.classify.offline.cues import Cue, compiled
from skilld.classify.offline.listen import Heard
from skilld.classify.offline.words import stems
from skilld.text import fold

_LONGEST = 280
_FEWEST = 2


@dataclass(frozen=True, slots=True)
class Phrase:
    """An instruction. `clear` says whether it can stand in a skill on its own, without the talk around it."""

    text: str
    clear: bool


# Openings that turn a wish into a command: (pattern, what the command starts with).
_HEADS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (compiled(pattern), head)
    for pattern, head in (
        (r"^(?:can|could|would|will) you (?:please )?", ""),
        (r"^(?:please|pls|plz|just|let'?s|go ahead and|and|but|also)\b[\s,]*", ""),
        (r"^(?:make|be) sure (?:that )?you (?=(?:always|never)\b)", ""),
        (r"^(?:ensure|make sure|see to it) (?:that )?you ", ""),
        (r"^(?:make|be) sure to (?=(?:always|never)\b)", ""),
        (r"^i(?:'d| would)? (?:really )?(?:want|need|like|prefer|expect) (?:for )?you to ", ""),
        (r"^i(?:'d| would) rather you ", ""),
        (r"^(?:i )?(?:do not|don'?t|never) want (?:from )?(?:you|u) to (?:ever )?", "do not "),
        (r"^i never want (?:to see |any )?", "no "),
        (r"^i always want (?:to see )?", "always include "),
        (
            r"^(?:you|u|we) (?:should|must|shall|may|can|are|do|need|ought)(?:n'?t| not) (?:to |ever |be allowed to )?",
            "do not ",
        ),
        (r"^(?:you|u) (?:should|must|shall|need to|have to|ought to|are to|gotta|are supposed to) ", ""),
        (r"^we (?=(?:always|never|only)\b)", ""),
        (r"^we (?:don'?t|do not) (?!want\b)", "do not "),
        (r"^(?:dont|don't|do not) (?:you )?(?:ever )", "never "),
        (r"^(?:dont|don't) ", "do not "),
        (r"^never ever ", "never "),
        (r"^(?:always )?remember (?:not|never) to ", "do not "),
        (r"^(?:always )?remember to ", ""),
        (r"^(?:remember|keep in mind|note)(?: that|:|,) ", ""),
    )
)
# "add this to the skill: ..." and "make a rule that ...": the instruction stands behind the request to write it down.
_CARRIERS: tuple[re.Pattern[str], ...] = tuple(
    compiled(pattern)
    for pattern in (
        r"^.{0,90}?(?:skill|rules?|memory|memories|preferences?|guidelines?|conventions?|instructions|\.md|\.mdc|"
        r"remember|reglas?|regras?|règles?|regeln?|regole|правил\w*|pravidl\w*|zasad\w*|规则|規則|记住|ルール|규칙)\s*[`'\"]?\s*[:：]\s*[`\"“]?",
        r"^.{0,60}?\b(?:rule|convention|guideline|preference|policy)s? (?:that )?(?:says?|states?|specif(?:y|ies|ying)|requires?|saying|stating) (?:that |to )?(?:(?=when )|(?:you |we )?(?:should |must )?)",
        r"^.{0,60}?\b(?:rule|convention|guideline|preference|policy|skill|\S+\.mdc?)\W? (?:so that (?:you|it) |so (?:you|it) |to (?:say|specify|state|mention|require|include|note)(?: that)? (?:to )?)",
        r"^.{0,40}?\b(?:rule|convention|policy|preference) (?:that|to) (?=(?:always|never|not|only|use|run|write|keep|ask)\b)",
        r"^(?:add|put|save|store|record|note|write) (?:in|into|to) (?:the |your |our |this )?(?:skill|rules?|memory|\S+\.md) (?:that |to )",
        r"^(?:the|our|my) (?:convention|policy|rule|standard|style)(?: here)? is (?:that |to )",
    )
)
_NO_COMMAND = compiled(
    "^(?:i|i'm|i'd|i've|you|you're|he|she|it|it's|they|this|that's|there|these|those|what|why|how|who|where|is|are|was|"
    "were|am|does|did|has|have|had|will|would|should|could|may|might|can|and|or|but|so|because|if not|to|of|than|then|as|"
    "which|me|us|them|about|once)\\b"
)
# Words that lean on what was said before, and requests to write a rule down whose content stands elsewhere.
_DANGLING = compiled(
    r"\b(?:this|that|these|those)(?= ?(?:[.,;!?)]|$| (?:again|always|every|before|after|when|whenever|for|in|to|on|with|and|"
    r"or|going|moving|as|by|at|time|too|instead|yourself|is|was|until|if)\b))"
    r"|^(?:\S+ ){0,3}?(?:it|them|so|the same)(?= ?(?:[.,;!?)]|$)| (?:again|always|every|before|after|when|for|in|to|on|with|"
    r"and|or|right|only|too|instead|yourself)\b)"
    r"|\b(?:what we|what i|i've|i have|i just|i asked|i said|as above|the above|you just|last message|mentioned|accordingly|"
    r"the same way)\b"
    r"|\b(?:this|that|these|those) (?:info|information|conversation|requirement|change|issue|preference|rule|behaviou?r|"
    r"suggestions?|way|approach|format|one|thing|stuff|style|pattern)\b"
    r"|^(?:think about|mention|make sure the|(?:make|create|add|write|record|update|change|modify|improve|revise|extend|edit|"
    r"adjust|document|save|log|put|note|can we)\b.*(?:\brules?\b|\bskill\b|\.mdc?\b|\bmemory\b|\blearnings?\b|\bguidelines?\b))"
    r"|^(?:esto|eso|isso|isto|ça|cela|das|это|tohle|这个|那个|这样|那样|これ|それ|そう|그거|이거|그렇게)"
)
# Remarks on the saying of it, which are no part of the rule.
_REMARKS = compiled(
    r"[,;(–—-]* ?\b(?:(?:like|as) i (?:said|told you|mentioned)(?: before| already)?|i(?:'ve| have)? (?:already )?(?:said|told you|"
    r"asked)(?: you)?(?: this| that)?(?: before| already| many times)?|(?:as (?:is )?(?:specified|stated|described|required|"
    r"documented|written|per)|according to|as per|per)(?: by| in)? @?[\w./-]+\.mdc?|please and thank you|if possible)\)?(?= ?(?:[.,;!]|$))"
)
_GERUND = compiled(r"^(?:stop|quit) (\w+ing)\b(.*)$")
_TAIL = compiled(
    r"(?:[\s,]+(?:please|pls|plz|thanks|thank you|ok|okay|thx|por favor|bitte|merci|obrigad[oa]|gracias|пожалуйста|prosím|proszę|grazie))+\s*(?=[.!]*$)"
)
_SMILE = re.compile(r"\s*(?:[:;]-?[)(DP]|[\U0001F300-\U0001FAFF\u2600-\u27bf]\ufe0f?)+\s*$")
_E_DROPPED = re.compile(
    r"(?:[^aeiou][aeiou](?:v|z|s|k|d|t|n|m|l|r|p|b)|[aeiou]c|[aeiou]g|[^aeiou]l|[rnl][sc]|rg|ng|[aeiou]u|rv|lv)$"
)
_KEEPS = frozenset(
    "add ask put run push commit edit work test call start end want need explain repeat show print post open wait talk "
    "return answer reset visit bundl mention hardcod touch format lint build assum guess skip plan abbreviat visit "
    "delet offer suggest apologis apologiz report link list bold escap log let set get hit cut quot hid rewrit".split()
)
_BASES = {"abbreviat", "assum", "apologis", "apologiz", "delet", "bundl", "hardcod", "escap", "quot", "hid", "rewrit"}


def phrase(heard: Heard) -> Phrase:
    """Return the instruction in `heard`; not clear when it leans on other sentences or cannot be made a command."""
    text = _REMARKS.sub("", _SMILE.sub("", _TAIL.sub("", fold(heard.said).rstrip("?？ ")))).strip()
    clear = not heard.question or bool(compiled(r"^(?:can|could|would|will) you ").match(text))
    carried = _carried(text)
    if carried is None and heard.cue is Cue.MEMORY and not _starts_plainly(text):
        return Phrase(_finished(text), clear=False)
    if heard.cue is Cue.REMINDER:
        return Phrase(_finished(text), clear=False)
    text = _commanded(_unframed(carried or text, heard))
    enough = len(stems(text)) >= _FEWEST and len(text) <= _LONGEST
    dangling = bool(_DANGLING.search(text) or _NO_COMMAND.match(text))
    return Phrase(_finished(text), clear and enough and not dangling)


def _carried(text: str) -> str | None:
    for carrier in _CARRIERS:
        found = carrier.match(text)
        if found and len(stems(text[found.end() :])) >= _FEWEST:
            return text[found.end() :].strip(" `\"'“”")
    return None


def _starts_plainly(text: str) -> bool:
    return bool(compiled(r"^(?:(?:please|always) )*(?:remember|keep in mind|note)\b").match(text)) or not text.isascii()


def _unframed(text: str, heard: Heard) -> str:
    without = heard.language.frames.sub(" ", text).strip(" ,:–—-，、：")
    opener = heard.language.openers.match(without)
    without = without[opener.end() :] if opener else without
    return without if len(stems(without)) >= 1 else text


def _commanded(text: str) -> str:
    for _ in range(3):
        for pattern, head in _HEADS:
            found = pattern.match(text)
            if found:
                text = head + text[found.end() :]
                break
        else:
            break
    text = re.sub(r"^do not (always|never|only) ", r"\1 ", text, flags=re.IGNORECASE)
    text = re.sub(r"^not ", "do not ", text, flags=re.IGNORECASE)
    gerund = _GERUND.match(text)
    return f"do not {_base(gerund[1])}{gerund[2]}" if gerund else text


def _base(gerund: str) -> str:
    stem = gerund[:-3].lower()
    if stem in _BASES:
        return stem + "e"
    if stem in _KEEPS:
        return stem
    if len(stem) > 2 and stem[-1] == stem[-2] and stem[-1] not in "lsz":  # noqa: PLR2004 - "putt" but not "go"
        return stem[:-1]
    return stem + "e" if _E_DROPPED.search(stem) else stem


def _finished(text: str) -> str:
    text = text.strip().rstrip(".!,;:，；： ")
    if not text:
        return text
    stop = "。" if re.search(r"[\u3040-\u30ff\u4e00-\u9fff]$", text) else "."
    closed = text[-1] in "。！？?…"
    return text[0].upper() + text[1:] + ("" if closed else stop)
