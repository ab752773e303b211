"""Does a change turn round what was said? A model can quote "always ..." and write "never ..." with the same words.

Pure. Measured on the labelled development turns (94 instructions that their turn supports, and 90 turned round): 34 of
those turned round are caught, one right one is refused. Without the exemption of complaints 45 and 19: "you are editing
main" rightly becomes a rule with a no in it, "why didn't you run the tests" one without.
"""

from __future__ import annotations

import re

from skilld.words import content_stems, denies, share_held

_CLAUSE = re.compile(r"[.;,!?\n]+|\b(?:but|instead|rather)\b")
_HOLDS = 0.5  # share of the change's content words by which a clause is about it
_BEGINS = 2  # words: a change that says no begins with it; further on it marks a contrast ("use X, not Y")
# "Don't merge without a review" asks for something, and so does "don't forget to merge".
_EXCEPT = re.compile(
    r"\b(?:without|unless|until|except|before|sin|sem|sans|ohne|senza|без|bez|antes\s+de|avant\s+de|bevor)\b"
    r"|(?:之前|前に|전에)",
    re.IGNORECASE,
)
_FORGETS = re.compile(
    r"\b(?:forget|fail|miss|neglect|hesitate|skip|olvid\w+|esque[cç]\w+|oubli\w+|verg[ei]ss\w*|dimentic\w+|забы\w+|"
    r"zapom\w+|quên)\b|忘|漏|잊",
    re.IGNORECASE,
)
_ON_CONDITION = re.compile(
    r"\b(?:ask\w*|align\w*|agree\w*|confirm\w*|approv\w*|permission|consult\w*|only|wait|check\s+with|tell\s+me|let\s+me\s+know|"
    r"pregunt\w+|consult\w+|solo|s[oó]lo|pergunt\w+|somente|demand\w+|seulement|frag\w*|nur|erst|chied\w+|solo|спроси\w*|"
    r"только|сначала|zept\w+|jen|zapyta\w*|tylko|hỏi)\b|先|问|問|确认|確認|才|只|聞|だけ|물어|먼저|만",
    re.IGNORECASE,
)
# Somebody turns down what follows these, or what they stand beside, without a word for no.
_IN_PLACE_OF = re.compile(
    r"\b(?:instead\s+of|rather\s+than|in\s+place\s+of|en\s+(?:lugar|vez)\s+de|em\s+vez\s+de|au\s+lieu\s+d[eu]|statt|anstatt|"
    r"anstelle\s+von|invece\s+d[ei]|вместо|místo|zamiast)\b|而不是|代替|の代わりに|대신",
    re.IGNORECASE,
)
_TURNS_DOWN = re.compile(
    r"\b(?:forbid\w*|banned|taboo|off[- ]limits|hands\s+off|leave\s+(?:\w+\s+){1,4}(?:out|off|alone|away)|"
    r"spare\s+me|get\s+rid\s+of|refrain|enough\s+(?:of|with)|hate|annoy\w*|prohib\w+|interdi\w+|proibi\w+|verboten|vietat\w+|"
    r"запрещ\w+|zakáz\w+|zabron\w+|weglassen|lass\s+(?:\w+\s+){1,4}weg)\b",
    re.IGNORECASE,
)
_COMPLAINT = re.compile(
    r"[?\uff1f]|\b(?:why|you(?:['\u2019]?(?:re|ve)|\s+(?:are|were|have|did|didn['\u2019]?t|do|don['\u2019]?t|keep|kept|left|"
    r"forgot|always|never|just))|we['\u2019]?re|are\s+we|there\s+(?:is|are)|i['\u2019]?ll)\b",
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
    if denies(_EXCEPT.sub(" ", change)):
        return denies(" ".join(change.split()[:_BEGINS])) and not _is_turned_down(change, quote)
    about = [clause for clause in _CLAUSE.split(quote) if share_held(wanted, content_stems(clause)) >= _HOLDS]
    asks = [kind for kind in (_EXCEPT, _FORGETS) if not kind.search(change)]
    return bool(about) and all(
        denies(_EXCEPT.sub(" ", clause)) and not any(kind.search(clause) for kind in asks) for clause in about
    )


def _is_turned_down(change: str, quote: str) -> bool:
    """Whether what a change begins by forbidding was turned down in the quote, in whatever words.

    "Do not merge without asking" forbids nothing that "ask me, then merge" does not.
    """
    if denies(quote) or _TURNS_DOWN.search(quote):
        return True
    if _EXCEPT.search(change) and _ON_CONDITION.search(quote) and not _EXCEPT.search(quote):
        return True
    refused = _IN_PLACE_OF.split(quote, maxsplit=1)[1:]
    forbidden = content_stems(_CLAUSE.split(change, maxsplit=1)[0])
    return bool(refused) and share_held(forbidden, content_stems(refused[0])) >= _HOLDS
