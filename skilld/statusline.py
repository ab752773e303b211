"""How many proposals wait, for a status line or a shell prompt: the small file that says so, and what reads it.

The first line of the file is what is shown, empty where nothing waits, so that a shell can read it by itself
(docs/statusline.md). Then comes a line for each agent: its name, and how many proposals its sessions gave. It is read
by a process that may take 20 ms, of which Python's own start takes half: this module imports only `os` and `sys`.
"""

import os
import sys

FILE = "statusline"
MOST_CHARACTERS = 40
_MOST_BYTES = 4096


def line(waiting: int) -> str:
    """Return what is shown; nothing where nothing waits."""
    return f"skilld: {waiting} waiting" if waiting else ""


def content(by_agent: "dict[str, int]") -> bytes:
    """Return what the file holds. An agent without a name is that of proposals found again in git."""
    lines = [line(sum(by_agent.values())), *(f"{agent or '-'} {number}" for agent, number in sorted(by_agent.items()))]
    return "".join(f"{one}\n" for one in lines).encode("ascii", "replace")


def numbers(data: bytes) -> "dict[str, int] | None":
    """Return the numbers in such a file, by agent; None where it is no whole file of ours: cut off, say, or edited."""
    try:
        first, *rows = data.decode("ascii").removesuffix("\n").split("\n")
        found = {agent: int(number) for agent, number in (row.split(" ") for row in rows)}
    except ValueError:
        return None
    whole = data == content({"" if agent == "-" else agent: number for agent, number in found.items()})
    return found if whole and len(first) <= MOST_CHARACTERS and min(found.values(), default=0) >= 0 else None


def folder() -> str:
    """Return the folder that holds the file: `Places.state`, found without what `skilld.paths` imports."""
    base = os.environ.get("XDG_STATE_HOME", "")
    if base.startswith("/"):
        return f"{base}/skilld"
    home = os.environ.get("HOME", "")
    if not home:
        import pwd

        home = pwd.getpwuid(os.getuid()).pw_dir
    below = "Library/Application Support" if sys.platform == "darwin" else ".local/state"
    return f"{home}/{below}/skilld"


def read(path: str) -> bytes:
    """Return what the file holds; nothing where there is none, or something else is in its place."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW)  # a pipe would block
    except OSError:
        return b""
    try:
        return os.read(descriptor, _MOST_BYTES + 1)
    except OSError:
        return b""
    finally:
        os.close(descriptor)


def answer(arguments: "list[str]") -> bool:
    """Print the line for these arguments; False where they are for the parser of all commands to look at."""
    agent = ""
    if len(arguments) == 1 and arguments[0].startswith("--agent="):
        agent = arguments[0].removeprefix("--agent=")
    elif len(arguments) == 2 and arguments[0] == "--agent":  # noqa: PLR2004 - the option and its value
        agent = arguments[1]
    elif arguments:
        return False
    found = numbers(read(f"{folder()}/{FILE}"))
    if agent and found is not None and agent not in found:
        return False  # a mistake in typing, perhaps
    tell(found or {}, agent)
    return True


def tell(waiting: "dict[str, int]", agent: str = "") -> None:
    """Print the line of one agent, or of all. Whoever reads it may be gone already."""
    if text := line(waiting.get(agent, 0) if agent else sum(waiting.values())):
        try:  # noqa: SIM105 - contextlib takes a millisecond or two to import
            os.write(1, f"{text}\n".encode("ascii"))
        except OSError:
            pass
