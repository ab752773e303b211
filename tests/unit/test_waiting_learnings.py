"""Learnings: they are judged again once their file exists, what becomes of them, and where they are mentioned."""

from __future__ import annotations

import hashlib
import os
import subprocess
import time
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from skilld.cli.run import _print_news
from skilld.clock import rfc3339
from skilld.daemon import job_builder
from skilld.daemon.notices import Notices
from skilld.ingest.discover import Host
from skilld.jobs.report import build_learning
from skilld.notify.desktop import Desktop
from skilld.notify.notice import WAITING, Notice, about_waiting
from skilld.proposals.amend import restore
from skilld.protocol import BatchResult, Obstacle
from skilld.settings import Notify
from skilld.store.learnings import NO_FILE_REASON, Learning
from skilld.types import Cause, Evidence, Kind, Outcome, State, Update
from support.in_process_daemon import InProcessDaemon
from support.live_project import Project, project_without_skill
from support.program import Program
from support.proposals import make_proposal
from support.review_pilot import Screen, review, review_session
from support.session import Session

GUIDE = "# Guide\n\n- Be brief.\n"
SAID = (
    "From now on, always use pnpm in this repository.",
    "Always write the commit subject in English.",
    "Never push to main without asking me.",
    "From now on, always add a changelog entry.",
    "Always run the linter before a commit.",
)


@pytest.fixture
def root(home: Path, tmp_path: Path) -> Path:
    project = Project(tmp_path / "plain", home, ".elsewhere")
    (project.root / "CLAUDE.md").write_text(GUIDE)
    project.git("add", "--all")
    project.git("commit", "--quiet", "--message", "Write down how we work")
    return project.root


def learning(root: Path, number: int, text: str, **more: object) -> Learning:
    made = Learning(
        id=hashlib.sha256(f"claude-code:t{number}\n{text}".encode()).hexdigest()[:10],
        turn_key=f"claude-code:t{number}",
        quote=text,
        change=text,
        kind="preference",
        agent="claude-code",
        session_id=f"s{number}",
        project=str(root),
        skill=None,
        why_kept="no skill was in use",
        confidence=0.85,
        created_at="2026-01-01T00:00:00Z",
    )
    return replace(made, **more)  # type: ignore[arg-type]


def placed(root: Path) -> dict[str, str]:
    """Return what is kept of a learning for the instruction file of `root`, which did not exist."""
    return {
        "place_kind": "instructions",
        "place": str(root / "CLAUDE.md"),
        "why_kept": f"{NO_FILE_REASON} CLAUDE.md yet",
    }


def test_learnings_return_by_themselves_once_their_file_exists(daemon: InProcessDaemon, root: Path) -> None:
    """Issue 16, 3: judged by rules alone, quoted, into the file that the agent loads, and gone from what waits."""
    for number, text in enumerate(SAID):
        daemon.store.learnings.add(learning(root, number, text, **placed(root)))
    found = daemon.run()
    assert len(found) == len(SAID)
    assert {one.path for one in found} == {str(root / "CLAUDE.md")}
    assert all(one.evidence[0].quote in SAID and one.model == "offline" for one in found)
    assert daemon.store.learnings.all() == []
    assert daemon.run() == found


def test_each_learning_of_a_turn_is_judged_again_by_itself(daemon: InProcessDaemon, root: Path) -> None:
    both = [learning(root, 1, text, **placed(root)) for text in SAID[:2]]
    for one in both:
        daemon.store.learnings.add(one)
    assert {one.summary for one in daemon.run()} == {"Always use pnpm in this repository.", SAID[1]}
    assert daemon.store.learnings.all() == []


def test_a_learning_stays_if_another_one_of_its_turn_is_proposed(daemon: InProcessDaemon, root: Path) -> None:
    unheard = "Can you rename the file?"  # what rules do not hear any more
    daemon.store.learnings.add(learning(root, 1, SAID[0], **placed(root)))
    daemon.store.learnings.add(learning(root, 1, unheard, **placed(root)))
    assert [one.summary for one in daemon.run()] == ["Always use pnpm in this repository."]
    assert [one.quote for one in daemon.store.learnings.all()] == [unheard]
    (ask,) = Program(Path(os.environ["HOME"])).json("learnings")
    assert ask["why_not"] == "you have said it in only one session, when there was no CLAUDE.md"


