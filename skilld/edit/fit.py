"""Which sections of a skill an instruction fits, judged by words alone.

Body lines, a hint at the section and the instruction go in, sections come out, best first.
"""

from __future__ import annotations

from collections.abc import Sequence

from skilld.markdown.skill_file import Line
from skilld.markdown.structure import Section, sections
from skilld.text import fold
from skilld.words import stems

_HINT_FITS = 0.5  # share of the words of title and hint that both have
_WORDS_FIT = 2  # words that an instruction shares with a section; one of the title counts for two


def by_fit(body: Sequence[Line], hint: str, text: str) -> tuple[list[Section], list[Section]]:
    """Return the sections that fit, best first, and the others.

    The hint decides, and where it names none, the words of the text.
    """
    found = [part for part in sections(body) if part.title or any(line.key for line in body[part.start : part.own_end])]
    likeness = {part: _likeness(hint, part.title) for part in found}
    named = [part for part in found if likeness[part] >= _HINT_FITS]
    if named:
        return sorted(named, key=likeness.__getitem__, reverse=True), [part for part in found if part not in named]
    words = stems(text)
    shared = {part: _shared(words, body, part) for part in found}
    ranked = sorted(found, key=lambda part: (shared[part], part.start), reverse=True)
    if not _plain(hint) and len(found) == 1:
        return found, []
    least = _WORDS_FIT + bool(_plain(hint))  # a section of its own is better than a poor fit, once it has a name
    fitting = [part for part in ranked if shared[part] >= least]
    return fitting, ranked[len(fitting) :]


def _likeness(hint: str, title: str) -> float:
    if _plain(hint) and _plain(hint) == _plain(title):
        return 1.0
    wanted, words = stems(hint), stems(title)
    return len(wanted & words) / len(wanted | words) if wanted and words else 0.0


def _plain(title: str) -> str:
    return fold(title).strip("# :").casefold()


def _shared(words: frozenset[str], body: Sequence[Line], section: Section) -> int:
    own = stems(" ".join(line.text for line in body[section.start : section.own_end]))
    return len(words & own) + 2 * len(words & stems(section.title))
