"""The structure of a body's lines: headings and their sections, fenced code, HTML comments.

Line numbers start at 0. Reads Markdown's block structure for the purpose of editing, after CommonMark 0.31 chapters 4.2
to 4.6 and 5.2; it never fails, and an unclosed fence or comment runs to the end.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from enum import Enum
from itertools import pairwise

from skilld.markdown.skill_file import Line
from skilld.values import value_class
from skilld.words import has_negation

DEFAULT_TITLE = "Preferences"  # the heading of the section for what belongs to no other section
# In files in other languages.
_DEFAULT_TITLES = {
    "cs": "Pravidla", "de": "Regeln", "es": "Reglas", "fr": "Règles", "it": "Regole", "ja": "ルール", "ko": "규칙",
    "nl": "Regels", "pl": "Zasady", "pt": "Regras", "ru": "Правила", "tr": "Kurallar", "vi": "Quy tắc", "zh": "规则",
}  # fmt: skip
_TITLES = frozenset(title.casefold() for title in (DEFAULT_TITLE, *_DEFAULT_TITLES.values()))
_TITLE_MARKS = "#*_:： \t"
_TITLE_NUMBER = re.compile(r"^\d{1,6}[.)]\s+")


def default_title(language: str) -> str:
    """Return the heading of that section in a language (ISO 639-1), in English if it has none of its own."""
    return _DEFAULT_TITLES.get(language, DEFAULT_TITLE)


def is_default_title(text: str) -> bool:
    """Whether a line is that heading in any language, however it is written ("## 4. Preferences", "PREFERENCES")."""
    return _TITLE_NUMBER.sub("", text.strip(_TITLE_MARKS)).casefold() in _TITLES


# Code spans, after CommonMark 0.31 chapter 6.1.

_BACKTICK_RUN = re.compile(r"`+")
_NON_NEWLINE = re.compile(r"[^\n]")


@value_class
class CodeSpan:
    """Characters [start, end) of the text, including the backticks; `content` is the text between them."""

    start: int
    end: int
    content: str


def code_spans(text: str) -> list[CodeSpan]:
    """Return the code spans of one block of text. A backtick run without a partner of its length is plain text."""
    runs = [(match.start(), match.end()) for match in _BACKTICK_RUN.finditer(text)]
    by_length: dict[int, list[int]] = defaultdict(list)  # starts of the runs of each length, the nearest one last
    for start, end in reversed(runs):
        by_length[end - start].append(start)
    out: list[CodeSpan] = []
    free = 0
    for run_start, end in runs:
        start = run_start + (1 if _escaped(text, run_start) else 0)
        if run_start < free or start == end:
            continue
        partners = by_length[end - start]
        while partners and partners[-1] < end:
            partners.pop()
        if partners:
            closer = partners[-1]
            free = closer + end - start
            out.append(CodeSpan(start, free, text[end:closer].strip()))
    return out


def _escaped(text: str, at: int) -> bool:
    first = at
    while first > 0 and text[first - 1] == "\\":
        first -= 1
    return (at - first) % 2 == 1


def blank_code(text: str) -> str:
    """Replace every character of code spans except newlines with a blank, so that positions stay the same."""
    out: list[str] = []
    done = 0
    for span in code_spans(text):
        out += [text[done : span.start], _NON_NEWLINE.sub(" ", text[span.start : span.end])]
        done = span.end
    return "".join([*out, text[done:]])


_ATX = re.compile(r" {0,3}(#{1,6})(?![^ \t])")
_SETEXT = re.compile(r" {0,3}(?:(=+)|-+)[ \t]*")
_NO_PARAGRAPH = re.compile(r"\s*(?:$|[-*+][ \t]|[>|]|\d{1,9}[.)][ \t])| {4}|\t")
_FENCE = re.compile(r"(?P<indent>[ \t]*)(?P<marks>`{3,}|~{3,})(?P<info>.*)")
_LIST_ITEM = re.compile(r"(?P<indent>[ \t]*)(?P<marker>[-*+]|\d{1,9}[.)])(?P<gap>[ \t]+|$)(?P<box>\[[ xX]\][ \t]+)?")
_THEMATIC_BREAK = re.compile(r"[ \t]*(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,})")
_INDENTED_CODE = 4
_MAX_MARKERS = 8  # list markers read in one line
# The block that `skilld sync` writes (exchange/managed_block.py) repeats skills and is always rewritten as a whole.
_MANAGED = re.compile(r"<!-- skilld:skills:(start|end)\b")


_Head = tuple[int, int, int, str]  # of a heading: its first line, the line after it, its level and title


class Role(Enum):
    """The kind of text a line belongs to. FENCE is a line that opens or closes fenced code."""

    TEXT = "text"
    FENCE = "fence"
    CODE = "code"
    COMMENT = "comment"  # or a line of a managed block


@value_class
class Item:
    """The start of a list item: its indentation, the marker, the blanks after it, and a task's box."""

    indent: str
    marker: str
    gap: str
    box: str

    @property
    def kind(self) -> str:
        """Which list it may be an item of: its bullet, or the sign after its number."""
        return f"1{self.marker[-1]}" if self.marker[0].isdigit() else self.marker

    @property
    def width(self) -> int:
        """Columns before the item's text: the minimum indentation of its further lines."""
        return len(self.indent.expandtabs(4)) + len(self.marker) + max(1, len(self.gap.expandtabs(4)))


