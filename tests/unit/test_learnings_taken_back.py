"""Learnings that wait for a file and are taken back by later words of the person, in another session."""

from __future__ import annotations

import re
import time
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from skilld.clock import rfc3339
from skilld.proposals.passed_over import load_passed_over, load_withdrawals
from skilld.store.learnings import Learning
from skilld.store.meta import PASSED_OVER
from support.in_process_daemon import InProcessDaemon
from support.live_project import Project
from support.session import CHATTER, Session

RULE = "From now on, never use panic in library code, return errors."
OTHER = "From now on, always write the commit subject in English."
FORGET = "Forget what I said about panic."


@pytest.fixture
def bare(home: Path, tmp_path: Path) -> Project:
    return Project(tmp_path / "bare", home, ".elsewhere")


def say(daemon: InProcessDaemon, home: Path, project: Project, *texts: str) -> list[str]:
    """Say something in a session of its own; return the changes that wait."""
    Session(home, project).type(*texts, *CHATTER[: 5 - len(texts)])
    assert daemon.run() == []
    return sorted(one.change for one in daemon.store.learnings.all())


def flags(daemon: InProcessDaemon, proposal_id: str) -> tuple[str, ...]:
    found = daemon.store.proposals.get(proposal_id)
    assert found is not None
    return found.flags


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        (RULE, FORGET),
        (RULE, "forget about the panic rule"),
        ("From now on, always run go vet before a commit.", "You don't have to run go vet any more."),
        ("From now on, always run go vet before a commit.", "From now on you can skip go vet again."),
        ("Ab jetzt immer prettier vor jedem Commit laufen lassen.", "Vergiss, was ich über prettier gesagt habe."),
    ],
)
def test_words_in_a_later_session_take_back_what_waits(
    daemon: InProcessDaemon, home: Path, bare: Project, rule: str, words: str
) -> None:
    assert len(say(daemon, home, bare, rule, OTHER)) == 2
    assert len(say(daemon, home, bare, words)) == 1, "only the other one waits, and the words are no rule"
    (bare.root / "CLAUDE.md").write_text("# Guide\n\n- Be brief.\n")
    bare.git("add", "--all")
    bare.git("commit", "--quiet", "--message", "Write down how we work")
    (proposal,) = daemon.run()
    assert [update.change for update in proposal.updates] == ["Always write the commit subject in English."]


@pytest.mark.parametrize("words", ["Don't forget: no panic!", "Bob wrote: forget what I said about panic.", "drop it"])
def test_a_reminder_or_another_persons_words_leave_it(
    daemon: InProcessDaemon, home: Path, bare: Project, words: str
) -> None:
    kept = say(daemon, home, bare, RULE)
    assert say(daemon, home, bare, words) == kept != []


def test_another_project_takes_nothing_back(daemon: InProcessDaemon, home: Path, tmp_path: Path, bare: Project) -> None:
    kept = say(daemon, home, bare, RULE)
    assert say(daemon, home, Project(tmp_path / "other", home, ".elsewhere"), FORGET) == kept != []


def test_what_was_said_after_the_words_stays(daemon: InProcessDaemon, home: Path, bare: Project) -> None:
    """A batch may be judged late: a model was away, or it is judged again."""
    later = Learning(
        "later", "elsewhere:t1", "never use panic", "Never use panic.", "preference", "claude-code", "s9",
        str(bare.root), None, "", 0.9, "2999-01-01T00:00:00Z", "instructions", str(bare.root / "CLAUDE.md"),
    )  # fmt: skip
    daemon.store.learnings.add(later)
    assert say(daemon, home, bare, FORGET) == ["Never use panic."]


@pytest.mark.parametrize("words", [FORGET, "scratch what I said about panic", "ignore what I said about panic"])
def test_what_was_kept_for_a_skill_or_passed_over_is_taken_back_too(
    daemon: InProcessDaemon, home: Path, bare: Project, words: str
) -> None:
    kept = Learning(
        "kept", "elsewhere:t1", "never use panic", "Never use panic.", "preference", "claude-code", "s9",
        str(bare.root), "release-notes", "not sure", 0.4, "2026-01-01T00:00:00Z", "skill", "/nowhere/SKILL.md",
    )  # fmt: skip
    daemon.store.learnings.add(kept)
    other = replace(kept, id="other", turn_key="elsewhere:t2", project="/elsewhere")
    daemon.store.learnings.add(other)
    passed = replace(kept, id="passed", turn_key="elsewhere:t3", skill=None, created_at=rfc3339(time.time()))
    emoji = replace(passed, id="emoji", quote="no emojis", change="No emojis.")
    daemon.store.meta.set(PASSED_OVER, [asdict(passed), asdict(emoji)])
    say(daemon, home, bare, words)
    assert [one.id for one in daemon.store.learnings.all()] == ["other"]
    assert [one.id for one in load_passed_over(daemon.store, time.time())] == ["emoji"]


def test_older_words_that_are_read_later_take_no_proposal_back(
    daemon: InProcessDaemon, home: Path, bare: Project
) -> None:
    """Of past sessions, the newest are read first."""
    (bare.root / "CLAUDE.md").write_text("# Guide\n\n- Be brief.\n")
    bare.git("add", "--all")
    bare.git("commit", "--quiet", "--message", "Write down how we work")
    Session(home, bare).type("From now on, always run go vet before a commit.", *CHATTER[:4])
    (proposal,) = daemon.run()
    words = "You don't have to run go vet any more."
    old = Session(home, bare)
    old.type(words, *CHATTER[:4])
    old.path.write_text(re.sub(r'("timestamp": ?")\d{4}', r"\g<1>2020", old.path.read_text()))
    daemon.run()
    assert flags(daemon, proposal.id) == ()
    Session(home, bare).type(words, *CHATTER[:4])
    daemon.run()
    assert [words in flag for flag in flags(daemon, proposal.id)] == [True]


def _say_years_ago(home: Path, project: Project, *texts: str) -> None:
    """Type a session that is older than all others, and read later."""
    old = Session(home, project)
    old.type(*texts, *CHATTER[: 5 - len(texts)])
    old.path.write_text(re.sub(r'("timestamp": ?")\d{4}', r"\g<1>2020", old.path.read_text()))


def test_a_rule_that_is_read_after_the_words_that_take_it_back_is_not_kept(
    daemon: InProcessDaemon, home: Path, tmp_path: Path, bare: Project
) -> None:
    """Of past sessions, the newest are read first."""
    assert say(daemon, home, bare, FORGET) == []
    _say_years_ago(home, bare, RULE, OTHER)
    assert daemon.run() == []
    assert [one.change for one in daemon.store.learnings.all()] == ["Always write the commit subject in English."]
    _say_years_ago(home, Project(tmp_path / "other", home, ".elsewhere"), RULE)
    daemon.run()
    assert len(daemon.store.learnings.all()) == 2, "in another project it stands"


def test_a_rule_said_again_after_it_was_taken_back_is_kept(daemon: InProcessDaemon, home: Path, bare: Project) -> None:
    say(daemon, home, bare, FORGET)
    assert len(say(daemon, home, bare, RULE)) == 1


def test_what_was_taken_back_is_remembered_for_a_month(daemon: InProcessDaemon, home: Path, bare: Project) -> None:
    say(daemon, home, bare, FORGET, "You can drop that popup again.")
    now = time.time()
    assert FORGET.rstrip(".") in [one.quote.rstrip(".") for one in load_withdrawals(daemon.store, now)]
    assert load_withdrawals(daemon.store, now + 31 * 86400) == []
