"""`skilld mine --over`: the same report byte for byte with any workers, even if one is lost.

Issue 20, part 7.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
from pathlib import Path

import pytest

from skilld.ingest.remote import list_files, local_file
from skilld.mining.compliance import survey_file
from skilld.mining.parallel import FileResult, Job, merge_results, mine_file, run_locally, run_on_cluster
from support.claude_lines import prompt_line, write_transcript
from support.program import Program
from support.repos import new_repo
from support.tops import make_top
from support.waiting import wait_for

KEY = b"k" * 32
SECRET = "ghp_" + "a1B2" * 9
RULES = ("From now on, always sign the tags.", "From now on, never mention hostnames in the notes.")
SESSIONS = 12


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Sessions of one project; the last two files repeat what others have, one is broken, one is none."""
    below = tmp_path / ".claude/projects/-shop"
    below.mkdir(parents=True)
    for number in range(SESSIONS):
        said = [f"Write the release notes of 1.{number}.", RULES[number % 2], f"the token is {SECRET}", "thanks"]
        session = f"{number:08}-0000-4000-8000-000000000000"
        lines = [
            prompt_line(
                f"{number}-{at}", text, session=session, at=f"2026-03-{number + 1:02}T10:0{at}:00.000Z", cwd="/shop"
            )
            for at, text in enumerate(said)
        ]
        for name in (session, f"9{session[1:]}")[: 1 + (number < 2)]:
            write_transcript(below / f"{name}.jsonl", *lines)
    (below / "aaaaaaaa-0000-4000-8000-000000000000.jsonl").write_bytes(b"\xff{{{\n" * 10)
    (tmp_path / "notes.txt").write_text("always\n")
    return tmp_path


def _urls(where: str) -> list[str]:
    return [file.url for file in list_files(where)]


def test_the_report_is_the_same_with_any_number_of_workers(folder: Path, home: Path) -> None:
    program = Program(home)
    given = ["mine", "--json", "--over", str(folder), "--workers"]
    reports = [program.run(*given, number) for number in ("0", "2")]
    assert [report.returncode for report in reports] == [0, 0], reports[0].stderr
    assert len({report.stdout for report in reports}) == 1
    document = json.loads(reports[0].stdout)
    assert (document["files"], document["sessions"]) == (SESSIONS + 3, SESSIONS)
    said = json.dumps(document["docs"]) + json.dumps(document["candidates"])
    assert "sign the tags" in said
    assert SECRET not in reports[0].stdout


def test_a_workers_output_is_redacted(folder: Path) -> None:
    (url, *_) = _urls(str(folder))
    found = mine_file(url, KEY)
    assert found.rows
    assert SECRET not in repr(found)
    assert "hostnames" in repr(found) or "sign the tags" in repr(found)


def test_an_in_memory_store_gives_the_same_as_a_folder(folder: Path) -> None:
    fsspec = pytest.importorskip("fsspec", reason="fsspec is not installed")
    store = fsspec.filesystem("memory")
    for path in folder.rglob("*.jsonl"):
        store.pipe(f"/store/{path.relative_to(folder)}", path.read_bytes())
    there = merge_results(run_locally(_urls("memory://store"), KEY, 0))
    local = merge_results(run_locally(_urls(str(folder)), KEY, 0))
    assert there.judgement == local.judgement
    assert [row.session_id for row in there.rows] == [row.session_id for row in local.rows]


@pytest.fixture
def forked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have workers be forks, which import nothing: how they start is for the report's own test."""
    forks = multiprocessing.get_context("fork")
    monkeypatch.setattr(multiprocessing, "get_context", lambda _: forks)


@pytest.mark.usefixtures("forked")
def test_a_killed_worker_loses_nothing(folder: Path) -> None:
    """Of `effect`: `mine` is the same map with another function."""
    urls = _urls(str(folder))
    found: list[FileResult] = []
    for one in run_locally(urls, KEY, 2, survey_file):
        if not found:
            os.kill(multiprocessing.active_children()[0].pid or 0, signal.SIGKILL)
        found.append(one)
    assert sorted(found, key=lambda one: one.url) == [survey_file(url, KEY) for url in urls]


def _end_worker_at_the_fourth(url: str, key: bytes) -> FileResult:
    if url == "4":
        os._exit(1)
    return FileResult(f"{url} {key.decode()}")


