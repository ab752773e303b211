"""Lint families T-10 and T-12: markup and characters that hide text from a reader of the rendered page."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator

from skilld.edit.change import Change
from skilld.edit.findings import Finding, flag, refuse
from skilld.text import folded

# Lint family T-10: HTML and Markdown that hide text from a reader of the rendered page, or imitate an agent's frame.
#
# Code, inline or fenced, shows what it holds and is left alone. A tag that is only mentioned ("use <b>") is told
# from one in use: with attributes, closed again, or opening a block.

_TAG = re.compile(r"(?<!\\)<(?P<close>/?)(?P<name>[A-Za-z][\w-]*)(?P<rest>(?:[\s/][^<>]*)?)(?:>|\Z)")
_DECLARATION = re.compile(r"<\?\w*|<![A-Za-z]\w*|<!\[CDATA\[")
_COMMENT = re.compile(r"<!--(.*?)(?:-->|\Z)", re.DOTALL)
_DIRECTIVE = re.compile(r"\s*[a-z]+(?:[-:][a-z]+)+(?:[ :][\w ,/:-]{0,40})?\s*|\s*\w{1,30}\s*")
_DEFINITION = re.compile(
    r"^[ \t>]*(?:(?:[-*+]|\d+[.)])[ \t]+)?\[(?P<label>[^\]\n]+)\]:[ \t]*\n?[ \t]*(?P<to><[^>\n]*>"
    r"|\S+)(?P<title>[ \t]*\n?[ \t]*(?:\"[^\"]*\"|'[^']*'|\([^)]*\)))?[ \t]*$",
    re.MULTILINE,
)
_REMARK = re.compile(r"\[[^\]\n]{0,40}\]:\s*(?:#|<#?>|/{1,2}|\.)\s*[(\"']")
_ROLE_LINK = re.compile(r"\[(?:system|assistant|user|human|developer)\]\s*\(#[^)\n]*\)", re.IGNORECASE)
_NO_TARGET = frozenset({"#", "<>", "/", "//", "<#>", "."})
_HIDING_ATTRIBUTE = re.compile(
    r"\bon\w+\s*=|\b(?:style|src|srcset|href|hidden|action|formaction|data)\b", re.IGNORECASE
)

_ELEMENTS = frozenset(
    re.findall(
        r"\w+",
        "b i em strong code kbd br sub sup u s del ins mark small p q cite abbr samp var hr wbr a address article"
        " aside audio base blockquote body button canvas caption center col dd details dialog div dl dt embed"
        " fieldset figcaption figure font footer form frame frameset h1 h2 h3 h4 h5 h6 head header html iframe img"
        " input label legend li link main map math menu meta nav noscript object ol optgroup option param picture pre"
        " progress script section select source span style summary svg table tbody td template textarea tfoot th"
        " thead title tr track ul video",
    )
)
_HIDING = frozenset(
    re.findall(
        r"\w+",
        "script style iframe template noscript textarea details summary title object embed svg math head caption"
        " select",
    )
)
_FRAME = re.compile(
    r"system(?:[-_ ]\w+)?|(?:local-)?command-\w+|(?:tool|function)[-_](?:results?|calls?|use|output)|human|assistant"
    r"|user[-_](?:prompt|message|input|turn)\w*|instructions?|classifier_\w+|conversation\w*|skill_definition"
    r"|recent_messages|updates|im_(?:start|end)",
    re.IGNORECASE,
)


def check_markup(change: Change) -> Iterator[Finding]:
    """Refuse comments, HTML in use, link definitions that hold remarks, and changes of what other lines mean."""
    for line in change.swallowed:
        yield refuse(
            "changes-other-lines", "It turns text that it does not touch into code or a comment, or back", line
        )
    for match in change.matches(_COMMENT, change.prose):
        typed = folded(match[0]) in folded(change.evidence)
        if typed and match[0].endswith("-->") and _DIRECTIVE.fullmatch(match[1]):
            yield flag("html-comment", "It adds a comment that a rendered page does not show", match[0])
        else:
            yield refuse("html-comment", "It adds a comment that a rendered page does not show", match[0])
    for match in change.matches(_DECLARATION, change.prose):
        yield flag("html", "It adds an HTML or XML declaration", match[0])
    for match in change.matches(_TAG, change.prose):
        yield from _tag(change, match)
    for match in change.matches(_ROLE_LINK, change.prose):
        yield refuse("frame-tag", "It imitates the marks that frame an agent's conversation", match[0])
    for match in change.matches(_REMARK, change.prose):
        yield refuse("hidden-definition", "It adds a link definition that hides a remark", match[0])
    for match in change.matches(_DEFINITION, change.prose):
        yield from _definition(change, match)


def _tag(change: Change, match: re.Match[str]) -> Iterator[Finding]:
    name, rest = match["name"].lower(), match["rest"].strip(" /\n\t")
    closed = bool(match["close"]) or f"</{name}" in change.prose.casefold()
    if _HIDING_ATTRIBUTE.search(rest) and ("=" in rest or name in _ELEMENTS):
        yield refuse("html", "It adds HTML that loads, runs or hides something", match[0])
    elif _FRAME.fullmatch(name) or _FRAME.fullmatch(f"{name} {rest}"):
        make = refuse if closed or name in {"system", "human", "assistant"} else flag
        yield make("frame-tag", "It imitates the tags that frame an agent's conversation", match[0])
    elif name in _ELEMENTS:
        hides = name in _HIDING and (closed or match.start() == _line_text(change.prose, match.start()))
        typed = folded(match[0]) in folded(change.evidence)
        yield (refuse if hides or "=" in rest or not typed else flag)("html", "It adds raw HTML", match[0])
    elif (closed or "=" in rest) and not change.prose[: match.start()][-1:].isalnum():
        yield flag("html", "It adds something that reads like a tag", match[0])


def _line_text(text: str, at: int) -> int:
    """Return where the text of the line around `at` starts, behind blanks and a list marker."""
    start = text.rfind("\n", 0, at) + 1
    marker = re.compile(r"[ \t>]*(?:(?:[-*+]|\d+[.)])[ \t]+)?").match(text, start)
    return marker.end() if marker else start


def _definition(change: Change, match: re.Match[str]) -> Iterator[Finding]:
    label, title = match["label"], match["title"] or ""
    if label.startswith("^"):
        return
    if match["to"] in _NO_TARGET or len(title.split()) > 2:  # noqa: PLR2004 - more words than a title needs
        yield refuse("hidden-definition", "It adds a link definition that hides a remark", match[0])
    elif change.new_text.casefold().count(f"[{label}]".casefold()) < 2:  # noqa: PLR2004 - itself and one use
        yield flag("hidden-definition", "It adds a link definition that nothing uses, so no page shows it", match[0])


# Lint family T-12: characters that hide text, turn its direction, or look like letters of another script.
#
# By Unicode category and script, not by a list of attacks. Joiners are allowed where a script or an emoji needs them
# (UTS 51), direction marks beside right-to-left letters only with a flag.

_FINE, _DOUBTFUL, _BAD = "fine", "doubtful", "bad"
_UNSAFE = frozenset({"Cc", "Cf", "Co", "Cn", "Cs", "Zl", "Zp"})
# Blank or ignorable though by category a letter, mark or symbol (DerivedCoreProperties.txt), and the selectors 1-14
# and 17-256.
_BLANK = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u2800\u3164\uffa0\U000133fc\ufe00-\ufe0d\U000e0100-\U000e01ef]"
)
_MARKS = frozenset("\u200e\u200f\u061c")
_ZWJ = "\u200d"
_JOINERS = frozenset({_ZWJ, "\u200c"})
_STYLES = frozenset("\ufe0e\ufe0f")
_MODIFIERS = "\ufe0f\U0001f3fb\U0001f3fc\U0001f3fd\U0001f3fe\U0001f3ff"
_KEYCAPS = frozenset("#*0123456789\u203c\u2049")
_UNICODE_TAG = re.compile("[\U000e0000-\U000e007f]")
# The flags of England, Scotland and Wales: the only tag sequences for general use.
_FLAGS = re.compile(
    "\U0001f3f4\U000e0067\U000e0062(?:\U000e0065\U000e006e\U000e0067|\U000e0073\U000e0063\U000e0074|\U000e0077\U000e006c\U000e0073)\U000e007f"
)
_NEEDS_JOINERS = re.compile(
    "ARABIC|SYRIAC|MONGOLIAN|NKO|DEVANAGARI|BENGALI|GURMUKHI|GUJARATI|ORIYA|TAMIL|TELUGU|KANNADA|MALAYALAM|SINHALA|MYANMAR|KHMER|TIBETAN"
)
_PICTOGRAPH = re.compile("[\U0001f000-\U0001faff]")
_IDEOGRAPH = re.compile("[\U00020000-\U0003fffd]")
_NO_CHARACTER = re.compile(
    "[\ufdd0-\ufdef\ufffe\uffff]|[\U0001fffe\U0001ffff\U0002fffe\U0002ffff\U000efffe-\U000effff]"
)
_RUN = re.compile(r"[^\W\d_]+")
# Letters that a reader takes for Latin ones (UTS 39 confusables.txt, the single letters of the two scripts).
_CYRILLIC = frozenset("асԁеһіјӏорԛѕѵхуԝүгАВЕЅІЈКМНОРСТХУҮԌԚԜ")
_GREEK = frozenset("οαινρυκχγτωϲΑΒΕΖΗΙΚΜΝΟΡΤΥΧ")
_STYLED = re.compile("[\U0001d400-\U0001d7ff\uff21-\uff3a\uff41-\uff5a\U0001f130-\U0001f189\u24b6-\u24e9]{2,}")
_STACKED = re.compile(r"[\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff]{4,}")
_SHORT = 2


def check_unicode(change: Change) -> Iterator[Finding]:
    """Refuse invisible and direction-changing characters that the edit adds; flag look-alike letters."""
    had = Counter("".join(change.removed))
    kinds = [(char, _kind(line, at)) for line in change.added for at, char in enumerate(line)]
    for make, wanted in ((refuse, _BAD), (flag, _DOUBTFUL)):
        for char in Counter(char for char, kind in kinds if kind == wanted) - had:
            yield make("invisible-character", f"It adds the character {_name(char)}, which nobody sees")
    for match in change.matches(_STYLED):
        yield flag("look-alike", "It adds letters in a style that filters do not read", match[0])
    for match in change.matches(_STACKED):
        yield flag("look-alike", "It stacks marks on a letter", match[0])
    for line in change.added:
        for match in _RUN.finditer(line):
            strange = _is_mixed(match[0]) or (len(match[0]) > _SHORT and _is_disguised(match[0], line))
            if strange and folded(match[0]) not in change.gone:
                yield flag("look-alike", "It adds a word with look-alike letters of another script", _shown(match[0]))


def _kind(line: str, at: int) -> str:
    """Return how a character at this place of the line is to be seen: fine, doubtful or bad."""
    char, before, after = line[at], line[at - 1 : at], line[at + 1 : at + 2]
    if char == "\t" or (char.isascii() and char.isprintable()):
        return _FINE
    category = unicodedata.category(char)
    if char in _JOINERS:
        fine = _joins(line[:at], char, after)
    elif char in _STYLES:
        fine = _is_symbol(before) or before in _KEYCAPS
    elif _UNICODE_TAG.match(char):
        fine = any(match.start() < at < match.end() for match in _FLAGS.finditer(line))
    elif char in _MARKS:
        return _DOUBTFUL if any(unicodedata.bidirectional(other) in {"R", "AL"} for other in line) else _BAD
    elif category == "Cn":
        return _unassigned(char)
    else:
        fine = category not in _UNSAFE and not _BLANK.match(char)
    return _FINE if fine else _BAD


def _joins(before: str, char: str, after: str) -> bool:
    """Whether a joiner stands between two parts of an emoji, or between letters of a script that joins."""
    last = before[-1:]
    emoji = char == _ZWJ and _is_symbol(before.rstrip(_MODIFIERS)[-1:]) and _is_symbol(after)
    return emoji or (bool(last) and _NEEDS_JOINERS.match(unicodedata.name(last, "")) is not None and after.isalpha())


def _unassigned(char: str) -> str:
    """Judge a character this Python does not know yet: new emoji and ideographs come every year."""
    if _PICTOGRAPH.match(char) or _IDEOGRAPH.match(char):
        return _FINE
    return _BAD if _NO_CHARACTER.match(char) else _DOUBTFUL


def _is_symbol(char: str) -> bool:
    return bool(char) and (unicodedata.category(char) in {"So", "Sk", "Sm"} or _PICTOGRAPH.match(char) is not None)


def _is_mixed(word: str) -> bool:
    """Whether Latin stands beside letters of another script of which each one could pass for Latin, or the reverse."""
    scripts = {script: {c for c in word if _script(c) == script} for script in ("LATIN", "CYRILLIC", "GREEK")}
    latin, cyrillic, greek = scripts["LATIN"], scripts["CYRILLIC"], scripts["GREEK"]
    if not latin:
        return bool(cyrillic and greek)
    return bool((cyrillic and cyrillic <= _CYRILLIC) or (greek and greek <= _GREEK and len(word) > _SHORT))


def _is_disguised(word: str, line: str) -> bool:
    """Whether a word all of foreign look-alikes stands in a line that is otherwise written in Latin."""
    letters = set(word)
    if not (letters <= _CYRILLIC or letters <= _GREEK):
        return False
    others = [c for c in line if c.isalpha() and _script(c) in {"CYRILLIC", "GREEK"}]
    return all(c in _CYRILLIC or c in _GREEK for c in others) and any(_script(c) == "LATIN" for c in line)


def _script(char: str) -> str:
    return unicodedata.name(char, "").partition(" ")[0]


def _name(char: str) -> str:
    return f"U+{ord(char):04X}" + (f" ({name})" if (name := unicodedata.name(char, "")) else "")


def _shown(word: str) -> str:
    return word + " (" + " ".join(f"U+{ord(c):04X}" for c in dict.fromkeys(word) if not c.isascii()) + ")"
