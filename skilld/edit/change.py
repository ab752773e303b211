"""What an edit adds to a skill and removes from it, for the lint rules.

A `Change` has the added text, split into code and prose, and the removed lines. It also has the whole files, since an
edit can change the meaning of lines that it does not touch. Knows no rule.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import NamedTuple

from skilld.edit.tokens import is_forbidden, is_forbidden_behind
from skilld.markdown.skill_file import Line, SkillFile, join_lines, parse
from skilld.markdown.structure import Role, blank_code, code_spans, list_item, roles
from skilld.text import compare_lines, fold, fold_case, safe_text, truncate
from skilld.values import value_class


@dataclass(frozen=True)
class Change:
    """One edit. `added` and `removed` are lines without endings; a line that only moved is in neither.

    `prose` is the added text with all code blanked, `spans` the contents of added inline code, `code` the added lines
    of fenced blocks, `reinterpreted` the untouched lines that the edit turns from text into code or a comment, or back.
    """

    before: SkillFile
    after: SkillFile
    evidence: str
    added: tuple[str, ...]
    removed: tuple[str, ...]
    prose: str
    spans: tuple[str, ...]
    code: tuple[str, ...]
    reinterpreted: tuple[str, ...]

    @cached_property
    def text(self) -> str:
        """All added lines."""
        return "\n".join(self.added)

    @cached_property
    def old_text(self) -> str:
        """The whole body before the edit."""
        return join_lines(self.before.body)

    @cached_property
    def new_text(self) -> str:
        """The whole body after the edit."""
        return join_lines(self.after.body)

    @cached_property
    def removed_folded(self) -> str:
        """All removed lines, white space and case folded."""
        return fold_case("\n".join(self.removed))

    @cached_property
    def orders(self) -> str:
        """All added text, with what is quoted as an example blank."""
        return without_examples(self.text)

    @cached_property
    def evidence_folded(self) -> str:
        """The person's words, white space and case folded."""
        return fold_case(self.evidence)

    @cached_property
    def added_folded(self) -> str:
        """All added lines, white space and case folded."""
        return fold_case(self.text)

    @cached_property
    def _old_folded(self) -> str:
        return fold_case(self.old_text)

    def contained_before(self, text: str) -> bool:
        """Whether the body before the edit had this text, white space and case folded."""
        return fold_case(text) in self._old_folded

    def new_matches(self, pattern: re.Pattern[str]) -> list[str]:
        """Return the matches in the new body that the old body did not have, or less often."""
        old = Counter(match[0] for match in pattern.finditer(self.old_text))
        new = Counter(match[0] for match in pattern.finditer(self.new_text))
        return list((new - old).elements())

    def matches(self, pattern: re.Pattern[str], text: str | None = None) -> Iterator[re.Match[str]]:
        """Yield matches in `text` (all added text by default) that were not verbatim in a removed line."""
        for match in pattern.finditer(self.text if text is None else text):
            if fold_case(match[0]) not in self.removed_folded:
                yield match


def build_change(before: bytes, after: bytes, evidence: str) -> Change:
    """Compare two versions of a skill. Raises SkilldError if one of them cannot be parsed."""
    old, new = parse(before), parse(after)
    old_roles, new_roles = roles(old.body), roles(new.body)
    keys, wanted = [line.key for line in old.body], [line.key for line in new.body]
    added: list[int] = []
    removed: list[int] = []
    swallowed: list[str] = []
    for piece in compare_lines(keys, wanted):
        olds, news = range(piece.old_start, piece.old_end), range(piece.new_start, piece.new_end)
        if piece.equal:
            pairs = zip(olds, news, strict=True)
            swallowed += [wanted[j] for i, j in pairs if wanted[j] and old_roles[i] is not new_roles[j]]
        else:
            removed += olds
            added += news
    came = Counter((wanted[i], new_roles[i]) for i in added)
    went = Counter((keys[i], old_roles[i]) for i in removed)
    moved = came & went
    added = _without_moved(added, [(wanted[i], new_roles[i]) for i in added], moved)
    removed = _without_moved(removed, [(keys[i], old_roles[i]) for i in removed], moved)
    prose, spans = _split_prose(new.body, new_roles, set(added))
    return Change(
        before=old,
        after=new,
        evidence=evidence,
        added=tuple(wanted[i] for i in added),
        removed=tuple(keys[i] for i in removed),
        prose=prose,
        spans=spans,
        code=tuple(wanted[i] for i in added if new_roles[i] is Role.CODE),
        reinterpreted=tuple(swallowed),
    )


