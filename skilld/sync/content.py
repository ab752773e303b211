"""What the block says: which skills there are, where, and when to read them. Skills in, Markdown out."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from skilld.skills import Skill
from skilld.text import cut, fold, safe_text

_MOST = 300  # characters of a description
# What Markdown, HTML or an agent would act on: a description is shown, never obeyed.
_ACTIVE = re.compile(r"</?\w[^<>]*>|[`<>@!\[\]|*_]|\$(?=[({A-Z])")
_PLAIN = re.compile(r"[\w./ +-]+")  # a path that can stand between backticks

HEAD = """\
## Skills

Each of these files says how a kind of work is done here. Read the file before you do such work, and follow it.

"""


def body(skills: Iterable[Skill], project: Path) -> str:
    """Return the lines of the block for the skills of a project; empty where it has none."""
    paths = {skill.path.relative_to(project).as_posix(): skill for skill in skills}
    rows = [f"- `{path}`: {_said(skill)}\n" for path, skill in paths.items() if _PLAIN.fullmatch(path)]
    return HEAD + "".join(rows) if rows else ""


def _said(skill: Skill) -> str:
    text = _ACTIVE.sub("", safe_text(fold(skill.front.description)))
    return cut(fold(text), _MOST) or skill.name
