"""What a person takes back: an open proposal gets a mark, an accepted line is proposed for removal."""

from __future__ import annotations

from pathlib import Path

import pytest

from e2e.test_contradictions import propose_rule
from e2e.test_targets import GUIDE, Talk, make_project
from skilld.cli.run import _describe_news
from skilld.types import Kind, Proposal
from support.in_process_daemon import InProcessDaemon
from support.live_project import Project
from support.program import Program
from support.session import CHATTER, Session

RULE = "From now on always run prettier before every commit."
LINE = "Always run prettier before every commit."


def flags(proposals: list[Proposal]) -> list[str]:
    return [flag for one in proposals for flag in one.flags]


@pytest.mark.parametrize(
    "said",
    [
        "you can drop prettier again",
        "leave prettier out from now on",
        "you don't have to run prettier before every commit any more",
        "du musst prettier nicht mehr vor jedem Commit laufen lassen",
        "das mit prettier vor jedem Commit vergiss bitte wieder",
    ],
)
def test_later_words_mark_the_open_proposal_and_propose_nothing_else(
    home: Path, tmp_path: Path, daemon: InProcessDaemon, said: str
) -> None:
    project = make_project(home, tmp_path, **{"CLAUDE.md": GUIDE})
    (one,) = propose_rule(home, project, daemon, RULE)
    marked = propose_rule(home, project, daemon, said)
    assert [proposal.id for proposal in marked] == [one.id]
    assert flags(marked) == [f"you may have taken this back since: “{said}”"]


@pytest.mark.parametrize(
    "said", ["forget the prettier thing", "you don't have to run prettier before commits any more"]
)
def test_an_accepted_line_is_proposed_for_removal(
    home: Path, tmp_path: Path, daemon: InProcessDaemon, said: str
) -> None:
    project = make_project(home, tmp_path, **{"CLAUDE.md": GUIDE})
    (one,) = propose_rule(home, project, daemon, RULE)
    skilld = Program(home)
    assert f"skilld accept {one.id} --to ~/.claude/CLAUDE.md" in skilld.run("show", one.id).stdout
    assert skilld.run("accept", one.id).returncode == 0
    assert LINE in (project.root / "CLAUDE.md").read_text()
    (gone,) = propose_rule(home, project, daemon, said)
    assert (gone.kind, gone.summary) == (Kind.REMOVE_STEP, f"Remove the rule: {LINE}")
    assert _describe_news(one)[0] == "Proposed for CLAUDE.md"
    assert _describe_news(gone)[0] == "Removal proposed for CLAUDE.md"
    assert " --to " not in skilld.run("show", gone.id).stdout, "the person's own file has no such line"
    assert skilld.run("accept", gone.id).returncode == 0
    assert (project.root / "CLAUDE.md").read_text() == GUIDE
    shown = skilld.run("show", one.id).stdout
    assert f"note: you accepted {gone.id}, which removed it; to undo that: skilld revert {gone.id}\n" in shown
    assert " 1 accepted, 0 rejected, 0 reverted, 1 replaced by newer ones;" in " ".join(
        skilld.run("status").stdout.split()
    )
    assert "plain git" not in shown + skilld.run("review", "--plain", typed="q\n").stdout
    assert skilld.run("revert", gone.id).returncode == 0
    assert LINE in (project.root / "CLAUDE.md").read_text()


@pytest.mark.parametrize(
    ("said", "marks"),
    [
        ("forget the prettier rule", []),
        ("das mit prettier vor jedem Commit vergiss bitte wieder", []),
        (
            "keep the prettier rule after all",
            ["you may have taken this back since: “keep the prettier rule after all”"],
        ),
    ],
)
def test_words_that_take_the_rule_back_again_confirm_its_removal(
    home: Path, tmp_path: Path, daemon: InProcessDaemon, said: str, marks: list[str]
) -> None:
    project = make_project(home, tmp_path, **{"CLAUDE.md": f"{GUIDE}* {LINE}\n"})
    (gone,) = propose_rule(home, project, daemon, "you don't have to run prettier before every commit any more")
    assert gone.kind is Kind.REMOVE_STEP
    again = propose_rule(home, project, daemon, said)
    assert [(one.id, one.flags) for one in again] == [(gone.id, (*gone.flags, *marks))]
    assert len(again[0].evidence) == (1 if marks else 2)


