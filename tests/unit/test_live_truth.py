"""Every session typed into a real client for this purpose is read back exactly."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from skilld.agents import ADAPTERS
from skilld.types import SkillUse, Turn
from support.ground_truth import SHARED, events_of, events_with_restarts, find_differences

LIVE = SHARED / "live"

# Case -> {difference: why it cannot be known from the file}. Anything else that differs is a bug.
_BY_NAME = "the log has the skill's name, and no path"


_READ = "Aider has no skills of its own, but a SKILL.md that was added is in the conversation"
_NOBODY = "of a session that nobody was in no skills are told, as of opencode's"


def _skill_path(what: str, case: str, skill: str, place: str) -> str:
    return f"skill {what}: ('{skill}', '/x/{case}/proj/{place}/{skill}/SKILL.md')"


def _named_skills(case: str, skill: str, place: str) -> dict[str, dict[str, str]]:
    return {case: {_skill_path("lost", case, skill, place): _BY_NAME}}


_AIDER, _KILO = "aider-01-tui-read-skill", "kilo-02-headless"
UNKNOWABLE: dict[str, dict[str, str]] = {
    _AIDER: {_skill_path("not used", _AIDER, "changelog-style", ".agents/skills"): _READ},
    _KILO: {_skill_path("lost", _KILO, "release-notes", ".kilo/skills"): _NOBODY},
    **_named_skills("cline-01-tui-7turns-skill", "release-notes", ".cline/skills"),
    **_named_skills("cline-02-headless", "release-notes", ".cline/skills"),
    **_named_skills("continue-01-tui-8turns-skill", "release-notes", ".continue/skills"),
    **_named_skills("continue-02-headless", "release-notes", ".continue/skills"),
    **_named_skills("letta-01-tui-skill-queue-resume", "changelog-style", ".skills"),
}


def agent_of(case: Path) -> str:
    return str(json.loads((case / "truth.json").read_text(encoding="utf-8"))["agent"])


CASES = [path.parent for path in sorted(LIVE.glob("*/truth.json")) if agent_of(path.parent) in ADAPTERS]


@pytest.mark.parametrize("case", CASES or [None], ids=[case.name for case in CASES] or ["absent"])
def test_everything_typed_is_read(case: Path | None) -> None:
    if case is None:
        pytest.skip("no live sessions beside the repository")
    assert set(find_differences(case, ADAPTERS[agent_of(case)])) == set(UNKNOWABLE.get(case.name, {}))


@pytest.mark.parametrize("case", CASES or [None], ids=[case.name for case in CASES] or ["absent"])
def test_a_killed_and_resumed_reader_reads_the_same(case: Path | None) -> None:
    if case is None:
        pytest.skip("no live sessions beside the repository")
    adapter = ADAPTERS[agent_of(case)]
    for name in json.loads((case / "truth.json").read_text(encoding="utf-8"))["session_files"]:
        whole = events_of(adapter, case / name)
        resumed = events_with_restarts(adapter, case / name, 1)
        for kind in (Turn, SkillUse):
            expected = [event for event in whole if isinstance(event, kind)]
            again = list(dict.fromkeys(event for event in resumed if isinstance(event, kind)))
            assert again == expected
