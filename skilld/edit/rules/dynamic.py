"""Lint family T-08, T-09: text that a client runs, fills in or includes before any model reads it.

Claude Code runs an exclamation mark before inline code, and fences whose language starts with one, wherever they
stand; Gemini CLI does so with braces. `@path` includes a file outside of code (Claude Code's memory page).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from skilld.edit.change import Change
from skilld.edit.findings import Finding, flag, refuse
from skilld.edit.tokens import FILE_ENDING
from skilld.text import folded

_COMMAND = re.compile(r"(?<![\w`])!`[^`]{1,4000}`|(?<!`)`{3,}[ \t]*!|(?<!~)~{3,}[ \t]*!|(?<!\w)!\{[^}\n]+\}")
_NEAR_COMMAND = re.compile(r"[\w`]!`[^`]{1,4000}`")
_ARGUMENTS = re.compile(r"\$\{?ARGUMENTS\b")
_FILLED_IN = re.compile(r"\$\{CLAUDE_\w+\}|\{\{args\}\}|(?<!\w)@\{[^}\n]+\}")
_POSITION = re.compile(r"(?<![\w$\\])\$\d\b")
_IMPORT = re.compile(r"(?<![\w@.])@([~\w./\\-][^\s`'\"()\[\]<>,;]*)")
_PACKAGE = re.compile(r"[a-z0-9][a-z0-9._-]*/[a-z0-9][a-z0-9._-]*")
_OUTSIDE = re.compile(
    r"~|/(?:etc|home|Users|root|var|proc|private|tmp|opt|usr|dev|mnt|Library)\b|\\|[A-Za-z]:", re.IGNORECASE
)


def check(change: Change) -> Iterator[Finding]:
    """Refuse new dynamic commands and inclusions, also inside code; what stood in the file stays as it is."""
    for found in change.new_matches(_COMMAND):
        yield refuse("dynamic-command", "It adds a command that runs as soon as the skill is loaded", found)
    for found in change.new_matches(_NEAR_COMMAND):
        yield flag("dynamic-command", "Some clients may run this as soon as the skill is loaded", found)
    for found in change.new_matches(_ARGUMENTS):
        yield refuse("arguments", "It adds a place that the client fills with the words of a call", found)
    for found in change.new_matches(_FILLED_IN):
        yield flag("arguments", "It adds a place that the client fills in", found)
    for code in (*change.spans, *change.code):
        if _POSITION.search(code) and not change.stood(code):
            yield flag("arguments", "A client that knows arguments may fill in the numbered place", code)
    for match in change.matches(_IMPORT, change.prose):
        yield from _import(change, match[1].rstrip(".:!?"))


def _import(change: Change, path: str) -> Iterator[Finding]:
    is_file = FILE_ENDING.search(path) is not None
    if not is_file and ("/" not in path or _PACKAGE.fullmatch(path)):
        return
    typed = folded("@" + path) in folded(change.evidence)
    if _OUTSIDE.match(path) or not typed:
        yield refuse("import", "It makes clients include a file", "@" + path)
    else:
        yield flag("import", "Some clients include this file in the skill", "@" + path)