def _without_moved(lines: list[int], what: list[tuple[str, Role]], moved: Counter[tuple[str, Role]]) -> list[int]:
    left = Counter(moved)
    out: list[int] = []
    for at, key in zip(lines, what, strict=True):
        if left[key] > 0:
            left[key] -= 1
        else:
            out.append(at)
    return out


def _split_prose(body: Sequence[Line], kinds: Sequence[Role], added: set[int]) -> tuple[str, tuple[str, ...]]:
    """Return the added text with code blanked, and the inline code.

    Only a code span both of its line and of its block counts as one: a backtick in one line can end a span that began
    in the line above, and text between them must not pass for code.
    """
    prose: list[str] = []
    spans: list[str] = []
    for block in _blocks(body, kinds):
        if added.isdisjoint(block):
            continue
        texts = [body[at].text for at in block]
        whole = blank_code("\n".join(texts)).split("\n")
        for at, text, in_block in zip(block, texts, whole, strict=True):
            if at in added:
                marks = zip(text, blank_code(text), in_block, strict=True)
                prose.append("".join(" " if alone == " " == both else char for char, alone, both in marks))
                spans += [span.content for span in code_spans(text)]
    return "\n".join(prose), tuple(spans)


def _blocks(body: Sequence[Line], kinds: Sequence[Role]) -> Iterator[list[int]]:
    """Yield the line numbers of each block of text: up to a blank line, a fence or the next list item."""
    block: list[int] = []
    for at, line in enumerate(body):
        closed = kinds[at] in {Role.FENCE, Role.CODE} or not line.key
        if block and (closed or list_item(line.text) is not None):
            yield block
            block = []
        if not closed:
            block.append(at)
    if block:
        yield block


_MAX_SHOWN = 80  # characters of the skill's text in a sentence


class Severity(StrEnum):
    """The consequence of one or all findings for a proposal."""

    PASS = "pass"  # noqa: S105 - a severity, no password
    FLAG = "flag"
    REFUSE = "refuse"


@value_class
class Finding:
    """One thing a rule found in an edit. `severity` is FLAG or REFUSE; `sentence` is safe to show anywhere."""

    rule: str
    severity: Severity
    sentence: str


def refuse(rule: str, sentence: str, shown: str = "") -> Finding:
    """Return a finding that forbids the proposal. `shown` is quoted after the sentence, escaped and cut."""
    return Finding(rule, Severity.REFUSE, _sentence(sentence, shown))


def flag(rule: str, sentence: str, *shown: str) -> Finding:
    """Return a finding that the person must see, so that the edit is not applied automatically.

    A second text of those `shown` is what takes the place of the first.
    """
    return Finding(rule, Severity.FLAG, _sentence(sentence, *shown))


def _sentence(sentence: str, *shown: str) -> str:
    texts = [truncate(_without_open_code(safe_text(fold(text))), _MAX_SHOWN) for text in shown if text]
    return f"{sentence}: {' -> '.join(texts)}" if texts else f"{sentence}."


def _without_open_code(text: str) -> str:
    """Return text without its backticks if a match cut a code span."""
    return text.replace("`", "") if text.count("`") % 2 else text


# Lint rules that consist of a pattern and a sentence. `verbs`, `nouns` and `near` return regular expressions for
# English as people write it, so that a rule's table reads as a list of words.

_SPACE = re.compile(r"\s{2,}")
_REST_OF_WORD = re.compile(r"\w*")
_SENTENCE_END = re.compile(r"[)\]\"'”’`*_]*(?:[.!?:;](?=\s|$)|\s*$)", re.MULTILINE)


class Phrase(NamedTuple):
    """One rule. A match is flagged, unless the sentence forbids what it names.

    A rule that `refuses` only flags a match if the sentence forbids it or the person typed it word for word: a real
    wish is shown, not blocked.
    """

    rule: str
    sentence: str
    pattern: re.Pattern[str]
    refuses: bool


def phrase(rule: str, sentence: str, *alternatives: str, refuses: bool = False) -> Phrase:
    """Return a phrase of regular expressions, any of which may match, ignoring case."""
    pattern = re.compile("|".join(f"(?:{part})" for part in alternatives), re.IGNORECASE)
    return Phrase(rule, sentence, pattern, refuses)


