"""One person with several machines: homes, clones of one project and a private bare repository that they sync through.

Proposals are staged by real git. Decisions and syncs run in this process, on each machine's own store, or as verbs.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from skilld.edit.insertion_point import insert_bullet
from skilld.exchange.outgoing import LeakCheck
from skilld.machines import sync
from skilld.machines.places import Places
from skilld.machines.sync import SyncResult
from skilld.proposals.amend import stage_and_store
from skilld.proposals.decide import Decision, decide
from skilld.proposals.poll import observe_job, proposals_to_check, record_observation
from skilld.proposals.reconcile import observe
from skilld.store import Store
from skilld.team.membership import Membership
from skilld.team.sync import open_hub
from skilld.types import Evidence, Kind, Proposal, State, TargetKind, Update
from support.new_store import new_store
from support.program import Program
from support.proposals import make_proposal
from support.repos import Person
from support.teams import FILE, Team


@dataclass
class Machine:
    """One machine; `now` counts the minutes of its own clock."""

    name: str
    home: Path
    clone: Person
    program: Program
    remote: Path
    membership: Membership
    now: int = 0
    store: Store = field(init=False)

    def __post_init__(self) -> None:
        self.database.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.store = new_store(self.database)

    @property
    def database(self) -> Path:
        return self.home / ".local/state/skilld/skilld.db"

    def tick(self) -> str:
        """Advance the clock by a minute and return the time."""
        self.now += 1
        return f"2026-03-{2 + self.now // 1440:02}T{self.now // 60 % 24:02}:{self.now % 60:02}:00Z"

    def say(self, rule: str, **changes: Any) -> Proposal:
        """Stage a proposal of a rule for the project's instructions, as if the person had said it here."""
        at = self.tick()
        path = self.clone.root / FILE
        number = f"{self.name}-{self.now}"
        quote = f"from now on: {rule}"
        facts: dict[str, Any] = {
            "id": f"{self.name[0].encode().hex()}{self.now:06x}",
            "batch_id": number,
            "path": str(path),
            "skill": FILE,
            "target": TargetKind.INSTRUCTIONS,
            "operations": (insert_bullet(path.read_bytes(), "Rules", rule),),
            "summary": rule,
            "kind": Kind.PREFERENCE,
            "session_id": f"session-{number}",
            "updates": (Update(1, "Rules", rule, "", Kind.PREFERENCE, 1, quote),),
            "evidence": (Evidence(f"claude-code:{number}", quote),),
            "created_at": at,
        }
        return stage_and_store(self.store, make_proposal(**facts | changes))

    def find(self, rule: str) -> Proposal:
        """Return the newest proposal of a rule."""
        return [proposal for proposal in self.store.proposals.in_states(list(State)) if proposal.summary == rule][-1]

    def decide(self, rule: str, decision: Decision) -> None:
        decide(self.store, self.find(rule), decision)

    def state(self, rule: str) -> State:
        return self.find(rule).state

    def staged(self) -> str:
        """Return the instructions on the staging branch."""
        return self.clone.git("show", f"skilld/staging:{FILE}") if self.clone.tip("skilld/staging") else ""

    def sync(self) -> SyncResult:
        hub = open_hub(self.membership, self.home / ".local/state/skilld/machines", home=self.home, env=os.environ)
        done = sync.sync(hub, self.store, self.places(), LeakCheck(lambda _: [], _no_sessions()))
        self.membership = done.membership
        return done

    def observe(self) -> None:
        """Record what plain git shows of the proposals here, as the daemon does."""
        now = time.time()
        record_observation(self.store, observe(observe_job(self.store, proposals_to_check(self.store, now), now)), now)

    def places(self) -> Places:
        return Places(self.store, self.home)

    def known(self) -> list[str]:
        """Return all records as this machine knows them."""
        return [record.record for record in self.store.machine_records.all()]


def _no_sessions() -> Any:
    from skilld.exchange.outgoing import SessionWords

    return SessionWords()


class SyncGroup:
    """A person's private repository, and machines that join it."""

    def __init__(self, folder: Path) -> None:
        self.team = Team(folder)
        self.remote = folder / "own.git"
        self.team.hub.git("init", "--quiet", "--bare", str(self.remote))

    def machine(self, name: str) -> Machine:
        colleague = self.team.colleague(name)
        for key, value in (("user.name", "Ada"), ("user.email", "ada@example.org")):
            colleague.clone.git("config", key, value)
        membership = Membership("", "", str(self.remote), name)
        return Machine(name, colleague.home, colleague.clone, colleague.program, self.remote, membership)

    def refs(self) -> list[str]:
        return self.team.hub.git(f"--git-dir={self.remote}", "for-each-ref", "--format=%(refname)").splitlines()
