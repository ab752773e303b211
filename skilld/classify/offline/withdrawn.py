"""What was said and withdrawn later in the same batch.

Updates and the turns after them in, the updates that still stand out.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from skilld.classify.contradiction import contradicts
from skilld.classify.offline.choices import TOPICS
from skilld.classify.offline.detector import MODEST, retractions
from skilld.types import Message, Update
from skilld.words import content_stems, denies, stems

_REACH = 2  # turns back that "scratch that" can mean when it names nothing
_NEAR = 4  # turns between a rule and its end
_SAID = 400  # characters of a turn that ends a rule
_PART = 5  # letters of a part of a compound
_BARE = 40  # characters of a clause that takes back whatever was said last
_TALK = stems(TOPICS["talk"])
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


# What says, beside a word of a rule, that it no longer holds; and what says so only if the agent then takes it out.
_TURNS_BACK = re.compile(
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
# How an agent begins that took something out again: "Removed from all three."
_UNDONE = re.compile(
    r"""(?:\S+\s){0,4}?\b(?:removed|reverted|undone|undid|restored|dropped|taken\ out|stays?|unchanged|(?:back
      |again)\b|as\ before|no\ longer|without|entfernt|rückgängig|zurück\w*|wieder|bleib\w+
      |retir[ée]\w*|revertid\w+|supprim[ée]\w*|enlev[ée]\w*|annul[ée]\w*|remis\w*|quitad\w+|eliminad\w+|deshech\w+
      |restaurad\w+|tolt[aeio]|rimoss\w+|ripristinat\w+|annullat\w+|removid\w+|desfeit\w+
      |verwijderd|hersteld|teruggezet|weer|usunięt\w+|cofnięt\w+|przywrócon\w+|odstraněn\w+|vrácen\w+|kaldırıldı
      |geri)\b
      |(?:\S+\s){0,4}?\S{0,9}(?:убра|удал|верн|отмен|по-прежнему|削除|戻し|外し|取り消|已(?:删|移|恢|去|撤)|삭제|되돌|뺐)""",
    re.IGNORECASE | re.VERBOSE,
)
# "no captcha", said of one's own order to have one.
_NONE_OF = re.compile(
    r"\b(?:no|kein(?:e[nrms]?)?|sin|pas de|sans|niente|nessun[ao]?|senza|sem|nada de|geen|zonder|bez|без|никаких)"
    r"\s([^\W\d_]{3,})",
    re.IGNORECASE,
)


def still_standing(updates: Sequence[Update], messages: Sequence[Message]) -> list[Update]:
    """Return `updates` without those that a later turn takes back, or replaces by an opposite one."""
    standing = list(updates)
    for message in messages:
        if message.turn is None:
            continue
        for clause in retractions(message.text):
            standing = _without(standing, message, clause)
    standing = [
        update
        for update in standing
        if not _given_up(update, messages, {one.turn for one in updates if one.confidence > MODEST})
    ]
    return [
        update
        for update in standing
        if not any(later.turn > update.turn and contradicts(later.change, update.change) for later in standing)
    ]


def _without(updates: list[Update], message: Message, clause: str) -> list[Update]:
    topic, turn = stems(clause) - _TALK, message.turn or 0
    begins = message.text.find(clause)
    earlier = [
        update
        for update in updates
        if update.turn < turn or (update.turn == turn and message.text.find(update.quote) < begins)
    ]
    named = [update for update in earlier if topic & stems(update.quote)]
    if not named and (_DEICTIC.search(clause) or (begins == 0 and len(clause) <= _BARE)):
        near = [update for update in earlier if turn - update.turn <= _REACH]
        # What is objected in the same breath is why: "all boxes on screen, unreadable. back to English".
        whys = [update for update in near if update.turn == turn and update.confidence <= MODEST]
        named = [*near[: len(near) - len(whys)][-1:], *whys]
    return [update for update in updates if update not in named]


def _given_up(update: Update, messages: Sequence[Message], rules_in: Collection[int]) -> bool:
    """Whether a later turn turns back what an update says: by name, or as the agent's answer to it shows."""
    for index, message in enumerate(messages):
        turn, said = message.turn or 0, message.text[:_SAID]
        back = None if turn <= update.turn or turn in rules_in else _TURNS_BACK.search(said)
        if back is None:
            continue
        answer = messages[index + 1].text if index + 1 < len(messages) else ""
        undone = turn - update.turn <= _NEAR and _UNDONE.match(answer)
        outright = any(one["outright"] for one in _TURNS_BACK.finditer(said))
        if undone or (outright and _names(said, update.quote)):
            return True
    return any(one.turn and one.turn > update.turn and _refuses(one.text[:_SAID], update) for one in messages)


def _refuses(text: str, update: Update) -> bool:
    """Whether a text refuses a thing that an update asked for by its name."""
    asked = content_stems(update.change) - _TALK
    return not denies(update.change) and any(content_stems(one) & asked for one in _NONE_OF.findall(text))


def _names(text: str, quote: str) -> bool:
    """Whether a text names something of a quote, a compound by its last part: "the number" for "telephone number"."""
    said, rule = content_stems(text) - _TALK, content_stems(quote) - _TALK
    longer = {(one, other) for one in said for other in rule if min(len(one), len(other)) >= _PART}
    return bool(said & rule) or any(one.endswith(other) or other.endswith(one) for one, other in longer)
