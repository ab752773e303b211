"""Whether an edit is of the kind that may be applied without a person: plain words, added, and nothing else.

Old and new bytes go in, a truth value comes out. Stricter than the linter, which judges what is doubtful: here nothing
may name a thing that an agent could run, open, fetch or install.
"""

from __future__ import annotations

import re

from skilld.edit.change import change_of
from skilld.edit.tokens import addresses, is_command, packages, paths, prose_commands
from skilld.errors import SkilldError

_LIFTS = re.compile(
    r"\b(?:no longer|not (?:needed|necessary|required)|(?:do not|don['’]?t) (?:need|have) to|skip|unless|except"
    r"|instead of|optional(?:ly)?|allowed to|may now|without|ignore)\b",
    re.IGNORECASE,
)


def is_low_risk(before: bytes, after: bytes) -> bool:
    """Whether the edit only adds prose: no removal, command, address, path or package, and no exception to a rule."""
    try:
        change = change_of(before, after, "")
    except SkilldError:
        return False
    if (change.before.bom, change.before.front) != (change.after.bom, change.after.front):
        return False
    code = "\n".join(change.spans)
    named = (addresses(change.text), paths(change.prose, code=False), paths(code, code=True))
    runs = (packages(change.text), prose_commands(change.prose), filter(is_command, change.spans))
    concrete = any(True for found in (*named, *runs) for _ in found)
    lines = change.removed or change.swallowed or change.code
    return not (lines or concrete or _LIFTS.search(change.text))
