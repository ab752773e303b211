"""Entry point and error boundary: the only place that turns errors into messages and exit codes."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from skilld.errors import Exit, SkilldError


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns its exit code."""
    from skilld.cli.parser import build_parser

    given = sys.argv[1:] if argv is None else argv
    arguments = build_parser(*given[:1]).parse_args(given)
    try:
        return int(arguments.run(arguments))
    except SkilldError as error:
        _explain(error)
        return error.code
    except KeyboardInterrupt:
        return Exit.INTERRUPTED
    except BrokenPipeError:
        # The reader (head, less) has gone; Python would complain once more when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return Exit.OK
    except Exception as error:  # noqa: BLE001 - our own bug: kept as a report, never shown as a traceback
        from skilld.crash import report

        sys.stderr.write(report(error, sys.argv[1:2]))
        return Exit.BUG


def _explain(error: SkilldError) -> None:
    from skilld.text import safe_text

    between = " " if error.title.endswith("?") else ": "
    sys.stderr.write(f"skilld: {between.join(filter(None, [safe_text(error.title), safe_text(error.cause)]))}\n")
    if error.remedy:
        sys.stderr.write(f"  {safe_text(error.remedy)}\n")


if __name__ == "__main__":
    sys.exit(main())
