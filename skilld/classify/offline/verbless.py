"""Gives a wish without a verb the verb that its noun takes: "the commits smaller", "a dry run before every rollout".

English only. What takes no certain verb stays as the person said it.
"""

from __future__ import annotations

import re

_WISHED = re.compile(r"(?:i|we)(?:'d| would)? (?:(?:really|always|just) )?(?:want|need|like|expect) ", re.IGNORECASE)
_MORE = (
    r"(?:small|short|long|bigg|larg|tight|simpl|clean|clear|light|dark|bright|quick|fast|slow|high|low|wid|narrow|tidi"
    r"|lean|calm|neat|thinn|strict|loos|ters|brief|fin|coars|plain)er|better|nicer|(?:more|less) \w+"
)
_PLAIN = r"small|short|brief|concise|simple|clean|clear|terse|tidy|lean|plain|strict|detailed|(?:lower|upper)[ -]?case"
_NOUN = r"(?!(?:is|are|be|must|should|have|keep|make|no|not|never|always|only)\b)[\w-]+"
# "The commits smaller", and without an article only after "I want" or with "smaller": "answers short" is plain enough.
_CHANGED = re.compile(
    rf"(?P<the>(?:the|all|our|my|your) )?(?:{_NOUN} ){{1,3}}?(?:(?P<more>{_MORE})|{_PLAIN})", re.IGNORECASE
)
_DONE = r"(?:(?:dry |test )?run|rehearsal|(?:sanity |code )?(?:check|review)|back-?up|smoke test|audit|scan)s?"
_GIVEN = r"summar(?:y|ies)|plan|outline|overview|recap|estimate|diff|screenshot|(?:status )?report|list of [\w -]{2,40}"
_ADDED = r"(?:(?:unit|regression|integration) )?tests?|changelog entry|docstring|type hints|code example"
_DUE = re.compile(
    rf"(?:an?|the|one|two|\d+) (?:{_NOUN} ){{0,2}}?(?:(?P<done>{_DONE})|(?P<given>{_GIVEN})|(?:{_ADDED}))"
    r" (?:before|after|with|for|per|at the end of) (?:each|every|any|all)\b.*",
    re.IGNORECASE,
)
_ALWAYS_PUT = re.compile(r"(?P<always>always )put ", re.IGNORECASE)
_EACH = re.compile(
    r"(?:each|every|all) (?!.*\b(?:to|is|are|be|must|should|goes?|has|have|stays?|comes?)\b)", re.IGNORECASE
)


def with_verb(said: str, order: str) -> str:
    """Return a wish as an order with a verb; `order` is what is left of it without "I want", which may have none."""
    wished, put = _WISHED.match(said), _ALWAYS_PUT.match(order)
    wanted = said[wished.end() :] if wished else order[put.end() :] if put else order
    plain = wanted.rstrip(" .!")
    if (changed := _CHANGED.fullmatch(plain)) and not put and (wished or changed["the"] or changed["more"]):
        return f"make {plain}"
    if due := _DUE.fullmatch(plain):
        return f"{put['always'] if put else ''}{'do' if due['done'] else 'give me' if due['given'] else 'add'} {plain}"
    return said if wished and _EACH.match(order) else order
