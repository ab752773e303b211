"""Finds other people's words that the person adopts: agrees to, passes on as an order, or makes a rule."""

from __future__ import annotations

import re

from skilld.classify.offline.provenance import as_rendered, without_quotations
from skilld.text import fold
from skilld.values import value_class
from skilld.words import count_words

# "Make a rule for it" endorses the words quoted next to it. Pasted text can endorse nothing (docs/decisions/0025).

_MAX_LINES = 12  # of a quotation: a longer one is a document
_MAX_CHARACTERS = 800
_IT = (
    r"(?:this|that|it|these|those|them|the\s+(?:above|following|quote[sd]?|rule|point)|"
    r"what\s+\w+\s+(?:wrote|said|says))"
)
_PLACE = (
    r"(?:skills?|rules?|rule\s*book|memory|memories|instructions?|guidelines?|conventions?|notes\s+for\s+next\s+time|"
    r"(?:claude|agents|skill|gemini)\.md|cursor\s*rules)"
)
_ENDORSING = re.compile(
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
# Not a wish: a negation, a question, a condition, or somebody else's words in a relative clause.
NOT_A_WISH = re.compile(
    r"[?\uff1f]|\b(?:don['\u2019]?t|do\s+not|never|not|no\s+need|should\s+(?:i|we)|if|unless|whether|would|says?|said|wants?|"
    r"asks?|asked|tells?|told|nicht|kein\w*|no\s+lo|não|pas|non|не|ne(?:dělej|přidávej|dávej|zapisuj|piš)\w*|nie|falls|wenn|"
    r"si)\b|不|别|別|ない|말아|마세요",
    re.IGNORECASE,
)
# Before the endorsing words: a speaker, or somebody who does it habitually.
_NOT_A_REQUEST = re.compile(
    r"[:：]|\b(?:he|she|they|we|i|you|who|which|that|it|people|everyone)"
    r"(?:\s+(?:always|never|often|usually|just|also|all|then|really|will|can))?\s*$",
    re.IGNORECASE,
)
SENTENCE = re.compile(r"[^.!?\n。！？]+(?:[.](?=\w)[^.!?\n。！？]*)*[.!?。！？]*")
_QUOTED = re.compile(r"^\s*>+\s?")
_FENCE = re.compile(r"^\s*(?:```|~~~)")


@value_class
class Endorsement:
    """`by` is the person's own sentence, `words` are those it endorses; `quoted`: the person quotes them."""

    by: str
    words: str
    quoted: bool = True


def find_endorsement(text: str, own: str, offer: str) -> Endorsement | None:
    """Return the words that the person endorses in a turn, or None.

    `own` is the turn with newlines for everything the person did not type (`own_words`); `offer` is the agent's text
    directly before. The endorsed words are a quotation or a fence directly above or below the endorsing sentence's
    paragraph or, if the turn quotes nothing, the offer.
    """
    lines, mine = _split_lines(text, own)
    for place, line in enumerate(mine):
        by = next((s.strip() for s in SENTENCE.findall(line) if _is_wish(without_quotations(s))), "")
        if not by:
            continue
        words = _quotation_beside(lines, mine, place, -1) or _quotation_beside(lines, mine, place, 1)
        if words:
            return Endorsement(by, words)
        if fold(own) == fold(text) and offer.strip():
            return Endorsement(by, offer, quoted=False)
    return None


def _is_wish(sentence: str) -> bool:
    asked = _ENDORSING.search(sentence)
    return asked is not None and not (NOT_A_WISH.search(sentence) or _NOT_A_REQUEST.search(sentence[: asked.start()]))


def _split_lines(text: str, own: str) -> tuple[list[str], list[str]]:
    """Return the lines of a turn, and the part of each that the person typed; both texts have the same length."""
    lines = text.split("\n")
    mine, at = [], 0
    for line in lines:
        mine.append(own[at : at + len(line)].strip("\n"))
        at += len(line) + 1
    return lines, mine


def _quotation_beside(lines: list[str], mine: list[str], place: int, step: int) -> str:
    """Return the quotation above the paragraph at `place` (`step` -1) or below it (1), or "" if there is none."""
    near = _paragraph_edge(mine, place, step)
    while 0 <= near < len(lines) and not lines[near].strip():
        near += step
    if not 0 <= near < len(lines) or mine[near].strip():
        return ""
    far = near
    while 0 <= far + step < len(lines) and lines[far + step].strip() and not mine[far + step].strip():
        far += step
    return _quotation(lines[min(near, far) : max(near, far) + 1])


def _paragraph_edge(mine: list[str], place: int, step: int) -> int:
    while 0 <= place < len(mine) and mine[place].strip():
        place += step
    return place


def _quotation(lines: list[str]) -> str:
    """Return the text of a block quotation or fenced block, or "" if it is neither or too long for a rule."""
    if all(_QUOTED.match(line) for line in lines):
        inner = [_QUOTED.sub("", line) for line in lines]
    elif len(lines) > 2 and _FENCE.match(lines[0]) and _FENCE.match(lines[-1]):  # noqa: PLR2004 - something between
        inner = lines[1:-1]
    else:
        return ""
    words = "\n".join(inner).strip()
    return words if len(inner) <= _MAX_LINES and len(words) <= _MAX_CHARACTERS else ""


# A bare assent: only then may the words to remember be the agent's.

_MAX_ASSENT_WORDS = 8
_MAX_ASSENT_CHARACTERS = 80
# Words that make an assent lasting: it holds for good, or is to be written down.
_LASTING = re.compile(
    r"\b(?:always|never|every\s?time|each\s+time|from\s+now\s+on|going\s+forward|in\s+(?:the\s+)?future|next\s+time|"
    r"remember|by\s+default|siempre|nunca|recu[eé]rda\w*|sempre|jamais|lembr\w+|ricorda\w*|toujours|désormais|"
    r"immer|künftig|nie|merk\w*|всегда|никогда|впредь|запомни\w*|vždy|nikdy|zapamatuj\w*|zawsze|zapamiętaj\w*|luôn)\b"
    r"|总是|總是|每次|以后|以後|记住|記住|いつも|毎回|今後|これから|覚えて|항상|앞으로|매번|기억",
    re.IGNORECASE,
)
_WRITE_REQUEST = re.compile(
    r"^(?>.*?\b(?:add|put|save|write|note|record|keep|store|include|update|change|modify|adjust)\b).*"
    r"\b(?:skills?|rules?|memory|instructions|guidelines|conventions|(?:claude|agents)\.md)\b",
    re.IGNORECASE | re.MULTILINE,
)
_ASSENT = re.compile(
    r"(?:\W*\b(?:yes|yeah|yep|yup|sure|please|do|that|it|so|exactly|definitely|absolutely|ok|okay|sí|si|claro|sim|"
    r"oui|ja|bitte|gerne|да|ano|jo|tak|evet)\b)+\W*|\W*(?:是的?|好的?|对|はい|お願いします|네|예)\W*",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"(?:[^.!?\n。！？]|[.!?](?=\w))+[.!?。！？]*")


def is_bare_assent(typed: str, offer: str) -> bool:
    """Whether `typed` accepts for good what the agent said right before it, `offer`.

    "yes, always" and "add that to the skill" do; "yes" does if the offer ends by asking whether to do something
    lasting; "ok, go on" never does.
    """
    said = typed.strip()
    if not offer.strip() or count_words(said) > _MAX_ASSENT_WORDS or len(said) > _MAX_ASSENT_CHARACTERS:
        return False
    if _is_lasting(said):
        return True
    return bool(_ASSENT.fullmatch(said)) and _is_lasting(final_question(offer))


def final_question(offer: str) -> str:
    """Return the question at the end of the agent's text, or ""."""
    last = (_SENTENCE.findall(offer.strip()) or [""])[-1]
    return last if last.rstrip().endswith(("?", "？")) else ""


def _is_lasting(text: str) -> bool:
    return bool(_LASTING.search(text) or _WRITE_REQUEST.search(text))


# The agent's reminder of the person's own rule, passed back as an order: "fix these and look for others: ...". Only the
# agent's last words count, nothing pasted from elsewhere (docs/decisions/0025).

_MIN_PASSED_BACK = 40  # characters: a shorter text may be a name that both use
# An order about the passed text, and one that goes beyond it: an order for the present case alone is not a rule.
_ORDER = re.compile(
    r"""^\W*(?:(?:please|ok|okay|yes|right|then|so|now|and|bitte|por\s+favor|s'il\s+te\s+pla[iî]t)\W+)*
      (?:fix|apply|follow|do|address|correct|change|clean|sweep|enforce|respect|obey|repair|mend|
         korrigier\w*|behebe?|wende?|mach|corrige|arregla|aplica|corrija|aplique|arrume|applique|исправь\w*|примени\w*|
         oprav\w*|popraw\w*|zastosuj\w*)\b
      | ^\W*请?(?:修复|修正|改|应用) | (?:直して|修正して|適用して)""",
    re.IGNORECASE | re.VERBOSE,
)
_GENERALIZING = re.compile(
    r"""\b(?:others?|everywhere|all|every|throughout|across|rest|anywhere|whole|elsewhere|any\s+more|
      überall|alle[ns]?|andere\w*|todos?|todas?|otros?|otras?|outros?|outras?|partout|tou(?:s|tes)|autres?|
      везде|все|всех|други\w*|všude|všechny|wszędzie|wszystkie)\b
      | 其他|其它|所有|全部|到处|他の|すべて|全部""",
    re.IGNORECASE | re.VERBOSE,
)
# The agent says that the rule is the person's.
_REFERS_TO_PERSON = re.compile(
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


def find_passed_back(text: str, own: str, offer: str) -> Endorsement | None:
    """Return the agent's last words that the person passes back as an order; None unless they state the person's rule.

    `own` is the turn with newlines for everything the person did not type (`own_words`); `offer` is the agent's text
    directly before, which must contain everything they did not type as one stretch.
    """
    passed = as_rendered("".join("\n" if mine != "\n" else char for char, mine in zip(text, own, strict=True)))
    if len(passed) < _MIN_PASSED_BACK or passed not in as_rendered(offer):
        return None
    by = next((sentence.strip() for sentence in SENTENCE.findall(own) if _is_order(without_quotations(sentence))), "")
    words = " ".join(sentence.strip() for sentence in SENTENCE.findall(passed) if _REFERS_TO_PERSON.search(sentence))
    return Endorsement(by, words, quoted=False) if by and words else None


def _is_order(sentence: str) -> bool:
    return bool(_ORDER.search(sentence) and _GENERALIZING.search(sentence)) and not NOT_A_WISH.search(sentence)
