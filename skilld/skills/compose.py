"""A new SKILL.md from its parts: name, description, body and metadata in, a text that the specification accepts out.

Pure. Every value is written so that YAML reads back exactly the text it was given, whatever that text holds.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from skilld.errors import SkilldError
from skilld.skills.spec import MAX_DESCRIPTION, faults
from skilld.text import cut, one_line, safe_text

# Of several words, so that it is no number, date, null or truth value in any version of YAML.
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9]*(?:[ ,.;()/'-]+[A-Za-z0-9]+)+[.)]?", re.ASCII)
_META = re.compile(r"[A-Za-z][\w-]{0,63}", re.ASCII)
_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n"})


def compose(name: str, description: str, body: str, metadata: Mapping[str, str]) -> str:
    """Return the text of a new SKILL.md, in which `faults` finds nothing for the folder `name`.

    White space of `description` is folded and what is over 1024 characters is cut out of its middle; control and
    invisible characters in it and in the values of `metadata` are written as visible escapes. Raises SkilldError where
    the name or body can be no skill's.
    """
    unfit = next((key for key in metadata if not _META.fullmatch(key)), None)
    if unfit is not None:
        raise _refused(f"{safe_text(unfit)} is no key of metadata")
    said = cut(one_line(description), MAX_DESCRIPTION)
    front = [f"name: {name}", f"description: {said if ' ' in said and _PLAIN.fullmatch(said) else quoted(said)}"]
    if metadata:
        front += ["metadata:", *(f"  {key}: {quoted(value)}" for key, value in metadata.items())]
    lines = body.replace("\r\n", "\n").replace("\r", "\n").strip("\n").rstrip()
    text = "\n".join(["---", *front, "---", "", lines, ""])
    wrong = faults(text, name)
    if wrong:
        raise _refused("; ".join(wrong))
    return text


def quoted(value: str) -> str:
    """Return a text as a YAML double-quoted scalar on one line."""
    return '"' + safe_text(value, newlines=True).translate(_ESCAPES) + '"'


def _refused(cause: str) -> SkilldError:
    return SkilldError("The new skill was not written", cause)
