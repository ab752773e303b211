"""Contradicting lines an agent loads: named, changed along, or changed by a linked proposal."""

from __future__ import annotations

from pathlib import Path

import pytest

from e2e.test_targets import GUIDE, Talk, make_project
from skilld.classify.verify import VerifiedUpdate
from skilld.jobs.placing import JobPlaces
from skilld.pipeline.documents import load_documents
from skilld.proposals.remarks import current_conflicts, list_contradictions
from skilld.review.draw import proposal_detail
from skilld.targets.find import WorkingSession, find_targets
from skilld.targets.scopes import find_scopes
from skilld.types import Kind, Proposal, State, TargetKind, Update
from support.in_process_daemon import InProcessDaemon
from support.live_project import Project
from support.program import Program
from support.review_pilot import review_session
from support.session import CHATTER, LASTING, Session

USE = "From now on, always use pnpm, never npm."
CHANGE = "Always use pnpm, never npm."


def propose_rule(home: Path, project: Project, daemon: InProcessDaemon, *texts: str) -> list[Proposal]:
    """Say something in a session without a skill in use, and return what is open then."""
    Talk(home, project.root).type(*texts, *CHATTER[: 5 - len(texts)])
    return daemon.run()


def message(project: Project, proposal: Proposal) -> str:
    return project.git("show", "--no-patch", "--format=%B", proposal.commit)


def test_contradicting_files_in_one_repository_change_in_one_proposal(
    home: Path, tmp_path: Path, daemon: InProcessDaemon
) -> None:
    """Issue 16, 7: accepted, both agree; reverted, both are what they were."""
    nested = "# Api\n\n* Use npm.\n* Run `npm test` first.\n"
    project = make_project(home, tmp_path, **{"CLAUDE.md": GUIDE, "docs/build.md": nested})
    (project.root / "CLAUDE.md").write_text(f"{GUIDE}\nSee @docs/build.md\n")
    project.git("commit", "--quiet", "--all", "--message", "Import the guide")
    before = project.fingerprint()
    (proposal,) = propose_rule(home, project, daemon, USE)
    assert project.fingerprint() == before
    assert (proposal.relpath, [side.relpath for side in proposal.also]) == ("CLAUDE.md", ["docs/build.md"])
    assert [(Path(item.path).name, item.line, item.text) for item in proposal.conflicts] == [
        ("build.md", 3, "* Use npm."),
        ("build.md", 4, "* Run `npm test` first."),
    ]
    assert sorted(project.git("diff", "--name-only", f"{proposal.commit}^", proposal.commit).split()) == [
        "CLAUDE.md",
        "docs/build.md",
    ]
    assert 'docs/build.md:3 "* Use npm."' in " ".join(message(project, proposal).split())
    skilld = Program(home)
    output = skilld.run("show", proposal.id).stdout
    assert "build.md:3 contradicts this proposal and is changed along with it" in output
    assert "--- a/docs/build.md" in output
    asked = skilld.run_dialog(["review"], "q")
    assert "  in docs/build.md:\n          # Api\n\n  remove: * Use npm.\n" in asked
    assert f"  add:    * {CHANGE}\n" in asked.partition("in docs/build.md")[2]
    drawn = proposal_detail(proposal, review_session(home).view(proposal), home).plain
    assert f"+ * {CHANGE}\n" in drawn.partition("in docs/build.md:\n")[2]
    assert skilld.run("accept", proposal.id).returncode == 0
    assert "npm" not in (project.root / "docs/build.md").read_text().replace("pnpm", "").replace("never npm", "")
    assert f"* {CHANGE}" in (project.root / "CLAUDE.md").read_text()
    assert skilld.run("revert", proposal.id).returncode == 0
    assert (project.root / "docs/build.md").read_text() == nested
    assert CHANGE not in (project.root / "CLAUDE.md").read_text()


