"""A random walk of a person and skilld through one repository, and what must be true after every step.

The person works with plain git only; skilld decides by command and observes. The person's lines are counted, not
compared with what skilld thinks about them.
"""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

from skilld.errors import SkilldError
from skilld.git.staging_branch import STAGING_BRANCH
from skilld.proposals.amend import accept_edited, decide_parts, restore
from skilld.proposals.decide import accepting
from skilld.proposals.explain import read_versions
from skilld.types import Op, Operation, State
from support.proposal_life import ProposalLife
from support.repos import SKILL, Person

EXTRA = "skills/extra/SKILL.md"
_NEW_SKILL = "---\nname: extra\ndescription: Use for anything extra.\n---\n\n# Extra\n\n- Never email customers, p6.\n"
_OFFERS = {
    "p1": (Operation(Op.INSERT_AFTER, "- Run the tests.", "- Say p1: dry run before anything."),),
    "p2": (Operation(Op.INSERT_AFTER, "- Run the tests.", "- Lint with ruff, p2."),),
    "p3": (Operation(Op.REPLACE, "- Tag the commit.", "- Sign an annotated tag (p3)."),),
    "p4": (
        Operation(Op.INSERT_AFTER, "- Push the tag.", "- Announce it in the channel, p4."),
        Operation(Op.INSERT_AFTER, "Keep the changelog short.", "\n## More\n\n- Backups nightly: p4."),
    ),
    "p5": (Operation(Op.INSERT_AFTER, "Keep the changelog short.", "\n## Other\n\n- Prefer British spelling in p5."),),
}
_SAYS = re.compile(r"\bp[1-6]\b")
_MINE = re.compile(r"- Own \d+\.")


