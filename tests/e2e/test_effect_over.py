"""`skilld effect FILE --over`: a file's rules counted in many people's transcripts.

Issue 20, part 7.
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from skilld.ingest.remote import list_files
from skilld.mining.compliance import rule_compliance, survey_file
from skilld.mining.parallel import merge_results, mine_file, run_locally
from support.claude_lines import prompt_line, write_transcript
from support.program import Program
from support.tops import make_top

KEY = b"k" * 32
SECRET = "ghp_" + "a1B2" * 9
AGAIN = "You ran npm again. Use pnpm here, never npm!"
CWDS = ("/home/ada/shop", "/Users/ben/src/shop/web", "/home/ada/shop", "/home/ada/bookshop")


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    """A file of a repository `shop`, which stands since 10 March 2026."""
    make_top(tmp_path / "shop")
    file = tmp_path / "shop/CLAUDE.md"
    file.write_text("# Shop\n\n- Use pnpm, never npm, in this repository.\n")
    os.utime(file, (1773100800, 1773100800))
    return file


@pytest.fixture
def sessions(tmp_path: Path) -> Path:
    """Twelve sessions from 5 to 16 March 2026; each but one says the rule, and the last is there twice."""
    below = tmp_path / "all/.claude/projects/-shop"
    below.mkdir(parents=True)
    for number in range(12):
        session, cwd = f"{number:08}-0000-4000-8000-000000000000", CWDS[number % 4]
        lines = [
            prompt_line(
                f"{number}-{at}", text, session=session, at=f"2026-03-{number + 5:02}T10:0{at}:00.000Z", cwd=cwd
            )
            for at, text in enumerate(_messages(number))
        ]
        write_transcript(below / f"{session}.jsonl", *lines)
    write_transcript(below / "99999999-0000-4000-8000-000000000000.jsonl", *lines)
    return tmp_path / "all"


def _messages(number: int) -> list[str]:
    return [
        f"Install the packages of 1.{number}.",
        f"{AGAIN} The token is {SECRET}." if number != 10 else "Which files did pnpm write?",
    ]


def test_a_rule_is_counted_in_the_sessions_of_its_project(rules: Path, sessions: Path, program: Program) -> None:
    result = program.run("effect", str(rules), "--json", "--over", str(sessions), "--workers", "0")
    assert result.returncode == 0, result.stderr
    (rule,) = json.loads(result.stdout)["rules"]
    assert (rule["text"], rule["line"]) == ("Use pnpm, never npm, in this repository.", 3)
    # Sessions 0 to 4 are older than the file; 3, 7 and 11 are of another project, and 10 says nothing of it.
    assert (rule["before"]["sessions"], rule["before"]["repeats"]) == (4, 4)
    assert (rule["after"]["sessions"], rule["after"]["repeats"]) == (5, 4)
    assert AGAIN in rule["evidence"][0]["quote"]
    assert SECRET not in result.stdout
    result = program.run("effect", "--over", str(sessions))
    assert (result.returncode, "--over needs a file with rules" in result.stderr) == (2, True)


def test_neither_order_nor_repetition_changes_the_result(rules: Path, sessions: Path) -> None:
    found = [survey_file(file.url, KEY) for file in list_files(str(sessions))]
    assert SECRET not in repr(found)
    assert rule_compliance(found, rules) == rule_compliance(found[::-1], rules)
    # Three are of another project; all count for a file in no repository.
    assert rule_compliance(found, rules).sessions == 9
    shutil.rmtree(rules.parent / ".git")
    assert rule_compliance(found, rules).sessions == 12


def test_an_object_store_gives_the_same_as_a_folder(
    rules: Path, sessions: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stand-in of S3 on loopback: pip install s3fs moto flask flask-cors."""
    s3fs = pytest.importorskip("s3fs", reason="s3fs is not installed")
    server_of = pytest.importorskip("moto.server", reason="moto and flask are not installed")
    server = server_of.ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    try:
        host, port = server.get_host_and_port()
        for name, value in {
            "AWS_ENDPOINT_URL": f"http://{host}:{port}",
            "AWS_ACCESS_KEY_ID": "nobody",
            "AWS_SECRET_ACCESS_KEY": "nothing",
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_EC2_METADATA_DISABLED": "true",
        }.items():
            monkeypatch.setenv(name, value)
        store = s3fs.S3FileSystem()
        store.mkdir("sessions")
        for path in sessions.rglob("*.jsonl"):
            store.pipe_file(f"sessions/{path.relative_to(sessions)}", path.read_bytes())
        urls, local = ([file.url for file in list_files(where)] for where in ("s3://sessions", str(sessions)))
        assert [url.rpartition("/")[2] for url in urls] == [url.rpartition("/")[2] for url in local]
        assert len(urls) == 13
        told = [rule_compliance(run_locally(some, KEY, 0, survey_file), rules) for some in (urls, local)]
        assert told[0] == told[1]
        assert told[0].sessions
        mined = [merge_results(run_locally(some, KEY, 0, mine_file)) for some in (urls, local)]
        assert mined[0].judgement == mined[1].judgement
        assert [row.session_id for row in mined[0].rows] == [row.session_id for row in mined[1].rows]
        gone = mine_file("s3://sessions/.claude/projects/x/none.jsonl", KEY)
        assert gone.trouble
        assert not gone.rows
    finally:
        server.stop()
