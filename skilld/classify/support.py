"""Decides in code whether a quote supports a change, whatever the model says.

The change may add nothing exact (number, path, command, address, identifier, name) that is neither in that turn nor in
the skill, and most of its content words must be the person's own. Measured on the labelled development batches (46
updates, 184 other turns of the same batches as counter-evidence): at MIN_OWN_SHARE = 0.5, 41 of 46 gold instructions
are supported by their turn and 5 of 184 by a wrong one; the five missed are translations and a bare assent
(tests/unit/test_classify_support.py).
"""

from __future__ import annotations

import re
import unicodedata

from skilld.classify.clauses import THE_USER, content_words
from skilld.classify.said_already import unify_words
from skilld.text import fold_case
from skilld.values import value_class
from skilld.words import (
    NUMBER_WORDS,
    contains_name,
    content_stems,
    has_unspaced,
    matching_share,
    matching_words,
    normalize,
    proper_names,
    space_scripts,
)

# Tokens that the ground must contain exactly: numbers, paths, commands, addresses, identifiers.

_CODE = re.compile(r"`([^`\n]+)`")
_EXACT = (
    re.compile(r"https?://[^\s)>\]}\"'`]+"),
    re.compile(r"(?<![\w./~-])@?[\w.~-]*+/(?:[./@~-]*+\w++)++"),  # paths, scoped packages, owner/name
    re.compile(r"(?<!\w)--?[A-Za-z][\w-]*"),  # flags
    re.compile(r"\b\w+(?:[._]\w+)+\b"),  # snake_case, dotted names, file names, versions
    re.compile(r"\b[a-z]+[A-Z]\w*\b|\b[A-Z][a-z]+[A-Z]\w*\b"),  # camelCase
    re.compile(r"(?<![\w.+-])[\w.+-]++@[\w-]++(?:\.[\w-]++)++"),
    re.compile(r"\b[A-Z][A-Z0-9]{2,}\b"),  # acronyms, constants
    re.compile(r"(?<![\w.,])\d+,\d+(?![.,]?\w)"),  # 1,5 and 10,000
    re.compile(r"\d+"),
)
_TWO_PARTS = re.compile(r"(\d+)[.,](\d+)")
_THOUSAND = 3  # digits
_MAX_TOKEN_LENGTH = 200  # characters: the pattern is quadratic for a token that repeats itself
_NOT_EXACT = frozenset({"and/or", "e.g", "i.e", "a.m", "p.m"})  # match the patterns, but are ordinary words


def exact_tokens(text: str) -> set[str]:
    """Return the exact tokens of `text`, in the form of `words.comparable`."""
    spaced = space_scripts(unicodedata.normalize("NFKC", text))
    found = {part.casefold() for code in _CODE.findall(spaced) for part in code.split()}
    for pattern in _EXACT:
        found.update(match.group(0).rstrip(".,:;").casefold() for match in pattern.finditer(spaced))
        spaced = pattern.sub(" ", spaced)  # the numbers in an address do not count again
    return {token for token in found if token} - _NOT_EXACT


def holds_token(token: str, text: str) -> bool:
    """Whether the comparable `text` contains the token as a whole (30 is not in 300), or as the number is also written.

    In words, with a decimal comma or point, and with thousands apart or as "10k".
    """
    other = any(re.search(rf"(?<![\w.,]){re.escape(one)}(?![.,]?\w)", text) for one in _other_spellings(token))
    return other or all(_holds_as_written(part, text) for part in token.split(","))  # "1,2" may be two numbers


def _other_spellings(token: str) -> list[str]:
    whole, apart = token, _TWO_PARTS.fullmatch(token)
    found = [f"{apart[1]}.{apart[2]}", f"{apart[1]},{apart[2]}"] if apart else []
    if apart and len(apart[2]) == _THOUSAND:
        whole = apart[1] + apart[2]
        found.append(whole)
    if whole.isdecimal() and len(whole) > _THOUSAND:
        high, low = whole[:-_THOUSAND], whole[-_THOUSAND:]
        found += [f"{high}.{low}", f"{high},{low}", *([f"{high}k"] if not int(low) else [])]
    return found


