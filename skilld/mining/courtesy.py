"""Greetings, thanks and polite wrappings, in which people put what they ask for; mostly English and German. Pure."""

from __future__ import annotations

import re

from skilld.classify.offline.phrasing import courtesies

_DATA = courtesies()
_GREETING, _THANKS, _PRAISE, _PLEASE = (_DATA[name] for name in ("greeting", "thanks", "praise", "please"))
_WELL = f"(?:{_DATA['kind']}|{_DATA['done']})"
_ONLY_COURTESY = re.compile(
    rf"(?:\W*(?:(?:{_THANKS}|{_GREETING}|{_WELL}|{_PRAISE}|{_PLEASE}|(?:and|und|auch|noch|too|na|dann|ja|also"
    rf"|jetzt|now)))\b)+\W*",
    re.IGNORECASE,
)
_ASKED_WORDS = (
    r"(?:please|kindly|just|maybe|possibly|bitte|mir|mal|uns|kurz|vielleicht|eventuell|noch|auch"
    r"|schnell|netterweise|nochmal|als nächstes)"
)
_WRAPPING = re.compile(
    rf"\A\W*(?:(?:{_GREETING}|(?:please|bitte|pls|plz)(?: (?:auch|noch|mal))*|now|ok|okay|so|next"
    rf"|(?:can|could|would|will) you(?: {_ASKED_WORDS})*|would you mind"
    rf"|(?:kannst|könntest|magst|würdest|willst) du(?: {_ASKED_WORDS})*|(?:können|könnten|würden"
    rf"|möchten) sie(?: {_ASKED_WORDS})*"
    r"|(?:tu peux|peux-tu|pourrais-tu|pouvez-vous|pourriez-vous|puedes|podrías|puoi|potresti|você pode|kun je|zou je)"
    r"|s'il (?:te|vous) plaît|por favor|per favore|i(?:'d| would)? (?:want|need|like) you to|let'?s"
    r"|sei so (?:gut|lieb|nett) und)\W+"
    rf"|(?:{_THANKS}|{_WELL}|{_PRAISE})\s*[,.!;:\u2013\u2014-]+\s+(?:(?:and|und|dann|jetzt"
    rf"|now)\b\W+)?(?:(?:auch|noch)\b\W+)*)*",
    re.IGNORECASE,
)
_END = re.compile(
    rf"(?:\A|(?<=[\s,;.!?\u2013\u2014-]))(?:{_THANKS}|{_WELL}|{_PLEASE}|too|as well|now|again"
    rf"|for me)\Z",
    re.IGNORECASE,
)
_SLASH_COMMAND = re.compile(r"(?<!\S)/[A-Za-z][\w:-]*(?!\S)\s*")
_CLOSING_MARKS = "_)]}'\"`"
_SENTENCE_ENDS = " \t\n?!.,;\u2013\u2014"


def is_courtesy(text: str) -> bool:
    """Whether a sentence only greets, thanks or praises."""
    return bool(_ONLY_COURTESY.fullmatch(text))


def without_politeness(text: str) -> str:
    """Return a request without its polite phrases and the commands in it."""
    plain = _WRAPPING.sub("", _SLASH_COMMAND.sub("", text)).rstrip(_SENTENCE_ENDS)
    while tail := _END.search(plain):
        plain = plain[: tail.start()].rstrip(_SENTENCE_ENDS)
    last = next((n for n in range(len(plain), 0, -1) if plain[n - 1].isalnum() or plain[n - 1] in _CLOSING_MARKS), 0)
    return plain[:last]  # without smileys