@value_class
class Section:
    """A heading and its text: its own lines are [start, own_end), with its subsections [start, end).

    The heading itself, one line or two, is [head, start). Text before the first one is a section of level 0 without it.
    """

    title: str
    level: int
    start: int
    own_end: int
    end: int
    head: int = 0


def list_item(text: str) -> Item | None:
    """Return the list marker at the start of a line, or None. A thematic break (`* * *`) is not an item."""
    match = _LIST_ITEM.match(text)
    if match is None or _THEMATIC_BREAK.fullmatch(text):
        return None
    return Item(match["indent"], match["marker"], match["gap"], match["box"] or "")


def roles(body: Sequence[Line]) -> list[Role]:
    """Return the role of each line. Fences count inside list items too, indented as far as the item's text."""
    out: list[Role] = []
    fence = ""
    comment = False
    content = 0  # columns of the current list item
    for line in body:
        rest, columns = (line.text, 0) if fence or comment else _after_markers(line.text)
        match = _FENCE.fullmatch(rest)
        if comment:
            out.append(Role.COMMENT)
            comment = "-->" not in line.text
        elif fence:
            closes = match is not None and match["marks"].startswith(fence) and not match["info"].strip()
            out.append(Role.FENCE if closes else Role.CODE)
            fence = "" if closes else fence
        elif match is not None and _opens_fence(match, content, in_item=columns > 0):
            out.append(Role.FENCE)
            fence = match["marks"]
        else:
            comment = _comment_open(line.text)
            out.append(Role.COMMENT if comment or line.text.lstrip().startswith("<!--") else Role.TEXT)
        if columns:
            content = columns
        elif line.text[:1].strip() and not fence and out[-1] is Role.TEXT:
            content = 0
    return _without_managed(body, out)


def _without_managed(body: Sequence[Line], kinds: list[Role]) -> list[Role]:
    """Give all lines of a managed block the role of its markers, so that nobody edits them."""
    marks = [
        (at, found[1])
        for at, line in enumerate(body)
        if kinds[at] is Role.COMMENT and (found := _MANAGED.match(line.text))
    ]
    for (start, opens), (end, closes) in pairwise(marks):
        if (opens, closes) == ("start", "end"):
            kinds[start:end] = [Role.COMMENT] * (end - start)
    return kinds


def _after_markers(text: str) -> tuple[str, int]:
    """Return the text after the list markers at the start of a line, and its column; 0 without a marker."""
    columns = 0
    for _ in range(_MAX_MARKERS):
        item = list_item(text)
        if item is None:
            break
        columns += item.width
        text = text[len(item.indent + item.marker + item.gap) :]
    return text, columns


