"""`skilld statusline`: printed from a file the store keeps, without imports."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from skilld import paths, statusline
from skilld.store import Store
from skilld.types import State
from support.proposals import make_proposal

AT = "2026-03-02T09:00:00Z"
WHOLE = statusline.content({"claude-code": 2, "codex": 0, "": 1})


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """Return a store in the folder that `run_statusline` looks into."""
    (tmp_path / "state/skilld").mkdir(parents=True, mode=0o700)
    with closing(Store.open(tmp_path / "state/skilld/skilld.db")) as opened:
        yield opened


def run_statusline(tmp_path: Path, *arguments: str) -> str:
    """Return what the program prints in a process of its own, which ends well."""
    command = [sys.executable, "-m", "skilld", "statusline", *arguments]
    environment = {**os.environ, "XDG_STATE_HOME": str(tmp_path / "state")}
    result = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (result.returncode, result.stderr) == (0, "")
    return result.stdout


def test_it_shows_how_many_proposals_are_open(store: Store, tmp_path: Path) -> None:
    assert run_statusline(tmp_path) == ""
    one, two = make_proposal(id="00000001"), make_proposal(id="00000002", agent="codex")
    store.proposals.add(one)
    with store.transaction():
        store.proposals.add(two)
    assert run_statusline(tmp_path) == "skilld: 2 waiting\n"
    assert run_statusline(tmp_path, "--agent", "codex") == "skilld: 1 waiting\n"
    assert run_statusline(tmp_path, "--agent=cline") == ""
    assert (store.path.with_name(statusline.FILE).stat().st_mode & 0o777) == 0o600
    store.proposals.decide(two, State.REJECTED, AT, who="command")
    assert run_statusline(tmp_path) == "skilld: 1 waiting\n"
    store.proposals.decide(one, State.ACCEPTED, AT, who="command")
    assert run_statusline(tmp_path) == ""


def test_a_withdrawn_proposal_disappears_soon(store: Store) -> None:
    file = store.path.with_name(statusline.FILE)

    def fail_to_commit() -> None:
        with store.transaction():
            store.proposals.add(make_proposal())
            store.write_waiting_file()  # as it is told just before the end
            raise OverflowError

    with pytest.raises(OverflowError):
        fail_to_commit()
    assert statusline.line(1) in file.read_text()
    store.meta.set("anything", 1)
    assert statusline.numbers(file.read_bytes()) is not None
    assert file.read_text().startswith("\n")


def test_a_missing_file_is_rewritten_by_the_daemon(store: Store) -> None:
    store.proposals.add(make_proposal())
    file = store.path.with_name(statusline.FILE)
    file.unlink()
    store.write_waiting_file()
    assert statusline.numbers(file.read_bytes()) is not None


def test_an_unwritable_file_stops_no_proposal(store: Store) -> None:
    store.path.with_name(statusline.FILE).mkdir()
    assert store.proposals.add(make_proposal())
    assert store.proposals.count(State.OPEN) == 1


DAMAGED = {
    "nothing": b"",
    "cut off in its first line": WHOLE[:12],
    "cut off later": WHOLE[:-3],
    "a number that is none": WHOLE.replace(b"codex 0", b"codex x"),
    "a sum that is wrong": WHOLE.replace(b"skilld: 3", b"skilld: 4"),
    "another text": b"\x1b]0;owned\x07\n",
    "another text before the numbers": WHOLE.replace(b"skilld", b"\x1b]0;"),
    "zeros of a crash": bytes(len(WHOLE)),
    "no ASCII": WHOLE.replace(b"codex", "cödex".encode()),
    "long": WHOLE + b"x 0\n" * 2000,
    "a negative number": statusline.content({"codex": -1}),
    "more than fits": statusline.content({"codex": 10**40}),
}


@pytest.mark.parametrize("data", DAMAGED.values(), ids=DAMAGED)
def test_a_damaged_file_shows_nothing(
    data: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    (tmp_path / "skilld").mkdir()
    (tmp_path / "skilld" / statusline.FILE).write_bytes(data)
    for arguments in ([], ["--agent", "codex"]):
        assert statusline.answer(arguments)
    assert capfd.readouterr().out == ""


@pytest.mark.parametrize("what", ["none", "folder", "pipe", "link"])
def test_another_kind_of_file_in_its_place_shows_nothing(what: str, tmp_path: Path) -> None:
    (tmp_path / "state/skilld").mkdir(parents=True)
    file, other = tmp_path / "state/skilld" / statusline.FILE, tmp_path / "other"
    other.write_bytes(WHOLE)
    match what:
        case "folder":
            file.mkdir()
        case "pipe":
            os.mkfifo(file)
        case "link":
            file.symlink_to(other)
    assert run_statusline(tmp_path) == ""


def test_a_complete_file_is_told_apart_from_damaged_ones() -> None:
    assert statusline.numbers(WHOLE) == {"-": 1, "claude-code": 2, "codex": 0}
    assert len(statusline.line(10**9)) <= statusline.MAX_CHARACTERS


def test_a_closed_output_is_no_error(store: Store, tmp_path: Path) -> None:
    store.proposals.add(make_proposal())
    environment = {**os.environ, "XDG_STATE_HOME": str(tmp_path / "state")}
    closed = ["sh", "-c", 'exec "$0" -m skilld statusline >&-', sys.executable]
    result = subprocess.run(closed, env=environment, capture_output=True, text=True, check=False)
    assert (result.returncode, result.stderr) == (0, "")


def test_a_usage_error_is_reported(tmp_path: Path) -> None:
    for arguments in (["--agent", "cluade"], ["--agnet", "codex"]):
        command = [sys.executable, "-m", "skilld", "statusline", *arguments]
        environment = {**os.environ, "XDG_STATE_HOME": str(tmp_path)}
        (tmp_path / "skilld").mkdir(exist_ok=True)
        (tmp_path / "skilld" / statusline.FILE).write_bytes(WHOLE)
        result = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert result.returncode == 2
        assert arguments[-1] in result.stderr


def test_it_imports_nothing_beyond_pythons_own_startup(tmp_path: Path) -> None:
    """The aim is 20 ms with 11 for Python itself (benchmarks/status_line.py): `re` alone would take 4."""
    program = (
        "import sys; before = {*sys.modules}\n"
        "from skilld.__main__ import main; code = main(['statusline', '--agent', 'codex'])\n"
        "print(code, *sorted({*sys.modules} - before))"
    )
    environment = {**os.environ, "XDG_STATE_HOME": str(tmp_path / "nowhere")}
    result = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
    )
    assert result.stdout.split() == ["0", "skilld", "skilld.__main__", "skilld.statusline"]


@pytest.mark.parametrize(
    "variables",
    [
        {},
        {"XDG_STATE_HOME": "/s"},
        {"XDG_STATE_HOME": "relative"},
        {"XDG_STATE_HOME": ""},
        {"HOME": "/h"},
        {"HOME": ""},
    ],
)
def test_its_folder_is_the_state_folder(variables: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert Path(statusline.folder()) == paths.places().state


def test_a_shell_alone_shows_the_same(store: Store, tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs/statusline.md").read_text(encoding="utf-8")
    script = page.split("```sh\n")[1].split("```")[0]
    environment = {**os.environ, "XDG_STATE_HOME": str(tmp_path / "state")}

    def run_shell_version() -> tuple[str, str]:
        result = subprocess.run(["sh", "-c", script], env=environment, capture_output=True, text=True, check=False)
        return result.stdout, result.stderr

    assert run_shell_version() == ("", "")  # there is no file yet
    store.proposals.add(make_proposal())
    assert run_shell_version() == ("skilld: 1 waiting", "")
    store.proposals.decide(make_proposal(), State.ACCEPTED, AT, who="command")
    assert run_shell_version() == ("", "")
