"""A test that passes alone is forgiven in continuous integration; repeated or many failures are not."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tools.once_more import MOST, last_failed, once_more


@pytest.fixture
def tests(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)
    for name in [name for name in os.environ if name.startswith("PYTEST_XDIST")]:
        monkeypatch.delenv(name)
    # xdist stays for its -n; the tests of a test need no other plugin, and loading them takes as long as the rest
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("PYTEST_PLUGINS", "xdist.plugin")
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    (tmp_path / "test_it.py").write_text(
        "from pathlib import Path\n"
        "def test_good(): pass\n"
        "def test_bad(): assert False\n"
        "def test_second():\n"
        "    with Path('runs').open('a') as runs: runs.write('x')\n"
        "    assert Path('runs').read_text() != 'xx'\n"
    )
    return str(tmp_path / "test_it.py")


def test_a_test_that_passes_alone_is_reported_as_unstable(tests: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert once_more([f"{tests}::test_good"]) == 0
    assert "test_good failed beside the others and passed 2 times alone" in capsys.readouterr().out


def test_a_test_that_fails_again_fails(tests: str) -> None:
    assert once_more([f"{tests}::test_good", f"{tests}::test_second"]) == 1


def test_many_failures_are_no_race(tests: str) -> None:
    assert once_more([f"{tests}::test_good"] * (MOST + 1)) == 1
    assert once_more([]) == 1


@pytest.mark.parametrize(("text", "names"), [('{"a::b": true, "c": true}', ["a::b", "c"]), ("{", []), (None, [])])
def test_the_last_failures_are_read(tmp_path: Path, text: str | None, names: list[str]) -> None:
    file = tmp_path / "lastfailed"
    if text is not None:
        file.write_text(text)
    assert last_failed(file) == names


def test_pytest_still_stores_them_there(tests: str) -> None:
    subprocess.run([sys.executable, "-m", "pytest", "-q", tests], check=False)
    assert last_failed() == ["test_it.py::test_bad"]
