"""Which passages of one skill another skill already says, and which items of the other say less than one of them. Pure.

A line says what another does only if it has all of its words, numbers, names and choices: what a merge leaves out as
said already must be there.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from skilld.classify.contradiction import PLAIN_VERBS, contradicts
from skilld.classify.offline.sections import BlockKind
from skilld.classify.opposition import differs_in_measure, opposes
from skilld.classify.said_already import says_already, unify_words
from skilld.classify.support import exact_tokens
from skilld.library.passages import Passage, find_passages, find_sentences, outdent, plain_text
from skilld.text import fold
from skilld.values import value_class
from skilld.words import content_stems, has_negation, stems

_MIN_COMMON_SHARE = 0.4  # of all stems of both: a long text contains the words of many short ones
_MIN_STEMS = 2  # of the shorter text: many lines share a single one
_RESTRICTION_PATTERN = re.compile(
    r"\b(?:only|unless|except|but|if|when|while|until|without|instead|for|on|in|nur|wenn|falls|sofern|außer|ohne|aber"
    r"|bis|für|bei|im|solo|si|excepto|sauf|seulement)\b",
    re.IGNORECASE,
)  # what makes a rule apply to less
_SIGN_PATTERN = re.compile(r"[^\w'\u2019\u2010-\u2015-]")
_PUNCTUATION = ".,;:!?()[]\"'\u201c\u201d\u201e\u00ab\u00bb*_`"
_CODE = re.compile(r"`([^`\n]+)`")
# A step of a command and at most a few words that say what it is for.
_NAMED_COMMAND = re.compile(r"((?:[^\W\d_]+ ){0,6}[^\W\d_]+):? `([^`\n]+)`\.?")
_CONDITION = re.compile(r"(?i)(?:if|when|unless|only|after|before|until|sometimes)\b")
_VARIABLE = re.compile(r"\{\{\w+\}\}|<[\w-]+>|\$\{?[A-Z_]+\}?|(?<![A-Za-z])[A-Z][A-Z_]+(?![A-Za-z])")
_MIN_TABLE = 2  # lines: the names of the columns and the line below them


@value_class
class _Unit:
    """One sentence of a skill with the passage that it is in; `plain` has both texts."""

    owner: Passage
    text: str
    stems: frozenset[str]
    plain: frozenset[str]


class SaidIn:
    """The texts of one skill, to look up what they say."""

    def __init__(self, passages: Iterable[Passage]) -> None:
        """Take the skill's passages."""
        self._passages = list(passages)
        self._units = [
            _Unit(one, text, content_stems(unify_words(text)), frozenset(map(plain_text, (text, one.head))))
            for one in self._passages
            if one.kind is not BlockKind.OTHER
            for text in find_sentences(one.head)
        ]

    def find(self, passage: Passage, text: str, groups: frozenset[int] | None = None) -> Passage | None:
        """Return the passage that says a text of `passage`, also sentence by sentence, or None.

        With `groups` it must be an item of one of these lists.
        """
        found = None
        for sentence in [text] if self._find_one(passage, text, groups) else find_sentences(text):
            said = self._find_one(passage, sentence, groups)
            if said is None:
                return None
            found = found or said
        return found

    def _find_one(self, passage: Passage, text: str, groups: frozenset[int] | None) -> Passage | None:
        if literal := self.find_literal(passage, text, groups):
            return literal[0]
        own = content_stems(unify_words(text))
        fitting = self._fitting(passage, groups)
        said = next((one.owner for one in fitting if own <= one.stems and says(one.text, text)), None)
        if said is None and passage.is_step:
            said = next((one.owner for one in fitting if one.owner.is_step and runs_same(one.text, text)), None)
        return said

    def find_literal(self, passage: Passage, text: str, groups: frozenset[int] | None = None) -> list[Passage]:
        """Return the passages that have a text of `passage` word for word, those below the same headings first."""
        plain = plain_text(text)
        found = [one.owner for one in self._fitting(passage, groups) if plain in one.plain]
        return sorted(dict.fromkeys(found), key=lambda one: one.path != passage.path)

    def _fitting(self, passage: Passage, groups: frozenset[int] | None) -> list[_Unit]:
        return [
            one
            for one in self._units
            if (groups is None or one.owner.group in groups) and denies(one.owner.path) == denies(passage.path)
        ]

    def holds(self, text: str) -> bool:
        """Whether the skill has each sentence of a text word for word."""
        parts = [plain_text(one) for one in find_sentences(text)]
        return any(plain_text(text) in one.plain for one in self._units) or all(
            any(part in one.plain for one in self._units) for part in parts
        )

    def steps_like(self, steps: Sequence[Passage]) -> frozenset[int]:
        """Return the lists that contain some of these steps: those below the same headings, or one with most of them.

        A step that says less counts too: it will be replaced.
        """
        found = [{one.group for one in self._passages if one.is_step and says_more(step, one)} for step in steps]
        found = [
            groups | {one.owner.group for one in self._says_step(step)}
            for groups, step in zip(found, steps, strict=True)
        ]
        groups = Counter(group for one in found for group in one)
        near = {one.group for one in self._passages if one.is_step and one.path == steps[0].path}
        if near & groups.keys():
            return frozenset(near)
        most = groups.most_common(1)
        return frozenset({most[0][0]}) if most and 2 * most[0][1] > len(steps) else frozenset()

    def bullet_for(self, steps: Sequence[Passage]) -> str:
        """Return the bullet of the list that has more than half of these steps as its items; "" if they are steps."""
        if self.steps_like(steps):
            return ""
        found = [{one.group for one in self.find_literal(step, step.head) if one.is_item} for step in steps]
        most = Counter(group for groups in found for group in groups).most_common(1)
        if not most or 2 * most[0][1] <= len(steps):
            return ""
        return next((one.marker for one in self._passages if one.group == most[0][0] and not one.is_step), "")

    def _says_step(self, step: Passage) -> list[_Unit]:
        plain, own = plain_text(step.head), content_stems(unify_words(step.head))
        return [
            one
            for one in self._units
            if one.owner.is_step
            and (
                plain in one.plain or (own <= one.stems and says(one.text, step.head)) or runs_same(one.text, step.head)
            )
        ]

    def find_block(self, lines: Sequence[str]) -> Passage | None:
        """Return the passage that contains these lines without a gap, or None."""
        wanted = outdent(lines)
        for one in self._passages:
            for at in range(len(one.lines) - len(wanted) + 1):
                if one.lines[at].strip() == wanted[0].strip() and outdent(one.lines[at : at + len(wanted)]) == wanted:
                    return one
        return None

    def find_table(self, passage: Passage) -> Passage | None:
        """Return the table with the same columns, or None."""
        return next((one for one in self._passages if is_table(one) and table_key(one) == table_key(passage)), None)

    def find_shorter(self, passage: Passage, groups: frozenset[int] | None = None) -> Passage | None:
        """Return the item that says only a part of what `passage` says, of these lists if given, or None."""
        fitting = [one for one in self._passages if groups is None or one.group in groups]
        return next((one for one in fitting if says_more(passage, one)), None)


