"""Lint family of provenance: an address, command, path or package that the person did not type.

What already stood in the skill counts as known. A command whose words were all typed, or stood in the skill, but not
in this order is flagged; any foreign word in it is refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from skilld.edit.change import Change
from skilld.edit.findings import Finding, flag, refuse
from skilld.edit.tokens import PROMPT, addresses, is_command, packages, paths, prose_commands, words
from skilld.text import folded

_Known = Callable[[str], bool]
_SENTENCES = {
    "address": "It adds an address that you did not type",
    "path": "It adds a path that you did not type",
    "package": "It adds a package that you did not type",
    "command": "It adds a command that you did not type",
}


def check(change: Change) -> Iterator[Finding]:
    """Refuse every concrete thing that neither the person's words nor the skill contain."""
    sources = (folded(change.evidence), folded(change.old_text))

    def known(token: str) -> bool:
        pattern = re.compile(r"(?<![\w-])" + re.escape(folded(token)) + r"(?![\w@-]|[.:]\w)")
        return any(pattern.search(source) for source in sources)

    for what, tokens in _named(change):
        for token in tokens:
            if not known(token.rstrip("/\\")):
                yield refuse(f"foreign-{what}", _SENTENCES[what], token)
    seen = words(sources)
    for code in (*(span for span in change.spans if is_command(span)), *change.code):
        yield from _code(PROMPT.sub("", code).strip(), known, seen)


def _named(change: Change) -> Iterator[tuple[str, Iterator[str]]]:
    """Yield the concrete things of the added text by kind."""
    code = "\n".join((*change.spans, *change.code))
    found = (*paths(change.prose, code=False), *paths(code, code=True))
    yield "address", addresses(change.text)
    yield "path", (path for path in found if next(addresses(path), None) is None)
    yield "package", packages(change.text)
    yield "command", prose_commands(change.prose)


def _code(code: str, known: _Known, seen: set[str]) -> Iterator[Finding]:
    if not code or known(code):
        return
    if words([code]) - seen:
        yield refuse("foreign-command", "It adds code that you did not type", code)
    else:
        yield flag("joined-command", "Its code is put together from words of yours and of the skill", code)
