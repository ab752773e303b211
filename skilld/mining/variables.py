"""The variables of a procedure: differences with the same values in each session are one variable. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath

from skilld.mining.actions import Action, tokens, without_private_words
from skilld.mining.similarity import MIN_SESSIONS, TEXT_NAMES, ActionRun, Gap, has_word
from skilld.values import value_class
from skilld.words import content_stems

_MIN_SAME_WORDS = 0.7  # of a request, which is of the same form as another
_VALUE = re.compile(r"\w[\w.-]*")
_MIN_VALUE_LENGTH = 3  # characters of a value that is unlikely to match by accident


@value_class
class Episode:
    """One session's work on a task: `actions`, each with the turn it followed; `asked` is all that was typed."""

    session: str
    turn: str
    request: str
    asked: str
    actions: tuple[tuple[Action, str], ...]

    @property
    def about(self) -> frozenset[str]:
        """The names of changed files that are words of its commands: "bench invoices" for queries/invoices.py."""
        words = {word for one, _ in self.actions if not (one.edits or one.reads) for word in tokens(one.text)}
        changed = (PurePosixPath(one.text).stem for one, _ in self.actions if one.edits)
        return frozenset(name for name in changed if name in words and len(name) >= _MIN_VALUE_LENGTH)

    def without_private_words(self) -> Episode:
        """Return this with a mark for the paths of one machine and the secrets in its commands."""
        actions = (
            (one if one.edits or one.reads else replace(one, text=without_private_words(one.text)), turn)
            for one, turn in self.actions
        )
        return replace(self, actions=tuple(actions))


def _spellings(value: str) -> tuple[str, ...]:
    """Return the spellings of a value, the longest first: "release 1.4" means 1.4.0."""
    is_version = value.endswith(".0") and value.count(".") > 1 and value.replace(".", "").isdigit()
    return (value, value.removesuffix(".0")) if is_version else (value,)


_LEADING_WORDS = r"(?:the|an?|its|our|new|by|for|of|in|on|to|from|with|as|at|and)"


def _nouns(request: str, value: str) -> frozenset[str]:
    """Return the words that may name the kind of a value: between "for" or "the" and it, and after it."""
    word, own = rf"(?!{_LEADING_WORDS}\b)([a-z]{{3,16}})", rf"{re.escape(value)}(?![\w-])"
    behind = rf"\b{_LEADING_WORDS} {own} {word}(?=[.,;:!?)]|\Z| {_LEADING_WORDS}\b)"
    found = re.findall(rf"\b{_LEADING_WORDS} {word} {own}|{behind}", request, re.IGNORECASE)
    return frozenset(name.lower() for pair in found for name in pair if content_stems(name))


def _bare(word: str) -> str:
    return word.strip(".,;:!?\"'`()")


def _differs_in_few(one: Sequence[str], other: Sequence[str]) -> bool:
    """Whether two requests have the same words but for a few; a request does so with itself."""
    if len(one) != len(other):
        return False
    same = sum(_bare(mine).casefold() == _bare(theirs).casefold() for mine, theirs in zip(one, other, strict=True))
    return same >= len(one) * _MIN_SAME_WORDS