def verbs(words: str) -> str:
    """Return an expression for the regular forms of the blank-separated verbs."""
    return rf"\b(?:{'|'.join(_verb(word) for word in words.split())})\b"


def _verb(word: str) -> str:
    if word.endswith("y") and word[-2] not in "aeiou":
        return rf"{word[:-1]}(?:y|ies|ied|ying)"
    stem = word.removesuffix("e")
    return rf"{stem}(?:(?:e|es|ed|ing|s)|{stem[-1]}(?:ed|ing))?"


def nouns(words: str) -> str:
    """Return an expression for the blank-separated nouns in both numbers; an underscore stands for white space.

    With a question mark after the underscore the white space is optional.
    """
    return rf"\b(?:{'|'.join(_noun(word) for word in words.split())})\b"


def _noun(word: str) -> str:
    word = word.replace("_?", r"[\s-]*").replace("_", r"[\s-]+")
    return rf"{word[:-1]}(?:y|ies)" if re.search(r"[^aeiou]y$", word) else rf"{word}(?:e?s)?"


def near(first: str, second: str, within: int = 70) -> str:
    """Return an expression for both in one sentence and in this order, at most `within` characters apart."""
    return rf"(?:{first})[^.\n]{{0,{within}}}?(?:{second})"


def collapse_spaces(text: str) -> str:
    """Return `text` with every run of white space replaced by one blank or newline, so that a run can hide nothing."""
    return _SPACE.sub(lambda run: "\n" if "\n" in run[0] else " ", text)


def excerpt(text: str, start: int, end: int) -> str:
    """Return `text` from `start` to the end of the word that `end` is in, with an ellipsis if the sentence goes on."""
    if word := _REST_OF_WORD.match(text, end):
        end = word.end()
    return text[start:end] if _SENTENCE_END.match(text, end) else f"{text[start:end]}…"


def find_phrases(change: Change, phrases: Iterable[Phrase], text: str) -> Iterator[Finding]:
    """Yield the findings of the phrases in `text`, except text that was already in a line that the edit replaces."""
    for rule, sentence, pattern, refuses in phrases:
        for match in change.matches(pattern, text):
            forbidden = is_forbidden(text, match.start())
            if refuses:
                wanted = forbidden or fold_case(match[0]) in change.evidence_folded
                yield (flag if wanted else refuse)(rule, sentence, excerpt(text, *match.span()))
            elif not (forbidden or is_forbidden_behind(text, match.end())):
                yield flag(rule, sentence, excerpt(text, *match.span()))


# A text in quotation marks after words that introduce one is what somebody is to write, not what is to be done:
# 'Label the button "Delete account"'. Not one with an address, a path or an option, nor a long one.
_EXAMPLE = re.compile(
    r"""\b(?:write|writes|written|wording|word(?:s|ed)?|name[ds]?|label(?:led|s)?|titled?|call(?:ed)?|says?|read[s]?|phrased?
    |texts?|captions?|headings?|subjects?|prefix(?:ed)?|imperative|examples?|like|such\ as|e\.g\.)\b[^.\n"“”']{0,40}
    (?:[^.\n"“”']{0,20}(?:["“][^"“”\n@/\\$`-]{1,60}["”]|(?<!\w)'[^'\n@/\\$`-]{1,60}'(?!\w))){1,4}""",
    re.IGNORECASE | re.VERBOSE,
)
_QUOTED = re.compile(r"""["“][^"“”\n]{1,60}["”]|(?<!\w)'[^'\n]{1,60}'(?!\w)""")


def without_examples(text: str) -> str:
    """Return a text of the same length in which quoted examples are blank."""
    return _EXAMPLE.sub(lambda found: _QUOTED.sub(lambda one: '"' + " " * (len(one[0]) - 2) + '"', found[0]), text)


DISREGARD = verbs("ignore disregard forget override bypass dismiss neglect")
# After "test": neither "the test customers" nor "the test postgres" is a test.
NOT_FOR_TESTS = (
    r"(?!\s+(?:account|bucket|card|cluster|container|customer|data|database|db|device|entr(?:y|ie)|env|environment|email"
    r"|instance|key|mysql|order|page|postgres(?:ql)?|record|redis|row|server|sqlite|tenant|user)s?\b)"
)
