"""The number of waiting proposals for a status line or a shell prompt: a small file, and its reader.

The first line of the file is the text to show, empty if nothing is waiting, so that a shell can read it directly
(docs/statusline.md). A line for each agent follows with its name and the number of proposals from its sessions. The
reader has 20 ms, and starting Python takes half of that, so this module imports only `os` and `sys`.
"""

import os
import sys

FILE = "statusline"
MAX_CHARACTERS = 40
_MAX_BYTES = 4096


def line(waiting: int) -> str:
    """Return the text to show; empty if nothing is waiting."""
    return f"skilld: {waiting} waiting" if waiting else ""


def content(by_agent: "dict[str, int]") -> bytes:
    """Return the content of the file. Proposals recovered from git may have no agent, whose name is then empty."""
    lines = [line(sum(by_agent.values())), *(f"{agent or '-'} {number}" for agent, number in sorted(by_agent.items()))]
    return "".join(f"{one}\n" for one in lines).encode("ascii", "replace")


def numbers(data: bytes) -> "dict[str, int] | None":
    """Return the numbers in such a file by agent, None if it is not exactly what skilld wrote, such as truncated."""
    try:
        first, *rows = data.decode("ascii").removesuffix("\n").split("\n")
        found = {agent: int(number) for agent, number in (row.split(" ") for row in rows)}
    except ValueError:
        return None
    whole = data == content({"" if agent == "-" else agent: number for agent, number in found.items()})
    return found if whole and len(first) <= MAX_CHARACTERS and min(found.values(), default=0) >= 0 else None


def folder() -> str:
    """Return the folder of the file: `Places.state`, without importing what `skilld.paths` needs."""
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
    """Return the content of the file, empty if it is missing or not a regular file."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW)  # a pipe would block us
    except OSError:
        return b""
    try:
        return os.read(descriptor, _MAX_BYTES + 1)
    except OSError:
        return b""
    finally:
        os.close(descriptor)


def answer(arguments: "list[str]") -> bool:
    """Print the line for these arguments; False if the full parser has to handle them."""
    agent = ""
    if len(arguments) == 1 and arguments[0].startswith("--agent="):
        agent = arguments[0].removeprefix("--agent=")
    elif len(arguments) == 2 and arguments[0] == "--agent":  # noqa: PLR2004 - the option and its value
        agent = arguments[1]
    elif arguments:
        return False
    found = numbers(read(f"{folder()}/{FILE}"))
    if agent and found is not None and agent not in found:
        return False  # perhaps a typing error
    print_line(found or {}, agent)
    return True


def print_line(waiting: "dict[str, int]", agent: str = "") -> None:
    """Print the line of one agent, or of all. The reader may already be gone."""
    if text := line(waiting.get(agent, 0) if agent else sum(waiting.values())):
        try:  # noqa: SIM105 - contextlib takes a millisecond or two to import
            os.write(1, f"{text}\n".encode("ascii"))
        except OSError:
            pass
