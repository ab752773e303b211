"""The stories that every live client is put through. A test class per client inherits them and says how it is done.

Each story is a session of a person: prompts are typed into the real client, and everything that is asserted comes out
of skilld's command line and of git.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from typing import Any

from support.live_bench import Bench
from support.live_project import SKILL, SKILL_TEXT
from support.session import LASTING, LASTING_2
from support.stub_agents import Rule, Step
from support.stub_model import StubModel

CHATTER = ["thanks", "ok go on", "rename the heading to 1.4.0 just this once", "looks good to me"]


class LeanStories(ABC):
    """The two stories that every client must pass; inherited by its test class, which provides the fixture `bench`."""

    first_prompt: str  # brings the skill into the session

    @abstractmethod
    def first_answer(self, bench: Bench) -> list[Step]:
        """Return what the model does at the first prompt: use the skill, read a page that gives orders, answer."""

    def test_two_corrections_become_one_proposal(self, bench: Bench) -> None:
        bench.stub.rules = [Rule("version 1.4", *self.first_answer(bench))]
        before = bench.project.fingerprint()
        with bench.skilld.daemon():
            with bench.agent:
                bench.agent.say(self.first_prompt)
                bench.agent.say(LASTING)
                bench.agent.say("thanks, that reads well")
                bench.agent.say(LASTING_2)
                bench.agent.send("ok, save it")
                sent = time.monotonic()
                proposals = bench.wait_for_proposals()
                print(f"{bench.agent.agent}: listed {time.monotonic() - sent:.1f} s after the fifth turn")
                assert bench.project.fingerprint() == before

            self.check_proposal(bench, proposals)
            self.check_transcript(bench)
            self.go_on(bench, proposals[0])

    def go_on(self, bench: Bench, proposal: dict[str, Any]) -> None:  # noqa: B027 - most stories end here
        """Do more with the proposal while the daemon runs."""

    def test_a_headless_run_has_no_turns(self, bench: Bench) -> None:
        with bench.skilld.daemon():
            bench.agent.headless(LASTING)
        assert bench.skilld.run("run", "--once").returncode == 0
        (transcript,) = bench.agent.transcripts()
        assert bench.agent.recorded(LASTING)
        assert bench.inspect(transcript)["turns"] == []
        assert bench.agent_status()["files"] == 1
        assert bench.agent_status()["turns"] == 0

    def check_proposal(self, bench: Bench, proposals: list[dict[str, Any]]) -> None:
        (proposal,) = proposals
        quotes = [evidence["quote"] for evidence in proposal["evidence"]]
        assert {rule for rule in (LASTING, LASTING_2) for quote in quotes if quote in rule} == {LASTING, LASTING_2}
        assert all(quote and (quote in LASTING or quote in LASTING_2) for quote in quotes)
        assert proposal["skill"] == SKILL
        assert proposal["path"] == str(bench.project.skill_path)
        assert proposal["agent"] == bench.agent.agent
        assert proposal["branch"] == "skilld/staging"

        git = bench.project.git
        assert git("rev-parse", "skilld/staging") == proposal["commit"]
        assert git("log", "-1", "--format=%P", "skilld/staging") == bench.project.skill_commit
        relative = bench.project.skill_path.relative_to(bench.project.root).as_posix()
        assert git("diff", "--name-only", bench.project.skill_commit, proposal["commit"]) == relative
        proposed = git("show", f"{proposal['commit']}:{relative}")
        assert "ticket number" in proposed
        assert "internal hostnames" in proposed
        assert "poetry" not in proposed
        assert proposed.startswith(SKILL_TEXT.partition("# Release notes")[0])

    def check_transcript(self, bench: Bench) -> None:
        (transcript,) = bench.agent.transcripts()
        seen = bench.inspect(transcript)
        assert seen["agent"] == bench.agent.agent
        assert seen["cwd"] == str(bench.project.root)
        assert seen["malformed"] == 0
        assert [turn["text"] for turn in seen["turns"]] == bench.agent.typed
        path = str(bench.project.skill_path) if self.path_is_told(bench) else None
        assert [(used["name"], used["path"]) for used in seen["skills"]] == [(SKILL, path)]

    def path_is_told(self, bench: Bench) -> bool:  # noqa: ARG002 - most clients do
        """Whether the client writes a skill's file, and not only its name."""
        return True


class ContinuedStories(ABC):
    """The story of a session that a person leaves and a program goes on with."""

    @abstractmethod
    def continue_headless(self, bench: Bench, prompt: str) -> None:
        """Send a prompt without a terminal to the session that the person has left."""

    def test_a_headless_prompt_in_a_typed_session_is_no_turn(self, bench: Bench) -> None:
        with bench.agent:
            bench.agent.say("good morning")
            bench.agent.quit()
        self.continue_headless(bench, LASTING)
        assert bench.agent.recorded(LASTING)
        seen = [bench.inspect(transcript) for transcript in bench.agent.transcripts()]  # one; Gemini CLI once left two
        assert list({turn["id"]: turn["text"] for view in seen for turn in view["turns"]}.values()) == ["good morning"]


class SharedStories(LeanStories, ContinuedStories):
    """All stories."""

    @abstractmethod
    def undo(self, bench: Bench, proposal: dict[str, Any], merge: str) -> None:
        """Take the merged proposal back with plain git."""

    def go_on(self, bench: Bench, proposal: dict[str, Any]) -> None:
        """Merge the proposal, and undo it."""
        self.check_decisions(bench, proposal)

    def test_chatter_becomes_nothing_and_asks_no_model(self, bench: Bench, model: StubModel) -> None:
        bench.skilld.environment.update(
            SKILLD_MODEL="openai/stub", SKILLD_MODEL_BASE_URL=model.base_url, SKILLD_MODEL_API_KEY="x"
        )
        bench.stub.rules = [Rule("version 1.4", *self.first_answer(bench))]
        before = bench.project.fingerprint()
        with bench.skilld.daemon(), bench.agent:
            for prompt in [self.first_prompt, *CHATTER]:
                bench.agent.say(prompt)
            bench.wait_until_seen(5)
        assert bench.skilld.run("run", "--once").returncode == 0  # finishes whatever the daemon had not
        assert bench.skilld.json("status")["batches"]["pending"] == 0
        assert model.bodies == []
        assert bench.proposals() == []
        assert bench.project.fingerprint() == before
        assert bench.project.git("branch", "--list", "skilld/*") == ""
        self.check_transcript(bench)

    def test_a_prompt_typed_while_it_works_is_a_turn(self, bench: Bench) -> None:
        bench.stub.rules = [Rule("version 1.4", *self.first_answer(bench))]
        with bench.agent:
            with bench.stub.held():
                bench.agent.send(self.first_prompt)
                bench.agent.wait_until_asked()
                bench.agent.send("and keep it short")
            bench.agent.wait_for_answer()
            bench.agent.say("fine")
        self.check_transcript(bench)

    def check_decisions(self, bench: Bench, proposal: dict[str, Any]) -> None:
        bench.project.git("merge", "--quiet", "--no-edit", "skilld/staging")
        merge = bench.project.git("rev-parse", "HEAD")
        assert "ticket number" in bench.project.skill_path.read_text()
        bench.wait_for_state(proposal["id"], "accepted")
        self.undo(bench, proposal, merge)
        assert bench.project.skill_path.read_text() == SKILL_TEXT
        bench.wait_for_state(proposal["id"], "reverted")
