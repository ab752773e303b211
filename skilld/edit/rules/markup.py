"""Lint family T-10: HTML and Markdown that hide text from a reader of the rendered page, or imitate an agent's frame.

Code, inline or fenced, shows what it holds and is left alone. A tag that is only mentioned ("use <b>") is told from
one in use: with attributes, closed again, or opening a block.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from skilld.edit.change import Change
from skilld.edit.findings import Finding, flag, refuse
from skilld.text import folded

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


def check(change: Change) -> Iterator[Finding]:
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
