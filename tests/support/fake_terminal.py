"""Runs a command as a terminal program does, and exits with its exit code. `python -IS fake_terminal.py COMMAND...`.

Three processes: this one waits; its grandchild, which nobody owns, is the terminal; the command leads a session that a
new pty controls. When this one is killed, so is the command.
"""

from __future__ import annotations

import fcntl
import os
import select
import signal
import sys
import termios


def main(command: list[str]) -> int:
    """Run `command`."""
    told, tells = os.pipe()
    alive, lives = os.pipe()
    middle = os.fork()
    if not middle:
        os.close(told)
        os.close(lives)
        if os.fork():
            os._exit(0)
        os._exit(terminal(command, tells, alive))
    os.close(tells)
    os.close(alive)
    os.waitpid(middle, 0)
    with os.fdopen(told, "rb") as file:
        code = int(file.read() or b"1")
    if code < 0:
        if -code != signal.SIGKILL:
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    return code


def terminal(command: list[str], tells: int, alive: int) -> int:
    """Be the terminal of `command` until it ends, or `alive` is at its end; write its exit code to `tells`."""
    os.setsid()
    master, slave = os.openpty()
    child = os.fork()
    if not child:
        os.setsid()
        fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
        for one in (master, slave, tells, alive):
            os.close(one)
        try:
            os.execvp(command[0], command)  # noqa: S606 - the command as it was given
        except OSError as error:
            os.write(2, f"{command[0]}: {error.strerror}\n".encode())
            os._exit(127)
    os.close(slave)
    for stream in (0, 1, 2):  # else whoever reads the command's output would wait for us
        os.close(stream)
    ended = os.pidfd_open(child) if hasattr(os, "pidfd_open") else -1
    while ended >= 0:
        ready, _, _ = select.select([ended, alive, master], [], [])
        if ended in ready:
            break
        if alive in ready:
            os.kill(child, signal.SIGKILL)
            break
        try:
            os.read(master, 65536)
        except OSError:
            break
    _, status = os.waitpid(child, 0)
    os.write(tells, str(os.waitstatus_to_exitcode(status)).encode())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
