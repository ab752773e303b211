"""Recasts a wish as an order: "quiero que pongas" as "pon", "hör auf, sie zu löschen" as "sie nicht löschen".

For languages in which a wish, or an order to stop, has another form of the verb than an order. What cannot be recast
for certain stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from skilld.text import word_set

_DE_WISH = re.compile(
    r"^(?:(?:(?:ich )?(?:will|möchte|wünsche mir)|(?:will|möchte|wünsche) ich(?: mir)?),? dass du "
    r"|(?:es |das )?(?:wäre?|wär.?s|fände? ich) (?:\w+ )?\w+,? wenn du )"
    r"(?P<rest>.{2,200}?) (?P<verb>(?:\w{2,}(?:st|[zxß]t)|\w+n würdest))(?P<end>\W*)$",
    re.IGNORECASE,
)
# "Hör auf, ... zu löschen", "denk daran, ... zu löschen".
_DE_INFINITIVE = re.compile(
    r"^(?:(?P<stop>(?:hör(?:e|t|en sie)?|lass) (?:bitte |damit )?(?:auf|es)(?: damit)?)"
    r"|denkt? (?:bitte )?(?P<always>immer )?(?:bitte )?daran),? (?P<rest>.{2,200}?) "
    r"(?P<verb>(?:\w+zu\w+|zu \w+)n)(?P<end>\W*)$",
    re.IGNORECASE,
)
_DE_IRREGULAR = {
    "gibst": "geben", "nimmst": "nehmen", "liest": "lesen", "hältst": "halten", "lässt": "lassen", "rätst": "raten",
    "sprichst": "sprechen", "vergisst": "vergessen", "trägst": "tragen", "lädst": "laden", "triffst": "treffen",
    "siehst": "sehen", "brichst": "brechen", "schlägst": "schlagen", "wirfst": "werfen", "hilfst": "helfen",
    "fährst": "fahren", "läufst": "laufen", "fängst": "fangen",
}  # fmt: skip
_DE_NO_VERB = frozenset(("bist", "hast", "kannst", "musst", "sollst", "darfst", "willst", "magst", "wirst", "weißt"))
_EN_WISH = re.compile(
    r"^(?:(?:(?:it|that) )?(?:would|'?d) (?:really )?be \w+|i(?:'d| would) (?:really )?(?:love|like|appreciate) it)"
    r" if (?:you|u) (?P<modal>(?:could|would) )?(?P<adverb>always|never) (?P<verb>\w+)(?P<rest> .+)$",
    re.IGNORECASE,
)
_EN_IRREGULAR = {
    "ran": "run", "wrote": "write", "kept": "keep", "told": "tell", "made": "make", "gave": "give", "took": "take",
    "sent": "send", "left": "leave", "did": "do", "had": "have", "put": "put", "let": "let", "set": "set", "got": "get",
    "went": "go", "read": "read", "began": "begin", "said": "say", "showed": "show", "built": "build", "used": "use",
}  # fmt: skip
_ES_WISH = re.compile(
    r"^(?:quiero|quisiera|me gustaría|prefiero|necesito|(?:estaría|sería) \w+) que "
    r"(?:(?P<no>no |nunca |jamás )|(?P<always>siempre ))?"
    r"(?P<verb>\w+s)(?P<rest> .+)$",
    re.IGNORECASE,
)
_ES_IRREGULAR = {
    "pongas": "pon", "hagas": "haz", "digas": "di", "tengas": "ten", "vengas": "ven", "salgas": "sal", "seas": "sé",
    "vayas": "ve", "mantengas": "mantén", "des": "da", "sepas": "sabe",
    "sigas": "sigue",
}  # fmt: skip
# Before the verb, or before what others are to do: "quiero que todas las fechas ...".
_ES_NO_VERB = word_set(
    "todas estas esas aquellas ambas algunas otras unas nuestras vuestras antes entonces mientras ustedes"
)
# How a verb ends as a wish and as an order: "uses" and "usa", "escribas" and "escribe".
_ES_ENDINGS = (
    ("ques", "ca"), ("gues", "ga"), ("ces", "za"), ("zcas", "ce"), ("jas", "ge"), ("aigas", "ae"), ("igas", "igue"),
    ("gas", ""),
    ("es", "a"), ("as", "e"),
)  # fmt: skip
_FR_WISH = re.compile(
    r"^(?:je (?:veux|voudrais|préfère|souhaite)|j'aimerais) que (?:tu |vous )(?P<no>ne |n')?"
    r"(?P<verb>\w+)(?P<rest> .+)$",
    re.IGNORECASE,
)
_FR_IRREGULAR = {
    "mettes": "mets", "fasses": "fais", "écrives": "écris", "prennes": "prends", "lises": "lis", "dises": "dis",
    "sois": "sois", "ailles": "va", "viennes": "viens", "tiennes": "tiens", "suives": "suis", "répondes": "réponds",
    "rendes": "rends", "maintiennes": "maintiens", "traduises": "traduis", "décrives": "décris", "inclues": "inclus",
    "soyez": "soyez", "fassiez": "faites", "disiez": "dites", "puisses": "", "les": "",
}  # fmt: skip
_STOPPING = tuple(
    (re.compile(source, re.IGNORECASE), head)
    for source, head in (
        (r"^(?:deja|dejad|deje|para) de (?=\w+[aei]r(?:se|lo|la|los|las)?\b)", "no "),
        (r"^(?:arr[êe]te|arr[êe]tez|cesse|cessez) (?:de |d')(?=\w+(?:er|ir|re|oir)\b)", "ne pas "),
        (r"^(?:smetti|smettila|smettete) di (?=\w+(?:are|ere|ire|rre)\b)", "non "),
        (r"^(?:pare|para|parem|deixe|deixa) de (?=\w+[aei]r\b)", "não "),
    )
)
_FR_PARTITIVE = re.compile(r"^(ne pas \w+ )des (?![aeéèêiouyhâî])", re.IGNORECASE)


def recast(text: str) -> str:
    """Return the order that a wish stands for; the text itself if it is none, or for another verb than those known."""
    for pattern, turn in _WISHES.items():
        if (found := pattern.match(text)) and (order := turn(found)):
            return order
    for pattern, head in _STOPPING:
        if pattern.match(text):
            return _FR_PARTITIVE.sub(r"\1de ", pattern.sub(head, text))
    return text


def _english_wish(found: re.Match[str]) -> str:
    verb = found["verb"].lower()
    if not found["modal"]:
        stem = verb.removesuffix("d") if verb.endswith(("ved", "sed", "zed", "ged", "ced", "ated", "uded")) else verb
        plain = stem if stem != verb else verb.removesuffix("ed")
        verb = _EN_IRREGULAR.get(verb) or (plain if plain != verb else "")
    return verb and f"{found['adverb'].lower()} {verb}{found['rest']}"


def _german_wish(found: re.Match[str]) -> str:
    verb = found["verb"].lower()
    if verb in _DE_NO_VERB:
        return ""
    if verb.endswith(" würdest"):
        return f"{found['rest']} {verb.removesuffix(' würdest')}{found['end']}"
    keeps_s = verb.endswith(("zt", "xt", "ßt", "sst", "öst", "eist"))  # "setzt", "fasst", "löst": one letter less
    stem = verb[:-1] if keeps_s else verb[:-2]
    stem = stem.removesuffix("e") if stem.endswith(("de", "te", "ne")) else stem
    short = stem.endswith(("er", "el")) and not stem.endswith(("ier", "eer", "iel"))
    irregular = (verb.removesuffix(end) + plain for end, plain in _DE_IRREGULAR.items() if verb.endswith(end))
    return f"{found['rest']} {next(irregular, stem + ('n' if short else 'en'))}{found['end']}"


def _german_infinitive(found: re.Match[str]) -> str:
    verb = found["verb"]
    verb = verb[3:] if verb.lower().startswith("zu ") else verb.replace("zu", "", 1)
    return f"{found['always'] or ''}{found['rest']} {'nicht ' if found['stop'] else ''}{verb}{found['end']}"


def _spanish_wish(found: re.Match[str]) -> str:
    verb = found["verb"].lower()
    if verb in _ES_NO_VERB:
        return ""
    if found["no"]:
        return f"{found['no']}{verb}{found['rest']}"
    ends = ((end, plain) for end, plain in _ES_ENDINGS if verb.endswith(end) and len(verb) > len(end) + 1)
    end, ending = next(ends, ("", ""))
    plain = _ES_IRREGULAR.get(verb) or (ending and verb.removesuffix(end) + ending)
    return plain and f"{plain}{' siempre' if found['always'] else ''}{found['rest']}"


def _french_wish(found: re.Match[str]) -> str:
    verb = found["verb"].lower()
    plain = _FR_IRREGULAR.get(verb)
    if plain is None and verb.endswith("isses"):
        plain = verb.removesuffix("ses")
    elif plain is None and verb.endswith("es"):
        plain = verb.removesuffix("s")
    elif plain is None and verb.endswith("iez"):
        plain = verb.removesuffix("iez") + "ez"
    return f"{found['no'] or ''}{plain}{found['rest']}" if plain else ""


_WISHES: Mapping[re.Pattern[str], Callable[[re.Match[str]], str]] = {
    _EN_WISH: _english_wish,
    _DE_WISH: _german_wish,
    _DE_INFINITIVE: _german_infinitive,
    _ES_WISH: _spanish_wish,
    _FR_WISH: _french_wish,
}
