"""A team: people with their own homes, keys and clones, and the bare repository that they share."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skilld.team.records import Record, RecordType, rule_key
from skilld.types import Evidence, Kind, State, TargetKind, Update
from support.git_clock import NO_TIDYING
from support.new_store import new_store
from support.program import Program
from support.proposals import make_proposal
from support.repos import Person

FILE = "CLAUDE.md"
RULE = "Use pnpm, not npm."
TEXT = "# Project\n\n## Rules\n\n- Keep functions short.\n"


def ssh_key(home: Path) -> None:
    """Give a home an SSH key without a passphrase."""
    (home / ".ssh").mkdir(mode=0o700, parents=True, exist_ok=True)
    command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", str(home / ".ssh/id_ed25519")]
    subprocess.run(command, check=True, capture_output=True)


def make_rule(**changes: Any) -> Record:
    """Return an accepted rule from two sessions, with these fields replaced."""
    facts: dict[str, Any] = {
        "what": RecordType.RULE,
        "rule": RULE,
        "place": FILE,
        "kind": "preference",
        "target": "instructions",
        "first": "2026-03-01",
        "day": "2026-03-02",
        "decided": "2026-03-03",
        "sessions": 2,
        "agents": ("claude-code",),
        "said": "accepted",
        "rev": 1,
    } | changes
    return Record(**{"key": rule_key(facts["rule"], facts["place"])} | facts)


@dataclass
class Colleague:
    """A member of the team with a home, a clone and skilld."""

    home: Path
    clone: Person
    program: Program

    @property
    def database(self) -> Path:
        return self.home / ".local/state/skilld/skilld.db"

    def teach(self, rule: str, state: State = State.ACCEPTED, **changes: Any) -> None:
        """Put a proposal into the store as it is after its person said this and decided."""
        self.database.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        store = new_store(self.database)
        number = len(store.proposals.in_states(list(State)))
        quote = changes.pop("quote", f"from now on: {rule}")
        facts: dict[str, Any] = {
            "id": f"{number:08x}",
            "batch_id": f"b{number}",
            "state": state,
            "repo": str(self.clone.root),
            "relpath": FILE,
            "path": str(self.clone.root / FILE),
            "skill": FILE,
            "target": TargetKind.INSTRUCTIONS,
            "summary": rule,
            "kind": Kind.PREFERENCE,
            "session_id": f"session-{self.home.name}-{number}",
            "updates": (Update(1, "Rules", rule, "", Kind.PREFERENCE, 1, quote),),
            "evidence": (Evidence(f"claude-code:{number}", quote),),
            "decided_at": "2026-03-03T09:00:00Z",
        }
        store.proposals.add(make_proposal(**(facts | changes)))
        store.close()

    def team(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run `skilld team ...` in the clone."""
        return self.program.run("team", *arguments, "--repo", str(self.clone.root))

    def run_team(self, *arguments: str) -> str:
        """Run `skilld team ...`, which must succeed, and return what it printed."""
        ran = self.team(*arguments)
        assert ran.returncode == 0, ran.stdout + ran.stderr
        return ran.stdout

    def document(self, verb: str = "status") -> Any:
        """Return the document of a verb."""
        return self.program.json("team", verb, "--repo", str(self.clone.root))

    def rules(self) -> dict[str, str]:
        """Return the standing of each rule, as the status shows it."""
        return {rule["rule"]: rule["standing"] for rule in self.document()["rules"]}

    def set_state(self, rule: str, state: State, at: str) -> None:
        """Decide on what was taught."""
        store = new_store(self.database)
        (one,) = [proposal for proposal in store.proposals.in_states(list(State)) if proposal.summary == rule]
        store.proposals.decide(one, state, at, who="command")
        store.close()


class Team:
    """A bare repository with one commit, and people who join."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        first = Person(folder / "first", _variables(folder))
        first.root.mkdir(parents=True)
        first.git("init", "--quiet", "--initial-branch=main")
        first.commit("Start", {FILE: TEXT, "src/app.py": "print(1)\n"})
        first.git("clone", "--quiet", "--bare", ".", "../hub.git")
        self.hub = Person(folder / "hub.git", _variables(folder))

    def colleague(self, name: str, *, key: bool = True) -> Colleague:
        """Return somebody new."""
        home = self.folder / name / "home"
        home.mkdir(parents=True)
        identity = f"[user]\n\tname = {name.title()} Tester\n\temail = {name}@example.org\n"
        (home / ".gitconfig").write_text(
            f'{identity}[init]\n\tdefaultBranch = main\n[protocol "file"]\n\tallow = always\n{NO_TIDYING}'
        )
        if key:
            ssh_key(home)
        clone = Person(self.folder / name / "work", {"HOME": str(home), "GIT_CONFIG_NOSYSTEM": "1"})
        self.hub.git("clone", "--quiet", str(self.hub.root), str(clone.root))
        return Colleague(home, clone, Program(home))

    def refs(self) -> list[str]:
        """Return the names of skilld's refs on the remote."""
        names = self.hub.git("for-each-ref", "--format=%(refname)").splitlines()
        return [name for name in names if "skilld" in name]

    def edit(self, text: str, message: str = "Edit by hand", name: str = FILE) -> None:
        """Commit a version of the instructions to the remote's main, as somebody else."""
        other = Person(self.folder / "other", _variables(self.folder))
        if not other.root.exists():
            self.hub.git("clone", "--quiet", str(self.hub.root), str(other.root))
        other.git("pull", "--quiet")
        other.commit(message, {name: text})
        other.git("push", "--quiet", "origin", "main")

    def merge(self, branch: str) -> None:
        """Merge a branch into the remote's main, as a host does."""
        other = Person(self.folder / "other", _variables(self.folder))
        if not other.root.exists():
            self.hub.git("clone", "--quiet", str(self.hub.root), str(other.root))
        other.git("fetch", "--quiet", "origin")
        other.git("checkout", "--quiet", "-B", "main", "origin/main")
        other.git("merge", "--quiet", "--no-ff", "-m", "Merge", f"origin/{branch}")
        other.git("push", "--quiet", "origin", "main")


def _variables(folder: Path) -> dict[str, str]:
    who = {f"GIT_{role}_{what}": value for role in ("AUTHOR", "COMMITTER")
           for what, value in {"NAME": "Host", "EMAIL": "host@example.org"}.items()}  # fmt: skip
    return {"HOME": str(folder), "GIT_CONFIG_NOSYSTEM": "1"} | who
