"""One client, one project, one skilld and one stand-in for the model, ready to be played with."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from support.live_agent import LiveAgent
from support.live_project import Project
from support.program import Program
from support.stub_agents import StubAgents
from support.waiting import wait_for, wait_in_time

PROPOSAL_LIMIT = 5.0  # seconds from the turn that fills a batch to the proposal, where the machine does nothing else


@dataclass(frozen=True, slots=True)
class Bench:
    """What a live test plays with."""

    agent: LiveAgent
    project: Project
    skilld: Program
    stub: StubAgents

    def proposals(self, state: str = "all") -> list[dict[str, Any]]:
        """Return what `skilld proposals` lists in this state."""
        listed: list[dict[str, Any]] = self.skilld.json("proposals", "--state", state)
        return listed

    def wait_for_proposals(self, limit: float = PROPOSAL_LIMIT) -> list[dict[str, Any]]:
        """Wait until at least one proposal is open, and return the open ones."""
        return wait_in_time("an open proposal", lambda: self.proposals("open"), limit, every=0.2, context=self.account)

    def wait_for_state(self, proposal: str, state: str) -> None:
        """Wait until skilld lists this proposal in `state`."""
        wait_for(
            f"proposal {proposal} to be {state}",
            lambda: proposal in {listed["id"] for listed in self.proposals(state)},
            every=0.5,
            context=self.account,
        )

    def wait_until_seen(self, turns: int) -> None:
        """Wait until skilld has counted this many turns of the agent."""
        wait_for(
            f"skilld to count {turns} turns of {self.agent.agent}",
            lambda: self.agent_status()["turns"] >= turns,
            every=0.2,
            context=self.account,
        )

    def agent_status(self) -> dict[str, Any]:
        """Return what `skilld status` says of this agent."""
        told: dict[str, Any] = self.skilld.json("status")["agents"][self.agent.agent]
        return told

    def inspect(self, transcript: Path) -> dict[str, Any]:
        """Return what skilld sees in one transcript."""
        seen: dict[str, Any] = self.skilld.json("inspect", str(transcript))
        return seen

    def account(self) -> str:
        """Describe what skilld thinks, for the message of a failed wait."""
        status = self.skilld.json("status")
        told = {name: status.get(name) for name in ("running", "agents", "batches", "proposals", "last_error")}
        kinds = {path.name: _kinds(path) for path in self.agent.transcripts()}
        return f"status: {json.dumps(told)}\ndaemon: {self.skilld.output()}\ntranscripts: {json.dumps(kinds)}"


def _kinds(transcript: Path) -> dict[str, int]:
    if transcript.suffix != ".jsonl":
        return {"bytes": transcript.stat().st_size}
    records = (json.loads(line) for line in transcript.read_bytes().splitlines())
    return Counter(str(record.get("type")) for record in records)
