"""Turns a clause into an instruction: imperative, in the person's own words, without its introduction.

Nothing is added except the grammar of a command ("do not", "never"). The expressions are in phrasing.toml.
"""

from __future__ import annotations

import re
import tomllib
from functools import cache, partial
from itertools import pairwise
from pathlib import Path
from typing import Any

from skilld.agents.chips import CUT_OFF
from skilld.classify.caseless import Caseless
from skilld.classify.offline.detector import Match
from skilld.classify.offline.grammar import Cue, compiled
from skilld.classify.offline.names import capitalized, ends_in_prefix, with_marked_prefixes
from skilld.classify.offline.verbless import with_verb
from skilld.text import fold
from skilld.values import value_class
from skilld.words import content_stems, has_negation, stems

_MAX_LENGTH = 280  # characters
_MAX_INPUT = 1000  # characters considered of a match
_MIN_COUNT = 2  # stems: "always do it" is not a rule
_MIN_WORDS = 4  # "always keep a backup"
_MAX_HEADS = 3  # openings in a row, as in "please make sure you don't"

_DATA: dict[str, Any] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
_HEADS = tuple(
    (compiled(source.replace("<things>", _DATA["things"]).replace("<verbs>", _DATA["verbs_of_things"])), head)
    for source, head in _DATA["heads"]
)
_CARRIERS = tuple(map(compiled, _DATA["carriers"]))


@cache
def courtesies() -> dict[str, str]:
    """Return the regexes of greetings, thanks and kind words in several languages, by what they are for."""
    table = tomllib.loads(Path(__file__).with_name("courtesy.toml").read_text(encoding="utf-8"))
    return {name: one if isinstance(one, str) else f"(?:{'|'.join(one)})" for name, one in table.items()}


# "..., that would be great", "..., vielen Dank schon mal", "..., ce serait sympa, merci": only courtesy.
_COURTESY = compiled(
    rf"(?:(?<!\s)\s*+(?<![,;(–—-])[,;(–—-]++ ?"
    rf"(?:(?:and|und|et|y|e|en|i|a|и) )?(?:{courtesies()['thanks']}|{courtesies()['kind']}))+"
    r"[)\s]*(?=[.!]*$)"
)
_REMARKS = (_COURTESY, *map(compiled, _DATA["remarks"]))
_COMPLAINT = compiled(  # after a run of dashes, which is tried from its start only
    r"(?:^|(?:(?<!\s)\s++|(?<![,;–—(-]))[,;–—(-]++ ?)"
    rf"(?:{'|'.join(_DATA['complaints'])})\)?(?=\s?(?:[,.;:!?–—，、：。-]|$))"
)
_TOLD_BEFORE = tuple(map(compiled, _DATA["told_before"]))
_LASTING = compiled(_DATA["lasting"])
_FUTURE_KINDS = tuple(map(compiled, _DATA["future_kinds"]))
_OWN_SAKES = tuple(map(compiled, _DATA["own_sakes"]))
_MENDS = compiled(_DATA["mends"])
_PLACES, _LEANING = (
    tuple(compiled(one.replace("<file>", _DATA["file"])) for one in _DATA[key]) for key in ("places", "leaning")
)
_POINTS_BACK, _TELLS_OF_AGENT = (tuple(map(compiled, _DATA[key])) for key in ("points_back", "tells_of_agent"))
_STATEMENTS = tuple(map(compiled, _DATA["statements"]))
_VERBS = frozenset(_DATA["verbs"].split())
_ORDERS = _VERBS | frozenset(_DATA["orders"].split())

_IRREGULAR = _DATA["past"].split()
_PRESENT = {f"{verb.removesuffix('e')}ed": verb for verb in _VERBS} | dict(
    zip(_IRREGULAR[::2], _IRREGULAR[1::2], strict=True)
)
_WISHED = compiled(
    r"^(?:i(?:'d| would) (?:much |really |always )*"
    r"(?:rather|prefer (?:it )?(?:if|when|that)|(?:like|love|appreciate) it if)"
    r"|it(?:'d| would) be (?:better|nicer|great|good|nice) if) (?:you|u) ((?:always |never |only )?)([a-z]+) (?=\w)"
)