def denies(path: Sequence[str]) -> bool:
    """Whether headings turn what is below them into its opposite, as "Never" does."""
    return has_negation(" ".join(path))


def conflicts(one: str, other: str) -> bool:
    """Whether a person must decide between two instructions: they forbid, choose or measure differently."""
    return opposes(one, other) or opposes(other, one) or differs_in_measure(one, other)


def says(text: str, what: str) -> bool:
    """Whether a text says all of what another does: in the same words, or also in others in the same order.

    "Run the tests before you push" has all words of "Push", but says something else.
    """
    if not all(one in text.casefold() for one in exact_tokens(what)) or not _signs(what) <= _signs(text):
        return False
    if conflicts(text, what):
        return False
    text, what = unify_words(text), unify_words(what)
    mine, theirs = _stem_list(text), _stem_list(what)
    if set(mine) - PLAIN_VERBS == set(theirs) - PLAIN_VERBS and len(set(mine) - PLAIN_VERBS) > _MIN_STEMS:
        mine = theirs  # "The subject is written in the imperative mood", "Use the imperative mood in the subject"
    if set(mine) == set(theirs):
        return any(says_already(*both, covered=1.0, in_full=True) for both in ((what, text), (text, what)))
    ordered = iter(mine)
    same = mine[:1] == theirs[:1] and all(one in ordered for one in theirs)
    return same and says_already(what, text, covered=1.0, in_full=True)