def test_a_learning_stays_if_it_is_not_heard_once_an_obstacle_is_gone(daemon: InProcessDaemon, root: Path) -> None:
    mine = learning(root, 1, SAID[0], **placed(root))
    daemon.store.learnings.add(mine)
    job_builder.judge_again(daemon.store, Host(root, {}), time.time())
    batch = daemon.store.batches.get(f"waiting-{mine.id}-placed")
    assert batch is not None
    said = Evidence(mine.turn_key, mine.quote)
    update = Update(None, "", mine.change, "", Kind.PREFERENCE, 1, mine.quote, 0.85)
    kept = build_learning(said, update, "a merge is in progress", None, for_now=True)
    blank = BatchResult(outcome=Outcome.REFUSED, detail="", model="offline")
    merging = Obstacle(Cause.REPOSITORY, str(root / "CLAUDE.md"))
    daemon.engine.finish(batch, replace(blank, learnings=(kept,), cause=merging), time.time())
    again = daemon.store.batches.get(batch.id)
    assert again is not None
    daemon.engine.finish(again, replace(blank, outcome=Outcome.NOTHING), time.time())
    assert [(one.id, one.why_kept) for one in daemon.store.learnings.all()] == [(mine.id, "a merge is in progress")]


def test_what_counted_as_said_is_proposed_if_the_person_restores_it(daemon: InProcessDaemon, root: Path) -> None:
    (root / "CLAUDE.md").write_text(f"{GUIDE}- Always use pnpm in this repository.\n")
    daemon.store.learnings.add(learning(root, 1, SAID[0], **placed(root)))
    subprocess.run(["git", "commit", "--all", "--quiet", "--message", "Use pnpm"], cwd=root, check=True)
    assert daemon.run() == []
    (said,) = daemon.store.proposals.in_states([State.SAID])
    restore(daemon.store, said)
    made = daemon.store.proposals.get(said.id)
    assert made is not None
    assert (made.state, made.note, made.operations[0].text) == (State.OPEN, "", "- Always use pnpm in this repository.")
    assert made.commit
    log = subprocess.run(["git", "show", made.branch], cwd=root, capture_output=True, text=True, check=True)
    assert SAID[0] in log.stdout


def test_one_request_from_several_sessions_is_one_proposal_with_all_quotes(daemon: InProcessDaemon, root: Path) -> None:
    for number, session in enumerate(("s1", "s1", "s2")):
        daemon.store.learnings.add(learning(root, number, SAID[0], session_id=session, **placed(root)))
    (proposal,) = daemon.run()
    turns = {evidence.turn for evidence in proposal.evidence}
    assert "claude-code:t2" in turns
    assert turns & {"claude-code:t0", "claude-code:t1"}
    assert daemon.store.learnings.all() == []


@pytest.mark.parametrize(
    "more",
    [
        {"why_kept": "you have rejected similar edits to this skill"},
        {"quote": "Can you rename the file?", "change": "Rename the file."},  # what rules do not hear any more
    ],
)
def test_learnings_kept_for_other_reasons_stay(daemon: InProcessDaemon, root: Path, more: dict[str, object]) -> None:
    daemon.store.learnings.add(learning(root, 1, SAID[0], **placed(root) | more))
    assert daemon.run() == []
    assert len(daemon.store.learnings.all()) == 1


def test_an_already_written_learning_is_a_note_and_one_without_a_file_knows_its_place(
    daemon: InProcessDaemon, root: Path, tmp_path: Path, home: Path
) -> None:
    (root / "CLAUDE.md").write_text(f"{GUIDE}- Always use pnpm in this repository.\n")
    bare = Project(tmp_path / "bare", home, ".elsewhere").root
    daemon.store.learnings.add(learning(root, 1, SAID[0], **placed(root)))
    daemon.store.learnings.add(learning(bare, 2, SAID[1], **placed(bare)))
    assert daemon.run() == []
    assert [proposal.note for proposal in daemon.store.proposals.in_states([State.SAID])] == [
        "CLAUDE.md:4 already says this: Always use pnpm in this repository."
    ]
    (waits,) = daemon.store.learnings.all()
    assert waits.turn_key == "claude-code:t2"
    assert daemon.engine.new_waiting_count() == 1
    assert daemon.engine.new_waiting_count() == 0, "told once"
    (bare / "CLAUDE.md").write_text(GUIDE)
    (one,) = daemon.run()
    assert (one.path, daemon.store.learnings.all()) == (str(bare / "CLAUDE.md"), []), "the file is there now"