# "Verwende bitte keine", "use please only"; not "write please in the subject".
_ASIDE = compiled(
    r"^(?!(?:say|write|add|include|put|sag|schreib|di|escribe|dis|écris)\w*\b)([\w'’-]+),? "
    r"(?:please|pls|bitte|por favor|s'il (?:te|vous) pla[iî]t|stp|svp),? (?=\w)"
)
_REQUEST = compiled(
    r"^¿?(?:can|could|would|(?:is|would) it (?:be )?possible|will (?:you|we)"
    r"|(?:kannst|könntest|magst|würdest|willst) du"
    r"|tu (?:peux|pourrais)|(?:peux|pourrais)-tu|(?:pouvez|pourriez)-vous|puedes|podrías|podés"
    r"|(?:você )?(?:pode|poderia|consegue)|puoi|potresti|(?:kun|kan|wil|zou) je) "
)
_GERUND = compiled(
    r"^(?:stop|quit|(?:you|u) (?:keep(?: on)?|are always|always keep)) (?!say|claim|tell)([a-z-]+)ing\b(.*)$"
)
_STANDS_ALONE = compiled(
    r"^always (?:in|as|with|by|on|at|the) |^(?:always|immer|siempre|sempre|toujours) --?[a-z]|.*\b(?:mine|myself)\b"
    r"|^be (?:more |less |very )?\w+"
)
_COMMA = re.compile(r",\s+")
# What only says where, when or how, without a comma, after which the order would come.
_FRAGMENT = compiled(
    r"^(?:(?:always|never|only|just|not|do not|but|and|also|even|except|or) )*"
    r"(?:(?P<when>where|when|whenever|if|unless|except|until)|in|on|at|as|with|without|for|from|to|by|below|above|under"
    r"|before|after|between|inside|outside|during|per|even) (?!general\b|doubt\b|addition\b|short\b)(?=[^,;:]+$)"
)
_STATES = compiled(
    r"\b(?:no|never|not|always|only|must|should|is|are|be|goes?|belongs?|has|have|means?|stays?|comes?)\b"
)
_BEFORE_NOUNS = frozenset(
    "a an the each every all any my our your its this that these no of i you we they it to".split()  # noqa: SIM905
)
_ONE_NAME = re.compile(r"[A-Za-z][\w.-]*")
_ENDS_IN_PATH = re.compile(r"(?:\s\.|/\.{1,3})$")  # "go vet ./...", "eslint ."
# In quotation marks from its start, and to its end if they are closed.
_QUOTED = re.compile(r"""`([^`]*)`?|"([^"]*)"?|“([^”]*)”?|'((?:[^']|\b'\b)*)'?""")
_APOSTROPHE = re.compile(r"\b'\b")
_UNTIL = compiled(r"\b(?:un)?till? ")
_COLON_COMMA = re.compile(r":\s?,")  # "our decision: from now on, always ..."
# After words for how long it holds, "you don't ..." is an order and no complaint.
_YOU_DO_NOT = compiled(
    r"^(?:you|u) (?:do not|don'?t) (?:ever )?(?!(?:have|want|need|know|get|like|care|own|see|think|mind|understand)\b)"
)
# What stays of "that's for all my projects" without the scope.
_LEFT_OVER = compiled(
    r"(?<!\s)(?:\s?[,;.–—-]+\s?(?:and )?(?:that|this|it)(?:['’]?s| is)"
    r"|\s?[,;.–—-]*\s(?:and )?(?:that|this|it) (?:goes|holds|applies|counts))[\s.!]*$"
)
# "Not lodash, we use native array methods": what is refused comes before the order.
_REFUSED_FIRST = compiled(
    r"^not ([^\s,;:.]{1,40}(?: [^\s,;:.]{1,40}){0,2}), (?:we (?:always |only |now )?|please )*(.+)$"
)
# "Ab sofort fragst du mich" would be a question without its first words.
_INVERTED = compiled(r"^\w+(?:st (?:du|bitte)|t ihr| je| jij| jullie)\b")
# The rest of "note that" after its verb is removed as an opener.
_NOTE_THAT = compiled(r"^that (?=(?:do not|don'?t|dont|never|always|only|you|we)\b)")
# Ends in a word that needs another: the "ok" in "without my ok" is no remark.
_DANGLING = compiled(
    r"\b(?:a|an|the|my|our|your|of|to|with|without|for|from|by|an?other|their|his|her|its|no|every|each|any|and|or|but)$"
)
_POLITE = compiled(r"[\s,]+(?:pls|plz)[.!]*")
# "Keep answers short. everywhere": the scope is no sentence of its own.
_SCOPE = compiled(
    r"\s?[.;!]+ (?=(?:everywhere|überall|no exceptions?|all of them|(?:(?:in|for|across|für|bei) (?:all|every|each|any"
    r"|jede)|only |nur )[^.;!]*|[^\s.;!]+(?: [^\s.;!]+){0,2} only)[.!,]*(?: |$))"
)
_COMMA_CAPITAL = re.compile(r"(?<=, )(?:Only|Everywhere|No|All|In|For|Across|Für|Bei|Nur|Überall)(?= )")
_LONE = compiled(
    r"(?<![\s,.;!–—-])\s?[,.;!–—-][\s,.;!–—-]{0,3}"
    r"(?:(ever|never|anywhere|nowhere|at all|nie|niemals|nirgends)|always|immer|period)[.!]*$"
)
_UNSPACED_CHARACTER = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]")
_LATIN_WORD = re.compile(r"[A-Za-z]+")


