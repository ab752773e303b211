"""skilld beside a real Codex session in a terminal."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from support.live_bench import Bench
from support.live_codex import Codex
from support.live_project import SKILL, STYLE_PAGE
from support.live_stories import SharedStories
from support.stub_agents import Call, Say, Step
from tools.live_clients import CODEX

pytestmark = pytest.mark.live


@pytest.fixture
def bench(make_bench: Callable[..., Bench]) -> Bench:
    return make_bench(Codex, CODEX)


class TestCodex(SharedStories):
    first_prompt = f"${SKILL} write the notes for version 1.4 please"

    def first_answer(self, bench: Bench) -> list[Step]:
        page = str(bench.project.root / STYLE_PAGE)
        return [Call("exec_command", {"cmd": f"cat {page}"}), Say("The notes are written.")]

    def undo(self, bench: Bench, proposal: dict[str, Any], merge: str) -> None:
        assert merge != proposal["commit"]
        bench.project.git("revert", "--no-edit", "--mainline", "1", merge)

    def continue_headless(self, bench: Bench, prompt: str) -> None:
        bench.agent.headless(prompt, "resume", "--last")