def test_a_second_one_waits_for_the_proposal_that_creates_its_file(
    daemon: InProcessDaemon, home: Path, tmp_path: Path
) -> None:
    bare = Project(tmp_path / "bare", home, ".elsewhere").root
    for number in (1, 2):
        daemon.store.learnings.add(learning(bare, number, SAID[number]))
    skilld = Program(home)
    first, second = (one["id"] for one in skilld.json("learnings"))
    assert skilld.run("learnings", "propose", first).returncode == 0
    (proposal,) = skilld.json("proposals")
    errors = skilld.run("learnings", "propose", second).stderr
    assert errors == (
        f"skilld: Not proposed: the open proposal {proposal['id']} creates CLAUDE.md\n"
        f"  Decide on it first: skilld show {proposal['id']}\n"
    )


def test_what_an_open_proposal_asks_for_is_not_proposed_again(daemon: InProcessDaemon, root: Path, home: Path) -> None:
    skilld = Program(home)
    daemon.store.learnings.add(learning(root, 1, SAID[0]))
    (first,) = (one["id"] for one in skilld.json("learnings"))
    assert skilld.run("learnings", "propose", first).returncode == 0
    (made,) = skilld.json("proposals")
    for number, text in ((2, SAID[0]), (3, SAID[1])):
        daemon.store.learnings.add(learning(root, number, text))
    waiting = {one["text"]: one for one in skilld.json("learnings")}
    assert waiting[SAID[0]]["why_not"] == f"the open proposal {made['id']} for CLAUDE.md already says this"
    result = skilld.run("learnings", "propose", waiting[SAID[0]]["id"])
    assert result.returncode == 1
    assert result.stderr == (
        f"skilld: Not proposed: the open proposal {made['id']} for CLAUDE.md already says this\n"
        f"  Decide on it: skilld show {made['id']}\n"
    )
    assert skilld.run("learnings", "propose", waiting[SAID[1]]["id"]).returncode == 0
    assert len(skilld.json("proposals")) == 2


def test_auto_mode_does_not_apply_them(daemon: InProcessDaemon, root: Path, home: Path) -> None:
    """Nor do other kinds of files than skills, unless the settings name them."""
    auto = daemon.engine.settings.model_copy(update={"apply": "auto"})
    assert [kind.value for kind in auto.auto.targets] == ["skill"]
    every = auto.model_copy(update={"auto": auto.auto.model_copy(update={"targets": list(auto.targets)})})
    daemon.engine.use_settings(every)
    daemon.store.learnings.add(learning(root, 1, SAID[0], **placed(root)))
    (proposal,) = daemon.run()
    assert proposal.state is State.OPEN
    assert "pnpm" not in (root / "CLAUDE.md").read_text()
    assert os.environ["HOME"] == str(home)


def test_each_is_one_row_and_the_review_assigns_its_place(daemon: InProcessDaemon, root: Path, home: Path) -> None:
    """Issue 16, 3: by questions and answers; the keys of the screen are in test_review."""
    for number in range(3):
        daemon.store.learnings.add(learning(root, number, SAID[0]))
    daemon.store.learnings.add(learning(root, 9, SAID[2], created_at="2026-01-02T00:00:00Z"))
    skilld = Program(home)
    assert [row["sessions"] for row in skilld.json("learnings")] == [1, 3]
    output = skilld.run("review", "--plain", typed="f\ny\np\n").stdout
    assert output.count("learning: ") == 2
    assert "Forgotten." in output
    (proposal,) = skilld.json("proposals")
    assert (proposal["relpath"], len(proposal["evidence"])) == ("CLAUDE.md", 3)
    assert skilld.json("learnings") == []