def _holds_as_written(token: str, text: str) -> bool:
    if token.isdecimal():
        spelled = NUMBER_WORDS.get(token)
        alone = rf"(?<!\d)(?<!\d[.,]){token}(?!\d)(?![.,]\d)"
        return bool(re.search(rf"{alone}|\b{spelled}\b" if spelled else alone, text))
    if len(token) > _MAX_TOKEN_LENGTH:
        return token in text
    return bool(re.search(rf"(?<!\w){re.escape(token)}(?:e?s)?(?!\w)", text))


MIN_OWN_SHARE = 0.5  # share of the change's content words that the quoted turn must contain
_MIN_OWN_SHARE_BESIDE_SKILL = 0.34  # share of words and exact tokens, if a new number or name is the person's
MIN_KNOWN_SHARE = 0.6  # share that the turn and the skill together must contain
MIN_WRITTEN_SHARE = 0.8  # share of the content words of the written lines that must be known already
# The words of a request to write something down: that it be written, and where, but not what.
_WRITTEN_DOWN = re.compile(
    r"(?<![a-z])(?:(?:claude|agents|gemini|qwen|skill)(?:\.\w{1,12})?\.mdc?|skills?|rules?|memory|instructions?|guidelines?"
    r"|add(?:ed|ing)?|append|put|note|save|record|store|insert|update|create|another|new|want|like|let(?:'?s)?)(?![a-z])"
    r"|スキル|ルール|規則|规则|技能|追加|追記|記入|新しい|新たな|あたらしい|添加|加入|写入|寫入|新的",
    re.IGNORECASE,
)
_NOT_SAID = "the quoted words do not say this"
_WORD = re.compile(r"\w+")
_LIST_MARKER = re.compile(r"^[^\S\n]*+\d{1,2}[.)]\s", re.MULTILINE)
_LIST_NUMBERS = frozenset(str(number) for number in range(1, 100))  # a new item of a numbered list adds one


@value_class
class Support:
    """Whether a change is supported; if not, `why_not` is a clause for the person.

    `quoted`: its words are ones that the person pasted or put in quotation marks. `reworded`: only its words are at
    fault; in the person's own words it may be supported. `doubt` is the text that it may be the opposite of, if code
    cannot tell; `by_model`: a model could. `beyond` are the parts of a supported change that share no words with the
    person's.
    """

    why_not: str = ""
    by_assent: bool = False
    quoted: bool = False
    reworded: bool = False
    beyond: tuple[str, ...] = ()
    doubt: str = ""
    by_model: bool = False

    @property
    def ok(self) -> bool:
        """Whether the change is supported."""
        return not self.why_not


def is_empty_request(change: str) -> bool:
    """Whether a change only asks to write something down, without saying what."""
    rest = _WRITTEN_DOWN.sub(" ", change)
    return rest != change and not any(word.content for word in content_words(rest, ""))


# "Never use var": short names in code are common words elsewhere.
_NAMES_THING = re.compile(
    r"(?:please )?(?:always|never|do not|don['\u2019]?t) (?:ever )?use "
    r"(?!(?:it|that|this|them|these|those|one|some|so|both|everything|anything)\b)\S+",
    re.IGNORECASE,
)


def check_support(change: str, typed: str, skill: str, *, offer: str = "", earlier: str = "") -> Support:
    """Judge whether the turn `typed` supports `change` to a skill with the text `skill`.

    `offer` is the agent's text directly before the turn, given only if the turn is a bare assent: then the change may
    take its content from there, and the result says so. `earlier` is what the person typed before: a word of the turn
    may be spelled as it is there, "quiet" as "--quiet".
    """
    ground, spelled = normalize(f"{typed}\n{skill}\n{offer}"), normalize(earlier)
    others = THE_USER.sub(" ", change)
    foreign = [
        token
        for token in sorted(exact_tokens(change))
        if not holds_token(token, ground)
        and not (holds_token(token, spelled) and all(holds_token(word, ground) for word in _WORD.findall(token)))
    ]
    foreign += [name for name in sorted(proper_names(others)) if not contains_name(name, ground)]
    if foreign:
        return Support(f"you did not say {', '.join(repr(token) for token in foreign[:3])}")
    others, said, skill = (unify_words(text) for text in (others, typed, skill))  # "PR" is a pull request
    wanted = content_stems(others)
    if not wanted:
        bare = fold_case(change).rstrip(".!")
        says = bool(bare) and bare in fold_case(typed)
        says = says and (not offer or bool(_NAMES_THING.fullmatch(bare)))  # a bare assent alone says nothing
        return Support() if says else Support("it says nothing worth remembering")
    if _share(others, f"{said}\n{skill}") >= MIN_KNOWN_SHARE and (
        _share(others, said) >= MIN_OWN_SHARE or _completes_skill(others, said, skill)
    ):
        return Support()
    if offer and _share(others, f"{said}\n{unify_words(offer)}") >= MIN_OWN_SHARE:
        return Support(by_assent=True)
    return Support(_NOT_SAID)


