"""Whether a change reverses what was said: a model can quote "always ..." and write "never ...". Pure.

Measured on the labelled development turns (94 instructions that their turn supports, and 90 reversed ones): 34 reversed
ones are caught, and one right one is refused. Without the exemption of complaints it is 45 and 19: "you are editing
main" rightly becomes a negated rule, "why didn't you run the tests" a positive one.
"""

from __future__ import annotations

import re

from skilld.words import content_stems, has_negation, matching_share

# Whether what a change forbids was refused. "Never push without tests" forbids no more than "tests, then push".

CLAUSE = re.compile(r"[.;,!?\n]+|\b(?:but|instead|rather)\b")
MIN_SHARED = 0.5  # share of the change's content words from which a clause is about it
# "Don't merge without a review" asks for something.
EXCEPTION = re.compile(
    r"\b(?:without|unless|until|except|before|sin|sem|sans|ohne|senza|без|bez|antes\s+de|avant\s+de|bevor)\b"
    r"|(?:之前|前に|전에)",
    re.IGNORECASE,
)
# A reason may have a negation of its own: "put them there since I can't find them otherwise".
_REASON = re.compile(
    r"\b(?:because|'?cause|cuz|since|as\s+(?:i|we|it|they|the|my|our)|weil|da\s+(?:ich|wir|es|man|der|die|das)|denn|puisqu\w*|"
    r"parce\s+qu\w*|car|vu\s+que|porque|ya\s+que|perch[eé]|siccome|poich[eé]|omdat|потому\s+что|так\s+как|protože|ponieważ|bo|"
    r"çünkü|vì)\b[^,.;:!?\n]*",
    re.IGNORECASE,
)
_ON_CONDITION = re.compile(
    r"\b(?:ask\w*|align\w*|agree\w*|confirm\w*|approv\w*|permission|consult\w*|only|wait|check\s+with|tell\s+me|let\s+me\s+know|"
    r"pregunt\w+|consult\w+|solo|s[oó]lo|pergunt\w+|somente|demand\w+|seulement|frag\w*|nur|erst|chied\w+|solo|спроси\w*|"
    r"только|сначала|zept\w+|jen|zapyta\w*|tylko|hỏi)\b|先|问|問|确认|確認|才|只|聞|だけ|물어|먼저|만",
    re.IGNORECASE,
)
_CONTRAST = re.compile(r"[.;!?\n]+|\b(?:but|instead|rather)\b")
_BEFORE = re.compile(
    r"\b(?:before|prior\s+to|bevor|vor|avant\s+(?:de\s+|d['\u2019])?|antes\s+de(?:\s+que|l)?|prima\s+d[ei]|перед|до|před|przed|trước)\b",
    re.IGNORECASE,
)
_ADJACENT_WORDS = 2  # so many words after "before" name the later step
_FIRST = re.compile(
    r"\b(?:first|zuerst|erst|vorher|d['\u2019]abord|primero|primeiro|prima|сначала|nejdřív|najpierw)\b", re.IGNORECASE
)
_THEN = re.compile(
    r"[.;,!?\n]+|\b(?:then|after\s+that|dann|danach|puis|ensuite|luego|después|depois|poi|потом|затем|pak|potem)\b",
    re.IGNORECASE,
)
# Words that refuse what follows or surrounds them, without a negation.
_IN_PLACE_OF = re.compile(
    r"\b(?:instead\s+of|rather\s+than|in\s+place\s+of|en\s+(?:lugar|vez)\s+de|em\s+vez\s+de|au\s+lieu\s+d[eu]|statt|anstatt|"
    r"anstelle\s+von|invece\s+d[ei]|вместо|místo|zamiast)\b|而不是|代替|の代わりに|대신",
    re.IGNORECASE,
)
_REFUSAL = re.compile(
    r"\b(?:forbid\w*|banned|taboo|off[- ]limits|hands\s+off|leave\s+(?:\w+\s+){1,4}(?:out|off|alone|away)|"
    r"spare\s+me|get\s+rid\s+of|refrain|enough\s+(?:of|with)|hate|dislike|annoy\w*|prohib\w+|interdi\w+|proibi\w+|verboten|vietat\w+|"
    r"запрещ\w+|zakáz\w+|zabron\w+|weglassen|lass\s+(?:\w+\s+){1,4}weg)\b",
    re.IGNORECASE,
)
# Things that people reserve for themselves: "deploying is on me", "die Tags setze ich selbst".
_RESERVED = re.compile(
    r"\b(?:let\s+me|leave\s+(?:\w+\s+){1,4}to\s+me|(?:is|are|stays?|remains?)\s+(?:on\s+me|up\s+to\s+me|mine|my\s+(?:part|job))|"
    r"i(?:['\u2019]ll|\s+will|['\u2019]m\s+(?:the\s+one|the\s+only))?\b[^.!?\n]{0,200}\b(?:myself|who)|mach(?:e)?\s+ich|ich\b[^.!?\n]{0,200}\bselbst|"
    r"selber|yo\s+(?:mismo|misma)|(?:lo|la|los|las)\s+\w+\s+yo|eu\s+(?:mesm[oa]|que)|moi-m[eê]me|c['\u2019]est\s+moi\s+qui|"
    r"(?:я|мы)\s+сам\w*|сам\w*\s+\w+|io\s+stess[oa]|(?:já|to)\s+sám|sám)\b"
    r"|我自己|我来|我來|自分で|(?:私|僕|俺)が|내가|제가|직접",
    re.IGNORECASE,
)