def test_a_part_is_accepted_into_the_persons_own_file_instead(
    daemon: InProcessDaemon, home: Path, tmp_path: Path
) -> None:
    project = project_without_skill(tmp_path / "plain", home, {"CLAUDE.md": GUIDE})
    Session(home, project).type(SAID[0], "From now on, explain what you do first.", SAID[4], "thanks", "ok go on")
    (whole,) = daemon.run()
    skilld, own, mine = Program(home), "~/.claude/CLAUDE.md", home / ".claude/CLAUDE.md"
    assert f"skilld accept {whole.id} --to {own}" in skilld.run("show", whole.id).stdout
    result = skilld.run("accept", whole.id, "--to", "/etc/hosts")
    assert result.returncode == 1
    assert result.stderr.startswith(f"skilld: {whole.id} was not accepted: /etc/hosts is outside")
    assert "\n  Name a file in that folder" in result.stderr
    result = skilld.run("accept", whole.id, "--to", str(project.root / "none.md"))
    assert result.stderr.startswith(f"skilld: {whole.id} was not accepted: there is no file ")
    accepted = skilld.run("accept", whole.id, "--part", "2", "--to", str(mine))
    assert accepted.returncode == 0
    assert accepted.stdout.startswith(f"Part of {whole.id} was moved to ~/.claude/CLAUDE.md, as ")
    assert mine.read_text() == "# Preferences\n\n- Explain what you do first.\n"
    states = {
        proposal["id"]: (proposal["state"], proposal["note"]) for proposal in skilld.json("proposals", "--state", "all")
    }
    (rest,) = daemon.store.proposals.in_states([State.OPEN])
    (moved,) = daemon.store.proposals.in_states([State.ACCEPTED])
    assert states[whole.id] == ("superseded", f"moved to {own}, as {moved.id}")
    assert [update.change for update in rest.updates] == ["Always use pnpm in this repository.", SAID[4]]
    went = f"moved to {own}, as {moved.id}, which is accepted; the rest of it is still open as {rest.id}"
    for verb, command in (("accept", "To undo it: skilld revert"), ("restore", "To undo")):
        errors = skilld.run(verb, whole.id).stderr
        assert f"it is superseded; {went}\n  {command}" in errors
    output = skilld.run("show", whole.id).stdout
    assert f"note: {moved.id} is accepted; to undo it: skilld revert {moved.id}\n" in output
    said = skilld.run("review", "--plain", whole.id, typed="t\n\nu\ns\nq\n").stdout
    assert f"into which file (Enter for {own})?" in said
    assert said.count("  add:    - Always use pnpm in this repository.\n") == 2, "what was undone is asked about again"
    assert "pnpm" not in mine.read_text(), "it was undone"
    assert (project.root / "CLAUDE.md").read_text() == GUIDE


def test_accepting_into_another_file_keeps_the_open_proposal_for_it(
    daemon: InProcessDaemon, home: Path, tmp_path: Path
) -> None:
    """Both are of one batch and for one file, by which a proposal that was made already is found again."""
    mine = home / ".claude/CLAUDE.md"
    mine.parent.mkdir(exist_ok=True)
    mine.write_text("# Preferences\n\n- Be brief.\n")
    project = project_without_skill(tmp_path / "plain", home, {"CLAUDE.md": GUIDE})
    Session(home, project).type(SAID[0], "I always prefer tabs over spaces.", "thanks", "ok go on", "yes please")
    one, other = sorted(daemon.run(), key=lambda each: each.path == str(mine))
    assert (one.path, other.path) == (str(project.root / "CLAUDE.md"), str(mine))
    result = Program(home).run("accept", one.id, "--to", str(mine))
    assert result.returncode == 0, result.stderr
    assert "- Always use pnpm in this repository.\n" in mine.read_text()
    assert "tabs" not in mine.read_text()
    assert [proposal.id for proposal in daemon.store.proposals.in_states([State.OPEN])] == [other.id]


@pytest.mark.parametrize(
    ("quote", "change"),
    [
        ("check who else deploys first: kubectl get pods must show them all Running", "`kubectl get pods`"),
        ("fix the tags before you push: git fetch --tags --force gets them all", "`git fetch --tags --force`"),
    ],
)
def test_a_quote_that_looks_like_a_work_order_without_the_rest_of_its_turn(
    daemon: InProcessDaemon, root: Path, home: Path, quote: str, change: str
) -> None:
    """ "Wait, check ...: CMD" was typed; "check ...: CMD" alone is not taken for the announcement of a paste."""
    before, command, after = quote.partition(change.strip("`"))
    change = f"{before[0].upper()}{before[1:]}`{command}`{after}."
    daemon.store.learnings.add(learning(root, 1, change, quote=quote))
    (waiting,) = daemon.store.learnings.said()
    result = Program(home).run("learnings", "propose", waiting.id)
    assert result.returncode == 0, result.stderr
    (proposal,) = daemon.store.proposals.in_states([State.OPEN])
    assert proposal.operations[0].text == f"- {change}"


