"""Questions at a terminal, with a real pseudo-terminal as the person's keyboard."""

from __future__ import annotations

import os
import pty
import sys
from collections.abc import Callable
from io import StringIO
from threading import Timer

import pytest

from skilld.cli import terminal


@pytest.mark.parametrize(
    "ask",
    [lambda: str(terminal.ask_yes_no("Send them? [y/N] ", StringIO())), lambda: str(terminal.ask("Which? "))],
)
@pytest.mark.parametrize("ahead", [b"y\n", b"yes\ny\n", b"y"])
def test_keys_typed_before_a_question_do_not_answer_it(
    ask: Callable[[], str], ahead: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    keyboard, end = pty.openpty()
    with os.fdopen(end, encoding="utf-8") as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        os.write(keyboard, ahead)
        answer = Timer(0.3, os.write, (keyboard, b"n\n"))
        answer.start()
        assert ask() in {"False", "n"}
        answer.join()
    os.close(keyboard)


def test_whoever_does_not_confirm_is_told_that_nothing_was_done(monkeypatch: pytest.MonkeyPatch) -> None:
    keyboard, end = pty.openpty()
    shown = StringIO()
    with os.fdopen(end, encoding="utf-8") as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        assert terminal.confirm("Push this? [y/N] ", "Nothing was shared", yes=True, stream=shown)
        assert shown.getvalue() == ""
        answer = Timer(0.3, os.write, (keyboard, b"n\n"))
        answer.start()
        assert not terminal.confirm("Push this? [y/N] ", "Nothing was shared", yes=False, stream=shown)
        answer.join()
    os.close(keyboard)
    assert shown.getvalue() == "Push this? [y/N] Nothing was shared.\n"
