"""Distinguishes words about one machine or one name in the current work from words about a whole kind of thing."""

from __future__ import annotations

import re
from collections.abc import Sequence

from skilld.classify.caseless import caseless
from skilld.classify.offline.detector import Match
from skilld.classify.offline.grammar import Cue
from skilld.types import SkillDoc

# Cues that need no lasting word.
_UNMARKED = frozenset({Cue.PRACTICE, Cue.LIKELY, Cue.CORRECTION, Cue.TAKEN_UP})
# One machine: "glas02", "web-03", "db1.internal", "10.0.0.5"; "python3", "utf8" and "s3" are not machines.
_MACHINE = caseless(
    r"(?<![\w./-])(?:[a-z]{2,20}-?0\d{1,2}(?:\.[a-z][\w.-]{1,60})?"
    r"|(?:srv|server|web|db|app|node|host|vm|worker|build|prod|stage|staging|nas|gpu|proxy|gw|mail)-?\d{1,3}(?:\.[a-z][\w.-]{1,60})?"
    r"|[a-z][\w-]{0,40}\.(?:internal|local|lan|intra|corp|home\.arpa)|\d{1,3}(?:\.\d{1,3}){3})(?![\w/-])"
)
# A name as code has it, of one thing: "the column is called customer_ref". A path, or a tool, holds for longer.
_NAME = r"[a-z0-9]{1,30}(?:_[a-z0-9]{1,30}){1,6}"
_CALLED = (
    r"(?:hei(?:ß|ss)t|(?:se )?chama(?:-se)?|se llama|s['’]appelle|si chiama|heet|nazywa się|jmenuje se|называется)"
)
_NAMED = caseless(
    r"^\W*(?:(?:no|wait|sorry|and|btw|nein|non|não|und|et|e|y),? )*(?:l['’])?(?:[\w-]+ ){1,4}?"
    rf"(?:(?:is|was|[ée]|es|est|ist|è|jest|je)(?: called| named| spelled)?|{_CALLED})(?: on| auf| in| en| su| em)?"
    rf" `?{_NAME}`?(?:,? (?:(?:and|but|e|y|et|und|а) )?(?:not|nicht|não|no|non|pas|niet|nie|ne|не) (?:[\w-]+ )?"
    r"[`\w./-]{1,60})?\s*[.!]*$"
)
_CODE_NAME = re.compile(_NAME, re.IGNORECASE)
_MANY = caseless(
    r"\b(?:always|every|each|all|immer|jede\w*|alle|siempre|cada|tod[oa]s|toujours|chaque|sempre|ogni|altijd)\b"
)


def is_of_one_place(match: Match, skills: Sequence[SkillDoc]) -> bool:
    """Whether a match without a lasting word is about one machine or one name, which no skill in use has.

    "Make sure nginx is stopped on glas02", "the column is called customer_ref": true of the work at hand.
    """
    if match.cue not in _UNMARKED or _MANY.search(match.said):
        return False
    known = " ".join(skill.text for skill in skills).casefold()
    if _NAMED.match(match.said):
        return not any(name.casefold() in known for name in _CODE_NAME.findall(match.said))
    machines = [found[0] for found in _MACHINE.finditer(match.said)]
    return bool(machines) and not any(name in known for name in machines)
