"""What was said and withdrawn later in the same batch.

Updates and the turns after them in, the updates that still stand out.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from skilld.classify.offline.listen import retractions
from skilld.classify.offline.said import opposed
from skilld.classify.offline.topics import TOPICS
from skilld.types import Message, Update
from skilld.words import stems

_REACH = 2  # turns back that "scratch that" can mean when it names nothing
_TALK = stems(TOPICS["talk"])
_DEICTIC = re.compile(
    r"\b(?:that|it|this|eso|esto|lo|isso|isto|ça|cela|quello|das|это|to)\b|那|这|這|刚才|剛才|それ|さっき|아까|算了|やっぱ|취소|"
    r"never ?mind|olv[ií]date|esquece|forget|oublie|vergiss|забудь|zapome|zapomn",
    re.IGNORECASE,
)


def still_standing(updates: Sequence[Update], messages: Sequence[Message]) -> list[Update]:
    """Return `updates` without those that a later turn takes back, or replaces by an opposite one."""
    standing = list(updates)
    for message in messages:
        if message.turn is None:
            continue
        for clause in retractions(message.text):
            standing = _without(standing, message.turn, clause)
    return [
        update
        for update in standing
        if not any(later.turn > update.turn and opposed(later.change, update.change) for later in standing)
    ]


def _without(updates: list[Update], turn: int, clause: str) -> list[Update]:
    topic = stems(clause) - _TALK
    earlier = [update for update in updates if update.turn <= turn and clause != update.quote]
    named = [update for update in earlier if topic & stems(update.quote)]
    if not named and _DEICTIC.search(clause):
        named = [update for update in earlier if turn - update.turn <= _REACH][-1:]
    return [update for update in updates if update not in named]
