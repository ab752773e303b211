"""A rule of the person's that the agent reminds of, passed back as an order: "fix these and look for others: ...".

Pure. A turn, what of it the person typed, and the agent's text directly before it go in; the order and the sentences
that tell of the person's rule come out. Only the agent's last words count, nothing that was pasted from elsewhere
(docs/decisions/0025).
"""

from __future__ import annotations

import re

from skilld.classify.endorse import NO_WISH, SENTENCE, Endorsed
from skilld.classify.offline.provenance import as_shown, without_quotations

_LEAST = 40  # characters of what is passed back: less may be a name that both use
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


def passed_back(text: str, own: str, offer: str) -> Endorsed | None:
    """Return what the person passes back of the agent's last words as an order; None where it is none of their rules.

    `own` is the turn with newlines for all that the person did not type (`own_words`); `offer` is the agent's text
    directly before. All that the person did not type must stand there as one stretch.
    """
    passed = as_shown("".join("\n" if mine != "\n" else char for char, mine in zip(text, own, strict=True)))
    if len(passed) < _LEAST or passed not in as_shown(offer):
        return None
    by = next((sentence.strip() for sentence in SENTENCE.findall(own) if _is_order(without_quotations(sentence))), "")
    words = " ".join(sentence.strip() for sentence in SENTENCE.findall(passed) if _YOURS.search(sentence))
    return Endorsed(by, words, quoted=False) if by and words else None


def _is_order(sentence: str) -> bool:
    return bool(_ORDER.search(sentence) and _BEYOND.search(sentence)) and not NO_WISH.search(sentence)
