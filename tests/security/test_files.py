"""What a transcript names is a claim, and whose file it is decides: T-17, T-18, T-20, T-21."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from skilld.agents import claude_code
from skilld.demo import Transcript
from skilld.errors import SkilldError
from skilld.skills import Places, Unusable, find
from support.claude_lines import prompt_line
from support.live_project import SKILL, SKILL_TEXT, Project
from support.program import Program
from support.review_pilot import review_session
from support.session import LASTING, Session

STRANGER = 12345
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to another user")


def teach(home: Path, project: Project, name: str = "") -> Session:
    """Say something lasting in a session that used the project's skill."""
    session = Session(home, project, name)
    session.use_skill()
    session.type("hello", LASTING, "ok", "thanks", "go on")
    return session


@contextmanager
def umask(mask: int) -> Iterator[None]:
    before = os.umask(mask)
    try:
        yield
    finally:
        os.umask(before)


NAMES = (
    "../../../evil",
    "..",
    ".git",
    "-x",
    "a/b",
    "CON",
    "refs/heads/main",
    "$(touch evil)",
    "x\n.bashrc",
    "/etc/evil",
)


def test_t16_a_name_leading_elsewhere_creates_no_file_and_no_ref(
    home: Path, project: Project, program: Program
) -> None:
    before = project.fingerprint()
    program.environment["SKILLD_TARGETS"] = "skill"  # said so often, it would be proposed for CLAUDE.md
    for number, name in enumerate(NAMES):
        session = Session(home, project, f"s{number}")
        session.use_skill(name)
        session.type("hello", LASTING, "ok", "thanks", "go on")
    there = _files(project.root.parent, home)
    assert program.run("run", "--once").returncode == 0
    assert program.json("proposals", "--state", "all") == []
    assert sum(len(ask["said"]) for ask in program.json("learnings")) == len(NAMES)
    assert project.fingerprint() == before
    new = _files(project.root.parent, home) - there
    assert [path for path in new if home / ".local" not in path.parents] == []


def _files(*folders: Path) -> set[Path]:
    return {path for folder in folders for path in folder.rglob("*")}


@pytest.mark.parametrize(
    "cwd", ["/proc/self/cwd", "/proc/self/root", "/proc/1/cwd", "/dev/fd", "/sys", "relative", "{project}/../project"]
)
def test_t17_a_hostile_working_folder_is_no_project(
    project: Project, monkeypatch: pytest.MonkeyPatch, cwd: str
) -> None:
    monkeypatch.chdir(project.root)  # where /proc/self/cwd leads
    places = Places(claude_code.INFO.project_skills, ())
    assert find(SKILL, None, str(project.root), places) != Unusable(SKILL, "its SKILL.md was not found")
    found = find(SKILL, None, cwd.format(project=project.root), places)
    assert found == Unusable(SKILL, "its SKILL.md was not found")


@as_root
def test_t17_another_users_folder_is_no_project(project: Project) -> None:
    places = Places(claude_code.INFO.project_skills, ())
    os.chown(project.root, STRANGER, STRANGER)
    assert find(SKILL, None, str(project.root), places) == Unusable(SKILL, "its SKILL.md was not found")


def test_t17_an_impossible_working_folder_does_not_break_the_skill_list(
    home: Path, project: Project, program: Program
) -> None:
    program.run("run", "--once")
    session = teach(home, project)
    for number, cwd in enumerate(("/work\0/project", "/" + "x" * 5000, "project/..", "", "\n")):
        session.raw(prompt_line(f"k{number}", session=f"s{number}", at="2099-01-01T00:00:00.000Z", cwd=cwd))
    program.run("run", "--once")
    assert SKILL in {skill["name"] for skill in program.json("skills", "list")}
    assert program.run("consolidate").returncode == 0
    assert program.run("mine").returncode == 0


def test_t17_inaccessible_folders_do_not_break_the_skill_list(home: Path, project: Project, program: Program) -> None:
    program.run("run", "--once")
    session = teach(home, project)
    closed = [home / "closed", project.skill_path.parents[1] / "closed-skill"]
    for key in ("k1", "k2"):
        session.raw(prompt_line(key, session="s1", at="2099-01-01T00:00:00.000Z", cwd=str(closed[0] / "project")))
    program.run("run", "--once")
    for folder in closed:
        folder.mkdir(mode=0)
    program.keep_out()
    assert SKILL in {skill["name"] for skill in program.json("skills", "list")}
    assert program.run("mine").returncode == 0


def _pipe(skill: Path, outside: Path) -> None:
    del outside
    skill.unlink()
    os.mkfifo(skill)


