"""Words that drop a rule given earlier: what they name, and which rule that is. Pure."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from skilld.classify.contradiction import contradicts
from skilld.classify.offline.choices import TOPICS, WORD
from skilld.classify.offline.detector import find_lasting, find_retractions
from skilld.classify.offline.grammar import languages
from skilld.classify.offline.phrasing import begins_with_order
from skilld.classify.offline.product import likely_languages
from skilld.classify.offline.sentences import CHANGE_OF_MIND
from skilld.classify.said_already import is_same_change
from skilld.text import split_sentences
from skilld.types import Kind, Update
from skilld.values import value_class
from skilld.words import content_stems, has_negation, has_unspaced, is_other_language, matching_words, stem, stems

_OTHERS = re.compile(
    r"\W*(?:(?:and|but|und|et|mais|y|pero|e|ma|mas)\W+)?"
    r"(?:the (?:rest|others?)|everything else|all (?:the )?others?|(?:der|den) rest|alles andere|alle anderen|le reste"
    r"|les autres|tout le reste|el resto|lo demás|los demás|il resto|gli altri|o resto|os outros|de rest)\b",
    re.IGNORECASE,
)
MAX_LENGTH = 400  # characters considered of a turn that retracts a rule
TALK_STEMS = frozenset(map(stem, TOPICS["talk"].split()))

# That something no longer holds, in many languages.
_NO_LONGER = re.compile(
    r"\b(?:any ?more|any longer|no longer|no more|not needed|no need|nicht mehr|kein\w{0,3} (?:\w+ )?mehr|nicht nötig"
    r"|ya no|n(?:e |')\w{1,20} plus|plus besoin|non \w{1,20} più|più bisogno|mais não|não \w{1,20} mais|não precisa"
    r"|já não (?:precis\w+|é (?:preciso|necess\w+)|t[eê]\w+ (?:de|que))"
    r"|niet meer|geen \w{1,20} meer|już nie|nie trzeba|už ne)\b"
    r"|больше не|не нужн|不再|不用再|もう\w{0,12}(?:ない|不要|いらない)|더 이상",
    re.IGNORECASE,
)
# "You need not" lets go of a rule; "do not ... any more" forbids.
_NEEDLESS = re.compile(
    r"\b(?:needs?|needed|have to|has to|necessary|brauch\w*|muss\w*|müss\w+|nötig|notwendig|besoin|nécessaire|oblig\w+"
    r"|falta|t(?:ien|en|em)\w* (?:que|de)\b"
    r"|necesit\w+|necesari\w+|precis\w+|necess\w+|serv\w+|devi|bisogn\w+|hoef\w*|nodig|trzeba|musisz"
    r"|musíš|třeba)\b|нужн|надо|不用|不需要|いらない|不要|필요",
    re.IGNORECASE,
)
# To leave out again what a rule asked for, and words that say that this holds from now on: "drop it" alone is a task,
# and "you dropped it again" a complaint.
_LETTING_GO = re.compile(
    r"""(?<!you\ )(?<!\bu\ )(?<!they\ )(?<!it\ )(?<!\bi\ )\b(?:
        drop|skip|omit|remove|ditch|(?:leave|take)(?:\ out\b|\b(?=.{2,60}\ out\b))
      |(?:can|may)\ (?:go|be\ (?:dropped|left\ out|omitted|skipped|removed))
      |weglassen|streichen|rausnehmen|sparen|kann\ weg|lass(?:e|t|en\ (?:sie|wir))?\b(?=.{2,60}\ weg\b)
      |nimm\b(?=.{2,60}\ (?:raus|heraus|weg)\b)|vergessen
      |enlever?|enl[èe]ve|retirer?|supprimer?|omettre|quitar?|omitir|eliminar?|tirar?|tire|remover?|omita|togliere|togli
      |omettere|weglaten|schrappen|pomijać|pomiń|vynech(?:at|ej))\b
      |убрать|убери|опустить|опускать|(?:可以|以后|今后)(?=.{0,12}(?:去掉|省略|省掉|拿掉|不写))
      |(?:省い|省略し|外し)て(?:も)?(?:いい|よい|ください)|なくて(?:も)?いい|빼(?:도|고|주)""",
    re.IGNORECASE | re.VERBOSE,
)
_HENCEFORTH = re.compile(
    r"""\b(?:again|from\ now(?:\ on)?|going\ forward|in\ (?:the\ )?future|any\ ?more
      |wieder|ab\ (?:jetzt|sofort|heute)|künftig|in\ zukunft|de\ nouveau|désormais|à\ l'avenir|à\ nouveau
      |ya|de\ nuevo|a\ partir\ de\ (?:ahora|agora)|de\ ahora\ en\ adelante|já|de\ novo
      |d'ora\ in\ (?:poi|avanti)|di\ nuovo|weer|voortaan|znowu|odtąd|znovu|už)\b
      |снова|опять|больше|впредь|以后|今后|又|再|了\W*$|もう|今後|これから|다시|이제|앞으로""",
    re.IGNORECASE | re.VERBOSE,
)
_PERMITTED = re.compile(
    r"""\b(?:(?:you|u|we)\ (?:can|may|could|might)|can|kannst\ du|k[öo]nnen\ wir|darfst?\ du
      |tu\ peux|(?:vous|on)\ peu(?:t|vez)|puedes?|podemos|pode(?:s|mos)?|puoi|possiamo|(?:je|we)\ kunt|kun\ je|mag
      |możesz|můžeš)\b|можешь|можно|可以|去掉|省略|省掉|拿掉|不写|てもいい|ていい|でいい|도\ 돼""",
    re.IGNORECASE | re.VERBOSE,
)

_SUBJECT_SHARE = 0.2  # of a line's words, which a topic that it has as a whole makes up
_PART_SHARE = 0.34  # likewise, if it has only a part of the topic
_TOPIC_PART, _ORDER_PART = 0.75, 0.6  # of a topic's words, from which a part of it still means the line
_MOST = 0.51  # of a topic's words, which a rule must have if the words may be about a thing of the same name
_MIN_NAMED = 2  # content words of a rule, by which words that name more say that it holds no longer
_WITHOUT = re.compile(r"\b(?:without|ohne|sin|sans|senza|sem|zonder|bez|без)\b", re.IGNORECASE)
_MAX_UNNAMED = 1  # such as a verb in another form
# "Prettier does not work any more" is a report.
_FAILS = re.compile(
    r"\b(?:(?<!the )(?<!\ba )(?:works?|working|builds?|starts?|compiles?)|broken|läuft|laufen(?! lassen)|geht|klappt"
    r"|funktionier\w*|marche\w*|fonctionn\w*|funciona\w*|va|funziona\w*|werkt|werken|działa\w*|funguj\w*)\b|работа",
    re.IGNORECASE,
)
# Names a rule as such, or what was said: "the prettier rule", "das mit prettier", "lo de prettier".
OF_RULE = re.compile(
    r"""\b(?:(?:the|that|this|your|my)\ (?:[\w/.-]+\ ){1,4}(?:rule|thing|stuff|bit|step|idea)|das\ mit|dat\ met|lo\ de
      |l['’]histoire\ d|le\ truc|o\ negócio|a\ coisa|la\ storia|quella\ cosa|(?:regel|règle|regla|regra|regola)\b
      |(?:about|what\ i\ said))\b""",
    re.IGNORECASE | re.VERBOSE,
)

# One thing that is in view, or that the person does now: "the caption on this table, I'll write it".
_AT_HAND = re.compile(
    r"""\b(?:forget|vergiss|oublie|olvida|dimentica|esque[cç]e|vergeet)\ (?!it\b|that\b|this\b|das\b|es\b|about\b)(?:
        .{2,80}\b(?:on|in|for|from|of|at|auf|bei|sur|dans|en|su)\ (?:this|these|dies\w*|cet?(?:te)?|est[ea])
          \ (?!repo|proj|pro[gj]et|code)\w
      |.{2,80}\b(?:i['’]?ll|i\ will|i\ can|i['’]?m)\ (?:\w+\ )?\w+\ (?:it|that|this|them|those|one)\b
      |.{2,80}\b(?:myself|selbst|selber|moi-m[eê]me|yo\ mism[oa]|(?:hago|escribo)\ yo|io\ stess[oa]|eu\ mesm[oa]
          |zelf)\b)
      """,
    re.IGNORECASE | re.VERBOSE,
)
_COMPOUND = re.compile(r"(?<![^\W\d_])[^\W\d_]{1,30}(?:-[^\W\d_]{1,30}){1,4}")
SEVERAL = re.compile(
    r"\b(?:all|both|everything|anything|rules|alle[ns]?|beide|regeln|tou(?:t|te|tes|s)|règles|tod[oa]s?|reglas|regras|tutt[aeio]"
    r"|regole|regels|wszystk\w+|zasady|všechn\w+|pravidla)\b|вс[её]\b|правила|全部|所有|全て|すべて|모두|모든",
    re.IGNORECASE,
)
_DATA = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
MIND = re.compile(CHANGE_OF_MIND, re.IGNORECASE)
EARLIER_WORDS, _CANCELLED, _KEPT = (
    re.compile(rf"\b(?:{'|'.join(_DATA[name])})\b|{'|'.join(_DATA[f'{name}_unspaced'])}", re.IGNORECASE)
    for name in ("earlier", "cancelled", "kept")
)
_JOINED = re.compile(r"\A\W*(?:(?:and|also|please|then|so|now|just|always)\b\W*)+", re.IGNORECASE)
_FORGET_ABOUT = re.compile(_DATA["forget_about"], re.IGNORECASE)
_STRETCH_END = re.compile(r"[,;:](?=\s)|\s[-–—](?=\s)")
REACTION_STEMS = frozenset(map(stem, _DATA["reactions"].split()))
_LINKS = re.compile(rf"\b(?:{'|'.join(_DATA['links'].split())})\b", re.IGNORECASE)


def is_about_the_rest(clause: str) -> bool:
    """Whether a clause is about everything else: "the rest stays as it was" leaves the rule before it alone."""
    return _OTHERS.match(clause) is not None


def cancelled_topic(sentence: str) -> str:
    """Return what remains of a sentence by which a person takes back earlier words or a rule; else an empty text.

    What follows a comma after the topic says what holds instead: "forget what I said about tabs, they are fine".
    """
    if sentence.rstrip().endswith(("?", "？")):
        return ""
    found = _CANCELLED.search(sentence)
    end = _STRETCH_END.search(sentence, found.end()) if found else None
    if end and (bare := _topic_words(sentence[: end.start()])) and content_stems(bare) - TALK_STEMS:
        return bare
    return _topic_words(sentence)


def _topic_words(sentence: str) -> str:
    if EARLIER_WORDS.search(sentence) and _CANCELLED.search(sentence):
        return _LINKS.sub(" ", EARLIER_WORDS.sub(" ", _CANCELLED.sub(" ", sentence)))
    return _CANCELLED.sub(" ", sentence) if _FORGET_ABOUT.match(sentence) else ""


@value_class
class Release:
    """A clause that says that a rule no longer holds, and what it names.

    `before` is the part of the clause before the words that let go, `share` how much of what it names the rule must
    have, `of_order` whether it lets go of something that was to be done, `lasting` whether it holds for all time to
    come and not only for words that were just said. `replaced` says that a new rule stands beside it, which holds
    instead.
    """

    clause: str
    topic: frozenset[str]
    share: float
    of_order: bool
    lasting: bool
    before: str = ""
    replaced: bool = False

    def fits(self, rule: str) -> bool:
        """Whether it names this rule, and does not ask for the same once more."""
        if self._asks_for(rule):
            return False
        least = min(_MIN_NAMED, len(self.topic)) if self.of_order else 1
        return self.named(rule) >= max(least, self.share * len(self.topic))

    def keeps(self, rule: str) -> bool:
        """Whether it says that a rule stays, or names its removal: "keep the tag rule after all"."""
        parts = (one for one in _STRETCH_END.split(self.clause) if not is_about_the_rest(one))
        said = {word.casefold() for one in parts for word in _KEPT.findall(one)}
        return not said <= {*WORD.findall(rule.casefold())}

    def named(self, rule: str) -> int:
        """Return how many of its words a rule has; of "force-push" all or none."""
        return len(without_halves(self.clause, matching_words(self.topic, content_stems(rule) - TALK_STEMS)))

    def _asks_for(self, rule: str) -> bool:
        """Whether it is an order to follow this rule: "tag every release, we need that to roll back".

        What lets go of a rule after an order names it, if the order does not say the opposite: "forget the tag rule".
        """
        order = _STRETCH_END.split(_JOINED.sub("", self.before))[0]
        if not begins_with_order(order) or has_negation(order) is not has_negation(rule):
            return False
        named, rest = (content_stems(one) - TALK_STEMS for one in (order, self.clause.removeprefix(self.before)))
        known = content_stems(rule) - TALK_STEMS
        return bool(named & known) and not rest & known and not contradicts(order, rule)

    def is_subject_of(self, line: str) -> bool:
        """Whether what it names is what a line is about, and not one word of many."""
        named, words = self.named(line), len(content_stems(line) - TALK_STEMS)
        if named == len(self.topic):
            return named >= _SUBJECT_SHARE * words
        least = _ORDER_PART if self.of_order else _TOPIC_PART  # an order has words of its own: "to add", "to run"
        return self.fits(line) and named >= max(least * len(self.topic), _PART_SHARE * words)


@lru_cache(maxsize=64)  # the words of one turn are compared with each rule
def releases(said: str) -> tuple[Release, ...]:
    """Return the clauses of a person's words that say that something no longer holds."""
    found = [
        Release(
            one,
            _topic(one),
            0.5 if (lasting := bool(OF_RULE.search(one) or _HENCEFORTH.search(one))) else _MOST,
            of_order=False,
            lasting=lasting,
            before=_before_retraction(one),
            replaced=MIND.search(one) is not None and bool(find_lasting(said)),
        )
        for one in find_retractions(said)
    ]
    for one in split_sentences(said[:MAX_LENGTH]):
        if bare := cancelled_topic(one):
            found.append(Release(one, content_stems(bare) - TALK_STEMS, 0.5, of_order=False, lasting=True))
        if one.rstrip().endswith(("?", "？")) or _FAILS.search(one):
            continue
        if gone := _NO_LONGER.search(one):
            lasting = bool(_NEEDLESS.search(one))
            found.append(Release(one, _topic(one), 0.0, of_order=True, lasting=lasting, before=one[: gone.start()]))
            continue
        gone, of_rule = _LETTING_GO.search(one), bool(OF_RULE.search(one))
        henceforth = _HENCEFORTH.search(one)
        if gone and not has_negation(one) and (henceforth or of_rule):
            reason = _STRETCH_END.search(one, max(gone.end(), henceforth.end() if henceforth else 0))
            bare = one[: reason.start()] if reason else one
            bare = _PERMITTED.sub(" ", _HENCEFORTH.sub(" ", _LETTING_GO.sub(" ", bare)))
            found.append(Release(one, _topic(bare), 0.5 if of_rule else 1.0, of_order=True, lasting=True))
    return tuple(one for one in found if one.topic and not is_for_now(one.clause) and not is_at_hand(one.clause))


def lets_go(change: str) -> bool:
    """Whether a change begins by saying that a rule no longer holds, and orders nothing, so no line should say it.

    "Amounts are numbers; the string rule no longer holds" says first what does hold.
    """
    found = (one for one in releases(change) if one.lasting and change.startswith(one.clause))
    return any(not any(map(begins_with_order, (one.before, change.removeprefix(one.clause)))) for one in found)


def _before_retraction(clause: str) -> str:
    found = (language.retracts.search(clause) for language in likely_languages(clause) or languages().values())
    return clause[: min((one.start() for one in found if one), default=0)]


def _topic(text: str) -> frozenset[str]:
    for language in likely_languages(text) if has_unspaced(text) else ():
        text = language.retracts.sub(" ", text)  # words are pairs of characters there
    return content_stems(text) - TALK_STEMS


def condition_of(rule: str) -> str:
    """Return what a ban asks for: "a review" of "never push without a review"; empty if it asks for nothing."""
    found = _WITHOUT.search(rule) if has_negation(rule) else None
    return rule[found.end() :] if found else ""


def without_halves(clause: str, shared: frozenset[str]) -> frozenset[str]:
    """Return shared words without those of a compound of which another is missing: "push" of "the force-push rule"."""
    for compound in map(stems, _COMPOUND.findall(clause)):
        shared = shared if compound <= shared else shared - compound
    return shared


def taking_back(said: str, rule: Update) -> str:
    """Return the clause of a person's later words that takes a rule back by naming it; empty if none does.

    Unlike in one batch, "scratch that" means something else.
    """
    return next((one.clause for one in releases(said) if _takes_back(one, rule)), "")


def _takes_back(released: Release, rule: Update) -> bool:
    known = f"{rule.quote} {rule.change}"
    if not released.fits(known):
        return False
    if rule.kind is Kind.REMOVE_STEP or any(one.lasting for one in releases(rule.change)):
        return released.keeps(known)  # words that take back the rule confirm that it ends
    denies = has_negation(rule.change) and not condition_of(rule.change)
    return not (released.of_order and denies)


def taken_back(said: str, rules: Sequence[Update]) -> list[tuple[Update, str]]:
    """Return those of several rules that a person's later words take back, each with the clause: those named best.

    None if a clause fits several different rules alike, unless it is about all of them.
    """
    found = ((one.clause, _meant_by(one, rules)) for one in releases(said))
    return [(rule, clause) for clause, meant in found if is_one(clause, meant) for rule in meant]


def unclear_releases(said: str, rules: Sequence[Update]) -> list[str]:
    """Return the clauses of a person's later words that take back one of several rules, and do not say which."""
    clear = {clause for _, clause in taken_back(said, rules)}
    found = [one.clause for one in releases(said) if not is_one(one.clause, _meant_by(one, rules))]
    return [one for one in dict.fromkeys(found) if not any(one in other or other in one for other in clear)]


def _meant_by(released: Release, rules: Sequence[Update]) -> list[Update]:
    fitting = [(released.named(f"{one.quote} {one.change}"), one) for one in rules if _takes_back(released, one)]
    if SEVERAL.search(released.clause):
        return [rule for _, rule in fitting]
    most = max((count for count, _ in fitting), default=0)
    return [rule for count, rule in fitting if count == most]


def is_one(clause: str, meant: Sequence[Update]) -> bool:
    """Whether rules that a clause fits alike are one rule, or the clause is about several."""
    return bool(SEVERAL.search(clause)) or all(is_same_change(one.change, meant[0].change) for one in meant[1:])


def confirming(said: str, removal: Update) -> str:
    """Return the clause of a person's words that drops a rule whose removal is proposed; empty if none does."""
    known = f"{removal.quote} {removal.change}" if removal.kind is Kind.REMOVE_STEP else ""
    return next((one.clause for one in releases(said) if one.fits(known) and not one.keeps(known)), "")


def only_takes_back(update: Update, rule: Update) -> bool:
    """Whether an update says no more than that a rule need not be followed any longer."""
    known = content_stems(f"{rule.quote} {rule.change}") - TALK_STEMS
    said = _topic(update.change)
    foreign = is_other_language(update.change, f"{rule.change} {rule.quote}")
    names_more = not foreign and len(said) - len(matching_words(said, known)) > _MAX_UNNAMED
    lasting = any(one.lasting and one.clause == taking_back(update.quote, rule) for one in releases(update.quote))
    return lasting and not names_more


def is_at_hand(clause: str) -> bool:
    """Whether a clause leaves out one thing in the current work, and names no rule: "the caption on this table"."""
    if OF_RULE.search(clause) or EARLIER_WORDS.search(clause) or _NO_LONGER.search(clause):
        return False
    return _AT_HAND.search(clause) is not None


def is_for_now(text: str) -> bool:
    """Whether a text says in any language that it holds only for now."""
    return any(language.holds_for_now(text) for language in languages().values())
