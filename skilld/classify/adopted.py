"""Other people's words that the person adopts: agrees to, passes on as an order, or makes a rule."""

from __future__ import annotations

import re
from dataclasses import dataclass

from skilld.classify.offline.provenance import as_shown, without_quotations
from skilld.text import fold
from skilld.words import count_words

# Other people's words that the person makes their own: "make a rule for it", said of what stands quoted beside it.
#
# A turn, which of its characters the person typed, and the agent's text before it go in; the endorsing words
# and the endorsed ones come out. What is pasted can endorse nothing, itself least of all (docs/decisions/0025).

_MAX_LINES = 12  # of a quotation: more is a document, and no rule
_MAX_CHARACTERS = 800
_IT = (
    r"(?:this|that|it|these|those|them|the\s+(?:above|following|quote[sd]?|rule|point)|"
    r"what\s+\w+\s+(?:wrote|said|says))"
)
_PLACE = (
    r"(?:skills?|rules?|rule\s*book|memory|memories|instructions?|guidelines?|conventions?|notes\s+for\s+next\s+time|"
    r"(?:claude|agents|skill|gemini)\.md|cursor\s*rules)"
)
_ENDORSES = re.compile(
    rf"""
      \b(?:make|turn|write|add|create|record|save|note|put|keep|store|include)\b\s+
        (?:(?:{_IT}|a|an|into|to|as|new|one|global|general|project|permanent|standing|lasting)\s+){{0,4}}
        (?:rules?|guidelines?|conventions?|standing\s+instructions?)\b
        (?=\s*(?:(?:for|of|out\s+of|from|about|on)\s+{_IT}\b|$|[.,;!:)]|\s(?:please|now|too|as\s+well)\b))
    | \b(?:add|put|save|write|record|copy|take|include|store|move)\b\s+{_IT}\b(?:\s+\w+){{0,3}}?\s+
        (?:down\s+)?(?:in|to|into|as|among|with)\s+(?:(?:the|our|your|my|its|a|an|project|global|new)\s+){{0,3}}{_PLACE}\b
    | \b(?:remember|memori[sz]e|internali[sz]e)\s+{_IT}\b(?=\s*(?:$|[.,;!:)]|for\b|from\b|next\b|please\b|in\s+future))
    | \b(?:always|from\s+now\s+on,?)\s+(?:please\s+)?(?:do|follow|apply|obey|stick\s+to|use)\s+{_IT}\b
    | \b(?:do|follow|apply|obey)\s+{_IT}\b[^.!?\n]{{0,20}}
        \b(?:always|from\s+now\s+on|every\s+time|in\s+(?:the\s+)?future)\b
    | \b(?:mach|schreib|nimm|füge?)\b[^.!?\n]{{0,20}}\b(?:das|dies\w*|daraus|es)\b[^.!?\n]{{0,30}}
        \b(?:regel|skill|anleitung|regeln)\b | \bmerk(?:e)?\s+dir\s+(?:das|dies)\b
    | \b(?:haz|crea|añade|agrega|pon|guarda|anota|apunta)\w*\b[^.!?\n]{{0,30}}
        \b(?:reglas?|skill|instrucciones|memoria)\b
    | \brecu[eé]rda(?:lo|\s+esto)\b
    | \b(?:faz|fa[çc]a|cria|adiciona|coloca|guarda|anota|p[oõ]e)\w*\b[^.!?\n]{{0,30}}
        \b(?:regras?|skill|instru[çc][õo]es)\b
    | \b(?:fais|ajoute|mets|note|retiens|crée)\b[^.!?\n]{{0,20}}\b(?:ça|cela|ceci|en|le|la|une)\b[^.!?\n]{{0,20}}
        \b(?:règle|règles|skill|consignes)\b | \bretiens\s+(?:ça|cela|ceci)\b
    | \b(?:fai|aggiungi|metti|scrivi)\w*\b[^.!?\n]{{0,30}}\b(?:regola|regole|skill)\b
    | \b(?:сделай|добавь|запиши|внеси)\b[^.!?\n]{{0,30}}\b(?:правил\w*|скилл?|skill|инструкци\w*)\b | \bзапомни\s+это\b
    | \b(?:udělej|přidej|zapiš|dej)\b[^.!?\n]{{0,30}}\b(?:pravid\w*|skillu?|návod\w*)\b | \bzapamatuj\s+si\s+to\b
    | \b(?:zrób|dodaj|zapisz|wpisz)\b[^.!?\n]{{0,30}}\b(?:reguł\w*|zasad\w*|skilla?)\b | \bzapamiętaj\s+to\b
    | (?:这个|这条|上面|这些|它|此)[^。！？\n]{{0,8}}
        (?:写进|加到|加入|加进|记到|作为|写成|设为)[^。！？\n]{{0,8}}(?:规则|技能|skill|说明|记忆)
    | 记住(?:这个|这条|上面|这些)
    | (?:これ|それ|上記)を[^。！？\n]{{0,8}}(?:ルール|スキル|skill)(?:に|として) | (?:これ|それ)を覚えて
    | (?:이걸|이것을|위\s?내용을?)[^.!?\n]{{0,8}}(?:규칙|스킬|skill)(?:에|으로|로)
    """,
    re.IGNORECASE | re.VERBOSE,
)
# Said of it, but no wish: a no, a question, a condition, or somebody else's words in a relative clause.
NO_WISH = re.compile(
    r"[?\uff1f]|\b(?:don['\u2019]?t|do\s+not|never|not|no\s+need|should\s+(?:i|we)|if|unless|whether|would|says?|said|wants?|"
    r"asks?|asked|tells?|told|nicht|kein\w*|no\s+lo|não|pas|non|не|ne(?:dělej|přidávej|dávej|zapisuj|piš)\w*|nie|falls|wenn|"
    r"si)\b|不|别|別|ない|말아|마세요",
    re.IGNORECASE,
)
# Before the endorsing words: somebody who speaks, or does it by habit.
_NOT_ASKED = re.compile(
    r"[:：]|\b(?:he|she|they|we|i|you|who|which|that|it|people|everyone)"
    r"(?:\s+(?:always|never|often|usually|just|also|all|then|really|will|can))?\s*$",
    re.IGNORECASE,
)
SENTENCE = re.compile(r"[^.!?\n。！？]+(?:[.](?=\w)[^.!?\n。！？]*)*[.!?。！？]*")
_QUOTED = re.compile(r"^\s*>+\s?")
_FENCE = re.compile(r"^\s*(?:```|~~~)")