def _opens_fence(match: re.Match[str], content: int, *, in_item: bool) -> bool:
    if match["marks"][0] == "`" and "`" in match["info"]:
        return False
    return in_item or len(match["indent"].expandtabs(4)) < content + _INDENTED_CODE


def _comment_open(text: str) -> bool:
    if "<!--" not in text:
        return False
    visible = blank_code(text)
    return "<!--" in visible and "-->" not in visible[visible.rfind("<!--") :]


def sections(body: Sequence[Line]) -> list[Section]:
    """Return the sections in order; headings in code or comments do not count."""
    return _sections_of(_headings(body), body)


def _sections_of(heads: list[_Head], body: Sequence[Line]) -> list[Section]:
    if not heads or heads[0][0] > 0:
        heads = [(0, 0, 0, ""), *heads]
    out: list[Section] = []
    later: list[tuple[int, int]] = [(len(body), 0)]  # where the following sections end it, and their levels
    for head, start, level, title in reversed(heads):
        own_end = later[-1][0]
        while level and later[-1][1] > level:
            later.pop()
        out.append(Section(title, level, start, own_end, later[-1][0] if level else own_end, head))
        later.append((head, level))
    return out[::-1]


def _title(text: str) -> str:
    """Return a heading's text without closing number signs."""
    title = text.strip()
    shorter = title.rstrip("#")
    return shorter.rstrip() if not shorter or shorter[-1] in " \t" else title


def _headings(body: Sequence[Line]) -> list[_Head]:
    kinds = roles(body)
    out: list[_Head] = []
    for index, line in enumerate(body):
        if kinds[index] is not Role.TEXT:
            continue
        atx = _ATX.match(line.text)
        if atx is not None:
            out.append((index, index + 1, len(atx[1]), _title(line.text[atx.end() :])))
            continue
        under = _SETEXT.fullmatch(line.text)
        if under is None or index == 0 or kinds[index - 1] is not Role.TEXT:
            continue
        above = body[index - 1].text
        if not _NO_PARAGRAPH.match(above) and not (out and out[-1][1] == index):
            out.append((index - 1, index + 1, 1 if under[1] else 2, above.strip()))
    return out


# Many a file without Markdown headings has lines that serve as such: "TESTING", "**Testing**", "Testing:" above a list.
_LABELS = (
    re.compile(r"[A-Z][A-Z0-9 &/,'()-]{2,40}:?"),
    re.compile(r"(?:\*\*|__)[^*_]{2,60}(?:\*\*|__):?"),
    re.compile(r"[^\W\d_][\w /&'-]{1,40}:"),
)
_MIN_LABELS = 2  # of one kind, so that they serve as headings
LABEL_LEVEL = 2


def labelled_sections(body: Sequence[Line]) -> list[Section]:
    """Return the sections in order; in a file without headings, those below the lines that serve as such."""
    found = sections(body)
    if any(part.level for part in found):
        return found
    kinds = roles(body)
    for label in _LABELS:
        heads = [
            (at, at + 1, LABEL_LEVEL, line.text.strip(_TITLE_MARKS))
            for at, line in enumerate(body)
            if kinds[at] is Role.TEXT and label.fullmatch(line.text.rstrip()) and _stands_apart(body, at)
        ]
        if len(heads) >= _MIN_LABELS:
            return _sections_of(heads, body)
    return found


def _stands_apart(body: Sequence[Line], at: int) -> bool:
    """Whether a line begins a block; one that only ends in a colon must introduce a list."""
    below = next((line.text for line in body[at + 1 :] if line.key), "")
    is_label = not body[at].text.rstrip().endswith(":") or list_item(below) is not None
    return is_label and (at == 0 or not body[at - 1].key)


# What a heading says of the items below it.

