"""Distinguishes rules for code from requirements on a product of the same shape: "every X must have a Y". Pure.

"Every function must have a docstring" is for the agent, "every user must have a picture" for the product, and "every
class must have a teacher" shows that nouns alone do not decide. The words are in code_rules.toml.
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from pathlib import Path

from skilld.classify.caseless import caseless
from skilld.classify.offline.grammar import KEPT_STRENGTH, STRENGTH, Cue, Language
from skilld.classify.offline.product import names_product

_SHAPE = (
    r"^\W*(?P<each>(?:{each}) )?(?:(?:{kinds}) ){{0,2}}(?:(?P<code>{code})|(?:{maybe}))"
    r"(?: (?:in|of|under|for) [\w./-]+)? (?:(?P<first>{adverbs}) )?"
    r"(?:(?P<need>{need})|(?:{must}))(?: (?P<adverb>{adverbs}))?(?: not)?(?! (?:not |also )?(?:{once})\b) \S"
)


_WORDS = {
    name: "|".join(words)
    for name, words in tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")).items()
}
_RULE = caseless(_SHAPE.format(**_WORDS))
_TRAITS = caseless(rf"\b(?:{_WORDS['traits']})(?!\w)|`")


def strength_for_code(bare: str, languages: Sequence[Language]) -> float:
    """Return how surely a clause is a rule for all code of a kind: that of "always", that of a learning, or 0.0."""
    found = _RULE.match(bare)
    always = found and (found["first"] or found["adverb"])
    if found is None or not (found["each"] or always):
        return 0.0
    asked = bare[found.end() - 1 :]
    if _TRAITS.search(asked) or (found["code"] and always and not names_product(asked, languages)):
        return STRENGTH[Cue.ADVERB]
    return 0.0 if found["need"] else KEPT_STRENGTH