@dataclass
class Variables:
    """The variables of a procedure by name, each with its value in each session."""

    episodes: Sequence[Episode]
    values: dict[str, dict[str, str]] = field(default_factory=dict)

    def of(self, wanted: str, vector: Mapping[str, str]) -> str:
        """Return the variable with these values by session, creating it if necessary."""
        for name, known in self.values.items():
            shared = known.keys() & vector.keys()
            many = MIN_SESSIONS if name != wanted or min(map(len, vector.values())) < _MIN_VALUE_LENGTH else 1
            if len(shared) >= many and all(known[one] == vector[one] for one in shared):
                known.update(vector)
                return name
        if wanted == "name" in self.values:
            wanted = self._noun(vector) or wanted
        name, number = wanted, 2
        while name in self.values:
            name, number = f"{wanted}{number}", number + 1
        self.values[name] = dict(vector)
        return name

    def open_words(self, requests: Sequence[str]) -> list[str]:
        """Return requests with a variable for a word in which they differ from others of the same form.

        It must have a name: "owned by team billing" and "owned by team finance" make "team {{team}}".
        """
        found = [one.split(" ") for one in requests]
        return [" ".join(self._opened(number, found)) for number in range(len(found))]

    def _opened(self, number: int, requests: Sequence[Sequence[str]]) -> Iterator[str]:
        own = requests[number]
        alike = [n for n, other in enumerate(requests) if _differs_in_few(own, other)]
        for at, word in enumerate(own):
            values = {self.episodes[n].session: _bare(requests[n][at]) for n in alike}
            several = len(set(map(str.casefold, values.values()))) > 1 and all(map(_VALUE.fullmatch, values.values()))
            noun = self._noun(values) if several else ""
            yield word.replace(_bare(word), "{{" + noun + "}}") if noun else word

    def _noun(self, vector: Mapping[str, str]) -> str:
        """Return what the requests call these values: "team" in "owned by team billing" or "for the billing team"."""
        requests = {one.session: one.request for one in self.episodes}
        nouns = [_nouns(requests[session], value) for session, value in vector.items()]
        found = sorted(frozenset.intersection(*nouns)) if nouns else []
        return found[0] if found else ""

    def requested(self) -> set[str]:
        """Return the variables that several requests name: one that occurs only in flags was not asked for."""
        requests = {one.session: one.request.casefold() for one in self.episodes}
        return {
            name
            for name, known in self.values.items()
            if sum(
                any(form in requests[session] for form in _spellings(value.casefold()))
                for session, value in known.items()
            )
            >= MIN_SESSIONS
        }

    def put(self, text: str, session: str, wanted: Collection[str] | None = None) -> str:
        """Replace the values of (`wanted`) variables in a text of a session; only whole words.

        "test_cart" contains the word "cart".
        """
        for name, known in sorted(self.values.items(), key=lambda one: -len(one[1].get(session, ""))):
            value = known.get(session, "")
            if value and name.rstrip("0123456789") not in TEXT_NAMES and (wanted is None or name in wanted):
                before = r"(?<![^\W_])(?<!\{)" if len(value) >= MIN_SESSIONS else "(?<=[/#])"
                if re.match(r"\d+\.\d", value):  # of "v1.2" too
                    before = rf"(?:{before}|(?<=\bv))"
                forms = "|".join(map(re.escape, _spellings(value)))
                pattern = rf"{before}(?:{forms})(?![^\W_]|\}}|\.\d)"
                text = re.sub(pattern, lambda _, name=name: "{{" + name + "}}", text, flags=re.IGNORECASE)  # type: ignore[misc]
        return text

    def examples(self) -> dict[str, tuple[str, ...]]:
        """Return the values of each variable, the newest first."""
        order = [episode.session for episode in self.episodes]
        return {
            name: tuple(dict.fromkeys(known[one] for one in order if one in known))
            for name, known in self.values.items()
        }

    def are_asked(self, seen: Sequence[ActionRun], words: Sequence[str]) -> bool:
        """Whether each session's request contains the whole word, even if the words begin or end alike."""
        asked = {episode.session: episode.asked for episode in self.episodes}
        return all(
            re.fullmatch(r"[\w.-]+", word) and has_word(asked[one.session], word)
            for one, word in zip(seen, words, strict=True)
        )

    def is_named(self, gap: Gap, vector: Mapping[str, str]) -> bool:
        """Whether a word, or one in a changed file's path, is a variable: exact, or what each session is about."""
        if not gap.is_name:
            return True
        known = {one.session: (one.asked.casefold(), one.about) for one in self.episodes}
        return all(value.casefold() in known[one][0] or value in known[one][1] for one, value in vector.items())