def _link(skill: Path, outside: Path) -> None:
    skill.unlink()
    skill.symlink_to(outside / "SKILL.md")


def _linked_folder(skill: Path, outside: Path) -> None:
    skill.parent.rename(skill.parent.with_name("away"))
    skill.parent.symlink_to(outside)


def _linked_agent_folder(skill: Path, outside: Path) -> None:
    """Link the whole `.claude` to a folder outside that looks the same."""
    (outside / "skills" / SKILL).mkdir(parents=True)
    (outside / "SKILL.md").rename(outside / "skills" / SKILL / "SKILL.md")
    agents = skill.parents[2]
    agents.rename(agents.with_name("away"))
    agents.symlink_to(outside)


def _hard_link(skill: Path, outside: Path) -> None:
    skill.unlink()
    skill.hardlink_to(outside / "SKILL.md")


def _huge(skill: Path, outside: Path) -> None:
    del outside
    skill.write_text(SKILL_TEXT + "x" * (1 << 20))


def _folder(skill: Path, outside: Path) -> None:
    del outside
    skill.unlink()
    skill.mkdir()


def _another_users(skill: Path, outside: Path) -> None:
    del outside
    os.chown(skill, STRANGER, STRANGER)


def _device(skill: Path, outside: Path) -> None:
    del outside
    skill.unlink()
    try:
        os.mknod(skill, stat.S_IFCHR | 0o600, os.makedev(1, 5))  # /dev/zero
    except PermissionError:  # a container without that capability
        os.mkfifo(skill)


CONSTRUCTS: list[tuple[Callable[[Path, Path], None], str]] = [
    (_pipe, "not a regular file"),
    (_link, "a symlink that points outside the skills folders"),
    (_linked_folder, "a symlink that points outside the skills folders"),
    (_linked_agent_folder, "a symlink that points outside the skills folders"),
    (_hard_link, "several hard links"),
    (_huge, "over 1 MiB"),
    (_folder, "not a regular file"),
]
ROOTS_OWN: list[tuple[Callable[[Path, Path], None], str]] = [
    (_another_users, "belongs to another user"),
    (_device, "not a regular file"),
]


def test_t18_special_skill_files_are_skipped_and_reported(tmp_path: Path, home: Path, program: Program) -> None:
    _check_skipped(CONSTRUCTS, tmp_path, home, program)


@as_root
def test_t18_devices_and_other_users_skills_are_skipped_and_reported(
    tmp_path: Path, home: Path, program: Program
) -> None:
    _check_skipped(ROOTS_OWN, tmp_path, home, program)


def _check_skipped(
    constructs: list[tuple[Callable[[Path, Path], None], str]], tmp_path: Path, home: Path, program: Program
) -> None:
    outside = {}
    for construct, _ in constructs:
        name = construct.__name__
        project = Project(tmp_path / f"project{name}", home, ".claude/skills")
        outside[name] = tmp_path / f"outside{name}"
        outside[name].mkdir()
        (outside[name] / "SKILL.md").write_text(SKILL_TEXT)
        teach(home, project, name)
        construct(project.skill_path, outside[name])
    assert program.run("run", "--once").returncode == 0
    kept = {learning["session_id"]: learning["why_kept"] for learning in program.json("learnings")}
    assert kept.keys() == {construct.__name__ for construct, _ in constructs}
    for construct, why in constructs:
        assert why in kept[construct.__name__]
    assert program.json("proposals", "--state", "all") == []
    for folder in outside.values():
        (skill,) = folder.rglob("SKILL.md")
        assert skill.read_text() == SKILL_TEXT


def test_t18_a_transcript_that_is_a_special_file_is_not_read(home: Path, project: Project, program: Program) -> None:
    session = teach(home, project)
    away = session.path.rename(home / "away.jsonl")
    session.path.symlink_to(away)
    os.mkfifo(session.path.with_name("0a000000-0000-4000-8000-000000000001.jsonl"))
    session.path.with_name("0a000000-0000-4000-8000-000000000002.jsonl").mkdir()
    assert program.run("run", "--once").returncode == 0
    assert program.json("status")["agents"]["claude-code"]["turns"] == 0


@as_root
def test_t20_another_users_transcript_is_not_read(home: Path, project: Project, program: Program) -> None:
    theirs = teach(home, project)
    os.chown(theirs.path, STRANGER, STRANGER)
    teach(home, project)
    assert program.run("run", "--once").returncode == 0
    assert program.json("status")["agents"]["claude-code"]["turns"] == 5
    assert len(program.json("proposals")) == 1