# A numbered list of rules differs from the steps of a procedure by its heading, or by how half of its items begin.
_RULES_TITLE = re.compile(
    r"rule|guideline|convention|principle|practice|prefer|^(?:\w+ly |important |general |other |more )?notes?$"
    r"|regla|regra|règle|regel|правил|规则|规范|ルール|규칙",
    re.IGNORECASE,
)
_RULE_START = re.compile(
    r"\W*(?:(?:always|never|avoid|prefer|only|no|must|do not|don.t|immer|nie|niemals|keine?|siempre|nunca|evita\w*"
    r"|toujours|jamais|ne|évite\w*|sempre|mai|non|não|всегда|никогда|не)\b"
    r"|不|禁止|必[须須]|[总總]是|始[终終]|一律|必ず|決して|常に|항상|절대)",
    re.IGNORECASE,
)
# A heading that only announces steps, and names no subject that a rule could be about.
_STEPS_TITLE = re.compile(
    r"^\W*(?:\w+\W+){0,3}?(?:steps?|process|procedures?|workflow|how (?:to|it works)|instructions|checklist|order"
    r"|schritte|ablauf|vorgehen|anleitung|pasos|procedimiento|étapes|procédure|passos|procedimento|passi|stappen|шаги"
    r"|步骤|流程|手順|단계)",
    re.IGNORECASE,
)
_TURNING_TITLE = re.compile(
    r"^\W*(?:(?:the )?(?:do ?n.?ts?|do nots?|nevers?)\W*$|(?:things |what )?(?:to avoid|not to do)\b|avoid\b|forbidden"
    r"|prohibited|not allowed|anti-?patterns?|(?:common |frequent )?(?:pitfalls|mistakes)|red flags|non-?goals"
    r"|verboten|vermeiden|nicht\b|no hacer|evitar|[àa] éviter|ne pas|interdit|da evitare|vietato|запрещ|нельзя"
    r"|禁止|不要|避免|禁忌|避けるべき|しないこと|금지)",
    re.IGNORECASE,
)
_DO_TITLE = re.compile(r"\W*(?:the )?(?:do['’]?s?|tun|hacer|à faire)\W*", re.IGNORECASE)
_OPENING_WORDS, _OPENING_CHARACTERS = 3, 24  # of an instruction, in which a negation makes it a prohibition


def is_rule(text: str) -> bool:
    """Whether an instruction begins as one that always holds, and not as a step of a procedure."""
    return bool(_RULE_START.match(text))


def is_procedure(title: str, items: Sequence[str]) -> bool:
    """Whether the items of a numbered list are the steps of a procedure, and not rules."""
    return not _RULES_TITLE.search(title) and 2 * sum(map(is_rule, items)) < len(items)


def names_subject(title: str) -> bool:
    """Whether a heading above steps names a subject ("Testing"), so that rules on it may go below the steps."""
    return bool(title.strip()) and not _STEPS_TITLE.search(title)


def turns_around(title: str, items: Sequence[str]) -> bool:
    """Whether a heading such as "Don't" makes the opposite of the items below it, which are not negated themselves."""
    return bool(_TURNING_TITLE.search(title)) and 2 * sum(map(_is_prohibition, items)) <= len(items)


def keeps_meaning(text: str, title: str, items: Sequence[str]) -> bool:
    """Whether an instruction says the same below a heading: neither an order below "Don't", nor a ban below "Do"."""
    if _TURNING_TITLE.search(title):
        return _is_prohibition(text) and not turns_around(title, items)
    return not (_DO_TITLE.fullmatch(title) and _is_prohibition(text))


def _is_prohibition(text: str) -> bool:
    return has_negation(" ".join(text.split()[:_OPENING_WORDS])[:_OPENING_CHARACTERS])


# Lines of a file that a program manages: between its markers, or everything outside the sections left to people.