def test_the_contradicting_file_alone_may_take_the_rule(home: Path, tmp_path: Path, daemon: InProcessDaemon) -> None:
    """The open proposal has changed that file on the branch already, and gives way to the one that replaces it."""
    files = {"CLAUDE.md": f"{GUIDE}\nSee @docs/build.md\n", "docs/build.md": "# Build\n\n- Use npm.\n"}
    project = make_project(home, tmp_path, **files)
    (proposal,) = propose_rule(home, project, daemon, USE)
    assert [side.relpath for side in proposal.also] == ["docs/build.md"]
    way = f"skilld accept {proposal.id} --to {project.root / 'docs/build.md'}"
    shown = " ".join(Program(home).run("show", proposal.id).stdout.split())
    assert f"both files would then say the same; to change docs/build.md alone: {way}" in shown
    result = Program(home).run("accept", proposal.id, "--to", str(project.root / "docs/build.md"))
    assert result.returncode == 0, result.stderr
    assert (project.root / "docs/build.md").read_text() == f"# Build\n\n- {CHANGE}\n"
    assert (project.root / "CLAUDE.md").read_text() == files["CLAUDE.md"]


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_both_files_change_whatever_is_decided_first(
    home: Path, tmp_path: Path, daemon: InProcessDaemon, order: tuple[int, int]
) -> None:
    """Two proposals that append to one list: made again on its new base, or accepted by its lines, it has both."""
    project = make_project(
        home, tmp_path, **{"CLAUDE.md": f"{GUIDE}\nSee @docs/build.md\n", "docs/build.md": "- Use npm.\n"}
    )
    both = [propose_rule(home, project, daemon, text)[-1] for text in ("Always write a changelog entry.", USE)]
    skilld = Program(home)
    for number in order:
        result = skilld.run("accept", both[number].id)
        assert result.returncode == 0, result.stderr
    text = (project.root / "CLAUDE.md").read_text()
    assert "changelog" in text
    assert CHANGE in text
    assert "pnpm" in (project.root / "docs/build.md").read_text()
    assert skilld.run("revert", both[1].id).returncode == 0
    assert (project.root / "docs/build.md").read_text() == "- Use npm.\n"


@pytest.mark.parametrize(
    ("name", "kind"), [("CLAUDE.md", "your personal CLAUDE.md"), ("rules/mine.md", "one of your personal rules")]
)
def test_a_personal_line_is_named_by_kind_and_changed_by_a_linked_proposal(
    home: Path, tmp_path: Path, daemon: InProcessDaemon, name: str, kind: str
) -> None:
    project = make_project(home, tmp_path, **{"CLAUDE.md": GUIDE})
    personal = home / ".claude" / name
    personal.parent.mkdir(parents=True, exist_ok=True)
    personal.write_text("# Me\n\n- Always use npm.\n")
    proposals = propose_rule(home, project, daemon, USE)
    one = next(item for item in proposals if item.relpath == "CLAUDE.md" and item.repo == str(project.root))
    assert [(item.path, item.text) for item in one.conflicts] == [(str(personal), "- Always use npm.")]
    said = message(project, one)
    assert f"Contradicts it: {kind}" in said
    assert "Always use npm" not in said
    assert str(home) not in said
    others = [item for item in proposals if item is not one]
    assert [other.path for other in others] == [str(personal)] * (name == "CLAUDE.md")
    assert one.linked == tuple(other.id for other in others)
    skilld = Program(home)
    assert "Always use npm" in skilld.run("show", one.id).stdout, "on this machine it is shown"
    assert "contradicts this proposal" in skilld.run("doctor").stdout
    output = skilld.run("accept", one.id).stdout
    for other in others:
        assert other.linked == (one.id,)
        assert f"{other.id}, which is linked to it" in output
        assert skilld.run("accept", other.id).returncode == 0
        assert personal.read_text() == f"# Me\n\n- {CHANGE}\n"


