"""A project's CLAUDE.md may be anything: the edit is right and all other bytes stay, or it says why there is none."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from e2e.test_targets import GUIDE, Talk, make_project
from support.in_process_daemon import InProcessDaemon
from support.live_project import Project
from support.program import Program
from support.session import CHATTER

SAID = "From now on, always use pnpm, never npm, in this repository."
LINE = "Always use pnpm, never npm, in this repository."


def _outside(path: Path) -> None:
    elsewhere = path.parent.parent / "elsewhere.md"
    elsewhere.write_text(GUIDE)
    path.symlink_to(elsewhere)


def _other_users(path: Path) -> None:
    path.write_text(GUIDE)
    if os.geteuid() == 0:
        os.chown(path, 65534, 65534)
    else:
        path.chmod(0)


def _submodule(path: Path) -> None:
    """A file of another repository, which is a part of this one."""
    other = path.parent.parent / "other"
    other.mkdir()
    (other / "README.md").write_text("# Other\n")
    for command in (["init", "--quiet"], ["add", "--all"], ["commit", "--quiet", "--message", "Begin"]):
        subprocess.run(["git", "-C", str(other), *command], check=True)
    allowed = ["-c", "protocol.file.allow=always"]
    subprocess.run(
        ["git", "-C", str(path.parent), *allowed, "submodule", "--quiet", "add", str(other), "part"], check=True
    )


POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a214614ab2935c943f9e0\nsize 12345\n"


def _filtered(path: Path) -> None:
    """A file that is only in git as a filter makes it, as with git-crypt."""
    path.write_text(GUIDE)
    git = ["git", "-C", str(path.parent)]
    (path.parent / ".gitattributes").write_text("*.md filter=crypt\n")
    subprocess.run([*git, "config", "filter.crypt.clean", "rev"], check=True)
    subprocess.run([*git, "config", "filter.crypt.smudge", "rev"], check=True)
    subprocess.run([*git, "add", "--all"], check=True)
    subprocess.run([*git, "commit", "--quiet", "--message", "Encrypt"], check=True)


REFUSED: dict[str, tuple[Callable[[Path], object], str]] = {
    "a link out of the project": (_outside, "CLAUDE.md points outside the project through a symlink"),
    "a pipe": (os.mkfifo, "CLAUDE.md is not a regular file"),
    "a folder": (Path.mkdir, "CLAUDE.md is not a regular file"),
    "two megabytes": (lambda path: path.write_bytes(b"- x\n" * (1 << 19)), "CLAUDE.md is over 1 MiB"),
    "another user's": (_other_users, "CLAUDE.md "),
    "a link that does not exist": (lambda path: path.symlink_to("gone.md"), "CLAUDE.md cannot be reached"),
    "generated": (
        lambda path: path.write_text("<!-- Generated. Do not edit. -->\n- x\n"),
        "says that it is a generated file",
    ),
    "generated from other files": (
        lambda path: path.write_text("# P\n\nAuto-generated from all plans.\n\n- x\n"),
        "CLAUDE.md says that it is a generated file",
    ),
    "filtered by git": (_filtered, "a git filter changes CLAUDE.md when git stores it"),
    "a pointer": (lambda path: path.write_text(POINTER), "CLAUDE.md is a Git LFS pointer, not the text itself"),
    "with a twin": (lambda path: path.hardlink_to(path.parent / "README.md"), "hard links"),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_a_special_or_foreign_file_is_left_alone(
    home: Path, tmp_path: Path, daemon: InProcessDaemon, kind: str
) -> None:
    """Issue 16, 2: and nothing waits for a pipe."""
    project = make_project(home, tmp_path, **{"README.md": "# P\n"})
    make, why = REFUSED[kind]
    make(project.root / "CLAUDE.md")
    Talk(home, project.root).type(SAID, *CHATTER[:4])
    assert daemon.run() == []
    (learning,) = daemon.store.learnings.all()
    assert why in learning.why_kept
    elsewhere = tmp_path / "elsewhere.md"
    assert not elsewhere.exists() or elsewhere.read_text() == GUIDE
    assert not [*(home / ".local/share/skilld").glob("repos/*/HEAD")], "no copy of it"
    result = Program(home).run("learnings", "propose", learning.id, "--to", str(project.root / "CLAUDE.md"))
    assert result.returncode == 1, result.stdout


KEPT: dict[str, bytes] = {
    "CRLF behind a byte order mark": b"\xef\xbb\xbf" + GUIDE.replace("\n", "\r\n").encode(),
    "no newline at its end": GUIDE.rstrip("\n").encode(),
    "what a terminal obeys": f"\x1b[31m# Probe\x1b[0m\n\n{GUIDE}\n\u202eold\u202c and \u2067x\u2069\n".encode(),
    "a comment that is not closed": f"{GUIDE}\n<!-- for people only\n\n- Hidden.\n".encode(),
    "a fence that is not closed": f"{GUIDE}\n```sh\nnpm test\n".encode(),
    "front matter and a program's lines": (
        f"---\nowner: me\n---\n\n{GUIDE}\n<!-- tool:begin -->\n- Kept by a tool.\n<!-- tool:end -->\n".encode()
    ),
}


@pytest.mark.parametrize("kind", KEPT)
def test_all_other_bytes_stay(home: Path, tmp_path: Path, daemon: InProcessDaemon, kind: str) -> None:
    project = make_project(home, tmp_path, **{"README.md": "# P\n"})
    path, old = project.root / "CLAUDE.md", KEPT[kind]
    path.write_bytes(old)
    project.git("add", "--all")
    project.git("commit", "--quiet", "--message", "Write down how we work")
    Talk(home, project.root).type(SAID, *CHATTER[:4])
    (proposal,) = daemon.run()
    new = subprocess.run(
        ["git", "-C", str(project.root), "cat-file", "blob", f"{proposal.commit}:CLAUDE.md"],
        check=True,
        capture_output=True,
    ).stdout
    before, found, after = new.partition(b"* " + LINE.encode())
    assert found, new
    ending = b"\r\n" if kind.startswith("CRLF") else b"\n"
    rest = [before + after.removeprefix(ending), before.removesuffix(ending) + after]
    assert old in rest, "one line more, and nothing else"
    assert b"write tests first." in before.lower()
    assert b"Hidden" not in before
    assert b"npm test" not in before


LEFT = "<!-- MANUAL ADDITIONS START -->\n{}<!-- MANUAL ADDITIONS END -->\n"
FROM_PLANS = (
    "# Probe Guidelines\n\nAuto-generated from all feature plans. Last updated: 2025-12-14\n\n"
    "## Conventions\n\n- Keep functions short.\n\n## Recent Changes\n\n- 001: Added FastAPI\n\n"
)
MADE_AGAIN: dict[str, tuple[str, str, str]] = {
    "nothing of ones own": (FROM_PLANS + LEFT.format(""), "", f"\n- {LINE}\n\n"),
    "a list": (FROM_PLANS + LEFT.format("- Mine.\n"), "- Mine.\n", f"- Mine.\n- {LINE}\n"),
    "headings": (
        FROM_PLANS + LEFT.format("\n## Ours\n\n* Mine.\n\n") + "\nMore.\n",
        "\n## Ours\n\n* Mine.\n\n",
        f"\n## Ours\n\n* Mine.\n* {LINE}\n\n",
    ),
    "headings that do not fit, and text after them": (
        FROM_PLANS + LEFT.format("\n## Ours\n\n* Mine.\n\n## More\n\n* Too.\n\n") + "\n## Last\n\nMore.\n",
        "\n## Ours\n\n* Mine.\n\n## More\n\n* Too.\n\n",
        f"\n## Ours\n\n* Mine.\n\n## More\n\n* Too.\n* {LINE}\n\n",
    ),
    "one that is not to be edited": (
        "<!-- Generated by tool. DO NOT EDIT. -->\n\n- x\n\n<!-- tool:user:begin -->\n<!-- tool:user:end -->\n\n- y\n",
        "<!-- tool:user:begin -->\n",
        f"<!-- tool:user:begin -->\n\n- {LINE}\n\n",
    ),
}


@pytest.mark.parametrize("kind", MADE_AGAIN)
def test_only_the_hand_written_lines_of_a_generated_file_are_edited(
    home: Path, tmp_path: Path, daemon: InProcessDaemon, kind: str
) -> None:
    """Issue 16, "Done when": words anywhere else would be gone when the file is made again."""
    old, mine, then = MADE_AGAIN[kind]
    project = make_project(home, tmp_path, **{"CLAUDE.md": old})
    Talk(home, project.root).type(SAID, *CHATTER[:4])
    (proposal,) = daemon.run()
    head, found, tail = old.partition(mine or "<!-- MANUAL ADDITIONS END -->")
    assert (
        project.git("cat-file", "blob", f"{proposal.commit}:CLAUDE.md")
        == (head + then + (tail if mine else found + tail)).strip()
    )


def test_an_untracked_file_goes_to_skillds_own_repository(home: Path, tmp_path: Path, daemon: InProcessDaemon) -> None:
    project = make_project(home, tmp_path, **{"README.md": "# P\n"})
    (project.root / "CLAUDE.md").write_text(GUIDE)
    before, commits = project.fingerprint(), project.git("rev-list", "--count", "HEAD")
    Talk(home, project.root).type(SAID, *CHATTER[:4])
    (proposal,) = daemon.run()
    assert proposal.repo != str(project.root)
    assert project.fingerprint() == before
    assert Program(home).run("accept", proposal.id).returncode == 0
    assert LINE in (project.root / "CLAUDE.md").read_text()
    assert project.git("rev-list", "--count", "HEAD") == commits


@pytest.mark.parametrize("old", ["", "\n \n", "<!-- Write down how you work. -->\n"])
def test_an_empty_file_gains_rules_and_loses_them_again(
    home: Path, tmp_path: Path, daemon: InProcessDaemon, old: str
) -> None:
    project = make_project(home, tmp_path, **{"README.md": "# P\n"})
    path = project.root / "CLAUDE.md"
    path.write_text(old)
    project.git("add", "--all")
    project.git("commit", "--quiet", "--message", "Begin")
    Talk(home, project.root).type(SAID, *CHATTER[:4])
    (proposal,) = daemon.run()
    assert Program(home).run("accept", proposal.id).returncode == 0
    assert f"{LINE}\n" in path.read_text()
    assert Program(home).run("revert", proposal.id).returncode == 0
    assert path.read_text() == old


def test_a_submodules_file_is_not_edited_by_the_outer_repository(
    home: Path, tmp_path: Path, daemon: InProcessDaemon
) -> None:
    project: Project = make_project(home, tmp_path, **{"CLAUDE.md": GUIDE})
    _submodule(project.root / "CLAUDE.md")
    inner = project.root / "part"
    (inner / "CLAUDE.md").write_text(GUIDE)
    for command in (["add", "--all"], ["commit", "--quiet", "--message", "Mine"]):
        subprocess.run(["git", "-C", str(inner), *command], check=True)
    before = project.fingerprint()
    Talk(home, inner).type(SAID, *CHATTER[:4])
    found = daemon.run()
    assert project.fingerprint() == before
    assert all(one.path == str(inner / "CLAUDE.md") for one in found)
    assert found or daemon.store.learnings.all(), "proposed in its own repository, or kept with the reason"


ORDERS = {
    "local": ("Put this into CLAUDE.local.md: always use port 4000.", "CLAUDE.local.md"),
    "a rule": ("Add to .claude/rules/db.md: never write raw SQL by hand.", ".claude/rules/db.md"),
    "a folder's": ("Put it into web/CLAUDE.md: always use functional components.", "web/CLAUDE.md"),
    "an import": ("Add to docs/style.md: use sentence case in headings.", "docs/style.md"),
    "an import, by its name": ("Please write into style.md that headings use sentence case.", "docs/style.md"),
    "one to make": ("Put this into CLAUDE.local.md: always use port 4000.", "CLAUDE.local.md"),
}


@pytest.mark.parametrize("kind", ORDERS)
def test_a_request_for_any_loaded_file_is_heard(home: Path, tmp_path: Path, daemon: InProcessDaemon, kind: str) -> None:
    rule = '---\npaths: ["db/**"]\n---\n\n- Use migrations.\n'
    project = make_project(
        home,
        tmp_path,
        **{
            "CLAUDE.md": f"{GUIDE}\n@docs/style.md\n",
            "docs/style.md": "# Style\n\n- Be brief.\n",
            "web/CLAUDE.md": "# Web\n\n- Use React.\n",
            ".claude/rules/db.md": rule,
        },
    )
    if kind == "local":
        (project.root / "CLAUDE.local.md").write_text("- Mine.\n")
    text, name = ORDERS[kind]
    Talk(home, project.root).type(text, *CHATTER[:4])
    (proposal,) = daemon.run()
    assert proposal.path == str(project.root / name)


def test_text_the_agent_does_not_load_does_not_count_as_said(
    home: Path, tmp_path: Path, daemon: InProcessDaemon
) -> None:
    old = f"# P\n\n- Be brief.\n\n<!--\n- {LINE}\n-->\n"
    project = make_project(home, tmp_path, **{"CLAUDE.md": old})
    Talk(home, project.root).type(SAID, *CHATTER[:4])
    (proposal,) = daemon.run()
    assert (
        project.git("cat-file", "blob", f"{proposal.commit}:CLAUDE.md")
        == old.replace("brief.\n", f"brief.\n- {LINE}\n").strip()
    )


def test_a_proposal_names_the_line_its_turn_repeats(home: Path, tmp_path: Path, daemon: InProcessDaemon) -> None:
    make_project(home, tmp_path, **{"CLAUDE.md": "# P\n\n- Be brief.\n- Do not merge without my approval.\n"})
    Talk(home, tmp_path / "plain").type("Never merge before I approve.", *CHATTER[:4])
    (proposal,) = daemon.run()
    assert proposal.flags == ("CLAUDE.md:4 may already say this",)
