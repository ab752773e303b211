"""Whether a turn is a bare assent: only then may what is to be remembered stand in the agent's words. Pure."""

from __future__ import annotations

import re

from skilld.words import count_words

_MOST_WORDS = 8
_MOST_CHARACTERS = 80
# What makes an assent more than "go on": it is to hold for good, or to be written down.
_LASTING = re.compile(
    r"\b(?:always|never|every\s?time|each\s+time|from\s+now\s+on|going\s+forward|in\s+(?:the\s+)?future|next\s+time|"
    r"remember|by\s+default|siempre|nunca|recu[eé]rda\w*|sempre|jamais|lembr\w+|ricorda\w*|toujours|désormais|"
    r"immer|künftig|nie|merk\w*|всегда|никогда|впредь|запомни\w*|vždy|nikdy|zapamatuj\w*|zawsze|zapamiętaj\w*|luôn)\b"
    r"|总是|總是|每次|以后|以後|记住|記住|いつも|毎回|今後|これから|覚えて|항상|앞으로|매번|기억",
    re.IGNORECASE,
)
_WRITES_DOWN = re.compile(
    r"^(?>.*?\b(?:add|put|save|write|note|record|keep|store|include|update|change|modify|adjust)\b).*"
    r"\b(?:skills?|rules?|memory|instructions|guidelines|conventions|(?:claude|agents)\.md)\b",
    re.IGNORECASE | re.MULTILINE,
)
_YES = re.compile(
    r"(?:\W*\b(?:yes|yeah|yep|yup|sure|please|do|that|it|so|exactly|definitely|absolutely|ok|okay|sí|si|claro|sim|"
    r"oui|ja|bitte|gerne|да|ano|jo|tak|evet)\b)+\W*|\W*(?:是的?|好的?|对|はい|お願いします|네|예)\W*",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"(?:[^.!?\n。！？]|[.!?](?=\w))+[.!?。！？]*")


def is_bare_assent(typed: str, offer: str) -> bool:
    """Whether `typed` takes up for good what the agent said right before it, `offer`.

    "yes, always" and "add that to the skill" do; "yes" does where the offer ends by asking whether to do something
    lasting; "ok, go on" never does.
    """
    said = typed.strip()
    if not offer.strip() or count_words(said) > _MOST_WORDS or len(said) > _MOST_CHARACTERS:
        return False
    if _is_lasting(said):
        return True
    return bool(_YES.fullmatch(said)) and _is_lasting(question(offer))


def question(offer: str) -> str:
    """Return the question that the agent's text ends with, empty where it ends with none."""
    last = (_SENTENCE.findall(offer.strip()) or [""])[-1]
    return last if last.rstrip().endswith(("?", "？")) else ""


def _is_lasting(text: str) -> bool:
    return bool(_LASTING.search(text) or _WRITES_DOWN.search(text))
