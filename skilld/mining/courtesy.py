"""Greetings, thanks and polite wrappings, in which people put what they ask for; mostly English and German. Pure."""

from __future__ import annotations

import re

_AGENTS = r"claude|codex|gemini|copilot|cursor|there|all|everyone|team|again|zusammen|leute|du|nochmal"
_GREETING = (
    r"(?:hi|hiya|hey|hello|howdy|yo|good (?:morning|afternoon|evening|day)|hallo|hallöchen|moin(?: moin)?|servus|na"
    r"|(?:(?:einen )?(?:schönen )?guten |gute[nr]? )(?:morgen|tag|abend|mittag)|grüß (?:dich|gott|euch)|bonjour"
    r"|salut|coucou"
    rf"|hola|buenos días|buenas(?: tardes)?|olá|oi|ciao|buongiorno|hoi|cześć|ahoj|привет)(?: (?:{_AGENTS}))*(?!-\w)"
)
_THANKS = (
    r"(?:(?:many |so many |great, )?(?:thanks|thank you|thx|ty|cheers|kudos)|much appreciated"
    r"|(?:ich )?danke|dankeschön|(?:vielen|herzlichen|besten|lieben|tausend) dank|merci|gracias|muchas gracias"
    r"|obrigad[oa]"
    r"|grazie|bedankt|dank je(?: wel)?|dzięki|díky|děkuju|спасибо)"
    r"(?: (?:so much|very much|a lot|a ton|a million|again|in advance|already|for (?:that|this|your help"
    r"|the help)|beaucoup"
    r"|d'avance|mille|dir|euch|ihnen|schön|sehr|schon|mal|schonmal|vorab|im voraus|dafür|vielmals|ganz herzlich"
    r"|für (?:deine |die |eure )?hilfe|claude|codex|gemini))*"
)
_PRAISE = (
    r"(?:(?:very|really|so|sehr|echt|wirklich|ganz|total|super) )*(?:ok|okay|alright|great|good|nice|lovely"
    r"|cool|perfect|perfectly"
    r"|awesome|excellent|brilliant|wonderful|amazing|fantastic|sweet|neat|splendid|super|prima|perfekt|toll"
    r"|klasse|top|spitze"
    r"|wunderbar|großartig|genial|gut|schön|fein|stark|ausgezeichnet|passt|alles klar|parfait|génial|perfecto|genial)"
    r"(?: (?:job|work|one|stuff|so|gemacht|geworden|arbeit))*"
)
_WELL = (
    r"(?:well done|looks (?:good|great|nice|perfect)|(?:jetzt |das )?(?:passt|sieht) (?:es|das|gut aus|so"
    r"|alles)|gut gemacht"
    r"|you(?:'?re| are) (?:the best|awesome|great|a star)|du bist (?:super|toll|ein schatz|(?:der|die) beste)"
    r"|(?:that|this|it)(?:'?d| would) be (?:(?:so|really|very|super) )*(?:great|awesome|nice|lovely|wonderful"
    r"|perfect|amazing|kind|helpful"
    r"|cool|good)|das wäre (?:(?:echt|wirklich|sehr|super|total|ganz|richtig) )*(?:nett|lieb|toll|super|klasse"
    r"|prima|schön|gut|cool)"
    r"|wenn (?:du|ihr) so (?:lieb|nett|gut|freundlich) (?:bist|seid|wärs?t|wärest)|if you (?:do ?n[o']?t"
    r"|would ?n[o']?t) mind"
    r"|sei so (?:gut|lieb|nett)|(?:und )?lass dir (?:ruhig )?zeit(?: damit| dabei)?|(?:and )?take your time"
    r"|no rush|keine eile"
    r"|(?:have a|schönen|schönes) (?:nice |great |good )?(?:day|weekend|evening|tag(?: noch)?|abend|feierabend"
    r"|wochenende))"
)
_PLEASE = r"(?:please|pls|plz|bitte(?: schön)?|s'il (?:te|vous) plaît|stp|svp|por favor|per favore|alsjeblieft)"
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
