"""Output as wide as the terminal: wrapped between words with commands whole, unwrapped when piped."""

from __future__ import annotations

import pytest

from skilld import console
from skilld.cli import terminal
from skilld.console import wrapped
from support.rows import for_each

TEXT = "Nothing was judged yet. Start it whenever you like: skilld service install"


@for_each(
    ("text", "columns", "hang", "lines"),
    [
        (TEXT, 0, 0, [TEXT]),
        (TEXT, 200, 0, [TEXT]),
        (TEXT, 60, 2, ["Nothing was judged yet. Start it whenever you like:", "  skilld service install"]),
        (TEXT, 20, 0, ["Nothing was judged", "yet. Start it", "whenever you like:", "skilld service install"]),
        ("No folder: skilld keeps two of them", 20, 2, ["No folder: skilld", "  keeps two of them"]),
        ("  undo: git -C /a/b push git@host:c --delete skilld/d", 24, 2,
         ["  undo:", "  git -C /a/b push git@host:c --delete skilld/d"]),
        ("To get it back: mv /trash/a /b/a && rm /trash/a.info", 20, 0,
         ["To get it back:", "mv /trash/a /b/a && rm /trash/a.info"]),
        ("Run it: skilld review --plain 12. Or add its name to the file", 24, 2,
         ["Run it:", "  skilld review --plain 12.", "  Or add its name to the", "  file"]),
        ("cost   a few cents a day", 17, 7, ["cost   a few", "       cents a", "       day"]),
        ("  \x1b[2mone two\x1b[0m three", 11, 2, ["  \x1b[2mone two\x1b[0m", "  three"]),
        ("/a/path/that/is/longer/than/the/screen is shown whole", 12, 0,
         ["/a/path/that/is/longer/than/the/screen", "is shown", "whole"]),
        ("", 10, 0, [""]),
    ],
)  # fmt: skip
def test_lines_wrap_between_words(text: str, columns: int, hang: int, lines: list[str]) -> None:
    assert wrapped(text, columns, hang) == lines


def test_piped_output_is_not_wrapped(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    console.say(TEXT)
    assert capsys.readouterr().out == f"{TEXT}\n"


def test_a_table_wraps_between_words_and_one_long_cell_widens_no_other_row(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "30")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    console.table([("api", "no use", "~/skills/api-design"), ("x" * 40, "1 use", "~/x")])
    assert capsys.readouterr().out == f"api  no use\n    ~/skills/api-design\n{'x' * 40}\n    1 use   ~/x\n"


def test_on_a_terminal_text_after_a_label_stays_in_its_column(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "30")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    console.say("Back-end     offline: no model is set")
    assert capsys.readouterr().out == "Back-end     offline: no model\n             is set\n"


@pytest.mark.parametrize(("rows", "before"), [("3", "paged:"), ("4", "")])
def test_output_longer_than_the_terminal_goes_through_the_pager(
    rows: str, before: str, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("LINES", rows)
    monkeypatch.setenv("PAGER", "sed s/^/paged:/")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    with terminal.paged():
        for number in range(3):
            console.say(f"line {number}")
    assert capfd.readouterr().out == "".join(f"{before}line {number}\n" for number in range(3))


def test_a_message_shortens_the_home_folder_only_where_a_path_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/ada")
    assert console.message("/home/ada/app: in use (/home/ada)") == "~/app: in use (~)"
    for kept in ("'/home/ada/a b'", "/home/adam/x", "--to=/home/ada/x", "/mnt/home/ada/x"):
        assert console.message(kept) == kept