@dataclass(frozen=True, slots=True)
class Endorsement:
    """`by` is the person's own sentence that endorses, `words` what it endorses; `quoted`, where they quote it."""

    by: str
    words: str
    quoted: bool = True


def endorsed(text: str, own: str, offer: str) -> Endorsement | None:
    """Return what the person endorses in a turn, None if nothing is.

    `own` is the turn with newlines for all that the person did not type (`own_words`); `offer` is the agent's text
    directly before. It is what stands as a quotation or in a fence directly above or below the endorsing sentence's
    paragraph; where the turn quotes nothing at all, it is the offer.
    """
    lines, mine = _lines(text, own)
    for place, line in enumerate(mine):
        by = next((s.strip() for s in SENTENCE.findall(line) if _is_wish(without_quotations(s))), "")
        if not by:
            continue
        words = _above(lines, mine, place) or _below(lines, mine, place)
        if words:
            return Endorsement(by, words)
        if fold(own) == fold(text) and offer.strip():
            return Endorsement(by, offer, quoted=False)
    return None


def _is_wish(sentence: str) -> bool:
    asked = _ENDORSES.search(sentence)
    return asked is not None and not (NO_WISH.search(sentence) or _NOT_ASKED.search(sentence[: asked.start()]))


def _lines(text: str, own: str) -> tuple[list[str], list[str]]:
    """Return the lines of a turn, and of each what the person typed: both texts have the same length."""
    lines = text.split("\n")
    mine, at = [], 0
    for line in lines:
        mine.append(own[at : at + len(line)].strip("\n"))
        at += len(line) + 1
    return lines, mine


def _above(lines: list[str], mine: list[str], place: int) -> str:
    end = _paragraph_edge(mine, place, -1)
    while end >= 0 and not lines[end].strip():
        end -= 1
    if end < 0 or mine[end].strip():
        return ""
    start = end
    while start > 0 and lines[start - 1].strip() and not mine[start - 1].strip():
        start -= 1
    return _quotation(lines[start : end + 1])


