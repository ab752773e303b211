"""Lines as wide as the terminal: broken between words, with commands whole, and left alone where they are piped."""

from __future__ import annotations

import pytest

from skilld import console
from skilld.console import wrapped

TEXT = "Nothing was judged yet. Start it whenever you like: skilld service install"


@pytest.mark.parametrize(
    ("text", "columns", "hang", "lines"),
    [
        (TEXT, 0, 0, [TEXT]),
        (TEXT, 200, 0, [TEXT]),
        (TEXT, 60, 2, ["Nothing was judged yet. Start it whenever you like:", "  skilld service install"]),
        (TEXT, 20, 0, ["Nothing was judged", "yet. Start it", "whenever you like:", "skilld service", "install"]),
        ("cost   a few cents a day", 17, 7, ["cost   a few", "       cents a", "       day"]),
        ("  \x1b[2mone two\x1b[0m three", 11, 2, ["  \x1b[2mone two\x1b[0m", "  three"]),
        ("/a/path/that/is/longer/than/the/screen is shown whole", 12, 0,
         ["/a/path/that/is/longer/than/the/screen", "is shown", "whole"]),
        ("", 10, 0, [""]),
    ],
)  # fmt: skip
def test_lines_are_broken_between_words(text: str, columns: int, hang: int, lines: list[str]) -> None:
    assert wrapped(text, columns, hang) == lines


def test_what_is_piped_is_one_line(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    console.say(TEXT)
    assert capsys.readouterr().out == f"{TEXT}\n"


def test_on_a_terminal_the_text_behind_a_name_stays_in_its_column(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "30")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    console.say("Back-end     offline: no model is set")
    assert capsys.readouterr().out == "Back-end     offline: no model\n             is set\n"