@value_class
class Phrase:
    """An instruction. `clear`: it can be understood in a skill, without the conversation around it."""

    text: str
    clear: bool


def phrase(match: Match) -> Phrase:
    """Return the instruction in `match`; not clear if it refers to other sentences or cannot become a command."""
    said = fold(match.said)[:_MAX_INPUT].rstrip("?？ ")
    told = match.language.reproach.sub("", said)
    said = _without_complaints(told if _says_enough(told) else said)
    lasting = _LASTING.sub("", said)
    said = lasting if _says_enough(lasting) else said
    remarks: tuple[Caseless | re.Pattern[str], ...] = (match.language.tags, *_REMARKS)
    for remark in remarks:
        shorter = remark.sub("", said).strip()
        polite = _POLITE.fullmatch(said.removeprefix(shorter))  # the "any" of "stop using any pls" is a type
        said = said if _DANGLING.search(shorter) and not polite else shorter
    carried = _carried_rule(said)
    written_elsewhere = match.cue is Cue.MEMORY and carried is None and any(place.search(said) for place in _PLACES)
    if written_elsewhere or match.cue is Cue.REMINDER:
        return Phrase(as_sentence(said), clear=False)
    text = _without_frame(carried or said, match)
    text = _YOU_DO_NOT.sub("do not ", text) if match.cue is Cue.LASTING else text
    text = _carried_rule(text) or text
    order = _as_command(text)
    text = order if match.language.code != "en" or begins_with_order(order) else with_verb(text, order)
    order = _ASIDE.sub(r"\1 ", text)
    text = order if _says_enough(order) else text
    for own_sake in () if match.cue is Cue.TAKEN_UP else _OWN_SAKES:  # the reason may be the only rejection
        shorter = own_sake.sub("", text)
        text = shorter if _says_enough(shorter) and not _DANGLING.search(shorter) else text
    mended = _MENDS.sub("", text)
    text = text if is_fragment(mended) else mended
    requested = bool(_REQUEST.match(said))
    asked = match.question and not requested
    begins = _COMMA.split(text, maxsplit=1)[0]  # words after a comma may refer to those before it
    states = match.language.code == "en" and not requested and any(one.search(text) for one in _STATEMENTS)
    leaning = states or any(one.search(begins) for one in _LEANING)
    leaning = leaning or said.endswith(CUT_OFF)
    clear = _says_enough(text) and len(text) <= _MAX_LENGTH and not asked and not leaning
    return Phrase(as_sentence(text), clear)


