"""skilld beside real Claude Code sessions in a terminal, of two versions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from support.live_bench import Bench
from support.live_claude_code import ClaudeCode
from support.live_project import SKILL, STYLE_PAGE
from support.live_stories import SharedStories
from support.stub_agents import Call, Say, Step
from tools.live_clients import CLAUDE_CODE, CLAUDE_CODE_NEWER

pytestmark = pytest.mark.live


@pytest.fixture(params=[CLAUDE_CODE, CLAUDE_CODE_NEWER], ids=lambda client: client.version)
def bench(make_bench: Callable[..., Bench], request: pytest.FixtureRequest) -> Bench:
    return make_bench(ClaudeCode, request.param)


class TestClaudeCode(SharedStories):
    first_prompt = "Write the release notes for version 1.4 please"

    def first_answer(self, bench: Bench) -> list[Step]:
        page = str(bench.project.root / STYLE_PAGE)
        return [Call("Skill", {"skill": SKILL}), Call("Read", {"file_path": page}), Say("The notes are written.")]

    def undo(self, bench: Bench, proposal: dict[str, Any], merge: str) -> None:
        assert merge != proposal["commit"]
        bench.project.git("revert", "--no-edit", proposal["commit"])

    def continue_headless(self, bench: Bench, prompt: str) -> None:
        bench.agent.headless(prompt, "--continue")

    def test_a_typed_skill_command_counts_as_its_arguments(self, bench: Bench) -> None:
        with bench.agent:
            bench.agent.say(f"/{SKILL} for version 1.4")
            bench.agent.quit()
        (transcript,) = bench.agent.transcripts()
        seen = bench.inspect(transcript)
        assert [turn["text"] for turn in seen["turns"]] == ["for version 1.4"]
        assert [used["path"] for used in seen["skills"]] == [str(bench.project.skill_path)]