@pytest.mark.usefixtures("forked")
def test_a_file_that_ends_its_worker_takes_no_other_with_it() -> None:
    urls = [f"{number}" for number in range(1, 10)]
    found = [*run_locally(urls, b"k", 2, _end_worker_at_the_fourth)]
    assert sorted(one.url for one in found) == ["1 k", "2 k", "3 k", "4", "5 k", "6 k", "7 k", "8 k", "9 k"]
    assert [one.trouble for one in found if one.trouble] == ["the process that was reading it stopped unexpectedly"]


def test_sessions_a_recording_tool_keeps_in_git_are_read(
    folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Entire's: a branch of checkpoints, each with all of a session or what is new; or a ref for each checkpoint."""
    shop = new_repo(tmp_path_factory.mktemp("clone") / "shop")
    shop.git("checkout", "--quiet", "--orphan", "entire/checkpoints/v1")
    files: dict[str, str | bytes] = {}
    for number, path in enumerate(sorted(folder.rglob("0*.jsonl"))):
        lines = path.read_text().splitlines()
        for at, kept in enumerate((lines[:2], lines[(number + 1) % 2 * 2 :])):
            below = f"{number:02}/{at:010}/0"
            about = {"session_id": path.stem, "created_at": f"2026-03-2{at}T10:00:00Z"}
            files[f"{below}/metadata.json"] = json.dumps(about)
            files[f"{below}/full.jsonl"] = kept[0]  # what is long is kept in pieces
            files[f"{below}/full.jsonl.001"] = "\n".join(kept[1:])
    shop.commit("Checkpoints", files)
    last = shop.git("commit-tree", "-m", "Checkpoint", "HEAD:11/0000000001")
    shop.git("update-ref", "refs/entire/checkpoints/zz/0123456789zz", last)
    shop.git("rm", "--quiet", "-r", "11")
    shop.git("commit", "--quiet", "-m", "Forget the last session")
    shop.git("checkout", "--quiet", "main")
    urls = _urls(str(shop.root))
    for url, path in zip(urls, sorted(folder.rglob("0*.jsonl")), strict=True):
        with local_file(url) as copy:
            assert copy.read_text() == path.read_text()
    there = merge_results(run_locally(urls, KEY, 0))
    local = merge_results(run_locally(_urls(str(folder)), KEY, 0))
    assert [row.session_id for row in there.rows] == [row.session_id for row in local.rows]
    assert [row.turns for row in there.rows] == [row.turns for row in local.rows]
    assert there.judgement == local.judgement


def test_the_order_of_results_does_not_matter(folder: Path) -> None:
    found = [mine_file(url, KEY) for url in _urls(str(folder))]
    assert merge_results(found) == merge_results(found[::-1])


def test_an_unreadable_repository_is_reported(folder: Path) -> None:
    plain = _urls(str(folder))
    make_top(folder)
    (unread,) = {*_urls(str(folder))} - {*plain}
    assert mine_file(unread, KEY).trouble == "git cannot read this repository"


def test_unreadable_transcripts_are_reported(tmp_path: Path, home: Path) -> None:
    assert mine_file("file:///nowhere/x.jsonl", KEY) == FileResult(
        "file:///nowhere/x.jsonl", trouble="No such file or directory"
    )
    program = Program(home)
    for words, why in (
        (["--over", str(tmp_path)], "No transcripts found"),
        (["--over", "nothing://x"], "Cannot read nothing://x"),
        (["--workers", "2"], "--workers and --cluster need --over"),
    ):
        result = program.run("mine", *words)
        assert result.returncode != 0
        assert why in result.stderr


@pytest.mark.parametrize(("workers", "job"), [(1, mine_file), (2, survey_file), (4, mine_file)])
def test_a_dask_cluster_gives_the_same_even_if_a_worker_is_killed(folder: Path, workers: int, job: Job) -> None:
    distributed = pytest.importorskip("distributed", reason="Dask is not installed: pip install skilld[cluster]")
    urls = _urls(str(folder))
    with distributed.LocalCluster(
        n_workers=workers, threads_per_worker=1, processes=True, dashboard_address="127.0.0.1:0", memory_limit="1GB"
    ) as cluster:

        def has_result() -> bool:
            return {one.state for one in [*cluster.scheduler.tasks.values()]} <= {"memory", "released"}

        found: list[FileResult] = []
        for one in run_on_cluster(urls, KEY, cluster.scheduler_address, job):
            if not found:
                if workers == 1:  # what is done and was not fetched is lost as well
                    wait_for("all to be done", has_result)
                os.kill(next(iter(cluster.workers.values())).pid, signal.SIGKILL)  # its nanny starts another
                if workers == 1:
                    wait_for("the loss to be seen", lambda: not has_result())
            found.append(one)
    assert sorted(found, key=lambda one: one.url) == [job(url, KEY) for url in urls]
