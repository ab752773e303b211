"""The making of a whole SKILL.md: its text in, its bytes out. Pure.

A file that is not there has the bytes b"". Only code forms the operation that asks for this.
"""

from __future__ import annotations

from skilld.errors import RefusedError, SkilldError
from skilld.skills.front import front
from skilld.skills.spec import faults


def created(data: bytes, text: str) -> bytes:
    """Return the bytes of a new skill; where `data` is the same text, that.

    Raises SkilldError where there is another skill by now, RefusedError where the text is none by the specification
    (its name is not compared with any folder's here).
    """
    try:
        new = text.encode("utf-8")
    except UnicodeEncodeError:
        raise RefusedError("The skill was not made", "it holds a character that no file can hold") from None
    if data and data == new:
        return data
    if data:
        raise SkilldError("The skill was not made", "there is a skill of that name by now")
    wrong = faults(text, front(text).name)
    if wrong:
        raise RefusedError("The skill was not made", "; ".join(wrong))
    return new
