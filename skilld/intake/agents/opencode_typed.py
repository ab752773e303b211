"""opencode's list of what was typed, `prompt-history.jsonl`: bytes in; out, what of a prompt's text a person typed.

The database holds what a prompt came to: the template of a command, a skill's body with the arguments at its end, a
paste at full length. The list has the prompt as it was typed, and none that came without a terminal.
"""

from __future__ import annotations

import re

from skilld.intake.agents.fields import mapping, objects, read_object, string
from skilld.intake.agents.wrapped import last
from skilld.text import fold

# What `opencode run` makes of an argument with blanks in it: quotes around, and a backslash before those within.
_AS_ARGUMENT = re.compile(r'"(?:[^"\\\s]|\\.)*+\s(?:[^"\\]|\\.)*+"', re.DOTALL)
_COMMAND = re.compile(r"/\S+\s+(\S.*)", re.DOTALL)
# A skill called by `/name args`: body, this paragraph, args. The body may hold such a paragraph, too; the last counts.
_SKILL_BODY = re.compile(
    r"^Base directory for this skill: (/[^\n]*)\nRelative paths in this skill [^\n]*\n*", re.MULTILINE
)


class TypedList:
    """What the list tells; without a list (None) what the text itself tells."""

    def __init__(self, data: bytes | None) -> None:
        self.is_known = data is not None
        entries = [entry for line in (data or b"").splitlines() if (entry := read_object(line)) is not None]
        inputs = [_as_typed(entry) for entry in entries if entry.get("mode") != "shell"]
        self._prompts = {fold(text) for text in inputs}
        self._arguments = {fold(match[1]): match[1].strip() for text in inputs if (match := _COMMAND.match(text))}

    def typed(self, text: str) -> tuple[str, bool] | None:
        """Return what a person typed of a prompt's text, and whether as arguments of a command; None: nobody did.

        Of a command without arguments that is "".
        """
        folded = fold(text)
        if folded in self._prompts:
            return text, False
        if (body := last(_SKILL_BODY, text)) is not None:
            arguments = text[body.end() :].strip()
            if self.may_be(arguments):
                return arguments, True
        if self.is_known:
            return self._as_arguments(folded)
        return None if _AS_ARGUMENT.fullmatch(text.strip()) else (text, False)

    def may_be(self, arguments: str) -> bool:
        """Whether these may have been typed as the arguments of a command."""
        return not self.is_known or not arguments or fold(arguments) in self._arguments

    def _as_arguments(self, folded: str) -> tuple[str, bool] | None:
        """Find a command's arguments in what its template came to: the longest that stand in it as whole words."""
        found = [text for known, text in self._arguments.items() if f" {known} " in f" {folded} "]
        return (max(found, key=len), True) if found else None


def skill_folder(text: str) -> str | None:
    """Return the folder of the skill whose body is the text of a prompt; None where it is none."""
    body = last(_SKILL_BODY, text)
    return body[1] if body is not None else None


def _as_typed(entry: object) -> str:
    """Return an entry's text with its pastes, which the list keeps apart, in their places."""
    text = string(mapping(entry).get("input"))
    for part in objects(mapping(entry).get("parts")):
        shown = string(mapping(mapping(part.get("source")).get("text")).get("value"))
        if part.get("type") == "text" and shown:
            text = text.replace(shown, string(part.get("text")), 1)
    return text