def test_a_line_that_should_stay_is_not_proposed_for_removal(
    home: Path, tmp_path: Path, daemon: InProcessDaemon
) -> None:
    project = make_project(home, tmp_path, **{"CLAUDE.md": f"{GUIDE}* {LINE}\n"})
    assert propose_rule(home, project, daemon, "keep the prettier rule after all") == []


def test_a_line_that_plain_git_took_out_is_not_laid_to_a_proposal(
    home: Path, tmp_path: Path, daemon: InProcessDaemon
) -> None:
    project = make_project(home, tmp_path, **{"CLAUDE.md": GUIDE})
    (one,) = propose_rule(home, project, daemon, RULE)
    skilld = Program(home)
    assert skilld.run("accept", one.id).returncode == 0
    project.commit("Tidy up", {"CLAUDE.md": GUIDE})
    shown = skilld.run("show", one.id).stdout
    assert "note: reverted with plain git, by you or an agent (claude-code had an active session here" in shown


@pytest.mark.parametrize("where", [".", "..", "src"])
def test_a_personal_proposal_is_marked_only_where_its_rule_was_said(
    home: Path, tmp_path: Path, daemon: InProcessDaemon, where: str
) -> None:
    (home / ".claude").mkdir(exist_ok=True)
    (home / ".claude/CLAUDE.md").write_text("# Me\n\n- Be brief.\n")
    shop = make_project(home, tmp_path, **{"CLAUDE.md": GUIDE})
    (one,) = propose_rule(home, shop, daemon, "in all my projects: always run prettier before every commit")
    assert one.path == str(home / ".claude/CLAUDE.md")
    other = make_project(home, tmp_path / "elsewhere", **{"CLAUDE.md": GUIDE})
    assert flags(propose_rule(home, other, daemon, "Vergiss das mit prettier.")) == []
    (shop.root / "src").mkdir()
    Talk(home, (shop.root / where).resolve()).type("Vergiss das mit prettier.", *CHATTER[:4])
    assert flags(daemon.run()) == ["you may have taken this back since: “Vergiss das mit prettier.”"]


@pytest.mark.parametrize("said", ["forget what I said about prettier", "you can drop prettier before commits again"])
def test_a_line_of_the_projects_file_is_taken_back_while_a_skill_is_in_use(
    home: Path, tmp_path: Path, daemon: InProcessDaemon, said: str
) -> None:
    project = Project(tmp_path / "project", home, ".claude/skills")
    project.commit("Write down how we work", {"CLAUDE.md": f"{GUIDE}* Run prettier before every commit.\n"})
    talk = Session(home, project)
    talk.use_skill()
    talk.type(said, *CHATTER[:4])
    (gone,) = daemon.run()
    assert (gone.kind, Path(gone.path).name, gone.summary) == (
        Kind.REMOVE_STEP,
        "CLAUDE.md",
        "Remove the rule: Run prettier before every commit.",
    )


def test_the_flag_of_one_wish_is_shown_at_its_part_and_the_others_can_be_accepted(
    home: Path, tmp_path: Path, daemon: InProcessDaemon
) -> None:
    project = make_project(home, tmp_path, **{"CLAUDE.md": f"{GUIDE}\n## Tests\n\n- Mock the network.\n"})
    talk = Talk(home, project.root)
    talk.type(
        "From now on, always write commits in English.", "forget what I said about mocking the network", *CHATTER[:3]
    )
    (one,) = daemon.run()
    shown = Program(home).run("show", one.id).stdout
    head, _, below = shown.partition("  part 1  + Always write commits in English.\n")
    assert "! It removes an instruction" not in head
    assert "  part 2  - Mock the network.\n          ! It removes an instruction: - Mock the network." in below
    assert f"skilld accept {one.id} --part 1\n" in below
    assert f"skilld reject {one.id} --part 2\n" in below
