"""Y4, Y4b: everyday wording is heard, and what only looks like it is not. The data is described beside it."""

from __future__ import annotations

import json
from hashlib import sha1
from pathlib import Path

import pytest

from skilld.classify.backends.offline import Offline
from skilld.classify.offline.detector import listen, plain
from skilld.classify.offline.grammar import Cue
from skilld.classify.verify import verify
from skilld.types import Message, SkillDoc

DATA = Path(__file__).parents[1] / "data" / "everyday"
SKILLS = json.loads((DATA / "skills.json").read_text(encoding="utf-8"))
LASTING = frozenset(("explicit", "plain", "mixed"))
SURE = 0.5


def lines(name: str) -> list[str]:
    return (DATA / name).read_text(encoding="utf-8").splitlines()


def proposed(skill: str, agent: str, said: str) -> bool:
    messages = [Message(agent)]
    for number, text in enumerate(said.split(" >> "), 1):
        messages += [Message(text, turn=number), Message("Done.")]
    doc = SkillDoc(1, skill, f"/skills/{skill}/SKILL.md", SKILLS[skill])
    return bool(verify(Offline().detect(messages, [doc]), messages, [doc]).proposed)


def by_tag(half: int) -> dict[str, list[bool]]:
    found: dict[str, list[bool]] = {}
    for line in lines("cases.txt"):
        if not line.startswith("#"):
            tag, _, skill, agent, said = line.split("|", 4)
            if int(sha1(said.encode(), usedforsecurity=False).hexdigest(), 16) % 2 == half:
                found.setdefault(tag, []).append(proposed(skill, agent, said))
    return found


@pytest.mark.parametrize("half", [0, 1])
def test_everyday_words_are_proposed_and_what_looks_like_them_is_not(half: int) -> None:
    found = by_tag(half)
    right = sum(sum(found[tag]) for tag in LASTING)
    wrong = sum(sum(cases) for tag, cases in found.items() if tag not in LASTING)
    assert right / (right + wrong) >= 0.9
    assert sum(found["explicit"]) / len(found["explicit"]) >= 0.75
    assert sum(found["plain"]) / len(found["plain"]) >= 0.35
    assert sum(found["mixed"]) / len(found["mixed"]) >= 0.25


def practices(said: str) -> bool:
    return any(one.cue is Cue.PRACTICE for one in plain(said))


def sure(said: str) -> bool:
    return any(one.strength >= SURE for one in listen(said))


@pytest.mark.parametrize("said", lines("lasting.txt"))
def test_lasting_words_are_heard(said: str) -> None:
    assert sure(said)


@pytest.mark.parametrize("said", lines("practice.txt"))
def test_what_is_said_of_a_whole_kind_of_things_is_heard(said: str) -> None:
    assert practices(said) or sure(said)


@pytest.mark.parametrize("said", lines("passing.txt"))
def test_what_passes_is_neither(said: str) -> None:
    assert not practices(said)
    assert not sure(said)
