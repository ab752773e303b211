"""What was said and withdrawn later in the same batch.

Updates and the turns after them in, the updates that still stand out.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from skilld.classify.contradiction import contradicts
from skilld.classify.offline.choices import TOPICS
from skilld.classify.offline.detector import MODEST, retractions
from skilld.types import Message, Update
from skilld.words import stems

_REACH = 2  # turns back that "scratch that" can mean when it names nothing
_BARE = 40  # characters of a clause that takes back whatever was said last
_TALK = stems(TOPICS["talk"])
_DEICTIC = re.compile(
    r"\b(?:that|it|this|eso|esto|lo|isso|isto|ça|cela|quello|das|это|to)\b|那|这|這|刚才|剛才|それ|さっき|아까|算了|やっぱ|취소|"
    r"never ?mind|(?:go(?:ing)? )?back to|as (?:you|it|they) (?:were|was)|roll(?:ed)? (?:it|that|this|them) back|"
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


def still_standing(updates: Sequence[Update], messages: Sequence[Message]) -> list[Update]:
    """Return `updates` without those that a later turn takes back, or replaces by an opposite one."""
    standing = list(updates)
    for message in messages:
        if message.turn is None:
            continue
        for clause in retractions(message.text):
            standing = _without(standing, message, clause)
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