@dataclass
class Walk:
    """One walk; `log` has what was done, for the message of a failure."""

    life: ProposalLife
    random: Random
    log: list[str] = field(default_factory=list)
    done: Counter[str] = field(default_factory=Counter)
    typed: int = 0

    def start(self) -> None:
        """Propose everything."""
        for name, operations in _OFFERS.items():
            self.life.propose(name, *operations)
        path = self.person.root / EXTRA
        self.life.propose("p6", Operation(Op.CREATE, "", _NEW_SKILL), path=path)

    @property
    def person(self) -> Person:
        return self.life.person

    def names(self) -> list[str]:
        return [one.id for one in self.life.store.proposals.in_states([*State])]

    # What skilld does

    def step_of_skilld(self) -> None:
        """Decide on one proposal, or observe; the person's lines, stashes and other files must be as before."""
        steps: list[Callable[[str], object]] = [
            self.life.accept,
            self.life.accept,
            self.accept_worktree,
            self.accept_edited,
            self.accept_part,
            self.life.reject,
            self.life.revert,
            self.life.undo,
            self.restore,
            self.life.observe,
            self.life.observe,
        ]
        step, name = self.random.choice(steps), self.random.choice(self.names())
        before, own = self.kept(), self.own_lines()
        self.log.append(f"skilld: {step.__name__} {name}, which is {self.life.get(name).state.value}")
        try:
            step(name)
            self.done[step.__name__] += 1
        except SkilldError as error:
            self.log[-1] += f": {error}"
            self.done["refused"] += 1
            assert self.kept() == before, "a refusal changes nothing"
        assert self.own_lines() == own, f"own lines: {own}, now {self.own_lines()}"
        assert self.kept()[1:] == before[1:], "stashes and other files are the person's"
        self.check_not_doubled(before[0])

    def accept_worktree(self, name: str) -> None:
        self.life.accept(name, worktree=True)

    def accept_part(self, name: str) -> None:
        number = self.random.randrange(2)
        if self.life.get(name).state is State.OPEN and len(self.life.get(name).operations) > 1:
            decide_parts(self.life.store, self.life.get(name), {number}, accepting())

    def accept_edited(self, name: str) -> None:
        proposal = self.life.get(name)
        found = read_versions(proposal) if proposal.state is State.OPEN and proposal.commit else None
        if found is not None:
            shown = found[1].decode()
            added = {line for line in shown.splitlines() if _SAYS.search(line)} - {*found[0].decode().splitlines()}
            text = shown
            for line in added:
                text = text.replace(line, f"{line} Always.")
            accept_edited(self.life.store, proposal, text, shown)

    def restore(self, name: str) -> None:
        restore(self.life.store, self.life.get(name))

    # What the person does

    def step_of_person(self) -> None:
        """Do something with git; what conflicts is aborted."""
        steps: list[Callable[[], None]] = [
            self.type_line,
            self.type_line,
            self.commit,
            self.commit,
            self.amend,
            self.stash,
            self.pop,
            self.pop,
            self.drop_stash,
            self.checkout,
            self.switch,
            self.switch,
            self.merge,
            self.rebase,
            self.pick,
            self.revert_last,
            self.reset,
            self.visit_staging,
            self.delete_staging,
        ]
        step = self.random.choice(steps)
        self.log.append(f"person: {step.__name__}")
        step()
        self.done[step.__name__] += 1

    def git(self, *args: str) -> str:
        return self.person.git(*args, check=False)

    def type_line(self) -> None:
        """Type a line of their own below any item of the skill."""
        self.typed += 1
        path = self.person.root / (EXTRA if (self.person.root / EXTRA).exists() and self.typed % 4 == 0 else SKILL)
        if path.exists():
            lines = path.read_text().splitlines()
            items = [at for at, line in enumerate(lines, 1) if line.startswith("- ")]
            lines.insert(self.random.choice(items), f"- Own {self.typed}.")
            path.write_text("\n".join(lines) + "\n")

    def commit(self) -> None:
        self.git("add", "--all")
        self.git("commit", "--quiet", "-m", f"Work {self.typed}")

    def amend(self) -> None:
        if self.git("rev-list", "--count", "HEAD") != "1":
            self.git("commit", "--quiet", "--all", "--amend", "--no-edit")

    def stash(self) -> None:
        self.git("stash", *(["--include-untracked"] if self.random.random() < 0.5 else []))

    def pop(self) -> None:
        self.git("stash", "pop")
        if self.git("ls-files", "--unmerged"):
            self.git("checkout", "--quiet", "--force", "HEAD")
            self.git("reset", "--quiet", "--hard")

    def drop_stash(self) -> None:
        self.git("stash", "drop")

    def checkout(self) -> None:
        self.git("checkout", "--quiet", "HEAD", "--", "skills")

    def switch(self) -> None:
        other = "feature" if self.branch() == "main" else "main"
        if not self.person.tip(f"refs/heads/{other}"):
            self.git("branch", other)
        self.git("switch", "--quiet", other)

    def branch(self) -> str:
        return self.git("branch", "--show-current")

    def merge(self) -> None:
        other = "feature" if self.branch() == "main" else "main"
        self.git("merge", "--quiet", "--no-edit", other)
        self.git("merge", "--abort")

    def rebase(self) -> None:
        if self.branch() == "feature":
            self.git("rebase", "--quiet", *(["--autostash"] if self.random.random() < 0.5 else []), "main")
            self.git("rebase", "--abort")
            if self.git("ls-files", "--unmerged"):
                self.git("reset", "--quiet", "--hard")

    def pick(self) -> None:
        """Pick a proposal from the staging branch, or the last commit of the other branch."""
        staged = self.git("rev-list", "-20", STAGING_BRANCH, "^HEAD").split()
        other = [self.person.tip("refs/heads/feature" if self.branch() == "main" else "refs/heads/main")]
        commit = self.random.choice(staged + [one for one in other if one] or ["HEAD"])
        self.git("cherry-pick", commit)
        self.git("cherry-pick", "--abort")

    def revert_last(self) -> None:
        if self.git("rev-list", "--count", "HEAD") != "1":
            self.git("revert", "--no-edit", "HEAD")
            self.git("revert", "--abort")

    def reset(self) -> None:
        if int(self.git("rev-list", "--count", "--first-parent", "HEAD")) > 2:
            self.git("reset", "--quiet", self.random.choice(["--hard", "--mixed"]), "HEAD~1")

    def visit_staging(self) -> None:
        """Look at the staging branch while skilld observes."""
        before = self.branch()
        self.git("switch", "--quiet", STAGING_BRANCH)
        if self.branch() == STAGING_BRANCH:
            self.life.observe(self.names()[0])
            self.git("switch", "--quiet", before)

    def delete_staging(self) -> None:
        self.git("branch", "-D", STAGING_BRANCH)

    # What must be true

    def texts(self, ref: str = "") -> str:
        """Return both skills in a commit, or in the work tree."""
        if ref:
            return "\n".join(self.git("show", f"{ref}:{path}") for path in (SKILL, EXTRA))
        paths = [self.person.root / path for path in (SKILL, EXTRA)]
        return "\n".join(path.read_text() for path in paths if path.exists())

    def own_lines(self) -> tuple[Counter[str], Counter[str]]:
        """Return the lines that the person typed, in the work tree and in HEAD."""
        return Counter(_MINE.findall(self.texts())), Counter(_MINE.findall(self.texts("HEAD")))

    def kept(self) -> tuple[str, str, str, str]:
        """Return what a refusal leaves alone (the files) and what every step of skilld leaves alone."""
        others = self.git("status", "--porcelain", "--", ".", ":!skills")
        heads = self.git("for-each-ref", "--format=%(refname) %(objectname)", "refs/heads/*", "refs/stash")
        mine = [row for row in heads.splitlines() if not row.startswith(f"refs/heads/{self.branch()} ")]
        return self.texts(), others, self.git("stash", "list"), "\n".join(mine)

    def check_not_doubled(self, before: str) -> None:
        was, now = Counter(before.splitlines()), Counter(self.texts().splitlines())
        for line, count in now.items():
            if line.startswith(("- ", "## ")):
                assert count <= max(1, was[line]), f"doubled: {line}"

    def check_states(self) -> None:
        """Compare each state with what the repository holds."""
        self.life.observe_all()
        for name in self.names():
            self._check_state(name)
        assert self.git("fsck", "--strict", "--no-dangling", "--no-progress") == ""

    def _check_state(self, name: str) -> None:
        proposal = self.life.get(name)
        lines = [line for one in proposal.operations for line in one.text.splitlines() if _SAYS.search(line)]
        where = f"{name} is {proposal.state.value} ({proposal.note}): {lines}"

        def says(text: str) -> bool:
            return any(line in text.splitlines() for line in lines)

        here = says(self.texts("HEAD")) or says(self.texts("refs/heads/main"))
        if proposal.state is State.ACCEPTED and "; now only " in proposal.note:
            every = [*self.git("rev-list", "--walk-reflogs", "refs/stash").split(), "refs/heads/feature"]
            untracked = [f"{one}^3" for one in every[:-1]]
            assert any(says(self.texts(ref)) for ref in (*every, *untracked)), where
        elif proposal.state is State.ACCEPTED:
            assert here or says(self.texts()) or {"edited by you", "changed since"} & {proposal.note}, where
        elif proposal.state is State.REVERTED:
            assert not (says(self.texts("HEAD")) and says(self.texts("refs/heads/main"))), where
        else:
            assert not here, where

    def finish(self) -> None:
        """Finish what is half done, then take the next step of each state; all of them must work."""
        self.commit()
        self.git("switch", "--quiet", "main")
        self.check_states()
        for name in self.names():
            state = self.life.get(name).state
            if state in {State.SUPERSEDED, State.SAID}:
                continue
            take = self.life.revert if state is State.ACCEPTED else self.life.accept
            before, own, refused = self.kept(), self.own_lines(), ""
            self.log.append(f"finally: {take.__name__} {name}, which is {state.value} ({self.life.get(name).note})")
            try:
                take(name)
                self.done[f"finally {take.__name__}"] += 1
            except SkilldError as error:
                refused = f"{error} / {error.remedy}"
                self.log[-1] += f": {refused}"
                self.done["finally refused"] += 1
            assert not refused.endswith("/ "), "a refusal names the next step"
            assert self.own_lines() == own, f"own lines: {own}, now {self.own_lines()}"
            self.check_not_doubled(before[0])
            expected = State.REVERTED if take == self.life.revert else State.ACCEPTED
            assert self.life.get(name).state in {expected, state}, name
        self.check_states()


def walk(life: ProposalLife, seed: int, steps: int) -> Walk:
    """Take a walk; AssertionError with what was done if something is not true."""
    one = Walk(life, Random(seed))
    try:
        one.start()
        for _ in range(steps):
            if one.random.random() < 0.55:
                one.step_of_person()
            else:
                one.step_of_skilld()
        one.check_states()
        one.finish()
    except (AssertionError, subprocess.SubprocessError) as error:
        raise AssertionError("\n".join([f"seed {seed}", *one.log, str(error)])) from error
    return one
