"""The program: answers `skilld statusline` itself, and leaves everything else to `skilld.entry`.

A status line may run several times a second within 20 ms, and starting Python takes 11 of them. So this imports nothing
that Python has not loaded by itself; tests/unit/test_statusline.py checks that.
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