def is_refused(change: str, quote: str) -> bool:
    """Whether the quote refuses, in any words, what the change forbids at its beginning."""
    if has_negation(quote) or _REFUSAL.search(quote):
        return True
    said = content_stems(quote)
    forbidden = content_stems(EXCEPTION.split(CLAUSE.split(change, maxsplit=1)[0], maxsplit=1)[0])
    if EXCEPTION.search(change) and (_is_conditional(quote) or _comes_later(forbidden, quote)):
        return True
    kept = " ".join(clause for clause in CLAUSE.split(quote) if _RESERVED.search(clause))
    if kept and matching_share(forbidden, content_stems(kept)) >= MIN_SHARED:
        return True
    rest = " ".join(_CONTRAST.split(change, maxsplit=1)[1:])
    wanted = content_stems(rest)
    if (
        wanted
        and not has_negation(rest)
        and matching_share(wanted, said) >= MIN_SHARED >= matching_share(forbidden, said)
    ):
        return True  # "never use npm; use bun", if bun was asked for
    refused = _IN_PLACE_OF.split(quote, maxsplit=1)[1:]
    return bool(refused) and matching_share(forbidden, content_stems(refused[0])) >= MIN_SHARED


def _is_conditional(quote: str) -> bool:
    return bool(_ON_CONDITION.search(quote)) and not EXCEPTION.search(quote)


def _comes_later(forbidden: frozenset[str], quote: str) -> bool:
    """Whether something must come before the step that is forbidden without it: "run the tests before you push"."""
    for match in _BEFORE.finditer(quote):
        beside = content_stems(" ".join(CLAUSE.split(quote[match.end() :])[0].split()[:_ADJACENT_WORDS]))
        if matching_share(forbidden, beside) >= MIN_SHARED:
            return True
    steps = _THEN.split(quote)
    at = next((i for i, step in enumerate(steps) if _FIRST.search(step)), len(steps))
    return any(matching_share(forbidden, content_stems(step)) >= MIN_SHARED for step in steps[at + 1 :])