def _below(lines: list[str], mine: list[str], place: int) -> str:
    start = _paragraph_edge(mine, place, 1)
    while start < len(lines) and not lines[start].strip():
        start += 1
    if start == len(lines) or mine[start].strip():
        return ""
    end = start
    while end + 1 < len(lines) and lines[end + 1].strip() and not mine[end + 1].strip():
        end += 1
    return _quotation(lines[start : end + 1])


def _paragraph_edge(mine: list[str], place: int, step: int) -> int:
    while 0 <= place < len(mine) and mine[place].strip():
        place += step
    return place


def _quotation(lines: list[str]) -> str:
    """Return what is set off as a block quotation or a fenced block; empty if it is not, or is no rule in length."""
    if all(_QUOTED.match(line) for line in lines):
        inner = [_QUOTED.sub("", line) for line in lines]
    elif len(lines) > 2 and _FENCE.match(lines[0]) and _FENCE.match(lines[-1]):  # noqa: PLR2004 - something between
        inner = lines[1:-1]
    else:
        return ""
    words = "\n".join(inner).strip()
    return words if len(inner) <= _MAX_LINES and len(words) <= _MAX_CHARACTERS else ""


# Whether a turn is a bare assent: only then may what is to be remembered stand in the agent's words.

_MAX_WORDS = 8
_ASSENT_MOST_CHARACTERS = 80
# What makes an assent more than "go on": it is to hold for good, or to be written down.
_LASTING = re.compile(
    r"\b(?:always|never|every\s?time|each\s+time|from\s+now\s+on|going\s+forward|in\s+(?:the\s+)?future|next\s+time|"
    r"remember|by\s+default|siempre|nunca|recu[eé]rda\w*|sempre|jamais|lembr\w+|ricorda\w*|toujours|désormais|"
    r"immer|künftig|nie|merk\w*|всегда|никогда|впредь|запомни\w*|vždy|nikdy|zapamatuj\w*|zawsze|zapamiętaj\w*|luôn)\b"
    r"|总是|總是|每次|以后|以後|记住|記住|いつも|毎回|今後|これから|覚えて|항상|앞으로|매번|기억",
    re.IGNORECASE,
)
_WRITES_DOWN = re.compile(
    r"^(?>.*?\b(?:add|put|save|write|note|record|keep|store|include|update|change|modify|adjust)\b).*"
    r"\b(?:skills?|rules?|memory|instructions|guidelines|conventions|(?:claude|agents)\.md)\b",
    re.IGNORECASE | re.MULTILINE,
)
_YES = re.compile(
    r"(?:\W*\b(?:yes|yeah|yep|yup|sure|please|do|that|it|so|exactly|definitely|absolutely|ok|okay|sí|si|claro|sim|"
    r"oui|ja|bitte|gerne|да|ano|jo|tak|evet)\b)+\W*|\W*(?:是的?|好的?|对|はい|お願いします|네|예)\W*",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"(?:[^.!?\n。！？]|[.!?](?=\w))+[.!?。！？]*")


def is_bare_assent(typed: str, offer: str) -> bool:
    """Whether `typed` takes up for good what the agent said right before it, `offer`.

    "yes, always" and "add that to the skill" do; "yes" does where the offer ends by asking whether to do something
    lasting; "ok, go on" never does.
    """
    said = typed.strip()
    if not offer.strip() or count_words(said) > _MAX_WORDS or len(said) > _ASSENT_MOST_CHARACTERS:
        return False
    if _is_lasting(said):
        return True
    return bool(_YES.fullmatch(said)) and _is_lasting(question(offer))


def question(offer: str) -> str:
    """Return the question that the agent's text ends with, empty if it ends with none."""
    last = (_SENTENCE.findall(offer.strip()) or [""])[-1]
    return last if last.rstrip().endswith(("?", "？")) else ""


def _is_lasting(text: str) -> bool:
    return bool(_LASTING.search(text) or _WRITES_DOWN.search(text))


# A rule of the person's that the agent reminds of, passed back as an order: "fix these and look for others: ...".
#
# A turn, what of it the person typed, and the agent's text directly before it go in; the order and the
# sentences that tell of the person's rule come out. Only the agent's last words count, nothing that was pasted from
# elsewhere (docs/decisions/0025).