@pytest.mark.parametrize(
    ("files", "kind"),
    [
        ({"CLAUDE.local.md": "- Always use npm.\n", ".gitignore": "CLAUDE.local.md\n"}, "your own instruction file"),
        ({"docs/new.md": "- Always use npm.\n"}, "an uncommitted instruction file"),
    ],
)
def test_an_uncommitted_line_is_not_quoted(
    home: Path, tmp_path: Path, daemon: InProcessDaemon, files: dict[str, str], kind: str
) -> None:
    project = make_project(home, tmp_path, **{"CLAUDE.md": f"{GUIDE}\nSee @docs/new.md\n"})
    for name, text in files.items():
        (project.root / name).parent.mkdir(parents=True, exist_ok=True)
        (project.root / name).write_text(text)
    proposals = propose_rule(home, project, daemon, USE)
    one = next(item for item in proposals if item.relpath == "CLAUDE.md")
    assert kind in " ".join(message(project, one).split())
    assert "Always use npm" not in message(project, one)


def test_a_project_rule_changes_no_file_outside_the_project(
    home: Path, tmp_path: Path, daemon: InProcessDaemon
) -> None:
    project = make_project(home, tmp_path, **{"CLAUDE.md": GUIDE})
    (home / ".claude").mkdir(exist_ok=True)
    (home / ".claude/CLAUDE.md").write_text("- Always use npm.\n")
    (proposal,) = propose_rule(home, project, daemon, "From now on, always use pnpm, never npm, in this repository.")
    assert [item.text for item in proposal.conflicts] == ["- Always use npm."]
    assert proposal.linked == ()
    assert len(list_contradictions(daemon.store, proposal)) == 1
    (home / ".claude/CLAUDE.md").write_text("- Be brief.\n")
    assert (current_conflicts(proposal), list_contradictions(daemon.store, proposal)) == ([], []), (
        "what was taken back since"
    )


def test_a_secret_beside_it_is_not_stored(home: Path, tmp_path: Path, daemon: InProcessDaemon) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    files = {"CLAUDE.md": f"{GUIDE}\nSee @docs/x.md\n", "docs/x.md": f"- Use npm with token {secret}.\n"}
    project = make_project(home, tmp_path, **files)
    (proposal,) = propose_rule(home, project, daemon, USE)
    assert len(proposal.conflicts) == 1
    assert secret not in repr(proposal)
    assert proposal.also == ()
    assert secret not in message(project, proposal)
    assert "docs/x.md" in message(project, proposal)


def test_a_plugins_line_is_named_and_left_alone(home: Path, tmp_path: Path, daemon: InProcessDaemon) -> None:
    project = make_project(home, tmp_path, **{"CLAUDE.md": GUIDE})
    skill = home / ".claude/plugins/cache/market/tools/1.0/skills/setup/SKILL.md"
    skill.parent.mkdir(parents=True)
    text = "---\nname: setup\ndescription: Sets up a machine.\n---\n\n# Setup\n\n- Always use npm.\n"
    skill.write_text(text)
    talk = Talk(home, project.root)
    talk.use_skill("tools:setup", skill.parent)
    talk.type(USE, *CHATTER[:4])
    for proposal in daemon.run():
        assert proposal.path == str(project.root / "CLAUDE.md")
        assert proposal.also == ()
    assert skill.read_text() == text


def test_a_rule_for_some_paths_does_not_contradict_a_general_line(
    home: Path, tmp_path: Path, daemon: InProcessDaemon
) -> None:
    project = make_project(home, tmp_path, **{"CLAUDE.md": f"{GUIDE}* Use npm.\n", "web/a.ts": "1\n"})
    (proposal,) = propose_rule(home, project, daemon, "From now on, in the web folder, always use pnpm, never npm.")
    assert proposal.conflicts == ()
    assert proposal.relpath == ".claude/rules/web.md"