def begins_with_order(text: str) -> bool:
    """Whether the first word is a verb that orders begin with."""
    first = re.match(r"\W*([^\W\d_]+)", text)
    return first is not None and first[1].lower() in _ORDERS


def is_fragment(text: str) -> bool:
    """Whether an English rule is only a condition or a place, so that the words before it say of what.

    "Only where the why isn't obvious", "not in the summary", "as webp", "snake_case".
    """
    text = text.rstrip(".!")
    if _ONE_NAME.fullmatch(text):
        return True
    leads = _FRAGMENT.match(text)
    words = text[leads.end() :].lower().split() if leads else []
    orders = (now in _ORDERS and before not in _BEFORE_NOUNS for before, now in pairwise(words))
    return (
        leads is not None and not any(orders) and (leads["when"] is not None or not _STATES.search(text, leads.end()))
    )


def phrase_joined(match: Match) -> Phrase:
    """Return two clauses as they were said, since the second refers to the first."""
    text = fold(match.said).rstrip("?？ ")
    clear = _says_enough(text) and len(text) <= _MAX_LENGTH and not _DANGLING.search(text)
    return Phrase(as_sentence(text), clear)


def points_back(said: str) -> bool:
    """Whether words begin by pointing to those before them: "that is the order", "to the cent"."""
    return any(one.match(fold(said)) for one in _POINTS_BACK)


def tells_of_agent(said: str) -> bool:
    """Whether words begin like a remark on what the agent did or is: "you left out the photos"."""
    return any(one.match(fold(said)) for one in _TELLS_OF_AGENT)


def _says_enough(text: str) -> bool:
    """Whether `text` has content: two stems, or one with a negation ("no abbreviations") or enough words."""
    told = has_negation(text) or _STANDS_ALONE.match(text) or len(text.split()) >= _MIN_WORDS
    return len(stems(text)) >= _MIN_COUNT - bool(told)


def _without_complaints(said: str) -> str:
    """Return a clause without "I told you" and the like, and without words before it that are repeated after it."""
    for pattern in _TOLD_BEFORE:
        rest = pattern.sub("", said)
        said = rest if _says_enough(rest) else said
    for found in reversed(list(_COMPLAINT.finditer(said))):
        before, behind = said[: found.start()].rstrip(), said[found.end() :].lstrip(" ,;:–—-，、：。")
        if not _says_enough(f"{before} {behind}"):
            continue
        told_again = content_stems(before) <= content_stems(behind) and has_negation(before) <= has_negation(behind)
        colon = said[found.end() :].lstrip().startswith(":")
        seam = "" if not before or behind[:1] in {"", ".", "!"} else "; " if colon else ", "
        said = behind if told_again and _says_enough(behind) else f"{before}{seam}{behind}"
    return said


def _carried_rule(text: str) -> str | None:
    """Return the words after "add this to the skill:" and the like."""
    for carrier in _CARRIERS:
        found = carrier.match(text)
        if found and _says_enough(text[found.end() :]):
            return _without_outer_quotes(text[found.end() :])
    return None


def _without_outer_quotes(text: str) -> str:
    """Return `text` without the quotation marks around it, or one at its end that closes none within it."""
    text = text.strip()
    if quoted := _QUOTED.fullmatch(text):
        return quoted[quoted.lastindex or 0]
    last = text[-1:]
    marks = _APOSTROPHE.sub("", text)
    lone = marks.count("“") < marks.count("”") if last == "”" else marks.count(last) % 2
    return text[:-1] if last and last in "`\"'”" and lone else text