# A word that stands for something said before, in the languages that skilld recognizes.
_POINTING = re.compile(
    r"\b(?:it|its|that|this|them|they|those|these|ones?|there|the same|das|dies(?:e[mnrs]?)?|es|sie|ihn|dort|damit|dazu"
    r"|es[ot]e?|l[oa]s?|ah[íi]|[çc]a|cela|ceci|iss?to|isso|aquilo|quest[oaie]|quell[oaie]|dat|dit|daar|to|tego|это|этого|там"
    r"|bu|bunu|đó)\b|[そこあ](?:れ|こ)|[那这這它]|[그이]거|그것|거기",
    re.IGNORECASE,
)


def points_back(said: str) -> bool:
    """Whether words have one that stands for something said before: "they always need one"."""
    return bool(_POINTING.search(said))


def check_pointing(change: str, typed: str, earlier: str, skill: str) -> Support:
    """Judge whether the turn `typed`, which points back, supports a change that names what it points to.

    "They always need one" makes "migrations need a down part" only if all words of it that the turn lacks are the
    person's own in `earlier` turns, or the skill's.
    """
    support = check_support(change, f"{typed}\n{earlier}", skill)
    wanted = content_stems(THE_USER.sub(" ", change))
    known = content_stems(f"{typed}\n{earlier}\n{skill}")
    own = matching_words(wanted, content_stems(typed), slips=True)
    return support if not support.ok or (own and wanted <= known) else Support(_NOT_SAID)


def _share(change: str, ground: str) -> float:
    """Return the share of a change's content words that the ground contains, ignoring typing errors.

    In scripts without blanks, pairs of characters would count every function word between two words twice.
    """
    if not has_unspaced(change):
        return matching_share(content_stems(change), content_stems(ground), slips=True)
    words = content_words(change, ground)
    whole = sum(word.weight for word in words)
    return sum(word.weight for word in words if word.own) / whole if whole else 0.0


def _completes_skill(change: str, typed: str, skill: str) -> bool:
    """Whether a change puts a number or a name that the person gave among words of the skill.

    "permanent change: [-0.5, 1.5], put it where [0, 2] is" makes "Run SPRT with bounds [-0.5, 1.5] instead of [0, 2]",
    and "ask Lina, she took over" makes "Ask Lina before you touch `payments.py`".
    """
    words, values = content_stems(_CODE.sub(" ", change)), exact_tokens(change)
    said, known = matching_words(words, content_stems(typed), slips=True), matching_words(words, content_stems(skill))
    given, there = normalize(typed), normalize(skill)
    own = [value for value in values if holds_token(value, given)]
    new = any(value[0].isdecimal() and not holds_token(value, there) for value in own)
    people = proper_names(change) - values
    if not new and not any(contains_name(name, given) and not contains_name(name, there) for name in people):
        return False
    most = len(said - known) >= MIN_OWN_SHARE * len(words - known)
    return most and len(said) + len(own) >= _MIN_OWN_SHARE_BESIDE_SKILL * (len(words) + len(values))


def adds_nothing(text: str, ground: str) -> bool:
    """Whether a text adds nothing to `ground`: no new exact token, and hardly any new content word."""
    folded = normalize(ground)
    if any(not holds_token(token, folded) for token in exact_tokens(text) - _LIST_NUMBERS):
        return False
    wanted = content_stems(_LIST_MARKER.sub("", text))
    return not wanted or matching_share(wanted, content_stems(ground)) >= MIN_WRITTEN_SHARE
