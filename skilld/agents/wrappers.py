"""Finds where a client's wrapper ends, whatever its content: the one rule by which all adapters strip wrappers.

A client puts context around a prompt in the same text: blocks before it, reminders after it, the body of a file or a
skill. Anybody can write the content of such a block, so it may contain any mark, even the block's own end. But it is
always between the first mark that opens a block of its kind and the last one that closes it. So everything between
those two, for any kind, is taken for the block; what is outside of all of them is not the content of any block,
whatever that content is. Blocks are removed where clients put them, at the ends of a text; if nothing remains, nothing
was typed. A person who types such marks may lose words; nobody can add any.

Texts in, texts out; knows no agent.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import field

from skilld.agents.base import items, mapping, objects, string
from skilld.text import fold, fold_case
from skilld.values import value_class


@value_class
class Wrappers:
    """The wrappers that one agent's clients put around a prompt in the same text.

    `opens` and `closes` are patterns of the marks, linear in time; a group in them gives the kind of the block.
    `before` and `behind` say on which sides of a prompt the clients put them; blocks whose kind starts with `amid` may
    be anywhere in it.
    """

    opens: str
    closes: str
    before: bool = True
    behind: bool = True
    amid: str | None = None
    _opens: re.Pattern[str] = field(init=False, repr=False, compare=False)
    _closes: re.Pattern[str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Compile the patterns."""
        object.__setattr__(self, "_opens", re.compile(self.opens, re.MULTILINE))
        object.__setattr__(self, "_closes", re.compile(self.closes, re.MULTILINE))

    def starts_wrapped(self, text: str) -> bool:
        """Whether a text starts with a wrapper."""
        mark = self._opens.match(text, len(text) - len(text.lstrip()))
        return self.before and mark is not None and not self._is_amid(_kind(mark))

    def typed_text(self, text: str) -> str:
        """Return what of a text cannot be part of a wrapper that a client put there; all of it if there is none."""
        kinds = self._spans(text)
        spans = list(kinds.values())
        start, end = 0, len(text)
        for first, past in sorted(spans) if self.before else ():
            if text[start:first].strip():
                break
            start = max(start, past)
        for first, past in sorted(spans, key=lambda span: -span[1]) if self.behind else ():
            if text[past:end].strip():
                break
            end = min(end, first)
        pieces, at = [], start
        for first, past in sorted(span for kind, span in kinds.items() if self._is_amid(kind)):
            if at < past and first < end:
                pieces.append(text[at:first])
                at = past
        pieces.append(text[at:end])
        rest = "\n".join(pieces)
        rest = rest.lstrip() if at > 0 else rest
        return rest.rstrip() if end < len(text) else rest

    def typed_texts(self, texts: Sequence[str]) -> list[str]:
        """Return what was typed in each text of one message.

        If one of them has no wrappers, a text that starts with one is entirely the client's own.
        """
        apart = any(text.strip() and not self.starts_wrapped(text) for text in texts)
        return ["" if apart and self.starts_wrapped(text) else self.typed_text(text) for text in texts]

    def _is_amid(self, kind: str) -> bool:
        return self.amid is not None and kind.startswith(self.amid)

    def _spans(self, text: str) -> dict[str, tuple[int, int]]:
        """Return the largest extent of the blocks of each kind; an unclosed one at the start extends to the end.

        A closing mark before all opening ones does not end a block.
        """
        opened: dict[str, int] = {}
        for mark in self._opens.finditer(text):
            opened.setdefault(_kind(mark), mark.start())
        closed = {_kind(mark): mark.end() for mark in self._closes.finditer(text)}
        begins = len(text) - len(text.lstrip())
        ends = {kind: closed.get(kind, 0) or (len(text) if start == begins else 0) for kind, start in opened.items()}
        return {kind: (start, ends[kind]) for kind, start in opened.items() if ends[kind] > start}


def _kind(mark: re.Match[str]) -> str:
    return mark[1] if mark.lastindex else ""


def last_match(mark: re.Pattern[str], text: str) -> re.Match[str] | None:
    """Return the last match of a pattern; None if there is none."""
    found = None
    for match in mark.finditer(text):
        found = match
    return found


# Which part of an answer was only picked: an agent's own labels must never pass for a person's words. Clients trim
# labels, fold their blanks and join several with commas, and a label may itself contain commas, so a part of an answer
# that is a part of any label counts as picked. Nor is anything typed that is in a label's words without its markup,
# its number, or a remark such as "(Recommended)".

_INVISIBLE = frozenset({"Cc", "Cf", "Cs", "Co", "Cn"})
_MARKS = re.compile(r"[\W_]+")
_REMARK = re.compile(r"^\s{0,8}[#([]{0,3}\d{1,3}[.):\]]\s|[([][^()\[\]]{0,80}[)\]]\s{0,8}$")