def _without_frame(text: str, match: Match) -> str:
    """Return `text` without "from now on", its introduction, and a task that it does not apply to."""
    text = _without_announcement(text, match)
    for kind in _FUTURE_KINDS:
        text = kind.sub(r"\1", text)
    cut = match.language.frames.sub(partial(_cut_frame, text), text).replace(" ,", ",")
    cut = cut if text.endswith(" .") else cut.removesuffix(" .")
    cut = cut if " . " in text else cut.replace(" . ", ". ")
    cut = _LEFT_OVER.sub("", cut) if cut != text else cut
    without = (cut if _COLON_COMMA.search(text) else _COLON_COMMA.sub(":", cut)).strip(" ,–—-，、")
    without = without if ends_in_prefix(without, 0, len(without)) else without.strip(" ,:–—-，、：")
    opener = match.language.openers.match(without)
    without = _NOTE_THAT.sub("", without[opener.end() if opener else 0 :])
    inverted = match.language.code in {"de", "nl"} and _INVERTED.match(without)
    return without if stems(without) and not inverted else text


def _cut_frame(text: str, start: int, end: int) -> str:
    """Return what stays of the words for how long a rule holds: its end, if they name one."""
    if _UNTIL.search(text[start:end]):
        return text[start:end]
    return ", " if text[start:end].startswith(",") and end < len(text) else " "  # "no mocks, from now on use"


def _without_announcement(text: str, match: Match) -> str:
    """Return the words after "a wish for all later pages:" if that is only an announcement."""
    head, colon, rest = text.partition(": ")
    framed = match.language.frames.search(head) or match.cue is Cue.MEMORY
    says_what = any(kind.match(head) for kind in _FUTURE_KINDS)  # "for all future reports: one page"
    others = content_stems(match.language.frames.sub(" ", head)) - match.language.saying
    announces = framed and not says_what and not others
    return rest if colon and announces and _says_enough(rest) else text


def _as_command(text: str) -> str:
    wished = _WISHED.match(text)
    if wished and (verb := _PRESENT.get(wished[2].lower())):
        text = f"{wished[1]}{verb} {text[wished.end() :]}"
    for _ in range(_MAX_HEADS):
        for pattern, head in _HEADS:
            if found := pattern.match(text):
                text = found.expand(head) + text[found.end() :]
                break
    text = re.sub(r"^do not (always|never|only) ", r"\1 ", text, flags=re.IGNORECASE)
    refused = _REFUSED_FIRST.match(text)
    if refused and begins_with_order(refused[2]):
        text = f"{refused[2]}, not {refused[1]}"
    text = re.sub(r"^not (?!only\b|just\b|.*\bbut\b)", "do not ", text, flags=re.IGNORECASE)
    gerund = _GERUND.match(text)
    return _as_prohibition(gerund[1], gerund[2]) if gerund else text


def _as_prohibition(stem: str, rest: str) -> str:
    """Return "do not add ..." for "adding ...", or "no adding ..." if the verb is unknown."""
    low = stem.lower()
    plain = next((verb for verb in (low, f"{low}e", low[:-1]) if verb in _VERBS), None)
    return f"do not {plain}{rest}" if plain else f"no {low}ing{rest}"


def _without_lone(text: str) -> str:
    """Return a rule without a lone "always." or "ever." after it; a "never" stays if nothing else forbids."""
    while lone := _LONE.search(text):
        rest = text[: lone.start()]
        if lone[1] and not has_negation(rest):
            break
        text = rest
    return text


def as_sentence(text: str) -> str:
    """Return `text` with a capital letter and a full stop, except for names and paths."""
    text = _COMMA_CAPITAL.sub(lambda found: found[0].lower(), _SCOPE.sub(", ", _without_lone(text.strip())))
    if _ENDS_IN_PATH.search(text):
        return capitalized(text)
    if text.count("(") > text.count(")"):  # the clause ends within the brackets
        text = text[: text.rindex("(")]
    end = text.rstrip(".!,; ")
    text = with_marked_prefixes(end) if ends_in_prefix(end, 0, len(end)) else text.rstrip(".!,;:，；： ")
    if not text:
        return text
    unspaced = len(_UNSPACED_CHARACTER.findall(text)) > 1.5 * len(_LATIN_WORD.findall(text))  # not one word in English
    korean = "\uac00" <= text[-1] <= "\ud7af"
    stop = "" if text[-1] in "。！？?…" else "。" if unspaced and not korean else "."
    return (text if unspaced else capitalized(text)) + stop
