"""`skilld logs`: from the file or the journal, followed through a rotation, safe for a terminal."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from skilld.__main__ import main
from skilld.cli.logs import follow
from skilld.paths import places, private_dir
from support.claude_lines import append_lines

TAIL = str(shutil.which("tail"))
NASTY = "\x1b]0;owned\x07\x9b31m\u202e"


def line(event: str, **more: object) -> bytes:
    entry = {"event": event, "level": "info", "timestamp": "2026-03-02T09:00:00.123456Z", **more}
    return json.dumps(entry).encode() + b"\n"


@pytest.fixture(autouse=True)
def no_journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))


@pytest.fixture
def log() -> Path:
    return private_dir(places().state) / "skilld.log"


def test_the_last_lines_include_those_before_a_rotation(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log.with_name("skilld.log.1").write_bytes(line("one") + line("two"))
    log.write_bytes(line("three", batch="b1"))
    assert main(["logs", "-n", "2"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "2026-03-02T09:00:00  info      two",
        "2026-03-02T09:00:00  info      three  batch=b1",
    ]
    assert main(["logs", "--json"]) == 0
    assert [entry["event"] for entry in json.loads(capsys.readouterr().out)] == ["one", "two", "three"]


def test_terminal_escapes_in_the_log_are_neutralized(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log.write_bytes(line(NASTY, reason=NASTY) + NASTY.encode() + b"\n[1]\n\xff\n")
    assert main(["logs"]) == 0
    output = capsys.readouterr().out
    assert len(output.splitlines()) == 4
    assert [char for char in "\x1b\x07\x9b\u202e" if char in output] == []


def test_a_missing_log_is_reported(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["logs"]) == 0
    assert "The log is empty" in capsys.readouterr().out
    assert main(["logs", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == []
    assert main(["logs", "--json", "-f"]) == 2


def test_the_services_journal_takes_precedence_over_an_older_file(
    log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log.write_bytes(line("in the file"))
    journalctl = tmp_path / "journalctl"
    journalctl.write_text("#!/bin/sh\necho 'Started skilld.service.'\necho \"$@\"\n", encoding="utf-8")
    journalctl.chmod(0o755)
    assert main(["logs", "-n", "7"]) == 0
    output = capsys.readouterr().out
    assert "Started skilld.service." in output
    assert "--user --unit=skilld.service" in output
    assert "--lines=7" in output
    assert "in the file" not in output


def test_following_survives_partial_lines_and_rotations(log: Path) -> None:
    def rotate() -> None:
        log.rename(log.with_name("skilld.log.1"))
        log.write_bytes(line("third"))

    log.write_bytes(line("old") + line("last"))
    followed = follow([TAIL, "-F", "-c", f"+{len(line('old')) + 1}", str(log)])
    seen = [next(followed)]
    append_lines(log, line("first"), b'{"event": "sec')
    seen.append(next(followed))
    append_lines(log, b'ond"}\n')
    seen.append(next(followed))
    for change in (rotate, log.unlink, lambda: log.write_bytes(line("fourth"))):
        change()
        seen += [next(followed)] if log.exists() else []
    assert [json.loads(one)["event"] for one in seen] == ["last", "first", "second", "third", "fourth"]
    followed.close()


def test_what_follows_is_printed_after_the_last_lines_and_none_twice(
    log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tail = tmp_path / "tail"
    later = line("three").decode().strip()
    tail.write_text(f"""#!/bin/sh\n[ "$1" = -F ] && shift && echo '{later}' >> "$3" && exec {TAIL} "$@"\n""")
    tail.chmod(0o755)
    log.with_name("skilld.log.1").write_bytes(line("zero") + line("one"))
    log.write_bytes(line("two"))
    assert main(["logs", "--follow", "-n", "2"]) == 0
    said = [printed.split()[-1] for printed in capsys.readouterr().out.splitlines()]
    assert said == ["one", "two", "three"]
