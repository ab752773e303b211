"""Removes updates that the person took back later in the same batch, and finds what takes back an earlier rule."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from skilld.classify.contradiction import contradicts
from skilld.classify.offline.choices import TOPICS
from skilld.classify.offline.detector import MODEST_STRENGTH, find_retractions
from skilld.classify.offline.grammar import languages
from skilld.text import split_sentences
from skilld.types import Message, Update
from skilld.words import content_stems, has_negation, stems

_MAX_TURNS_BACK = 2  # "scratch that" can refer to so many turns back if it names nothing
_MAX_TURNS_UNTIL_UNDONE = 4  # between a rule and its retraction
_MAX_LENGTH = 400  # characters considered of a turn that retracts a rule
_MIN_COMPOUND_PART = 5  # letters
_MAX_BARE_CLAUSE = 40  # characters of a clause that retracts the last thing said, whatever it was
_TALK_STEMS = stems(TOPICS["talk"])
_DEICTIC = re.compile(
    r"\b(?:that|it|this|eso|esto|lo|isso|isto|ça|cela|quello|das|это|to)\b|那|这|這|刚才|剛才|それ|さっき|아까|算了|やっぱ|취소|"
    r"never ?mind|what i\b|lo que dije|(?:go(?:ing)? )?back to|as (?:you|it|they) (?:were|was)|"
    r"roll(?:ed)? (?:it|that|this|them) back|"
    r"lass es|laat maar|laisse tomber|lascia (?:stare|perdere)|d[eé]jalo|deixa (?:pra|para) l[aá]|"
    r"then (?:not|no)|olv[ií]date|esquece|forget|oublie|vergiss|забудь|zapome|zapomn|отмен|"
    r"как (?:было|раньше)|com[oe] (?:antes|estaba|estava|prima|era)|"
    r"comme avant|wie (?:vorher|es war)|zoals het was|jak (?:to )?(?:było|bylo)|eskisi gibi|原来|原來|元(?:に|の)|원래|"
    r"\b(?:revert|undo|keep the|leave the|rückgängig|zurück|beim alten|vuelve|deshaz|quedamos|garde|remets|reviens|"
    r"annulla|ripristina|torna|teniamo|terug|ongedaan|volt[ae]|desfa[zç]|revert[ae]|fica como|cofam|wycof|wróć|"
    r"przywróć|zpět|zpátky|откат|верни|верн[её]м|по-старому|geri al|eski|önceki|hoàn tác|quay lại|như cũ|wapas|"
    r"rehne do|pehle jaisa)|戻|前のまま|되돌|돌려놔|撤|回[滚滾]",
    re.IGNORECASE,
)


# Words that, with a word of a rule, say that it no longer holds; those outside of `outright` only if the agent then
# removes it.
_REVERSAL = re.compile(
    r"""(?P<outright>\b(?:out\ (?:again|with\ (?:it|them|that))|forget|throw|drop|scrap|take\ (?:it|them
      |that)\ (?:out|off)|undo|as\ (?:it|they|we)\ (?:was|were|had)
        |like\ before|after\ all|never\ ?mind|on\ reflection|(?:not|n't)\ worth|(?:are|is)\ fine\ then|let\ it\b
        |weg\ damit|raus|wieder\ weg|vergiss|doch\ (?:nicht|lieber)|wie\ (?:vorher|gehabt|bisher)|lass\w*
        |enl[èe]ve\w*|oubli\w+|finalement|comme\ avant|qu[íi]t(?:a|e)\w*|olv[íi]d\w+|al\ final|mejor\ no
        |togli\w*|come\ (?:non\ detto|prima)|com'er\w+
        |tira\w*|esque[cç]\w+|afinal|melhor\ n[ãa]o|toch\ (?:niet|maar)|vergeet|jednak\ nie|zapomnij|usuń
        |přece\ jen|zapomeň|vazgeç\w*|thôi)\b
        |забуд|убер|вс[её]-таки|отмен|不要了|算了|取消|去掉|やっぱ|やめ|취소|빼)
      | \b(?:back\ to|remove|stays?|normal|plain|nonsense|wrong|mistake|sorry|my\ bad|idea|instead|no\ more
      |without|leave|again|weg|bleib\w*|quatsch|fehler
        |falsch\w*|zurück|ohne|nimm|wieder|retire\w*|revien\w*|remets|laisse\w*|avant|annule\w*|vuelve\w*
        |d[ée]ja\w*|como\ (?:estaba\w*|antes)|sin|error
        |lasci\w+|torna\w*|resta(?:no)?|niente|sbagliat\w+|volta\w*|deixa\w*|sem|laat|terug|zonder|haal|wróć\w*
        |zostaw\w*|bez|vrať\w*|nech\w*|geri|kaldır\w*|bỏ)\b
      | верн|ошиб|оставь|без|不要|还是|還是|恢复|恢復|删|なし|戻|間違|되돌|그냥|원래""",
    re.IGNORECASE | re.VERBOSE,
)
# The beginning of an agent's message after removing something: "Removed from all three."
_UNDO_REPORT = re.compile(
    r"""(?:\S+\s){0,4}?\b(?:removed|reverted|undone|undid|restored|dropped|taken\ out|stays?|unchanged|(?:back
      |again)\b|as\ before|no\ longer|without|entfernt|rückgängig|zurück\w*|wieder|bleib\w+
      |retir[ée]\w*|revertid\w+|supprim[ée]\w*|enlev[ée]\w*|annul[ée]\w*|remis\w*|quitad\w+|eliminad\w+|deshech\w+
      |restaurad\w+|tolt[aeio]|rimoss\w+|ripristinat\w+|annullat\w+|removid\w+|desfeit\w+
      |verwijderd|hersteld|teruggezet|weer|usunięt\w+|cofnięt\w+|przywrócon\w+|odstraněn\w+|vrácen\w+|kaldırıldı
      |geri)\b
      |(?:\S+\s){0,4}?\S{0,9}(?:убра|удал|верн|отмен|по-прежнему|削除|戻し|外し|取り消|已(?:删|移|恢|去|撤)|삭제|되돌|뺐)""",
    re.IGNORECASE | re.VERBOSE,
)
# "no captcha", after the person's own order to have one.
_REFUSED_THING = re.compile(
    r"\b(?:no|kein(?:e[nrms]?)?|sin|pas de|sans|niente|nessun[ao]?|senza|sem|nada de|geen|zonder|bez|без|никаких)"
    r"\s([^\W\d_]{3,})",
    re.IGNORECASE,
)


def without_retracted(updates: Sequence[Update], messages: Sequence[Message]) -> list[Update]:
    """Return `updates` without those that a later turn retracts or contradicts."""
    standing = list(updates)
    for message in messages:
        if message.turn is None:
            continue
        for clause in find_retractions(message.text):
            standing = _remove_retracted(standing, message, clause)
    standing = [
        update
        for update in standing
        if not _is_reversed(update, messages, {one.turn for one in updates if one.confidence > MODEST_STRENGTH})
    ]
    return [
        update
        for update in standing
        if not any(later.turn > update.turn and contradicts(later.change, update.change) for later in standing)
        and not any(one.turn and one.turn > update.turn and _letting_go(one.text, update) for one in messages)
    ]


# That something no longer holds, in many languages.
_NO_LONGER = re.compile(
    r"\b(?:any ?more|any longer|no longer|not needed|no need|nicht mehr|kein\w{0,3} mehr|nicht nötig|ya no"
    r"|n(?:e |')\w{1,20} plus|plus besoin|non \w{1,20} più|più bisogno|mais não|não \w{1,20} mais|não precisa|niet meer"
    r"|geen \w{1,20} meer|już nie|nie trzeba|už ne)\b"
    r"|больше не|не нужн|不再|不用再|もう\w{0,12}(?:ない|不要|いらない)|더 이상",
    re.IGNORECASE,
)
# To leave out again what a rule asked for, and words that say that this holds from now on: "drop it" alone is a task,
# and "you dropped it again" a complaint.
_LETTING_GO = re.compile(
    r"""(?<!you\ )(?<!\bu\ )(?<!they\ )(?<!it\ )(?<!\bi\ )\b(?:
        drop|skip|omit|remove|ditch|(?:leave|take)(?:\ out\b|\b(?=.{2,60}\ out\b))
      |(?:can|may)\ (?:go|be\ (?:dropped|left\ out|omitted|skipped|removed))
      |weglassen|streichen|rausnehmen|kann\ weg|lass(?:e|t|en\ (?:sie|wir))?\b(?=.{2,60}\ weg\b)
      |enlever?|enl[èe]ve|retirer?|supprimer?|omettre|quitar?|omitir|eliminar?|tirar?|tire|remover?|omita|togliere|togli
      |omettere|weglaten|schrappen|pomijać|pomiń|vynech(?:at|ej))\b
      |убрать|убери|опустить|опускать|(?:可以|以后|今后)(?=.{0,12}(?:去掉|省略|省掉|拿掉|不写))
      |(?:省い|省略し|外し)て(?:も)?(?:いい|よい|ください)|なくて(?:も)?いい|빼(?:도|고|주)""",
    re.IGNORECASE | re.VERBOSE,
)
_HENCEFORTH = re.compile(
    r"""\b(?:again|from\ now(?:\ on)?|going\ forward|in\ (?:the\ )?future|any\ ?more
      |wieder|ab\ (?:jetzt|sofort|heute)|künftig|in\ zukunft|de\ nouveau|désormais|à\ l'avenir
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
_MIN_NAMED = 2  # content words of a rule, by which words without "forget" name it


def taking_back(said: str, rule: Update) -> str:
    """Return the clause of a person's later words that takes a rule back by naming it; empty if none does.

    Unlike in one batch, "scratch that" means something else.
    """
    known = content_stems(f"{rule.quote} {rule.change}") - _TALK_STEMS
    for clause in find_retractions(said):
        bare = clause
        for language in languages().values():
            bare = language.retracts.sub(" ", bare)
        topic = content_stems(bare) - _TALK_STEMS
        if topic & known and len(topic & known) * 2 >= len(topic) and not _is_for_now(clause):
            return clause
    if let_go := _letting_go(said, rule):
        return let_go
    affirms = not has_negation(rule.change)
    named = (one for one in split_sentences(said[:_MAX_LENGTH]) if len(content_stems(one) & known) >= _MIN_NAMED)
    return next((one for one in named if affirms and _NO_LONGER.search(one) and not _is_for_now(one)), "")


def _letting_go(said: str, rule: Update) -> str:
    """Return the sentence that says that what a rule asks for is left out again, and names nothing else."""
    known = content_stems(f"{rule.quote} {rule.change}")
    if has_negation(rule.change):
        return ""
    for one in split_sentences(said[:_MAX_LENGTH]):
        lets_go = _LETTING_GO.search(one) and _HENCEFORTH.search(one)
        if not lets_go or has_negation(one) or one.rstrip().endswith(("?", "？")):
            continue
        bare = _PERMITTED.sub(" ", _HENCEFORTH.sub(" ", _LETTING_GO.sub(" ", one)))
        topic = content_stems(bare) - _TALK_STEMS
        if topic and topic <= known and not _is_for_now(one):
            return one
    return ""


def _is_for_now(text: str) -> bool:
    return any(language.meanwhile.search(text) for language in languages().values())


def _remove_retracted(updates: list[Update], message: Message, clause: str) -> list[Update]:
    topic, turn = stems(clause) - _TALK_STEMS, message.turn or 0
    begins = message.text.find(clause)
    earlier = [
        update
        for update in updates
        if update.turn < turn
        or (update.turn == turn and 0 <= message.text.find(update.quote) <= begins - len(update.quote))
    ]
    named = [update for update in earlier if topic & stems(update.quote)]
    if not named and (_DEICTIC.search(clause) or (begins == 0 and len(clause) <= _MAX_BARE_CLAUSE)):
        near = [update for update in earlier if turn - update.turn <= _MAX_TURNS_BACK]
        # An objection in the same turn is the reason: "all boxes on screen, unreadable. back to English".
        whys = [update for update in near if update.turn == turn and update.confidence <= MODEST_STRENGTH]
        named = [*near[: len(near) - len(whys)][-1:], *whys]
    return [update for update in updates if update not in named]


def _is_reversed(update: Update, messages: Sequence[Message], rules_in: Collection[int]) -> bool:
    """Whether a later turn reverses an update: by name, or according to the agent's answer."""
    for index, message in enumerate(messages):
        turn, said = message.turn or 0, message.text[:_MAX_LENGTH]
        back = None if turn <= update.turn or turn in rules_in else _REVERSAL.search(said)
        if back is None:
            continue
        answer = messages[index + 1].text if index + 1 < len(messages) else ""
        undone = turn - update.turn <= _MAX_TURNS_UNTIL_UNDONE and _UNDO_REPORT.match(answer)
        outright = any(one["outright"] for one in _REVERSAL.finditer(said))
        if undone or (outright and _names_quote(said, update.quote)):
            return True
    return any(one.turn and one.turn > update.turn and _refuses(one.text[:_MAX_LENGTH], update) for one in messages)


def _refuses(text: str, update: Update) -> bool:
    """Whether a text refuses by name something that an update asked for."""
    asked = content_stems(update.change) - _TALK_STEMS
    return not has_negation(update.change) and any(content_stems(one) & asked for one in _REFUSED_THING.findall(text))


def _names_quote(text: str, quote: str) -> bool:
    """Whether a text names something in a quote; a compound also by its last part, as in other languages."""
    said, rule = content_stems(text) - _TALK_STEMS, content_stems(quote) - _TALK_STEMS
    longer = {(one, other) for one in said for other in rule if min(len(one), len(other)) >= _MIN_COMPOUND_PART}
    return bool(said & rule) or any(one.endswith(other) or other.endswith(one) for one, other in longer)