@as_root
def test_t20_root_gets_a_warning(program: Program) -> None:
    result = program.run("run", "--once")
    assert result.returncode == 0
    assert result.stderr.startswith("skilld: You are running skilld as root")


def _open_to_others(folder: Path) -> dict[str, str]:
    """Return the files and folders that others can get at: no folder above them, up to `folder`, keeps them out."""
    found: dict[str, str] = {}
    if (mode := folder.lstat().st_mode) & 0o077 and not stat.S_ISLNK(mode):
        found[str(folder)] = oct(mode)
        for path in folder.iterdir() if folder.is_dir() else ():
            found |= _open_to_others(path)
    return found


def test_t21_no_file_of_skilld_is_open_to_other_users(home: Path, project: Project, program: Program) -> None:
    own = home / ".claude/skills/mine/SKILL.md"  # tracked by no git: its proposals go to a repository of skilld's own
    own.parent.mkdir(parents=True)
    own.write_text(SKILL_TEXT)
    with umask(0o022):
        teach(home, project)
        transcript = Transcript(home / ".claude/projects/-x-project/mine.jsonl", home, own.parents[1])
        for step in (
            {"skill": "mine"},
            {"person": "hello"},
            {"person": LASTING},
            {"person": "ok"},
            {"person": "thanks"},
        ):
            transcript.add(step)
        assert program.run("config", "set", "batch.turns", "4").returncode == 0
        assert program.run("run", "--once").returncode == 0
    assert {proposal["skill"] for proposal in program.json("proposals")} == {SKILL, "mine"}
    modes = {path: path.lstat().st_mode for path in (home / ".local/state/skilld").rglob("*")}
    assert {str(path): oct(mode) for path, mode in modes.items() if mode & 0o077} == {}
    for folder in (".local/state/skilld", ".config/skilld", ".local/share/skilld/repos"):
        assert _open_to_others(home / folder) == {}


@pytest.mark.parametrize(("mask", "modes"), [(0o022, (0o755, 0o444)), (0o002, (0o775, 0o444)), (0o077, (0o700, 0o400))])
def test_t21_in_a_repository_the_persons_umask_applies(
    home: Path, project: Project, program: Program, mask: int, modes: tuple[int, int]
) -> None:
    objects = project.root / ".git/objects"
    before = set(objects.rglob("*"))
    teach(home, project)
    with umask(mask):
        assert program.run("run", "--once").returncode == 0
    new = set(objects.rglob("*")) - before
    assert {path.stat().st_mode & 0o777 for path in new if path.is_dir()} <= {modes[0]}
    assert {path.stat().st_mode & 0o777 for path in new if path.is_file()} == {modes[1]}
    assert (project.root / ".git/refs/heads/skilld/staging").stat().st_mode & 0o777 == 0o666 & ~mask


@pytest.mark.parametrize(
    ("name", "mode"), [("", 0o750), ("skilld.db", 0o604), ("daemon.lock", 0o640), ("skilld.log", 0o602)]
)
def test_t21_state_open_to_others_is_refused_with_the_remedy(
    home: Path, program: Program, name: str, mode: int
) -> None:
    path = home / ".local/state/skilld" / name
    path.chmod(mode)
    result = program.run("run", "--once")
    assert result.returncode == 1
    shown = f"~/{path.relative_to(home)}"
    assert f"{shown} is accessible to other users" in result.stderr
    assert f"{shown}\n" in result.stderr.split("chmod", 1)[1]


@as_root
@pytest.mark.parametrize("name", ["", "skilld.db"])
def test_t21_state_of_another_user_is_refused(home: Path, program: Program, name: str) -> None:
    path = home / ".local/state/skilld" / name
    os.chown(path, STRANGER, STRANGER)
    result = program.run("run", "--once")
    assert result.returncode == 1
    assert "belongs to another user" in result.stderr


def test_t21_a_replaced_database_that_others_can_change_is_not_opened(home: Path, program: Program) -> None:
    state = home / ".local/state/skilld"
    log = state / "skilld.db-wal"
    log.write_bytes(b"planted")
    log.chmod(0o666)
    assert f"{'~' / log.relative_to(home)} is accessible to other users" in program.run("run", "--once").stderr
    assert log.read_bytes() == b"planted"


def test_t21_an_open_review_does_not_go_on_with_an_exposed_database(home: Path, program: Program) -> None:
    assert program.run("status").returncode == 0
    session = review_session(home)
    assert session.proposals() == []
    (home / ".local/state/skilld/skilld.db").chmod(0o606)
    with pytest.raises(SkilldError, match="accessible to other users"):
        session.proposals()
