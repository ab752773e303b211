"""Does a change turn round what was said? A model can quote "always ..." and write "never ..." with the same words.

Pure. Measured on the labelled development turns (94 instructions that their turn supports, and 90 turned round): 34 of
those turned round are caught, one right one is refused. Without the exemption of complaints 45 and 19: "you are editing
main" rightly becomes a rule with a no in it, "why didn't you run the tests" one without.
"""

from __future__ import annotations

import re

from skilld.classify.refused import CLAUSE, EXCEPT, HOLDS, is_refused
from skilld.words import content_stems, denies, share_held

_BEGINS = 2  # words: a change that says no begins with it; further on it marks a contrast ("use X, not Y")
# "Don't forget to merge" asks for something, and so does "don't merge without a review" (EXCEPT).
_FORGETS = re.compile(
    r"\b(?:forget|fail|miss|neglect|hesitate|skip|olvid\w+|esque[cç]\w+|oubli\w+|verg[ei]ss\w*|dimentic\w+|забы\w+|"
    r"zapom\w+|quên)\b|忘|漏|잊",
    re.IGNORECASE,
)
# Words that forbid without a word for no: "skip vendor" is "never touch vendor".
_SHUNS = re.compile(
    r"\b(?:skip|exclude|ignore|omit|drop|leave\s+(?:\w+\s+){0,4}(?:out|alone|off)|stay\s+away|keep\s+(?:\w+\s+){0,3}out|forbid\w*|"
    r"überspring\w*|auslass\w*|weglass\w*|ausschlie\w+|ignorier\w*|omit\w+|exclu\w+|ignor\w+|saut\w+|escl\w+|salt\w+|"
    r"пропус\w+|исключ\w+|игнорир\w+|vynech\w+|pomi[nń]\w*|bỏ\s+qua)\b|跳过|跳過|忽略|排除|略过|略過|スキップ|除外|無視|건너뛰|제외",
    re.IGNORECASE,
)
_COMPLAINT = re.compile(
    r"[?\uff1f]|\b(?:why|you(?:['\u2019]?(?:re|ve)|\s+(?:are|were|have|did|didn['\u2019]?t|do|don['\u2019]?t|keep|kept|left|"
    r"forgot|always|never|just))|we['\u2019]?re|are\s+we|there\s+(?:is|are)|i['\u2019]?ll)\b",
    re.IGNORECASE,
)

# Words that turn a rule round, soften it or make exceptions. A written line has them from the person, or from the line
# whose place it takes, or not at all.
TURNS = re.compile(
    r"\b(?:no|not|never|nothing|none|cannot|without|unless|except|or|ask|if|may|might|can|could|optional(?:ly)?|only"
    r"|instead|rather|avoid|skip|ignore|stop)\b|n['\u2019]t\b",
    re.IGNORECASE,
)
_REMOVES = re.compile(
    r"\b(?:remov\w*|drop\w*|delet\w*|skip\w*|omit\w*|cut|leave\s+\w+\s+out|leave\s+out|get\s+rid|stop\w*|needless|useless|"
    r"unnecessary|obsolete|pointless|instead|weg\w*|streich\w*|entfern\w*|lösch\w*|überflüssig|quita\w*|elimin\w*|borra\w*|"
    r"sobra\w*|remove\w*|tira\w*|enl[eè]v\w*|supprim\w*|retir\w*|inutile|togli\w*|rimuov\w*|убер\w*|убра\w*|удал\w*|"
    r"odeber\w*|odstra\w*|smaž\w*|vyhoď\w*|zruš\w*|usuń\w*|kaldır\w*|çıkar\w*)\b"
    r"|去掉|删|刪|取消|省略|削除|外して|やめ|빼|삭제|제거",
    re.IGNORECASE,
)


def asks_to_remove(quote: str) -> bool:
    """Whether somebody who said this may have wanted a rule away."""
    return denies(quote) or bool(_REMOVES.search(quote) or _COMPLAINT.search(quote))


def turns_round(change: str, quote: str, *, complaint: bool = True) -> bool:
    """Whether the change forbids what nobody forbade, or asks for what was only ever forbidden.

    The quote may be a complaint, which says the opposite of what it wants, unless `complaint` is false.
    """
    if complaint and _COMPLAINT.search(quote):
        return False
    wanted = content_stems(change)
    if denies(EXCEPT.sub(" ", change)):
        return denies(" ".join(change.split()[:_BEGINS])) and not is_refused(change, quote)
    about = [clause for clause in CLAUSE.split(quote) if share_held(wanted, content_stems(clause)) >= HOLDS]
    asks = [kind for kind in (EXCEPT, _FORGETS) if not kind.search(change)]
    shuns = bool(_SHUNS.search(change))
    return bool(about) and all(
        denies(EXCEPT.sub(" ", clause))
        and not any(kind.search(clause) for kind in asks)
        and shuns <= bool(_SHUNS.search(clause))
        for clause in about
    )


def turns(text: str) -> set[str]:
    """Return the words of a text that turn a rule round, soften it or make exceptions."""
    return {match.casefold() for match in TURNS.findall(text)}
