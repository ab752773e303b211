"""The program: `skilld statusline` at once, and everything else through `skilld.entry`.

A status line runs each few hundred milliseconds, and a Python that does nothing takes half the time that it may take.
So nothing is imported here that Python has not loaded to start; tests/unit/test_statusline.py holds it.
"""

import sys


def main(argv: "list[str] | tuple[str, ...] | None" = None) -> int:
    """Run one command; returns its exit code."""
    given = sys.argv[1:] if argv is None else list(argv)
    if given[:1] == ["statusline"]:
        from skilld.statusline import answer

        if answer(given[1:]):
            return 0
    from skilld.entry import main as run

    return run(given)


if __name__ == "__main__":
    sys.exit(main())