def test_what_an_accepted_skill_says_is_not_proposed_again_unless_a_file_is_named(
    daemon: InProcessDaemon, root: Path, home: Path
) -> None:
    """It is recommended as said about that skill, and not among what nobody wrote down."""
    said = "write the numbers into docs/queries.md"
    daemon.store.learnings.add(learning(root, 1, said, created_at=rfc3339(time.time())))
    skilld, (one,) = Program(home), daemon.store.learnings.said()
    assert [row["text"] for row in skilld.json("suggest", "--project", str(root))["minded"]] == [said]
    skill = root / ".claude/skills/bisect/SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text("---\nname: bisect\ndescription: Bisect a slow query.\n---\n\n1. Write the numbers down.\n")
    made = make_proposal(
        state=State.ACCEPTED, skill="bisect", path=str(skill), evidence=(Evidence(one.turn_key, said),)
    )
    daemon.store.proposals.add(made)
    failed = skilld.run("learnings", "propose", one.id)
    assert failed.stderr == (
        f"skilld: Not proposed: bisect says this since you accepted {made.id}\n"
        f"  To say it elsewhere, too: skilld learnings propose {one.id} --to PATH\n"
    )
    (fit,) = skilld.json("recommend", said, "--project", str(root))
    assert fit["skill"] == "bisect"
    assert skilld.json("suggest", "--project", str(root))["minded"] == []
    assert skilld.run("learnings", "propose", one.id, "--to", str(root / "CLAUDE.md")).returncode == 0


def test_a_tab_lists_learnings_and_its_keys_propose_and_forget(daemon: InProcessDaemon, root: Path, home: Path) -> None:
    """On a screen of 60 by 20, too."""
    for number, text in enumerate((SAID[0], SAID[0], SAID[2])):
        daemon.store.learnings.add(learning(root, number, text, created_at=f"2026-01-01T00:00:0{number}Z"))

    async def story(screen: Screen) -> None:
        await screen.shows("1 Proposals", "2 Skills", "3 Sessions", "4 Learnings")
        await screen.press("4")
        await screen.shows(SAID[2], SAID[0][:27], "not proposed: no skill was in use", "Propose", "Forget")
        assert screen.text.count(SAID[0][:27]) == 1, "one row for one ask"
        await screen.press("f", "y")
        await screen.until("it to be forgotten", lambda: len(daemon.store.learnings.all()) == 2)
        await screen.until("the list to be short", lambda: SAID[2] not in screen.text)
        await screen.press("p")
        await screen.until("it to be proposed", lambda: len(screen.open) == 1)
        await screen.shows("There are no learnings.")

    review(review_session(home), story, size=(60, 20))
    (proposal,) = daemon.store.proposals.in_states([State.OPEN])
    assert (proposal.path, len(proposal.evidence)) == (str(root / "CLAUDE.md"), 2)
    assert daemon.store.learnings.all() == []


def test_a_notice_says_once_that_something_is_waiting(daemon: InProcessDaemon, root: Path) -> None:
    """Also where no proposal does; beside proposals it is one line of theirs."""
    daemon.store.learnings.add(learning(root, 1, SAID[0], place_kind="instructions", place=str(root / "AGENTS.md")))
    shown: list[str] = []

    def show(notice: Notice, _: object) -> Future[str | None]:
        shown.append(notice.message)
        return Future()

    desktop = cast("Desktop", SimpleNamespace(show=show))
    Notices(daemon.store, Notify(), desktop, lambda _: None, {}).add_trouble(WAITING, about_waiting(1), time.time())
    assert shown == ["Kept but not proposed: 1 learning. To see why, run: skilld learnings"]


def test_waiting_learnings_are_mentioned_where_the_daemon_runs(capsys: pytest.CaptureFixture[str]) -> None:
    _print_news([], 2)
    assert capsys.readouterr().out == "Kept but not proposed: 2 learnings. To see why, run: skilld learnings\n"
