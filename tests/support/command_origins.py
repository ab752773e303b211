"""The five legitimate origins of a person's command, each with real processes and a real pty.

An editor, ssh and a desktop terminal are programs of that name that do what those do (ssh is a real server where one is
installed); tmux is real; the shell of a container is a process that enters a process namespace from outside.
"""

from __future__ import annotations

import os
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from support.fake_callers import in_terminal
from support.waiting import LIMIT, wait_for

_SSHD = next((path for path in ("/usr/sbin/sshd", "/usr/local/sbin/sshd") if os.access(path, os.X_OK)), "")
CAN_ENTER = os.geteuid() == 0 and bool(shutil.which("unshare") and shutil.which("nsenter"))
Run = Callable[[Sequence[str], Path, Mapping[str, str]], int]


def _plain(command: Sequence[str], cwd: Path, environment: Mapping[str, str]) -> int:
    result = subprocess.run(
        list(command), cwd=cwd, env=dict(environment), stdin=subprocess.DEVNULL, capture_output=True, check=False,
        timeout=3 * LIMIT,
    )  # fmt: skip
    return result.returncode


def run_in_desktop_terminal(command: Sequence[str], cwd: Path, environment: Mapping[str, str]) -> int:
    """Run in a desktop's terminal."""
    return _plain(
        [*in_terminal("gnome-terminal-server"), "bash", "-c", f"{shlex.join(command)}; exit $?"], cwd, environment
    )


def run_in_editor_terminal(command: Sequence[str], cwd: Path, environment: Mapping[str, str]) -> int:
    """Run in an editor's integrated terminal."""
    return _plain([*in_terminal("code"), "bash", "-c", f"{shlex.join(command)}; exit $?"], cwd, environment)


def run_in_tmux(command: Sequence[str], cwd: Path, environment: Mapping[str, str]) -> int:
    """Run in a pane of tmux."""
    with tempfile.TemporaryDirectory(prefix="pane-") as folder:
        code = Path(folder) / "code"
        line = (
            f"{shlex.join(['env', '-i', *_pairs(environment), *command])}; echo $? > {code}.new; mv {code}.new {code}"
        )
        at = ["tmux", "-S", f"{folder}/socket", "-f", "/dev/null"]
        subprocess.run(
            [*at, "new-session", "-d", "-c", str(cwd), line], env=dict(environment), check=True, timeout=LIMIT
        )
        try:
            wait_for("the pane to end", code.exists, 3 * LIMIT)
            return int(code.read_text())
        finally:
            subprocess.run([*at, "kill-server"], env=dict(environment), capture_output=True, check=False, timeout=LIMIT)


def run_over_ssh(command: Sequence[str], cwd: Path, environment: Mapping[str, str]) -> int:
    """Run in a login by ssh: by a real server and client where both are there, else below a process named sshd."""
    if not (_SSHD and shutil.which("ssh") and shutil.which("ssh-keygen")):
        return _plain([*in_terminal("sshd"), "bash", "-c", f"{shlex.join(command)}; exit $?"], cwd, environment)
    with _server() as client:
        line = f"cd {shlex.quote(str(cwd))} && exec {shlex.join(['env', '-i', *_pairs(environment), *command])}"
        return _plain([*client, line], cwd, environment)


@contextmanager
def _server() -> Iterator[list[str]]:
    """Run a server of one's own on a free port; gives the client's command."""
    with tempfile.TemporaryDirectory(prefix="sshd-") as name, socket.socket() as free:
        folder = Path(name)
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        free.close()
        for key in ("host", "mine"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / key)], check=True)
        Path("/run/sshd").mkdir(exist_ok=True)
        options = [f"HostKey={folder}/host", f"AuthorizedKeysFile={folder}/mine.pub", "StrictModes=no", "UsePAM=no"]
        options += ["ListenAddress=127.0.0.1", f"PidFile={folder}/pid", "PermitRootLogin=yes"]
        words = [word for option in options for word in ("-o", option)]
        server = subprocess.Popen(
            [_SSHD, "-D", "-e", "-f", "/dev/null", "-p", str(port), *words], stderr=subprocess.DEVNULL
        )
        try:
            wait_for("sshd to listen", lambda: _listens(port), LIMIT)
            known = ["-o", "StrictHostKeyChecking=no", "-o", f"UserKnownHostsFile={folder}/known"]
            yield ["ssh", "-F", "/dev/null", "-tt", "-q", "-i", f"{folder}/mine", "-p", str(port), *known, "127.0.0.1"]
        finally:
            server.terminate()
            server.wait(LIMIT)


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def run_in_container(command: Sequence[str], cwd: Path, environment: Mapping[str, str]) -> int:
    """Run in a process namespace that is entered from outside, as `docker exec -it` does: the parent is process 0."""
    first = subprocess.Popen(
        ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child", "sleep", "infinity"], stdin=subprocess.DEVNULL
    )
    try:
        wait_for("the namespace", lambda: bool(_children(first.pid)), LIMIT)
        inside = _children(first.pid)[0]
        enter = ["nsenter", "--target", inside, "--pid", "--mount", f"--wdns={cwd}"]
        shell = [sys.executable, "-c", _AT_A_PTY, *command]
        return _plain([*enter, *shell], cwd, environment)
    finally:
        first.kill()
        first.wait(LIMIT)


# What runc does for a process with a terminal: a session of its own, controlled by a new pty. The parent is outside.
_AT_A_PTY = """
import fcntl, os, sys, termios
os.setsid()
master, slave = os.openpty()
os.set_inheritable(master, True)  # a terminal whose other end is closed hangs up
fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
os.execvp(sys.argv[1], sys.argv[1:])
"""


def _children(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()


def _pairs(environment: Mapping[str, str]) -> list[str]:
    return [f"{name}={value}" for name, value in environment.items()]


ORIGINS: dict[str, Run] = {
    "an editor's terminal": run_in_editor_terminal,
    "ssh": run_over_ssh,
    "tmux": run_in_tmux,
    "a desktop terminal": run_in_desktop_terminal,
    "a container shell": run_in_container,
}
