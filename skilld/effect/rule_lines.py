"""The lines of a file that may be rules, and when each was added."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from itertools import zip_longest
from pathlib import Path

from skilld.classify.content import content_of, term_weights
from skilld.classify.offline.sections import BlockKind, ProseBlock, body_lines, sections
from skilld.classify.rule_repeats import description
from skilld.classify.rule_texts import describes, only_imports
from skilld.errors import SkilldError
from skilld.files import read_whole
from skilld.skills.spec import read_front
from skilld.skills.write import holes

_MAX_TEXT = 1 << 18  # characters of a file
_CODE_SPAN = re.compile(r"`[^`]*`")
_POINTER = re.compile(
    r"\W*(?:see(?! (?:to|that)\b)|siehe|voir|v[eé]ase|vedi|veja|zie|zob\.|viz|см\.|参见|参照)(?:[\s:]|$)", re.IGNORECASE
)
_DECLARATION = re.compile(r"`(?:\{\{\w+\}\}|\u2026)`:")


def text_of(path: str) -> str:
    """Return the beginning of a file's text; empty if it cannot be read."""
    with suppress(OSError):
        text = read_whole(path).decode("utf-8-sig", "replace")
        return text.replace("\r\n", "\n").replace("\r", "\n")[:_MAX_TEXT]
    return ""


def rules_in(text: str) -> Iterator[tuple[int, str]]:
    """Yield the items and paragraphs of a text that may be rules, each with the number of its first line, from 1.

    What names the task of a skill is no rule, since every request for the task would repeat it: a paragraph with
    `{{variables}}`, and one at the top that says only what name, description and title say. Neither are lines that
    declare a variable, point elsewhere ("see also ...") or introduce a list, and what describes a project or its parts.
    """
    before, front = len(text.splitlines()) - len(body_lines(text)), read_front(text)
    named = f"{front.name.replace('-', ' ')}. {front.description}. Skill for the user"
    is_skill = opens = bool(front.name)
    told = "" if is_skill else description(text)
    for section in sections(text):
        opens = opens and section.level <= 1
        for block, following in zip_longest(section.blocks, section.blocks[1:]):
            opens = opens and block.kind is not BlockKind.ITEM
            if (
                block.kind is not BlockKind.OTHER
                and not only_imports(block.text)
                and not describes(block.text)
                and block.text != told
                and not (is_skill and _is_request(block))
                and not _is_frame(block, following)
                and not (opens and _says_only(block.text, f"{section.heading}. {named}"))
            ):
                yield before + block.first + 1, block.text


def _is_request(block: ProseBlock) -> bool:
    """Whether a block is a request with variables."""
    return block.kind is BlockKind.PARAGRAPH and bool(holes(_CODE_SPAN.sub("", block.text)))


def _is_frame(block: ProseBlock, following: ProseBlock | None) -> bool:
    """Whether a block declares a variable, points elsewhere ("see also ..."), or introduces the items below it."""
    if _DECLARATION.match(block.text) or _POINTER.match(block.text):
        return True
    if following is None or following.kind is not BlockKind.ITEM or not block.text.endswith((":", "\uff1a")):
        return False
    return len(following.indent) >= len(block.indent) + (block.kind is BlockKind.ITEM)


def _says_only(text: str, named: str) -> bool:
    said = content_of(text)
    return not said.denies and all(term_weights(said.words, content_of(named).words).values())


def added_at(path: str, line: int) -> float | None:
    """Return when a line was added (Unix time): the time of its commit, but not later than the file's.

    None if the file is gone.
    """
    file = Path(path)
    try:
        changed = file.stat().st_mtime
    except OSError:
        return None
    # Git is loaded only for a line that was repeated: few sessions have one.
    from skilld.git.objects import read_commit
    from skilld.proposals.explain import find_origin
    from skilld.proposals.repositories import find_file

    with suppress(SkilldError, OSError):
        if origin := find_origin(file, line).commit:
            commit = read_commit(find_file(file).repo.git, origin)
            if commit is not None:
                return min(float(commit.committer.seconds), changed)  # a commit may come from any clock
    return changed