_OPENING_WORDS = 2  # a negated change begins with its negation; a later one marks a contrast ("use X, not Y")
# "Don't forget to merge" asks for something, and so does "don't merge without a review" (EXCEPT).
_FORGETTING = re.compile(
    r"\b(?:forget|fail|miss|neglect|hesitate|skip|olvid\w+|esque[cç]\w+|oubli\w+|verg[ei]ss\w*|dimentic\w+|забы\w+|"
    r"zapom\w+|quên)\b|忘|漏|잊",
    re.IGNORECASE,
)
# Words that forbid without a negation: "skip vendor" is "never touch vendor".
_AVOIDANCE = re.compile(
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

# "Didn't I say that every table needs a caption" asks for captions: the negation belongs to the question.
_NEGATED_QUESTION = re.compile(
    r"\b(?:(?:did|do|have|had|should|must|are|were|was)n['\u2019]?t\s+(?:i|we)"
    r"|(?:did|do|have|had|should|must|are|were)\s+(?:i|we)\s+not)\b"
    r"|(?:\A|[,;:.!?\n])[ \t]*+(?:(?:is|are|was|were|does|do|should|must)n['\u2019]?t\s+(?:it|there|every|each|all)"
    r"|(?:habe?n?|hatten?|sagten?|wollten?|sollten?)\s+(?:ich|wir)(?:\s+(?:dir|euch|doch|schon|es|uns))*\s+nicht)\b",
    re.IGNORECASE,
)

# Words that reverse a rule, soften it or make exceptions. A written line may only have those of the person or of the
# line that it replaces.
REVERSING_WORD = re.compile(
    r"\b(?:no|not|never|nothing|none|cannot|without|unless|except|or|ask|if|may|might|can|could|optional(?:ly)?|only"
    r"|instead|rather|avoid|skip|ignore|stop)\b|n['\u2019]t\b",
    re.IGNORECASE,
)
_REMOVAL = re.compile(
    r"\b(?:remov\w*|drop\w*|delet\w*|skip\w*|omit\w*|cut|leave\s+\w+\s+out|leave\s+out|get\s+rid|stop\w*|needless|useless|"
    r"unnecessary|obsolete|pointless|instead|weg\w*|streich\w*|entfern\w*|lösch\w*|überflüssig|quita\w*|elimin\w*|borra\w*|"
    r"sobra\w*|remove\w*|tira\w*|enl[eè]v\w*|supprim\w*|retir\w*|inutile|togli\w*|rimuov\w*|убер\w*|убра\w*|удал\w*|"
    r"forget|scrap|vergiss|vergessen|sparen|raus|oubli\w*|laisse\w*|olv[ií]d\w*|esque[cç]\w*|dimentic\w*|lascia\w*|vergeet|"
    r"odeber\w*|odstra\w*|smaž\w*|vyhoď\w*|zruš\w*|usuń\w*|kaldır\w*|çıkar\w*)\b"
    r"|去掉|删|刪|取消|省略|削除|外して|やめ|빼|삭제|제거",
    re.IGNORECASE,
)


def asks_to_remove(quote: str) -> bool:
    """Whether somebody who said this may have wanted to remove a rule."""
    return has_negation(quote) or bool(_REMOVAL.search(quote) or _COMPLAINT.search(quote))


def seems_reversed(change: str, quote: str, *, complaint: bool = True) -> bool:
    """Whether the change forbids what nobody forbade, or asks for what was only forbidden.

    Unless `complaint` is false, the quote may be a complaint, which says the opposite of what it wants.
    """
    if complaint and _COMPLAINT.search(quote):
        return False
    quote = _NEGATED_QUESTION.sub(" ", quote)
    wanted = content_stems(change)
    if has_negation(EXCEPTION.sub(" ", change)):
        return has_negation(" ".join(change.split()[:_OPENING_WORDS])) and not is_refused(change, quote)
    about = [clause for clause in CLAUSE.split(quote) if matching_share(wanted, content_stems(clause)) >= MIN_SHARED]
    asks = [kind for kind in (EXCEPTION, _FORGETTING) if not kind.search(change)]
    shuns = bool(_AVOIDANCE.search(change))
    return bool(about) and all(
        has_negation(EXCEPTION.sub(" ", _without_reasons(clause, wanted)))
        and not any(kind.search(clause) for kind in asks)
        and shuns <= bool(_AVOIDANCE.search(clause))
        for clause in about
    )


def _without_reasons(clause: str, wanted: frozenset[str]) -> str:
    """Return a clause without its reasons, unless what is `wanted` is in one of them."""
    return _REASON.sub(
        lambda found: found[0] if matching_share(wanted, content_stems(found[0])) >= MIN_SHARED else " ", clause
    )


# Words of a clear wish: a change that forbids what they ask for is clearly reversed.
_WANTED = re.compile(
    r"\b(?:always|every\w*|each|must|make\s+sure|please|from\s+now\s+on|immer|jed\w+|stets|bitte|siempre|cada|sempre|tod[ao]s?|"
    r"ogni|toujours|chaque|всегда|кажд\w+|vždy|každ\w+|zawsze|każd\w+|altijd|elke?|luôn|mỗi)\b"
    r"|总是|總是|每次|每个|必须|必須|一定|务必|いつも|必ず|毎回|항상|매번|반드시",
    re.IGNORECASE,
)
_UNCLEAR_PATTERNS = (EXCEPTION, _ON_CONDITION, _FORGETTING, _IN_PLACE_OF, _REFUSAL, _RESERVED, _AVOIDANCE, _REMOVAL)


def is_clearly_reversed(change: str, quote: str) -> bool:
    """Whether a change that `seems_reversed` has no other reading: only its negation differs from the quote.

    A refusal in other words, or in a form that the patterns only partly know, is not clear.
    """
    wanted, quote = content_stems(change), _NEGATED_QUESTION.sub(" ", quote)
    for clause in CLAUSE.split(quote):
        if wanted and matching_share(wanted, content_stems(clause)) == 1:
            said = (
                has_negation(_without_reasons(clause, wanted))
                if not has_negation(change)
                else bool(_WANTED.search(quote)) and not has_negation(quote)
            )
            return said and not any(kind.search(clause) for kind in _UNCLEAR_PATTERNS)
    return False


def is_clearly_wanted(change: str, quote: str) -> bool:
    """Whether a change removes something that was asked for: "always close the ticket", and that step would go."""
    about = matching_share(content_stems(change), content_stems(quote)) >= MIN_SHARED
    return about and bool(_WANTED.search(quote))


def reversing_words(text: str) -> set[str]:
    """Return the words of a text that reverse a rule, soften it or make exceptions."""
    return {match.casefold() for match in REVERSING_WORD.findall(text)}
