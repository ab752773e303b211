"""What a form needs, so that it is compiled and tried only for a text that has one of these. Knows no language."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cache

from skilld.classify.caseless import Caseless, lower


class Forms:
    """Forms in groups that need the same words: a group is compiled when a text first has one of them."""

    def __init__(self, groups: Iterable[tuple[Needs, Callable[[], Caseless]]]) -> None:
        """Take the groups, each with what it needs and a function that compiles it."""
        self._groups = [(needs and tuple(needs), cache(compiled)) for needs, compiled in groups]

    def found_in(self, text: str) -> bool:
        """Whether any form matches somewhere in `text`."""
        low = lower(text)
        for needs, compiled in self._groups:
            for needed in needs or ("",):
                if needed in low:
                    if compiled().expression.search(low):
                        return True
                    break
        return False

    def patterns(self) -> list[re.Pattern[str]]:
        """Return the expressions of all groups, compiled."""
        return [compiled().expression for _, compiled in self._groups]


Needs = frozenset[str] | None  # parts of words, one of which a match must have; None if that is not known

_TOKEN = re.compile(
    r"""(?P<list><[a-z_]+>) | (?P<open>\((?:\?(?:P<\w+>|<?[=!:]|>))?) | (?P<close>\)) | (?P<either>\|)
      | (?P<other>\\. | \[\^?\]?(?:\\.|[^\]\\])*\] | [.^$])
      | (?P<repeat>[?*+]|\{\d*,?\d*\}) | (?P<letter>[a-z]+(?![?*+{])|.)""",
    re.VERBOSE | re.DOTALL,
)
_OPTIONAL = ("?", "*", "{0", "{,")
_VARIED = re.compile(r"[\s\u00c0-\u024f\u1e00-\u1effё]")  # a blank is any white space; accents may be missing
_RARITY = 0.1  # of a text to have one further letter of a word, about
_DENSE = 3  # letters that a character of a script without blanks is worth, or of any but Latin


@dataclass(slots=True)
class _Sequence:
    """What has been read of one alternative: the best needs so far, and the letters that follow each other."""

    needs: Needs = None
    run: list[str] = field(default_factory=list)

    def add(self, needs: Needs) -> None:
        if needs and (self.needs is None or _likelihood(needs) < _likelihood(self.needs)):
            self.needs = needs

    def end_run(self) -> None:
        if self.run:
            self.add(frozenset([lower("".join(self.run))]))
        self.run = []


def needs_of(form: str, needs_of_list: Callable[[str], Needs]) -> Needs:
    """Return what every match of `form` has, an expression with lists in it, given the same for each list."""
    found, _ = _alternatives([(one.lastgroup or "", one[0]) for one in _TOKEN.finditer(form)], 0, needs_of_list)
    return found


def _alternatives(tokens: list[tuple[str, str]], at: int, needs_of_list: Callable[[str], Needs]) -> tuple[Needs, int]:
    """Return what alternatives need together, and where they end: at the end of their group or of all."""
    each, now = list[Needs](), _Sequence()
    while at < len(tokens) and tokens[at][0] != "close":
        kind, text = tokens[at]
        needs: Needs = None
        if kind == "open":
            needs, at = _alternatives(tokens, at + 1, needs_of_list)
            needs = needs if text in {"(", "(?:", "(?>"} or text.startswith("(?P") else None
        elif kind == "list":
            needs = needs_of_list(text[1:-1])
        repeat = tokens[at + 1][1] if at + 1 < len(tokens) and tokens[at + 1][0] == "repeat" else ""
        optional = repeat.startswith(_OPTIONAL)
        if kind == "letter" and not _VARIED.match(text) and not optional:
            now.run.append(text)
        if kind != "letter" or _VARIED.match(text) or repeat:
            now.end_run()
        if kind == "either":
            each.append(now.needs)
            now = _Sequence()
        now.add(None if optional else needs)
        at += 1
    now.end_run()
    each.append(now.needs)
    return _together(each), at


def _together(each: list[Needs]) -> Needs:
    known = [one for one in each if one is not None]
    return frozenset().union(*known) if len(known) == len(each) else None


def _likelihood(needs: frozenset[str]) -> float:
    """Return roughly how likely a text has one of these."""
    return sum(_RARITY ** (len(one) * (1 if one.isascii() else _DENSE)) for one in needs)