_BLOCK_START = re.compile(r"\s*<!--[^>]{0,200}\b(?:start|begin)\b[^>]{0,200}-->\s*", re.IGNORECASE)
_BLOCK_END = re.compile(r"\s*<!--[^>]{0,200}\b(?:end|stop)\b[^>]{0,200}-->\s*", re.IGNORECASE)
_MANUAL_SECTION = re.compile(
    r"\b(?:manual(?:ly)?|custom(?:i[sz]ations?)?|hand-?written|human|user|your|preserved?)(?=[\s_:.-])", re.IGNORECASE
)
_HEAD_CHARACTERS = 600  # a generated file says so in its first characters
# About the file itself, outside of lists: "do not edit src/gen" and "the client is generated" are ordinary rules.
_GENERATED = re.compile(
    r"""^(?![ \t]*(?:[-*+]|\d+[.)])[ ]).*?(?:
        (?<![^\W_][ -])(?<![^\W_])(?:(?:auto(?:matically)?|machine)[- ]?)?generated
            (?:[ ](?:automatically[ ])?(?:by|from|with|using|on|at|file)\b|\W*$|\W+do[ ]not|\W+don['\u2019]?t)
      | @generated\b
      | (?:\bthis[ ](?:file|document|page|content)|\b[\w-]+\.mdc?)\b\W{0,3}[ ](?:is|was|has[ ]been|gets)
            [ ](?:\w+[ ])?(?:auto-?)?generated\b
      | \b(?:do[ ]not|don['\u2019]?t|never)[ ](?:\w+ly[ ])?(?:edit|modify|change)[ ]this[ ](?:file|document)\b
      | (?<![^\W_][ -])(?<![^\W_])(?:do[ ]not|don['\u2019]?t)[ ](?:\w+ly[ ])?(?:edit|modify)
            (?:[ ](?:\w+ly|by[ ]hand|below|above))*(?:\W*$|[.!:])
    ) | ^(?:auto[-_]?)?generated:[ ]{0,4}true\b
      # At the start of a comment or heading, or in a sentence about the file.
      | ^(?:[ ]{0,3}(?:<!--|[#>/;])\W{0,9}|.{0,40}\bthis[ ](?:file|document)[ ]is[ ])(?:
            (?:auto(?:matically)?[ -])?managed[ ]by[ ](?!the\b|our\b|us\b|hand\b)[\w.-]
          | (?:synced|mirrored)[ ]from\b | chezmoi:(?:template|modify)
        )
      | ^(?:[ ]{0,3}(?:<!--|[>/;])|.{0,40}\bthis[ ](?:file|document)\b).{0,120}?(?:
            \b(?:changes|edits|modifications)\b.{0,60}\b(?:lost|overwritten|discarded|reverted)\b
          | \bnicht[ ](?:manuell[ ]|von[ ]hand[ ])?(?:bearbeiten|ändern|editieren)\b | \bno[ ](?:editar|modificar)\b
          | \bne[ ]pas[ ](?:modifier|éditer)\b | \bnão[ ]edit(?:ar|e)\b | \bnon[ ]modificare\b | \bне[ ]редактировать\b
        )""",
    re.IGNORECASE | re.MULTILINE | re.VERBOSE,
)


def is_generated(text: str) -> bool:
    """Whether the beginning of a file says that it is generated or must not be edited."""
    return bool(_GENERATED.search(text[:_HEAD_CHARACTERS]))


def manual_lines(body: Sequence[Line]) -> range | None:
    """Return the lines of a generated file that are left to people, without the markers around them."""
    if not is_generated("\n".join(line.text for line in body[:_HEAD_CHARACTERS])):
        return None
    blocks = (block for block in _blocks(body) if _MANUAL_SECTION.search(body[block.start].text))
    return next((range(block.start + 1, block.stop - 1) for block in blocks), None)


def managed_blocks(body: Sequence[Line]) -> list[range]:
    """Return the line numbers of each block that a program writes, including its markers."""
    free = manual_lines(body)
    return _blocks(body) if free is None else [range(free.start), range(free.stop, len(body) + 1)]


def _blocks(body: Sequence[Line]) -> list[range]:
    found: list[range] = []
    start: int | None = None
    for number, line in enumerate(body):
        if start is None and "<!--" in line.text and _BLOCK_START.fullmatch(line.text):
            start = number
        elif start is not None and "<!--" in line.text and _BLOCK_END.fullmatch(line.text):
            found.append(range(start, number + 1))
            start = None
    return found