def normalize(text: str) -> str:
    """Return the words of a label or answer for comparison: without width, case, marks and invisible characters.

    What has no words is compared by its marks.
    """
    shown = unicodedata.normalize("NFKC", text)
    if not shown.isascii() or not shown.isprintable():
        shown = "".join(c for c in shown if c.isspace() or unicodedata.category(c) not in _INVISIBLE)
    return fold_case(_MARKS.sub(" ", shown)) or fold_case(shown)


def option_labels(questions: object) -> Iterator[str]:
    """Yield the labels of the options in questions; an option is a string or an object with a `label`."""
    for question in objects(questions):
        for option in items(question.get("options")):
            yield string(option) or string(mapping(option).get("label"))


def possible_picks(labels: Iterable[str]) -> set[str]:
    """Return what a picked option may look like in an answer: each label, and each part of one with commas."""
    shown = [one for label in labels for one in (label, _REMARK.sub("", label))]
    picks = {normalize(part) for label in shown for part in (label, *label.split(","))}
    return picks - {""}


def typed_answer(answer: str, picks: Container[str], *, several: bool) -> str:
    """Return what of an answer was typed, "" if it was only picked.

    If `several` may be picked, they are joined by commas, with what was typed among them.
    """
    if normalize(answer) in picks:
        return ""
    parts = answer.split(",")
    typed = [i for i, part in enumerate(parts) if (shown := normalize(part)) and shown not in picks]
    if not typed or not several:
        return answer if typed else ""
    return ",".join(parts[typed[0] : typed[-1] + 1]).strip()


# What of a prompt a person typed if a client replaced a `/name` by its template, without any mark.
# Placeholders seen: Pi 0.73.1 (`$1`, `$@`, `${@:2}`, `$ARGUMENTS`) and 1.6.0 (also `${1:-text}`, where the text is used
# without an argument), opencode 1.18.33 (also a command's output, and arguments
# behind a template without placeholders), Codex up to 0.16x (also `$NAME`).

# A session's folder -> the texts of the templates it can use; None if they are too many.
TemplateLookup = Callable[[str | None], Sequence[str] | None]
_FRONT_MATTER = re.compile(r"\A\ufeff?---[ \t]*\r?\n.*?^---[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)
_PLACEHOLDER = re.compile(
    r"(\$\{@:\d+(?::\d+)?\}|\$\{(?:\d+|@|ARGUMENTS):-[^}$]*\}|\$(?:\d+|@|[A-Z][A-Z0-9_]*)|!`[^`\n]*`)"
)
_WORD = re.compile(r"\w")
_MIN_BLANKS = 3  # of a template after which a client may append arguments; a shorter one begins many prompts


def no_templates(folder: str | None) -> Sequence[str]:
    """Return no templates: the default lookup."""
    del folder
    return ()


def typed_arguments(text: str, templates: Iterable[str] | None) -> str | None:
    """Return the typed arguments of the template that a text was expanded from, "" if they are unclear.

    None if it is none of the templates. Of a text that may be of any template, with None, everything is unclear.
    """
    if templates is None:
        return ""
    words = fold(text)
    found = [arguments for each in templates if (arguments := _match_template(words, each)) is not None]
    return min(found, key=len, default=None)


def _match_template(words: str, template: str) -> str | None:
    parts = _PLACEHOLDER.split(_FRONT_MATTER.sub("", template, count=1))
    literals = [fold(part) for part in parts[::2]]
    if len(literals) == 1:
        is_long = literals[0].count(" ") >= _MIN_BLANKS and words.startswith(f"{literals[0]} ")
        return words.removeprefix(literals[0]).lstrip() if is_long or words == literals[0] else None
    if not any(map(_WORD.search, literals)):  # it would match anything
        return None
    at, end = len(literals[0]), len(words) - len(literals[-1])
    if not words.startswith(literals[0]) or not words.endswith(literals[-1]) or end < at:
        return None
    typed: list[str] = []
    for literal in literals[1:-1]:
        found = words.find(literal, at, end)
        if found < 0:
            return None
        typed.append(words[at:found].strip())
        at = found + len(literal)
    typed.append(words[at:end].strip())
    # A program's output may contain any of the template's own words.
    ran = any(hole.startswith("!") for hole in parts[1::2])
    own = [fold(hole.partition(":-")[2].removesuffix("}")) for hole in parts[1::2]]
    typed = [words for words, unfilled in zip(typed, own, strict=True) if words != unfilled]
    return "" if ran else " ".join(filter(None, dict.fromkeys(typed)))
