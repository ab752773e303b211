"""A file that skilld or git reads is swapped for something that never ends, or never answers."""

import os
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from skilld.effect.rule_lines import text_of
from skilld.errors import SkilldError
from skilld.git.errors import GitTimeoutError, RepoRefusedError
from skilld.git.run import GIT_SECONDS, Git
from skilld.git.session import shared_git
from skilld.git.state import check_regular
from skilld.library.history import History
from skilld.proposals import auto_apply, explain
from support.repos import Harness, insert_below
from support.waiting import LIMIT


def _pipe(path: Path) -> None:
    os.mkfifo(path)


def _device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def _sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(1 << 40)


@pytest.fixture(params=[_pipe, _device, _sparse], ids=["pipe", "device", "huge file"])
def swapped(request: pytest.FixtureRequest, harness: Harness) -> Iterator[Harness]:
    harness.stage("p1", insert_below("- Tag the commit.", "- Sign the tag."))
    path = harness.person.skill
    before = path.read_bytes()
    path.unlink()
    request.param(path)
    yield harness
    path.unlink()
    path.write_bytes(before)


def _answer(ask: Callable[[], Any]) -> Any:
    """Return what a call returns or raises; fail if it waits."""
    found: list[Any] = []

    def run() -> None:
        try:
            found.append(ask())
        except (SkilldError, OSError) as error:
            found.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(LIMIT)
    assert found, "it waits for ever"
    return found[0]


def test_nothing_waits_for_it_or_reads_it_whole(swapped: Harness) -> None:
    path = swapped.person.skill
    for ask in (
        lambda: explain.find_origin(path, 1),
        lambda: explain.uncommitted_origin(path, 1),
        lambda: History(path, path.parent).diff(),
        lambda: auto_apply.apply_unasked(swapped.edit("p1")),
        lambda: swapped.accept("p1"),
        lambda: swapped.propose("p2", insert_below("- None.", "- x")),
    ):
        assert isinstance(_answer(ask), SkilldError)
    assert _answer(lambda: text_of(str(path))) == ""
    assert _answer(lambda: swapped.observe("p1")).id == "p1"
    assert _answer(lambda: swapped.drop("p1")).ended == {}


@pytest.mark.parametrize("swap", [_pipe, _device], ids=["pipe", "device"])
@pytest.mark.parametrize(
    "name",
    [
        *(".git", ".git/HEAD", ".git/config", ".git/commondir", ".git/packed-refs", ".git/shallow"),
        *(".git/objects/info/alternates", ".git/info/attributes", ".gitattributes", ".git/refs/heads/main"),
        *(".git/refs/heads/skilld/staging", ".git/rebase-merge/head-name", ".git/BISECT_START", ".git/refs/stash"),
        *(".git/refs/heads/topic", ".git/refs/tags/deep/er/t", ".git/refs/remotes/origin/HEAD", ".git/refs/replace/0"),
        *(".git/index", ".git/MERGE_HEAD", ".git/info/grafts", ".git/logs/refs/stash"),
        ".git/objects/info/commit-graph",
    ],
)
def test_a_repository_with_such_a_file_is_refused(harness: Harness, name: str, swap: Callable[[Path], None]) -> None:
    path = harness.person.root / name
    if path.name == "topic":
        harness.person.git("branch", "-m", "topic")
    if path.exists():
        path.rename(path.with_name("moved"))
    path.parent.mkdir(parents=True, exist_ok=True)
    swap(path)
    started = time.monotonic()
    answer = _answer(lambda: harness.propose("p1", insert_below("- Tag the commit.", "- Sign the tag.")))
    assert isinstance(answer, RepoRefusedError)
    assert "regular file" in str(answer) or "link" in str(answer) or "symbolic ref" in str(answer)
    assert time.monotonic() - started < GIT_SECONDS  # git itself was not asked


def test_a_linked_work_tree_has_files_of_its_own(harness: Harness) -> None:
    linked = harness.person.root.with_name("linked")
    harness.person.git("worktree", "add", "--quiet", str(linked))
    own = harness.person.root / ".git/worktrees/linked"
    (own / "refs/bisect").mkdir(parents=True)
    check_regular(linked)
    for path in (own / "refs/bisect/bad", own / "HEAD"):
        path.unlink(missing_ok=True)
        _pipe(path)
        assert isinstance(_answer(lambda: check_regular(linked)), RepoRefusedError)
        path.unlink()


def test_a_call_that_was_given_little_time_takes_none_from_others(harness: Harness) -> None:
    git = Git(harness.person.root)
    _pipe(harness.person.root / ".git/refs/heads/x")
    with shared_git():
        with pytest.raises(GitTimeoutError):
            git.call("for-each-ref", seconds=0.2)
        with git._limited() as seconds:
            assert seconds == GIT_SECONDS


@pytest.mark.slow
def test_a_repository_in_which_git_waits_is_given_little_more_time(harness: Harness) -> None:
    git = Git(harness.person.root)
    elsewhere = harness.person.root.parent / "elsewhere"
    elsewhere.mkdir()
    (harness.person.root / ".git/refs/heads/link").symlink_to(elsewhere)
    with shared_git():
        assert git.objects([b"HEAD"])[0] is not None
        _pipe(elsewhere / "x")  # where nobody looks beforehand
        for most in (GIT_SECONDS + 5, 5.0, 5.0):
            started = time.monotonic()
            with pytest.raises(GitTimeoutError):
                git.call("for-each-ref")
            assert time.monotonic() - started < most
        with pytest.raises(GitTimeoutError):
            git.objects([b"refs/heads/link/x"])
        assert Git(elsewhere).call("version").status == 0
        assert git.objects([b"HEAD"])[0] is not None
