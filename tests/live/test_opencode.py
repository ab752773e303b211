"""skilld beside a real opencode session in a terminal."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from support.live_bench import Bench
from support.live_opencode import OpenCode
from support.live_project import SKILL, STYLE_PAGE
from support.live_stories import SharedStories
from support.stub_agents import Call, Rule, Say, Step
from tools.live_clients import OPENCODE

pytestmark = pytest.mark.live


@pytest.fixture
def bench(make_bench: Callable[..., Bench]) -> Bench:
    return make_bench(OpenCode, OPENCODE)


class TestOpenCode(SharedStories):
    first_prompt = "write the notes for version 1.4 please"

    def first_answer(self, bench: Bench) -> list[Step]:
        page = str(bench.project.root / STYLE_PAGE)
        return [Call("skill", {"name": SKILL}), Call("read", {"filePath": page}), Say("The notes are written.")]

    def undo(self, bench: Bench, proposal: dict[str, Any], merge: str) -> None:
        assert merge != proposal["commit"]
        bench.project.git("revert", "--no-edit", "--mainline", "1", merge)

    def continue_headless(self, bench: Bench, prompt: str) -> None:
        bench.agent.headless(prompt, "--continue")

    def test_of_a_command_and_of_an_answer_only_what_was_typed_is_a_turn(self, bench: Bench) -> None:
        commands = bench.project.root / ".opencode" / "command"
        commands.mkdir(parents=True)
        (commands / "triage.md").write_text("---\ndescription: x\n---\nAlways label first.\nIssue: $ARGUMENTS\n")
        question = {"question": "Which format?", "header": "Format", "options": [{"label": "A", "description": "a"}]}
        bench.stub.rules = [Rule("ask me", Call("question", {"questions": [question]}), Say("Noted."))]
        with bench.agent as session:
            session.say("/triage the login bug, please")
            session.say(f"/{SKILL} for two versions")
            session.send("ask me something")
            session.terminal.wait_until_still("the question", lambda screen: "Type your own answer" in screen)
            session.terminal.press("2")
            session.terminal.wait_until_still("its field", lambda screen: "Type your own answer" in screen)
            session.terminal.enter("plain, with dates")
            session.terminal.wait("the answer to be taken", lambda screen: "Noted." in screen)
        (transcript,) = session.transcripts()
        seen = bench.inspect(transcript)
        assert [(turn["text"], turn["how"]) for turn in seen["turns"]] == [
            ("the login bug, please", "command"),
            ("for two versions", "command"),
            ("ask me something", "typed"),
            ("plain, with dates", "answer"),
        ]
        assert [used["path"] for used in seen["skills"]] == [str(bench.project.skill_path)]