_MIN = 40  # characters of what is passed back: less may be a name that both use
# An order about what was passed back, and one that goes beyond it: an order for the case at hand alone makes no rule.
_ORDER = re.compile(
    r"""^\W*(?:(?:please|ok|okay|yes|right|then|so|now|and|bitte|por\s+favor|s'il\s+te\s+pla[iî]t)\W+)*
      (?:fix|apply|follow|do|address|correct|change|clean|sweep|enforce|respect|obey|repair|mend|
         korrigier\w*|behebe?|wende?|mach|corrige|arregla|aplica|corrija|aplique|arrume|applique|исправь\w*|примени\w*|
         oprav\w*|popraw\w*|zastosuj\w*)\b
      | ^\W*请?(?:修复|修正|改|应用) | (?:直して|修正して|適用して)""",
    re.IGNORECASE | re.VERBOSE,
)
_BEYOND = re.compile(
    r"""\b(?:others?|everywhere|all|every|throughout|across|rest|anywhere|whole|elsewhere|any\s+more|
      überall|alle[ns]?|andere\w*|todos?|todas?|otros?|otras?|outros?|outras?|partout|tou(?:s|tes)|autres?|
      везде|все|всех|други\w*|všude|všechny|wszędzie|wszystkie)\b
      | 其他|其它|所有|全部|到处|他の|すべて|全部""",
    re.IGNORECASE | re.VERBOSE,
)
# The agent says whose rule it is: the one's it talks to.
_YOURS = re.compile(
    r"""\byour\s+(?:[\w-]+\s+){0,3}?
      (?:feedback|rules?|preferences?|conventions?|guidelines?|instructions?|guidance|policy|requests?|requirements?)\b
      | \byou(?:'ve|\s+have|'d)?\s+(?:\w+ly\s+|already\s+|always\s+)?
      (?:asked|told|said|want(?:ed)?|prefer(?:red)?|required?|insist(?:ed)?|requested)\b
      | \bdeine\w*\s+(?:\w+\s+)?(?:regel|vorgabe|anweisung|vorliebe)\w*\b | \bdu\s+(?:hast|willst|wolltest|möchtest)\b
      | \btus?\s+(?:\w+\s+)?(?:reglas?|preferencias?|instruccion\w*)\b | \b(?:me\s+pediste|dijiste|prefieres)\b
      | \bsuas?\s+(?:\w+\s+)?(?:regras?|prefer[êe]ncias?|instru[çc]\w+)\b | \bvocê\s+(?:pediu|disse|prefere)\b
      | \b(?:tes|ta|vos|votre)\s+(?:\w+\s+)?(?:r[èe]gles?|consignes?|pr[ée]f[ée]rences?)\b
      | \b(?:tu\s+as|vous\s+avez)\s+(?:demandé|dit)\b
      | \b(?:тво\w+|ваш\w*)\s+(?:\w+\s+)?(?:правил\w*|указани\w*|требовани\w*)\b
      | \b(?:ты|вы)\s+(?:просил|сказал|хоте)\w*\b
      | 你(?:之前|曾)?(?:说过|要求|的(?:规则|要求|偏好)) | ご指示|あなたの(?:ルール|指示|好み)""",
    re.IGNORECASE | re.VERBOSE,
)


def passed_back(text: str, own: str, offer: str) -> Endorsement | None:
    """Return what the person passes back of the agent's last words as an order; None if it is none of their rules.

    `own` is the turn with newlines for all that the person did not type (`own_words`); `offer` is the agent's text
    directly before. All that the person did not type must stand there as one stretch.
    """
    passed = as_shown("".join("\n" if mine != "\n" else char for char, mine in zip(text, own, strict=True)))
    if len(passed) < _MIN or passed not in as_shown(offer):
        return None
    by = next((sentence.strip() for sentence in SENTENCE.findall(own) if _is_order(without_quotations(sentence))), "")
    words = " ".join(sentence.strip() for sentence in SENTENCE.findall(passed) if _YOURS.search(sentence))
    return Endorsement(by, words, quoted=False) if by and words else None


def _is_order(sentence: str) -> bool:
    return bool(_ORDER.search(sentence) and _BEYOND.search(sentence)) and not NO_WISH.search(sentence)