@pytest.mark.parametrize(
    ("line", "said", "name"),
    [
        ("Use tabs for indentation in SQL files.", "From now on, use four spaces in SQL files, no tabs.", "sql.md"),
        ("Indent YAML files with tabs.", "From now on, always use spaces in YAML files, never tabs.", "yaml.md"),
        ("Use tabs in YAML.", "From now on, use two spaces in YAML files.", "yaml.md"),
        ("Use single quotes in *.ts files.", "From now on, use double quotes in TypeScript files.", "typescript.md"),
        ("Use npm in `web/`.", "From now on, in the web folder, always use pnpm, never npm.", "web.md"),
    ],
)
def test_a_new_rule_file_names_the_line_for_the_same_files(  # noqa: PLR0917
    home: Path, tmp_path: Path, daemon: InProcessDaemon, line: str, said: str, name: str
) -> None:
    """The rule is in one place; no other line is touched."""
    other = "* Use tabs for indentation in C files.\n* Use tabs.\n"
    project = make_project(home, tmp_path, **{"CLAUDE.md": f"{GUIDE}{other}* {line}\n", "web/a.ts": "1\n"})
    (proposal,) = propose_rule(home, project, daemon, said)
    assert proposal.relpath == f".claude/rules/{name}"
    assert [item.text for item in proposal.conflicts] == [f"* {line}"]
    assert Program(home).run("accept", proposal.id).returncode == 0
    text = (project.root / "CLAUDE.md").read_text()
    assert proposal.summary.rstrip(".") not in text
    assert text in {f"{GUIDE}{other}* {line}\n", f"{GUIDE}{other}"}


TYPED = "Use four spaces in SQL files. Write commit messages in the imperative."


def test_words_for_all_files_create_no_rule_for_some(home: Path, tmp_path: Path) -> None:
    """A model may put what was said in passing into the rule file that other words of the turn need."""
    project = make_project(home, tmp_path, **{"CLAUDE.md": GUIDE})
    session = WorkingSession("claude-code", project.root, home, {})
    found = find_targets(session, tuple(TargetKind), find_scopes("Use four spaces in SQL files."))
    files, _ = load_documents(found.refs)
    places = JobPlaces(files, found, str(home))
    rule = next(one.doc.number for one in files if one.ref.patterns)

    def target(change: str) -> str:
        update = Update(rule, "", change, "", Kind.PREFERENCE, 1, change, 0.9)
        number = places.redirect(VerifiedUpdate(update), TYPED).update.skill
        return next(one.ref.name for one in files if one.doc.number == number)

    assert target("Use four spaces in SQL files.") == ".claude/rules/sql.md"
    assert target("Write commit messages in the imperative.") == "CLAUDE.md"
    place = project.root / ".claude/rules/sql.md"
    place.parent.mkdir(parents=True)
    place.write_text('---\npaths: ["**/*.sql"]\n---\n\n- Use tabs.\n')
    found = find_targets(session, tuple(TargetKind), find_scopes("Use four spaces in SQL files."))
    files, _ = load_documents(found.refs)
    places = JobPlaces(files, found, str(home))
    rule = next(one.doc.number for one in files if one.ref.patterns)
    assert target("Write commit messages in the imperative.") == ".claude/rules/sql.md", "it is not created for them"


@pytest.mark.parametrize(
    ("targets", "personal", "state"),
    [
        ([TargetKind.SKILL], "- Be brief.\n", State.OPEN),
        (list(TargetKind), "- Be brief.\n", State.ACCEPTED),
        (list(TargetKind), "- Always write in German.\n", State.OPEN),
    ],
)
def test_auto_mode_applies_nothing_contradicted(  # noqa: PLR0917
    home: Path, tmp_path: Path, daemon: InProcessDaemon, targets: list[TargetKind], personal: str, state: State
) -> None:
    """Issue 16, 2 and 7: nor any kind of file but skills unless the settings name it."""
    project = make_project(home, tmp_path, **{"CLAUDE.md": GUIDE})
    settings = daemon.engine.settings
    if not targets[1:]:
        assert list(settings.auto.targets) == targets, "as it is without a word in the settings"
    auto = settings.auto.model_copy(update={"targets": targets, "confidence": 0.5})
    daemon.engine.use_settings(settings.model_copy(update={"apply": "auto", "auto": auto}))
    (home / ".claude").mkdir(exist_ok=True)
    (home / ".claude/CLAUDE.md").write_text(personal)
    propose_rule(home, project, daemon, "From now on, always write in English, in this repository.")
    (proposal,) = daemon.store.proposals.in_states([State.OPEN, State.ACCEPTED])
    assert (proposal.state, bool(proposal.conflicts)) == (state, "German" in personal)


