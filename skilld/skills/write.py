"""Writes a new SKILL.md: its text, its path, and its variables filled in."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

from skilld.errors import RefusedError, SkilldError
from skilld.skills.find import FILE, Places
from skilld.skills.project_config import opt_out
from skilld.skills.spec import MAX_DESCRIPTION, MAX_NAME, NAME_PATTERN, find_faults
from skilld.text import one_line, safe_text, truncate

# Every value is written so that YAML reads back exactly the same text. A plain scalar must have several words, so that
# no version of YAML reads it as a number, date, null or boolean.
_PLAIN_PATTERN = re.compile(r"[A-Za-z][A-Za-z0-9]*(?:[ ,.;()/'-]+[A-Za-z0-9]+)+[.)]?", re.ASCII)
_METADATA_KEY_PATTERN = re.compile(r"[A-Za-z][\w-]{0,63}", re.ASCII)
_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n"})


def compose(name: str, description: str, body: str, metadata: Mapping[str, str]) -> str:
    """Return the text of a new SKILL.md, in which `find_faults` finds nothing for the folder `name`.

    White space in `description` is folded, and its middle is cut if it is over 1024 characters; control and invisible
    characters in it and in the values of `metadata` are written as visible escapes. Raises SkilldError if the name or
    the body is invalid.
    """
    unfit = next((key for key in metadata if not _METADATA_KEY_PATTERN.fullmatch(key)), None)
    if unfit is not None:
        raise _write_error(f"{safe_text(unfit)} is not a valid metadata key")
    said = truncate(one_line(description), MAX_DESCRIPTION)
    front = [
        f"name: {name}",
        f"description: {said if ' ' in said and _PLAIN_PATTERN.fullmatch(said) else quoted(said)}",
    ]
    if metadata:
        front += ["metadata:", *(f"  {key}: {quoted(value)}" for key, value in metadata.items())]
    lines = body.replace("\r\n", "\n").replace("\r", "\n").strip("\n").rstrip()
    text = "\n".join(["---", *front, "---", "", lines, ""])
    if wrong := find_faults(text, name):
        raise _write_error("; ".join(wrong))
    return text


def quoted(value: str) -> str:
    """Return a text as a YAML double-quoted scalar on one line."""
    return '"' + safe_text(value, newlines=True).translate(_ESCAPES) + '"'


def _write_error(cause: str) -> SkilldError:
    return SkilldError("Could not write the new skill", cause)


# A skill's text without its front matter, with values in place of `{{ name }}`.

_HOLE_PATTERN = re.compile(r"\{\{\s*([A-Za-z_]\w*)\s*\}\}")
_FRONT_PATTERN = re.compile(r"\A\ufeff?---[ \t]*\r?\n.*?^---[ \t]*\r?\n", re.DOTALL | re.MULTILINE)


def body_of(text: str) -> str:
    """Return the text below the front matter of a SKILL.md."""
    return _FRONT_PATTERN.sub("", text, count=1)


def holes(text: str) -> tuple[str, ...]:
    """Return the names of the variables in a text, each once, in order."""
    return tuple(dict.fromkeys(_HOLE_PATTERN.findall(text)))


VARIABLE_NOTE = "differs each time"
_DECLARATION_PATTERN = re.compile(rf"^- `\{{\{{(\w+)\}}\}}`: {VARIABLE_NOTE}.*\n?", re.MULTILINE)


def fill_holes(text: str, values: Mapping[str, str]) -> str:
    """Return a text with its variables replaced by their values, not recursively; others stay unchanged.

    The line of a mined skill that declares a variable (`VARIABLE_NOTE`) is removed with it.
    """
    less = _DECLARATION_PATTERN.sub(lambda line: "" if line[1] in values else line[0], text)
    if less != text:
        text = re.sub(r"\n{3,}", "\n\n", less)
    return _HOLE_PATTERN.sub(lambda hole: values.get(hole[1], hole[0]), text)


_TITLE = "Cannot create the new skill"
_DEFAULT_AGENT = "claude-code"
_DEFAULT_FOLDER = ".agents/skills"
_DEFAULT_CLAUDE_FOLDER = ".claude/skills"


def new_skill_path(
    name: str, projects: Collection[Path], agents: Sequence[str], places: Mapping[str, Places], home: Path
) -> Path:
    """Return a free path without links for the SKILL.md of a new skill.

    `projects` are the folders of its evidence, `agents` the agent of each piece, `places` where the agents keep skills,
    `home` the person's home folder. With evidence from one project the skill goes there: into its first existing skills
    folder, beginning with the agent with the most evidence, or that agent's default folder. Otherwise it goes into the
    person's own folder.

    Raises SkilldError if any skills folder there already has a skill of that name; RefusedError if the path leads out
    of the project or home, or the project opts out.
    """
    if len(name) > MAX_NAME or not NAME_PATTERN.fullmatch(name):
        raise SkilldError(_TITLE, "its name is not a valid skill name")
    order = [agent for agent, _ in Counter(agents).most_common() if agent in places]
    first = order[0] if order else _DEFAULT_AGENT
    usual = _DEFAULT_CLAUDE_FOLDER if first == _DEFAULT_AGENT else _DEFAULT_FOLDER
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
    return _check_path(name, chosen, root, folders)


def _check_path(name: str, chosen: Path, root: Path, folders: Sequence[Path]) -> Path:
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
        if os.path.lexists(folder / name) or name in {entry.casefold() for entry in _entry_names(folder)}:
            raise SkilldError(_TITLE, f"there is already a skill called {name} in {folder}")
    if why := opt_out(file, name):
        raise RefusedError(_TITLE, why)
    return file


def _entry_names(folder: Path) -> Iterator[str]:
    try:
        with os.scandir(folder) as entries:
            yield from (entry.name for entry in entries)
    except OSError:
        return
