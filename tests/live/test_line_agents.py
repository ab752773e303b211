"""skilld beside real sessions of Gemini CLI, Copilot CLI, Pi and Qwen Code in a terminal."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from support.live_bench import Bench
from support.live_copilot import CopilotCli
from support.live_gemini import GeminiCli
from support.live_pi import Pi
from support.live_project import SKILL, STYLE_PAGE
from support.live_qwen import QwenCode
from support.live_stories import ContinuedStories, LeanStories
from support.session import LASTING, LASTING_2
from support.stub_agents import Call, Say, Step
from tools.live_clients import COPILOT_CLI, GEMINI_CLI, PI, PI_NEWER, QWEN_CODE

pytestmark = pytest.mark.live
MakeBench = Callable[..., Bench]
FIRST_PROMPT = "Write the release notes for version 1.4 please"
DONE = Say("The notes are written.")


def page(bench: Bench) -> str:
    return str(bench.project.root / STYLE_PAGE)


class TestGeminiCli(LeanStories, ContinuedStories):
    first_prompt = FIRST_PROMPT

    @pytest.fixture
    def bench(self, make_bench: MakeBench) -> Bench:
        return make_bench(GeminiCli, GEMINI_CLI)

    def first_answer(self, bench: Bench) -> list[Step]:
        return [Call("activate_skill", {"name": SKILL}), Call("read_file", {"file_path": page(bench)}), DONE]

    def continue_headless(self, bench: Bench, prompt: str) -> None:
        bench.agent.headless(prompt, "--resume", "latest")


class TestCopilotCli(LeanStories, ContinuedStories):
    first_prompt = FIRST_PROMPT

    @pytest.fixture
    def bench(self, make_bench: MakeBench) -> Bench:
        return make_bench(CopilotCli, COPILOT_CLI)

    def first_answer(self, bench: Bench) -> list[Step]:
        return [Call("skill", {"skill": SKILL}), Call("view", {"path": page(bench)}), DONE]

    def continue_headless(self, bench: Bench, prompt: str) -> None:
        bench.agent.headless(prompt, "--continue")


class TestQwenCode(LeanStories, ContinuedStories):
    first_prompt = FIRST_PROMPT

    @pytest.fixture
    def bench(self, make_bench: MakeBench) -> Bench:
        return make_bench(QwenCode, QWEN_CODE)

    def first_answer(self, bench: Bench) -> list[Step]:
        return [Call("skill", {"skill": SKILL}), Call("read_file", {"file_path": page(bench)}), DONE]

    def continue_headless(self, bench: Bench, prompt: str) -> None:
        bench.agent.headless(prompt, "--continue")


class TestPi(LeanStories):
    """Not told of Pi: a prompt that `-p --continue` adds to a typed session looks like a typed one."""

    first_prompt = FIRST_PROMPT

    @pytest.fixture(params=[PI, PI_NEWER], ids=lambda client: client.version)
    def bench(self, make_bench: MakeBench, request: pytest.FixtureRequest) -> Bench:
        return make_bench(Pi, request.param)

    def first_answer(self, bench: Bench) -> list[Step]:
        return [Call("read", {"path": str(bench.project.skill_path)}), Call("read", {"path": page(bench)}), DONE]

    def test_none_of_several_headless_prompts_is_a_turn(self, bench: Bench) -> None:
        bench.agent.headless(LASTING, LASTING_2)
        (transcript,) = bench.agent.transcripts()
        assert bench.agent.recorded(LASTING_2)
        assert bench.inspect(transcript)["turns"] == []
