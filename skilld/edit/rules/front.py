"""Lint family T-06, T-07: the front matter, and body text that imitates one to gain power."""

from __future__ import annotations

import re
from collections.abc import Iterator

from skilld.edit.change import Change
from skilld.edit.findings import Finding, refuse

_ITEM = r"^[ \t>]*(?:(?:[-*+]|\d+[.)])[ \t]+)?"
# A line `---`, then `key:` lines up to the next `---`, or a first key that only the head of a skill or a hook has.
_BLOCK = re.compile(
    _ITEM + r"---[ \t]*\n(?:[ \t]*[\w-]+[ \t]*:[^\n]*\n(?:[^\n]*\n){0,60}?[ \t]*---[ \t]*$"
    r"|[ \t]*(?:name|description|allowed-tools|hooks|model|license|context|agent)[ \t]*:)",
    re.MULTILINE,
)
_FIELD = (
    r"(?:name|description|when_to_use|argument-hint|allowed-tools|model|license|compatibility|metadata)[ \t]*:[^\n]*"
)
_FIELDS = re.compile(_ITEM + _FIELD + r"\n[ \t]*" + _FIELD, re.MULTILINE)
# The same with its lines run together, as folding leaves them.
_KEY = (
    r"\b(?:name|description|allowed-tools|hooks|model|license|context|agent|user-invocable|disable-model-invocation)"
    r"[ \t]*:[ \t]"
)
_RUN_TOGETHER = re.compile(
    _ITEM + rf"(?:---[ \t]+[\w-]+[ \t]*:[ \t]|{_KEY}(?=[^\n]{{0,200}}?{_KEY}))", re.MULTILINE | re.IGNORECASE
)
_POWER = re.compile(
    _ITEM + r"[\"']?(?:(?:dis)?allowed-?tools|disable-model-invocation|user-invocable|permission-?mode"
    r"|(?:Pre|Post)ToolUse|mcp-?servers)[\"']?[ \t]*:",
    re.MULTILINE | re.IGNORECASE,
)
_YAML_TAG = re.compile(r"!!(?:python|ruby|java|js|map|set|binary)\b[^\s]*|" + _ITEM + r"<<[ \t]*:", re.MULTILINE)


def check(change: Change) -> Iterator[Finding]:
    """Refuse any difference before the body, and in the body what reads like the head of a skill."""
    if (change.before.bom, change.before.front) != (change.after.bom, change.after.front):
        yield refuse("front-matter", "It changes the front matter, which only you may do")
    for match in change.matches(_BLOCK):
        yield refuse("front-matter-block", "It adds a second front matter", match[0])
    for match in change.matches(_FIELDS):
        yield refuse("front-matter-block", "It adds fields that belong into a front matter", match[0])
    for match in change.matches(_RUN_TOGETHER):
        yield refuse("front-matter-block", "It adds fields that belong into a front matter", match[0])
    for match in change.matches(_POWER):
        yield refuse("permission-widening", "It sets a field that gives an agent more rights", match[0])
    for match in change.matches(_YAML_TAG):
        yield refuse("yaml-tag", "It adds YAML that can build objects or merge maps", match[0])