def runs_same(text: str, what: str) -> bool:
    """Whether a step only names a command, "Check when it ends: `...`", that another one runs, variables aside."""
    named = _NAMED_COMMAND.fullmatch(what)
    if not named or any(has_negation(_CODE.sub("", one)) or _CONDITION.match(one) for one in (text, what)):
        return False
    return any(_is_same_command(code, named[2]) for code in _CODE.findall(text))


def _is_same_command(one: str, other: str) -> bool:
    mine, theirs = one.split(), other.split()
    return len(mine) == len(theirs) > 1 and all(
        same == that or _VARIABLE.sub("\0", same) == _VARIABLE.sub("\0", that)
        for same, that in zip(mine, theirs, strict=True)
    )


def _signs(text: str) -> frozenset[str]:
    """Return the words of one letter or with signs in them, which have no stem: "x", "C++", ">="."""
    words = (word.strip(_PUNCTUATION) for word in text.split())
    return frozenset(
        word.casefold() for word in words if (len(word) == 1 and word != "a") or _SIGN_PATTERN.search(word)
    )


def _stem_list(text: str) -> list[str]:
    return [one for word in text.split() for one in sorted(stems(word))]


def says_more(one: Passage, than: Passage) -> bool:
    """Whether a passage says all that an item does, and more."""
    if not than.is_item or one.is_step != than.is_step or denies(one.path) != denies(than.path):
        return False
    if not one.is_item and (one.kind is BlockKind.OTHER or len(find_sentences(one.head)) > 1):
        return False
    text, part = one.head, than.head
    mine, theirs = content_stems(text), content_stems(part)
    if part in map(plain_text, find_sentences(text)):
        return text != part
    if has_negation(text) != has_negation(part) or contradicts(text, part):
        return False
    if text.startswith(f"{part} ") and not _RESTRICTION_PATTERN.search(text[len(part) :]):
        return True
    if len(theirs) < _MIN_STEMS or not theirs < mine or len(theirs) < _MIN_COMMON_SHARE * len(mine):
        return False
    return all(any(says(whole, one) for whole in find_sentences(text)) for one in find_sentences(part))


def nested_passages(passage: Passage) -> list[Passage]:
    """Return what is nested in an item as passages; their lines are counted from the item's second own line on."""
    return find_passages("\n".join(["", *passage.nested])) if passage.nested else []


def is_table(passage: Passage) -> bool:
    """Whether a passage is a table with named columns."""
    lines = passage.lines
    return (
        passage.kind is BlockKind.OTHER
        and len(lines) >= _MIN_TABLE
        and lines[0].lstrip().startswith("|")
        and bool(lines[1].strip())
        and not lines[1].strip("|:- \t")
    )


def table_key(passage: Passage) -> tuple[str, ...]:
    """Return the names of a table's columns, for comparison."""
    return tuple(one.casefold() for one in cells(passage.lines[0]))


def cells(row: str) -> tuple[str, ...]:
    """Return the cells of a table's row."""
    return tuple(fold(one) for one in row.strip().removeprefix("|").removesuffix("|").split("|"))
