"""Removes updates that the person took back later in the same batch."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from skilld.classify.contradiction import contradicts
from skilld.classify.offline.choices import chosen_part
from skilld.classify.offline.detector import MODEST_STRENGTH, find_retractions
from skilld.classify.offline.own_answers import answers_no
from skilld.classify.offline.release import (
    EARLIER_WORDS,
    MAX_LENGTH,
    MIND,
    OF_RULE,
    REACTION_STEMS,
    SEVERAL,
    TALK_STEMS,
    cancelled_topic,
    condition_of,
    is_about_the_rest,
    is_at_hand,
    is_for_now,
    is_one,
    only_takes_back,
    releases,
    taken_back,
    without_halves,
)
from skilld.types import Message, Update
from skilld.words import content_stems, has_negation, stems

_MAX_TURNS_BACK = 2  # "scratch that" can refer to so many turns back if it names nothing
_MIN_SAID = 2  # content words in what was said since, which "forget it" then means
_MAX_TURNS_UNTIL_UNDONE = 4  # between a rule and its retraction
_MIN_COMPOUND_PART = 5  # letters
_MAX_BARE_CLAUSE = 40  # characters of a clause that retracts the last thing said, whatever it was
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
        |weg\ damit|raus|wieder\ weg|vergiss|doch\ (?:nicht|lieber)|wie\ (?:vorher|gehabt|bisher)
        |lass\w*(?!.{0,80}\blaufen\b)
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
# What is taken away is no longer there: after "use X, not Y", "drop Y" does what the rule says.
_TAKES_AWAY = re.compile(
    r"\b(?:drop|scrap|remove|throw|take\b.{1,60}\bout|weg|raus|nimm|enl[èe]ve|retire|qu[íi]t[ae]|togli|tira|usuń)|убер|去掉|删|빼",
    re.IGNORECASE,
)
_CLAUSE_END = re.compile(r"[,;.!?](?=\s)|\n|\b(?:and|und|et|y|e)\b")
# "Don't forget prettier", "why did you forget it?": the rule stays.
_REMINDS = re.compile(
    r"\b(?:do not|don['’]?t|never|not|ne|n['’]|nunca|no|não|nao|non|nie|не)\W+(?:\w+\W+)?"
    r"(?:forget|oubli|olvid|esque|dimentic|zapom|забы)"
    r"|\bverg(?:iss|eet)\b[^.!?\n]{0,80}\b(?:nicht|niet)\b"
    r"|\b(?:you|u|du|je|tu)\b[^.!?\n]{0,60}\bfor[gk]\w+[^.!\n]{0,60}\?",
    re.IGNORECASE,
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
# "no captcha", after the person's own order to have one; "it has no captcha" is only a report.
_REFUSED_THING = re.compile(
    r"(?:^|[,.;:!?\n–—(-][^\S\n]*+"
    r"|\b(?:please|but|and|then|so|ok|with|just|bitte|und|aber|dann|y|pero|et|mais|alors|ma|mas|en|maar)\s)"
    r"(?:no|kein(?:e[nrms]?)?|sin|pas de|sans|niente|nessun[ao]?|senza|sem|nada de|geen|zonder|bez|без|никаких)"
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
            if is_for_now(clause) or is_at_hand(clause) or is_about_the_rest(clause):
                continue
            standing = _remove_retracted(standing, messages, message, clause)
    standing = [
        update
        for update in standing
        if not _is_reversed(update, messages, {one.turn for one in updates if one.confidence > MODEST_STRENGTH})
    ]
    back = {
        id(rule): clause
        for message in messages
        for rule, clause in taken_back(
            message.text, [one for one in updates if message.turn and message.turn > one.turn]
        )
    }
    return [
        update
        for update in standing
        if not any(later.turn > update.turn and contradicts(later.change, update.change) for later in standing)
        and id(update) not in back
        and not any(one.turn == update.turn and answers_no(one.text, update.quote) for one in messages)
        and not any(id(one) in back and one.turn < update.turn and only_takes_back(update, one) for one in updates)
    ]


def _remove_retracted(
    updates: list[Update], messages: Sequence[Message], message: Message, clause: str
) -> list[Update]:
    turn, begins = message.turn or 0, message.text.find(clause)
    # Who changed their mind says in the same turn what holds now: "always use tabs, I changed my mind about that".
    instead = any(update.turn == turn for update in updates) and bool(MIND.search(clause))
    instead = instead and not find_retractions(MIND.sub(" ", clause))
    earlier = [
        one
        for one in updates
        if one.turn < turn
        or (one.turn == turn and not instead and 0 <= message.text.find(one.quote) <= begins - len(one.quote))
    ]
    named = _named(clause, earlier)
    if named and not is_one(clause, named):
        return updates  # it does not say which
    if not named and not instead and _is_bare(clause, begins):
        last = [update for update in earlier if turn - update.turn <= _MAX_TURNS_BACK][-1:]
        named = [one for one in last if not _says_something_since(one, messages, turn)]
    return [update for update in updates if update not in named]


def _says_something_since(update: Update, messages: Sequence[Message], turn: int) -> bool:
    """Whether another message came between a rule and a turn, which "forget it" then means: "make the title bold"."""
    between = (one.text for one in messages if one.turn and update.turn < one.turn < turn)
    return any(len(content_stems(text) - TALK_STEMS - REACTION_STEMS) >= _MIN_SAID for text in between)


def _is_bare(clause: str, begins: int) -> bool:
    """Whether a clause that retracts something names nothing, so that it means what was said last."""
    if EARLIER_WORDS.search(clause) and content_stems(cancelled_topic(clause)) - TALK_STEMS:
        return False  # "forget what I said about kebab-case", some other time
    return bool(_DEICTIC.search(clause)) or (begins == 0 and len(clause) <= _MAX_BARE_CLAUSE)


def _named(clause: str, earlier: Sequence[Update]) -> list[Update]:
    """Return the earlier updates that have most of the words of a clause; all with any if it is about several."""
    topic = stems(clause) - TALK_STEMS
    shared = [len(without_halves(clause, topic & stems(update.quote))) for update in earlier]
    least = 1 if SEVERAL.search(clause) else max(1, *shared, 1)
    return [update for update, count in zip(earlier, shared, strict=True) if count >= least]


def _is_reversed(update: Update, messages: Sequence[Message], rules_in: Collection[int]) -> bool:
    """Whether a later turn reverses an update: by name, or according to the agent's answer."""
    for index, message in enumerate(messages):
        turn, said = message.turn or 0, _without_following(message.text[:MAX_LENGTH], update.quote)
        back = None if turn <= update.turn or turn in rules_in else _REVERSAL.search(said)
        if back is None or _REMINDS.search(said):
            continue
        answer = messages[index + 1].text if index + 1 < len(messages) else ""
        undone = turn - update.turn <= _MAX_TURNS_UNTIL_UNDONE and _UNDO_REPORT.match(answer)
        # Which rule "the force-push rule" means was compared before.
        named = [one.clause for one in releases(said) if OF_RULE.search(one.clause)]
        outright = any(
            one["outright"] and not any(one[0] in clause for clause in named) for one in _REVERSAL.finditer(said)
        )
        once = is_for_now(said) or is_at_hand(said)
        if undone or (outright and not once and _names_quote(said, update.quote)):
            return True
    return any(one.turn and one.turn > update.turn and _refuses(one.text[:MAX_LENGTH], update) for one in messages)


def _without_following(text: str, quote: str) -> str:
    """Return a text without the clauses that take away what a rule refuses."""
    chosen = chosen_part(quote)
    asked = condition_of(quote) if has_negation(chosen) else chosen

    def follows(clause: str) -> bool:
        if not _TAKES_AWAY.search(clause) or OF_RULE.search(clause):
            return False
        return _names_quote(clause, quote) and not _names_quote(clause, asked)

    return ", ".join(one for one in _CLAUSE_END.split(text) if not follows(one))


def _refuses(text: str, update: Update) -> bool:
    """Whether a text refuses by name something that an update asked for."""
    asked = content_stems(update.change) - TALK_STEMS
    return not has_negation(update.change) and any(content_stems(one) & asked for one in _REFUSED_THING.findall(text))


def _names_quote(text: str, quote: str) -> bool:
    """Whether a text names something in a quote; a compound also by its last part, as in other languages."""
    said, rule = content_stems(text) - TALK_STEMS, content_stems(quote) - TALK_STEMS
    longer = {(one, other) for one in said for other in rule if min(len(one), len(other)) >= _MIN_COMPOUND_PART}
    return bool(said & rule) or any(one.endswith(other) or other.endswith(one) for one, other in longer)
