"""The short questions to a back-end that a worker can be asked to put, and the titles that answer one. Values only."""

from __future__ import annotations

from skilld.classify.backends import Spec
from skilld.codec import TaggedUnion
from skilld.values import value_class


@value_class
class TestBackend(TaggedUnion):
    """Check whether a back-end answers."""

    backend: Spec


@value_class
class LookUpPrices(TaggedUnion):
    """Look up the token prices of models."""

    models: tuple[str, ...]


@value_class
class NumberedQuestion(TaggedUnion):
    """A closed question about numbered things; offline chooses none."""

    backend: Spec


@value_class
class TitleSkills(NumberedQuestion):
    """Find names, descriptions and titles for drafted skills."""

    texts: tuple[str, ...]


@value_class
class Title:
    """A skill's name, description and heading; each may be empty."""

    name: str = ""
    description: str = ""
    title: str = ""


@value_class
class FindRedundancy(NumberedQuestion):
    """Find what a file can omit or say more briefly in its numbered parts; parts with number 0 are only context."""

    numbers: tuple[int, ...]
    parts: tuple[str, ...]


@value_class
class MatchSkills(NumberedQuestion):
    """Find the skills that fit a task in the person's words; each skill is described in a few words."""

    text: str
    skills: tuple[str, ...]


@value_class
class GroupRequests(NumberedQuestion):
    """Find which of a person's requests ask for the same recurring task."""

    requests: tuple[str, ...]


@value_class
class WordSkills(NumberedQuestion):
    """Word the skills that drafts become, from their numbered lines; `lines` has the number of lines of each."""

    drafts: tuple[str, ...]
    lines: tuple[int, ...]


Question = TestBackend | LookUpPrices | TitleSkills | FindRedundancy | MatchSkills | GroupRequests | WordSkills
