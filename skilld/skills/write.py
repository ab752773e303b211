"""Writes a new SKILL.md: its path, its text from its parts, and its variables filled in."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

from skilld.errors import RefusedError, SkilldError
from skilld.skills.find import FILE, Places, opt_out
from skilld.skills.spec import MAX_DESCRIPTION, MAX_NAME, NAME, faults
from skilld.text import cut, one_line, safe_text

# Every value is written so that YAML reads back exactly the text it was given, whatever that text holds.
# Of several words, so that it is no number, date, null or truth value in any version of YAML.
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9]*(?:[ ,.;()/'-]+[A-Za-z0-9]+)+[.)]?", re.ASCII)
_META = re.compile(r"[A-Za-z][\w-]{0,63}", re.ASCII)
_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n"})


def compose(name: str, description: str, body: str, metadata: Mapping[str, str]) -> str:
    """Return the text of a new SKILL.md, in which `faults` finds nothing for the folder `name`.

    White space of `description` is folded and what is over 1024 characters is cut out of its middle; control and
    invisible characters in it and in the values of `metadata` are written as visible escapes. Raises SkilldError if
    the name or body can be no skill's.
    """
    unfit = next((key for key in metadata if not _META.fullmatch(key)), None)
    if unfit is not None:
        raise _refused(f"{safe_text(unfit)} is not a valid metadata key")
    said = cut(one_line(description), MAX_DESCRIPTION)
    front = [f"name: {name}", f"description: {said if ' ' in said and _PLAIN.fullmatch(said) else quoted(said)}"]
    if metadata:
        front += ["metadata:", *(f"  {key}: {quoted(value)}" for key, value in metadata.items())]
    lines = body.replace("\r\n", "\n").replace("\r", "\n").strip("\n").rstrip()
    text = "\n".join(["---", *front, "---", "", lines, ""])
    if wrong := faults(text, name):
        raise _refused("; ".join(wrong))
    return text


def quoted(value: str) -> str:
    """Return a text as a YAML double-quoted scalar on one line."""
    return '"' + safe_text(value, newlines=True).translate(_ESCAPES) + '"'


def _refused(cause: str) -> SkilldError:
    return SkilldError("Could not write the new skill", cause)


# A skill's text as something to say: without its front matter, with values in place of `{{ name }}`.

_HOLE = re.compile(r"\{\{\s*([A-Za-z_]\w*)\s*\}\}")
_FRONT = re.compile(r"\A\ufeff?---[ \t]*\r?\n.*?^---[ \t]*\r?\n", re.DOTALL | re.MULTILINE)


def body(text: str) -> str:
    """Return what is below the front matter of a SKILL.md."""
    return _FRONT.sub("", text, count=1)


def holes(text: str) -> tuple[str, ...]:
    """Return the names of the variables in a text, each once, in their order."""
    return tuple(dict.fromkeys(_HOLE.findall(text)))


DECLARES = "differs each time"
_DECLARED = re.compile(rf"^- `\{{\{{(\w+)\}}\}}`: {DECLARES}.*\n?", re.MULTILINE)


def filled(text: str, values: Mapping[str, str]) -> str:
    """Return a text with its variables filled; one without a value stays as it is, and no value is filled again.

    The line of a mined skill that says what a variable is (`DECLARES`) goes with the variable.
    """
    less = _DECLARED.sub(lambda line: "" if line[1] in values else line[0], text)
    if less != text:
        text = re.sub(r"\n{3,}", "\n\n", less)
    return _HOLE.sub(lambda hole: values.get(hole[1], hole[0]), text)


_TITLE = "Cannot create the new skill"
_CLAUDE = "claude-code"
_USUAL = ".agents/skills"
_USUAL_CLAUDE = ".claude/skills"


def landing(
    name: str, projects: Collection[Path], agents: Sequence[str], places: Mapping[str, Places], home: Path
) -> Path:
    """Return the path for the SKILL.md of a new skill: no link is on the way to it, and nothing stands there.

    `projects` are the folders that its evidence came from, `agents` the agent of each piece of it, `places` where the
    agents keep skills, `home` the person's home folder. Evidence of one project lands in it: in its first skills folder
    that exists, those of the agent with most of the evidence first, else in that agent's usual one. Any other lands in
    the person's own folder.

    Raises SkilldError if a skill of that name is there already, in any folder of skills next to it; RefusedError
    if the way leads out of the project or home, or the project asks to be left alone.
    """
    if len(name) > MAX_NAME or not NAME.fullmatch(name):
        raise SkilldError(_TITLE, "its name is not a valid skill name")
    order = [agent for agent, _ in Counter(agents).most_common() if agent in places]
    first = order[0] if order else _CLAUDE
    usual = _USUAL_CLAUDE if first == _CLAUDE else _USUAL
    own = {project.resolve() for project in projects} - {home.resolve()}
    if len(own) == 1:
        root = own.pop()
        by_agent = [*order, *(agent for agent in places if agent not in order)]
        folders = [root / sub for agent in by_agent for sub in places[agent].in_project]
        chosen = next(
            (folder for folder in folders if folder.is_dir() and folder.resolve().is_relative_to(root)), root / usual
        )
    else:
        root = home.resolve()
        folders = [folder for agent in places for folder in places[agent].absolute]
        known = places[first].absolute if first in places else ()
        chosen = known[0] if known and home / usual not in known else home / usual  # where the agent looks, at least
        root = root if chosen.is_relative_to(home) else chosen.parent.resolve()
    return _checked(name, chosen, root, folders)


def _checked(name: str, chosen: Path, root: Path, folders: Sequence[Path]) -> Path:
    real = chosen.resolve()
    if not real.is_relative_to(root):
        raise RefusedError(_TITLE, f"{chosen} is a symlink that points outside {root}")
    file = real / name / FILE
    if any("\ud800" <= char <= "\udfff" for char in str(file)):
        raise RefusedError(_TITLE, f"the path {real} is not valid UTF-8")
    standing = next(folder for folder in (real, *real.parents) if folder == root or os.path.lexists(folder))
    if not standing.is_dir() or standing.stat().st_uid != os.geteuid():
        raise RefusedError(_TITLE, f"{standing} is not a folder that you own")
    for folder in dict.fromkeys((real, *folders)):
        if os.path.lexists(folder / name) or name in {entry.casefold() for entry in _names(folder)}:
            raise SkilldError(_TITLE, f"there is already a skill called {name} in {folder}")
    if why := opt_out(file, name):
        raise RefusedError(_TITLE, why)
    return file


def _names(folder: Path) -> Iterator[str]:
    try:
        with os.scandir(folder) as entries:
            yield from (entry.name for entry in entries)
    except OSError:
        return
