from __future__ import annotations

import os
from pathlib import Path

from skilld.crash import report
from skilld.paths import places


def _crash(words: str) -> str:
    try:
        dict[str, str]()[words]
    except LookupError as error:
        return report(error, ["status"])
    return ""


def test_a_crash_report_says_where_and_what_but_quotes_nobody(home: Path) -> None:
    before = os.umask(0o022)
    try:
        told = _crash("the person's secret words")
    finally:
        os.umask(before)
    (file,) = (home / ".local/state/skilld/crashes").iterdir()
    text = file.read_text()
    assert told.endswith(f"{file}\n")
    assert "error: KeyError" in text
    assert "test_crash.py" in text
    assert "command: status" in text
    assert "secret words" not in text + told
    assert file.stat().st_mode & 0o777 == 0o600
    assert places().crashes.stat().st_mode & 0o777 == 0o700


def test_a_repeated_bug_is_one_report() -> None:
    for number in range(3):
        _crash(str(number))
    assert len([*places().crashes.iterdir()]) == 1


def test_an_unwritable_report_is_shown_instead(home: Path) -> None:
    (home / ".local").touch()
    told = _crash("the person's secret words")
    assert "test_crash.py" in told
    assert "secret words" not in told
