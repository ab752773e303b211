"""Error boundary: the only place that turns errors into messages and exit codes."""

from __future__ import annotations

import argparse
import errno
import os
import resource
import sys
from collections.abc import Sequence
from contextlib import nullcontext

from skilld.errors import Exit, SkilldError

# Errors of the environment, such as a full or read-only disk or a closed folder, and not of skilld.
_MAX_PASTED_ARGUMENT = 2_000  # characters of one in a command to paste
_NO_DUMP = 1  # bytes: too few for a file, and Linux then pipes nothing to the program in core_pattern (at 0 it would)
_ACCESS_ERRORS = frozenset({errno.EROFS, errno.EACCES, errno.EPERM})
_ENVIRONMENT_ERRORS = _ACCESS_ERRORS | {errno.ENOSPC, errno.EDQUOT, errno.EIO}


def main(given: Sequence[str]) -> int:
    """Run one command; returns its exit code."""
    _refuse_core_dumps()
    _fill_streams()
    try:
        return _run(list(given))
    except SkilldError as error:
        _print_error(error, given)
        return error.code
    except KeyboardInterrupt:
        return Exit.INTERRUPTED
    except BrokenPipeError:
        _drop_output()  # the reader (head, less) has gone
        return Exit.OK
    except OSError as error:
        if error.errno == errno.ENOENT and _is_folder_gone():
            _print_error(SkilldError("The current folder no longer exists", "", "Change to another folder."))
            return Exit.FAILURE
        if error.errno not in _ENVIRONMENT_ERRORS:
            return _report_bug(error)
        _drop_output()
        _print_error(_environment_error(error))
        return Exit.FAILURE
    except Exception as error:  # noqa: BLE001 - our own bug: kept as a report, never shown as a traceback
        return _report_bug(error)


def _environment_error(error: OSError) -> SkilldError:
    if error.errno in _ACCESS_ERRORS and isinstance(error.filename, str | bytes):
        from skilld.paths import access_error

        return access_error(error)
    where = f"{os.fsdecode(error.filename)}: " if isinstance(error.filename, str | bytes) else ""
    remedy = "Free some space, then run it again." if error.errno in {errno.ENOSPC, errno.EDQUOT} else ""
    return SkilldError("Input/output error", f"{where}{error.strerror}", remedy)


def _run(given: list[str]) -> int:
    from skilld.cli.completion import is_requested, print_completions

    if is_requested():
        print_completions()  # and ends
    from skilld.cli.parser import build_parser
    from skilld.cli.permissions import check
    from skilld.git.session import shared_git

    if given[:1] == ["help"]:
        given = [*given[1:], "--help"]
    try:
        arguments = build_parser(*given[:1]).parse_args(given, argparse.Namespace(words=tuple(given)))
        check(arguments)
        with nullcontext() if arguments.stays else shared_git():
            return int(arguments.run(arguments))
    finally:
        sys.stdout.flush()  # here, where errors are reported, and not when Python exits


def _refuse_core_dumps() -> None:
    """Keep this process and those it starts, which hold what is not redacted yet, from leaving a core dump.

    The hard limit stays: a program of the person's, such as a git hook, can allow its own dumps again.
    """
    _, hard = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (min(_NO_DUMP, hard) if hard >= 0 else _NO_DUMP, hard))


def _is_folder_gone() -> bool:
    try:
        os.getcwd()  # noqa: PTH109 - pathlib takes time to load
    except FileNotFoundError:
        return True
    return False


def _fill_streams() -> None:
    """Redirect closed standard streams to nowhere: otherwise the next opened file would take their place."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115, PTH123 - open to the end


def _drop_output() -> None:
    """Redirect standard output to nowhere: otherwise Python would report another error when it flushes at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _report_bug(error: Exception) -> Exit:
    from skilld.crash import report

    sys.stderr.write(report(error, sys.argv[1:2]))
    return Exit.BUG


def _print_error(error: SkilldError, given: Sequence[str] = ()) -> None:
    from skilld.console import message, warn
    from skilld.text import shorten_arguments

    title, cause = (message(shorten_arguments(one, given)) for one in (error.title, error.cause))
    between = " " if error.title.endswith("?") else ": "
    warn(f"skilld: {between.join(filter(None, [title, cause]))}")
    if error.remedy:
        warn(f"  {message(shorten_arguments(error.remedy, given, _MAX_PASTED_ARGUMENT))}")