def test_contradictions_within_the_file_are_named_and_exceptions_are_not(
    home: Path, tmp_path: Path, daemon: InProcessDaemon
) -> None:
    """The edit takes the place of one line; another one may be meant to stay."""
    lines = "* Use npm.\n* Run `npm test` before a commit, and read its output.\n* In `legacy/`, use npm.\n"
    project = make_project(home, tmp_path, **{"CLAUDE.md": f"{GUIDE}{lines}", "legacy/a": ""})
    (proposal,) = propose_rule(home, project, daemon, USE)
    assert [(item.line, item.text) for item in proposal.conflicts] == [
        (10, "* Run `npm test` before a commit, and read its output.")
    ]
    assert Program(home).run("accept", proposal.id).returncode == 0
    assert "* In `legacy/`, use npm." in (project.root / "CLAUDE.md").read_text()


def test_a_learning_given_a_place_is_checked_too(home: Path, tmp_path: Path, daemon: InProcessDaemon) -> None:
    project = make_project(home, tmp_path)
    (home / ".claude").mkdir(exist_ok=True)
    (home / ".claude/CLAUDE.md").write_text("- Always use npm.\n")
    assert propose_rule(home, project, daemon, USE) == []
    (learning,) = daemon.store.learnings.all()
    skilld = Program(home)
    assert skilld.run("learnings", "propose", learning.id).returncode == 0
    one = next(row for row in skilld.json("proposals") if row["repo"] == str(project.root))
    assert [item["text"] for item in one["conflicts"]] == ["- Always use npm."]
    assert len(one["linked"]) == 1


def test_only_the_file_is_written_if_no_commit_is_wanted(home: Path, tmp_path: Path, daemon: InProcessDaemon) -> None:
    project = make_project(
        home, tmp_path, **{"CLAUDE.md": f"{GUIDE}\nSee @docs/build.md\n", "docs/build.md": "- Use npm.\n"}
    )
    (proposal,) = propose_rule(home, project, daemon, USE)
    commits = project.git("rev-list", "--count", "HEAD")
    assert Program(home).run("accept", "--worktree", proposal.id).returncode == 0
    assert "pnpm" in (project.root / "docs/build.md").read_text()
    assert CHANGE in (project.root / "CLAUDE.md").read_text()
    assert project.git("rev-list", "--count", "HEAD") == commits


def test_words_taken_back_later_mark_the_open_proposal(home: Path, project: Project, program: Program) -> None:
    """Not one that something else may mean; saying it again removes the mark."""
    heard = [program.run("run", "--once").stdout]

    def say(*texts: str, used: bool = True) -> list[str]:
        session = Session(home, project)
        if used:
            session.use_skill()
        session.type(*texts, *CHATTER[: 5 - len(texts)])
        heard.append(program.run("run", "--once").stdout)
        return [flag for one in program.json("proposals") for flag in one["flags"]]

    assert say(LASTING) == []
    assert say("Don't forget the ticket number!", "forget it", "drop the ticket table") == []
    (flag,) = say("Forget what I said about the ticket number.", used=False)
    assert "You may have taken this back for release-notes (" in heard[-1]
    assert flag == "you may have taken this back since: \u201cForget what I said about the ticket number.\u201d"
    (one,) = program.json("proposals")
    assert f"  ! {flag}\n" in program.run("show", one["id"]).stdout
    assert flag in program.run("review", "--plain", one["id"], typed="q\n").stdout
    assert say("Forget what I said about the ticket number.") == [flag]
    assert say(LASTING) == []
