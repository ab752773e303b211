"""Uninstalling: everything skilld created is listed and removed; nothing of the person's changes."""

from __future__ import annotations

from pathlib import Path

import pytest

from skilld.daemon.lock import Lock
from support.lessons import HOSTS, RULE_LINES, TICKETS, Lessons
from support.live_project import SKILL_TEXT, Project
from support.program import Program
from support.service_managers import SYSTEMCTL, FakeManager

NOTES = b"# Mine\r\n\r\nKeep this."
OURS = ("--format=%(refname)", "refs/skilld", "refs/heads/skilld")


class Installation:
    """skilld in use: a proposal in a project, settings, and beside them what is the person's own."""

    def __init__(self, home: Path, project: Project, program: Program) -> None:
        self.home = home
        self.project = project
        self.program = program
        self.notes = project.root / "CLAUDE.md"
        self.notes.write_bytes(NOTES)
        self.untracked = home / ".claude/skills/letters/SKILL.md"
        self.untracked.parent.mkdir(parents=True)
        self.untracked.write_text(SKILL_TEXT, encoding="utf-8")
        self.before = project.fingerprint()
        self.home_before = self.homely()
        self.settings = home / ".config/skilld/config.toml"
        self.settings.parent.mkdir(parents=True)
        self.settings.write_text('model = "offline"\n', encoding="utf-8")
        self.proposals = Lessons(home, project, program).teach(TICKETS)

    def homely(self) -> set[str]:
        """Return the files of the home but for transcripts and what the test itself keeps there."""
        files = (path.relative_to(self.home).as_posix() for path in self.home.rglob("*") if not path.is_dir())
        return {name for name in files if not name.startswith((".claude/projects", ".runtime"))}

    def refs(self) -> str:
        return self.project.git("for-each-ref", *OURS)

    def skilld(self, *arguments: str) -> str:
        result = self.program.run(*arguments)
        assert result.returncode == 0, result.stdout + result.stderr
        return result.stdout

    def check_refused(self, code: int) -> str:
        """Try to uninstall, see it refused with this exit code and nothing changed, and return what it said."""
        there = self.homely(), self.refs()
        result = self.program.run("uninstall", "--yes")
        assert (result.returncode, (self.homely(), self.refs())) == (code, there)
        return result.stderr

    def uninstall(self, *arguments: str) -> str:
        return self.skilld("uninstall", *arguments)


@pytest.fixture
def installed(home: Path, project: Project, program: Program) -> Installation:
    return Installation(home, project, program)


def test_everything_is_listed_and_removed_except_the_settings_unless_purged(
    installed: Installation, tmp_path: Path
) -> None:
    systemctl = FakeManager(tmp_path / "bin", "systemctl", SYSTEMCTL)
    installed.program.environment["PATH"] = f"{systemctl.folder}:{installed.program.environment['PATH']}"
    installed.skilld("service", "install", "--environment", "leave")
    installed.skilld("sync", "--agent", "claude-code", "--project", str(installed.project.root))
    (proposal,) = installed.proposals
    assert installed.refs().splitlines() == ["refs/heads/skilld/staging", f"refs/skilld/proposals/{proposal['id']}"]
    there = installed.homely()
    output = installed.uninstall("--dry-run")
    for named in (
        proposal["id"],
        "skilld.service",
        str(installed.notes),
        f"{installed.project.root}: refs/heads/skilld/staging",
        "folder    ~/.local/state/skilld: ",
    ):
        assert named in output
    assert installed.refs()
    assert installed.homely() == there

    installed.uninstall("--yes")
    assert installed.refs() == ""
    assert installed.project.fingerprint() == installed.before
    assert installed.notes.read_bytes() == NOTES
    assert installed.homely() == installed.home_before | {".config/skilld/config.toml"}
    left = (installed.project.root / ".git").rglob("*skilld*")
    assert [path for path in left if not path.is_dir() or "refs/skilld" in str(path)] == []
    assert "disable --quiet --now skilld.service" in systemctl.requests()

    assert "config.toml" in installed.uninstall("--purge", "--yes")
    assert installed.homely() == installed.home_before
    assert "Nothing to remove." in installed.uninstall("--purge", "--yes")
    assert [path for path in installed.home.rglob("*skilld*") if "claude" not in str(path)] == []


def test_agents_and_a_running_daemon_prevent_it(installed: Installation) -> None:
    lock = Lock.acquire(installed.home / ".local/state/skilld/daemon.lock")
    assert "skilld is running" in installed.check_refused(4)
    assert installed.program.run("uninstall").returncode == 4, "it asks first"
    output = installed.uninstall("--dry-run")
    assert "This was a dry run: nothing was removed.\nskilld is running: stop it before" in output
    assert "~/.config/skilld/config.toml: your settings (to remove them too: skilld uninstall --purge)\n" in output
    lock.release()
    installed.program.environment["CLAUDECODE"] = "1"
    assert "coding agent" in installed.check_refused(5)
    del installed.program.environment["CLAUDECODE"]
    assert installed.program.run("uninstall").returncode == 5
    assert installed.refs()


def test_a_dropped_proposal_that_could_be_restored_is_named(installed: Installation) -> None:
    (proposal,) = installed.proposals
    installed.project.git("branch", "--quiet", "-D", "skilld/staging")
    installed.skilld("proposals")
    assert installed.program.json("show", proposal["id"])["state"] == "dropped"
    output = installed.uninstall("--dry-run")
    told = "1 dropped proposal will be lost. To keep one: skilld restore ID\n"
    assert output.startswith(f"{told}  {proposal['id']}  release-notes: ")


def test_a_commit_of_the_persons_on_the_staging_branch_is_kept(installed: Installation) -> None:
    git = installed.project.git
    git("checkout", "--quiet", "skilld/staging")
    assert "checked out" in installed.uninstall("--dry-run")
    (installed.project.root / "mine.txt").write_text("mine", encoding="utf-8")
    git("add", "mine.txt")
    git("commit", "--quiet", "--message", "My own")
    tip = git("rev-parse", "HEAD")
    git("checkout", "--quiet", "-")
    output = installed.uninstall("--yes")
    assert "it contains a commit of yours: My own" in output
    assert installed.refs() == "refs/heads/skilld/staging"
    assert git("rev-parse", "skilld/staging") == tip


def test_accepted_changes_and_untracked_skills_stay(installed: Installation) -> None:
    (proposal,) = installed.proposals
    assert installed.program.run("accept", proposal["id"]).returncode == 0
    lessons = Lessons(installed.home, installed.project, installed.program)
    assert len(lessons.teach(HOSTS)) == 1
    text = installed.project.skill_path.read_text()
    assert RULE_LINES[TICKETS] in text
    installed.uninstall("--yes")
    assert installed.project.skill_path.read_text() == text
    assert installed.untracked.read_text(encoding="utf-8") == SKILL_TEXT


def test_broken_parts_do_not_prevent_it_and_links_are_not_followed(installed: Installation, tmp_path: Path) -> None:
    (installed.project.root / ".git/HEAD").write_text("nonsense\n", encoding="utf-8")
    installed.settings.write_text("modle = 1\n", encoding="utf-8")
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "file").write_text("mine", encoding="utf-8")
    (installed.home / ".local/state/skilld/link").symlink_to(precious)
    installed.uninstall("--purge", "--yes")
    assert installed.homely() == installed.home_before
    assert [path.name for path in precious.iterdir()] == ["file"]
