"""The person's terminal: asks questions, opens their editor or their pager."""

from __future__ import annotations

import fcntl
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from io import StringIO
from pathlib import Path
from typing import TextIO

from skilld import console
from skilld.cli.common import as_text
from skilld.errors import RefusedError, SkilldError, cause_of


def confirm(question: str, title: str, *, yes: bool, stream: TextIO | None = None) -> bool:
    """Return whether the person agrees: beforehand by `yes`, or when asked, on standard output by default.

    `title` says that nothing was done. It is printed if the person does not agree, and is the title of the RefusedError
    that is raised if there is no terminal to ask in.
    """
    if yes:
        return True
    if not sys.stdin.isatty():
        raise RefusedError(title, "confirmation needs a terminal", "To skip the confirmation: --yes")
    stream = stream or sys.stdout
    agreed = ask_yes_no(question, stream)
    if not agreed:
        stream.write(f"{title}.\n")
    return agreed


def ask_yes_no(question: str, stream: TextIO, *, default: bool = False) -> bool:
    """Print a question, which ends in `[y/N] `, or `[Y/n] ` with `default`; return whether the answer is yes.

    The default is what any other answer means. The end of the input always means no.
    """
    forget_typed_ahead()
    stream.write(question)
    stream.flush()
    line = sys.stdin.readline()
    answer = line.strip().lower()
    return answer in {"y", "yes"} or (default and bool(line) and answer not in {"n", "no"})


def forget_typed_ahead() -> None:
    """Drop the keys that were typed before a question is shown: they cannot be its answer.

    Called before it is written: whoever answers as soon as it can be read, as a script does, must be heard.
    """
    if sys.stdin.isatty():
        import termios

        with suppress(OSError, termios.error):  # the terminal has gone, or it is a stand-in
            termios.tcflush(sys.stdin, termios.TCIFLUSH)


def has_screen() -> bool:
    """Whether there is a terminal that can show a full-screen program."""
    return sys.stdin.isatty() and sys.stdout.isatty() and os.environ.get("TERM", "dumb") != "dumb"


def ask(question: str) -> str | None:
    """Ask a question and return the answer's line, or None at the end of the input."""
    forget_typed_ahead()
    sys.stdout.write(question)
    sys.stdout.flush()
    line = sys.stdin.readline()
    if not sys.stdin.isatty():
        console.line()
    return as_text(line.rstrip("\n")) if line else None


def edit(text: str, around: Callable[[], AbstractContextManager[object]] = nullcontext, name: str = "SKILL.md") -> str:
    """Return `text` as edited in `$VISUAL`, `$EDITOR` or vi, in a file called `name`.

    Raises SkilldError if the editor cannot be started, or ends with an error.
    """
    import shlex  # imported late: half of the verbs that ask never edit
    import subprocess

    editor = shlex.split(os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi")
    with _ended_by_signals(), _folder_of_an_edit() as folder:
        file = folder / name
        file.write_bytes(text.encode("utf-8", "replace"))
        with around():
            try:
                code = subprocess.run([*editor, str(file)], check=False).returncode
            except OSError as error:
                raise _editor_error(editor, f"cannot be started: {cause_of(error)}") from error
        if code != 0 or not file.is_file():
            raise _editor_error(editor, f"ended with status {code}" if code else "left no file")
        return file.read_bytes().decode("utf-8", "replace")


def _editor_error(editor: Sequence[str], what: str) -> SkilldError:
    remedy = f"To choose another: export {'VISUAL' if os.environ.get('VISUAL') else 'EDITOR'}=COMMAND"
    return SkilldError("Your text is unchanged", f"the editor {editor[0]} {what}", remedy)


def remove_unfinished_edits() -> None:
    """Remove the files of edits whose program was killed."""
    from skilld.paths import places

    folder = places().edits
    if folder.is_dir():
        with _locked(folder):
            _remove_unlocked(folder)


@contextmanager
def _folder_of_an_edit() -> Iterator[Path]:
    """Make a folder of one edit among skilld's state, for the time of the block: the file may hold a key."""
    import tempfile

    from skilld.paths import places, private_dir

    private_dir(places().state)
    edits = private_dir(places().edits)
    with ExitStack() as stack:
        with _locked(edits):
            _remove_unlocked(edits)
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=edits, ignore_cleanup_errors=True)))
            stack.enter_context(_locked(folder))  # released when this program ends, however it does
        yield folder


@contextmanager
def _locked(folder: Path, flags: int = 0) -> Iterator[None]:
    """Hold the lock of a folder. Raises OSError if it cannot be had (with LOCK_NB, at once)."""
    number = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(number, fcntl.LOCK_EX | flags)
        yield
    finally:
        os.close(number)


def _remove_unlocked(edits: Path) -> None:
    from shutil import rmtree

    for folder in edits.iterdir():
        with suppress(OSError), _locked(folder, fcntl.LOCK_NB):
            rmtree(folder)


@contextmanager
def _ended_by_signals() -> Iterator[None]:
    """Let HUP (the terminal was closed) and TERM end the program through its `finally` blocks."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    numbers = [one for one in (signal.SIGHUP, signal.SIGTERM) if signal.getsignal(one) is not signal.SIG_IGN]

    def end(number: int, frame: object) -> None:
        del frame
        for one in numbers:
            signal.signal(one, signal.SIG_IGN)
        raise SystemExit(128 + number)

    before = {one: signal.signal(one, end) for one in numbers}
    try:
        yield
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)


@contextmanager
def paged() -> Iterator[None]:
    """Show what is printed inside the block in `$PAGER` (`less`) if it is longer than the terminal."""
    screen = sys.stdout
    if not screen.isatty():
        yield
        return
    sys.stdout = buffer = _TerminalBuffer()
    try:
        yield
    finally:
        sys.stdout = screen
        if not _show_in_pager(buffer.getvalue()):
            screen.write(console.encodable(buffer.getvalue()))


class _TerminalBuffer(StringIO):
    def isatty(self) -> bool:
        return True


def _show_in_pager(text: str) -> bool:
    """Show a text in the person's pager if it is longer than the terminal; return whether it was shown."""
    from shlex import split
    from shutil import get_terminal_size, which
    from subprocess import run

    pager = split(os.environ.get("PAGER") or "less")
    if text.count("\n") < get_terminal_size().lines or not pager or which(pager[0]) is None:
        return False
    run(pager, input=text, encoding="utf-8", errors="replace", env={"LESS": "FRX", **os.environ}, check=False)
    return True
