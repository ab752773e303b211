"""What an edit adds to a skill and what it takes away, as the lint rules look at it.

Old and new bytes and the person's words go in, a `Change` comes out: pieces of added text with the code in them told
apart from the prose, and removed lines. Whole files are at hand too, since an edit can give lines another meaning that
it does not touch. Knows no rule.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from skilld.edit.from_file import compare
from skilld.markdown.skill_file import Line, SkillFile, join_lines, parse
from skilld.markdown.structure import Role, blank_code, code_spans, list_item, roles
from skilld.text import folded


@dataclass(frozen=True)
class Change:
    """One edit. `added` and `removed` are lines without endings; a line that only moved is in neither.

    `prose` is the added text with all code blanked, `spans` what stands in added inline code, `code` the added lines
    of fenced blocks, `swallowed` the lines that the edit does not touch but turns from text into code or a comment,
    or back.
    """

    before: SkillFile
    after: SkillFile
    evidence: str
    added: tuple[str, ...]
    removed: tuple[str, ...]
    prose: str
    spans: tuple[str, ...]
    code: tuple[str, ...]
    swallowed: tuple[str, ...]

    @cached_property
    def text(self) -> str:
        """All added lines."""
        return "\n".join(self.added)

    @cached_property
    def old_text(self) -> str:
        """The whole body as it stood before."""
        return join_lines(self.before.body)

    @cached_property
    def new_text(self) -> str:
        """The whole body as it would stand."""
        return join_lines(self.after.body)

    @cached_property
    def gone(self) -> str:
        """All removed lines, white space and case folded."""
        return folded("\n".join(self.removed))

    @cached_property
    def said(self) -> str:
        """The person's words, white space and case folded."""
        return folded(self.evidence)

    @cached_property
    def added_folded(self) -> str:
        """All added lines, white space and case folded."""
        return folded(self.text)

    @cached_property
    def _old_folded(self) -> str:
        return folded(self.old_text)

    def stood(self, text: str) -> bool:
        """Whether the body before had this text, white space and case folded."""
        return folded(text) in self._old_folded

    def new_matches(self, pattern: re.Pattern[str]) -> list[str]:
        """Return what matches in the body as it would stand, and did not (or less often) in the body before."""
        old = Counter(match[0] for match in pattern.finditer(self.old_text))
        new = Counter(match[0] for match in pattern.finditer(self.new_text))
        return list((new - old).elements())

    def matches(self, pattern: re.Pattern[str], text: str | None = None) -> Iterator[re.Match[str]]:
        """Yield matches in `text` (all added text by default) that did not stand word for word in a removed line."""
        for match in pattern.finditer(self.text if text is None else text):
            if folded(match[0]) not in self.gone:
                yield match


def change_of(before: bytes, after: bytes, evidence: str) -> Change:
    """Compare two versions of a skill. Raises SkilldError when one of them cannot be parsed."""
    old, new = parse(before), parse(after)
    old_roles, new_roles = roles(old.body), roles(new.body)
    keys, wanted = [line.key for line in old.body], [line.key for line in new.body]
    added: list[int] = []
    removed: list[int] = []
    swallowed: list[str] = []
    for piece in compare(keys, wanted):
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
    added = _unmoved(added, [(wanted[i], new_roles[i]) for i in added], moved)
    removed = _unmoved(removed, [(keys[i], old_roles[i]) for i in removed], moved)
    prose, spans = _prose(new.body, new_roles, set(added))
    return Change(
        before=old,
        after=new,
        evidence=evidence,
        added=tuple(wanted[i] for i in added),
        removed=tuple(keys[i] for i in removed),
        prose=prose,
        spans=spans,
        code=tuple(wanted[i] for i in added if new_roles[i] is Role.CODE),
        swallowed=tuple(swallowed),
    )


def _unmoved(lines: list[int], what: list[tuple[str, Role]], moved: Counter[tuple[str, Role]]) -> list[int]:
    left = Counter(moved)
    out: list[int] = []
    for at, key in zip(lines, what, strict=True):
        if left[key] > 0:
            left[key] -= 1
        else:
            out.append(at)
    return out


def _prose(body: Sequence[Line], kinds: Sequence[Role], added: set[int]) -> tuple[str, tuple[str, ...]]:
    """Return the added text with code blanked, and the inline code.

    Only what is a code span both in its own line and in its block counts as one: a backtick in one line can end a
    span that began in the line above, and text between them must not pass for code.
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
