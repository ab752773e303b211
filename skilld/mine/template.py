"""One request in several wordings as a template: what is exact and differs between them becomes a variable. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from skilld.draft import EXAMPLE, Variable
from skilld.mine.values import Part
from skilld.text import fold

_TOKEN = re.compile(r"\S+")
_EDGE = ".,:;!?()[]\"'`\u201c\u201d"
_LINK = re.compile(r"https?://")
_NUMBER = re.compile(r"#?\d+(?:[.,]\d+)*")
_MOST = 6  # variables; with more it is another request each time


def template(newest: str, others: Sequence[str]) -> tuple[str, tuple[Variable, ...]]:
    """Return the newest wording with `{{name}}` for each exact token that another wording does not have.

    Exact is a link, a path, a number; plain words stay as they are. Without other wordings nothing is a variable. What
    stood there the last time is a variable's description.
    """
    known = [{token.strip(_EDGE) for token in _TOKEN.findall(other)} for other in others]
    names: dict[str, str] = {}

    def put(match: re.Match[str]) -> str:
        token = match[0].strip(_EDGE)
        shape = _shape(token)
        if not shape or all(token in one for one in known):
            return match[0]
        if token not in names:
            again = sum(name.rstrip("0123456789") == shape for name in names.values())
            names[token] = f"{shape}{again + 1}" if again else shape
        return match[0].replace(token, "{{" + names[token] + "}}", 1)

    text = _TOKEN.sub(put, newest)
    if len(names) > _MOST or not names:
        return newest, ()
    return text, tuple(Variable(name, description=f"{EXAMPLE}{token}") for token, name in names.items())


def others_of(part: Part) -> list[str]:
    """Return the wordings of a request beside its newest one."""
    return [said for proof in part.proofs if (said := fold(proof.quote)) != fold(part.text)]


def _shape(token: str) -> str:
    """Return what sort of exact token it is, nothing for a plain word."""
    if _LINK.match(token):
        return "link"
    if _NUMBER.fullmatch(token):
        return "number"
    if "/" in token.strip("/") or re.fullmatch(r"\w[\w-]*\.[A-Za-z]{1,5}", token):
        return "path"
    return "id" if re.search(r"\d", token) else ""
