"""A real `systemd --user` of a plain user, without a systemd that runs the machine.

The manager gets its own control group, mount namespace and /run, all made by root, and then runs as a user that has
nothing else here. Commands are run beside it, in its namespaces, as that user. Nothing on the machine changes except a
control group and a temporary folder, which are removed with it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from support.waiting import LIMIT, wait_for

USER = 12345
ROOT = Path(__file__).resolve().parents[2]
SYSTEMD = Path("/lib/systemd/systemd")
PROGRAMS = ("systemctl", "systemd-analyze", "unshare", "nsenter", "setpriv", "mount")
_AS_USER = ("setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups", "--no-new-privs")
# Arguments: the control group's processes file, and pairs of a folder to show to the user and the one that hides it.
_INSIDE = """
set -eu
mount --make-rprivate /
mount -t cgroup2 none /sys/fs/cgroup
chown "$OWNER" /sys/fs/cgroup /sys/fs/cgroup/cgroup.procs /sys/fs/cgroup/cgroup.subtree_control
mount -t tmpfs -o mode=755 none /run
mkdir -p /run/systemd/system
number=0
while [ "$1" != -- ]; do
    number=$((number + 1)); shown=$1; hidden=$2; shift 2
    mkdir "/run/shown$number"; mount --bind "$shown" "/run/shown$number"
    mount -t tmpfs -o mode=755 none "$hidden"
    mkdir -p "$shown"; mount --bind "/run/shown$number" "$shown"
done
shift
exec "$@"
"""


def unavailable_reason() -> str:
    """Return why no user manager can run here, or "". tools/live_desktop.py installs what it needs."""
    if sys.platform != "linux":
        return "systemd is Linux's"
    if os.geteuid() != 0:
        return "only root can build a user manager of its own"
    missing = [name for name in PROGRAMS if shutil.which(name) is None]
    if missing or not SYSTEMD.exists():
        return f"not installed: {', '.join(missing or [str(SYSTEMD)])}"
    return "" if _cgroup2() else "no second version of control groups is mounted"


class UserManager:
    """The running manager. `home` is the user's, `environment` what its commands get."""

    def __init__(self, process: subprocess.Popen[bytes], home: Path, runtime: Path) -> None:
        self.process = process
        self.home = home
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "LANG": "C.UTF-8",
            "XDG_RUNTIME_DIR": str(runtime),
        }

    def run(self, *command: str, env: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
        """Run a command as the user, beside the manager, and return its result."""
        inside = ("nsenter", f"--target={self.process.pid}", "--mount", "--cgroup", f"--wd={self.home}")
        return subprocess.run(
            [*inside, *_AS_USER, *command],
            env={**self.environment, **(env or {})},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=LIMIT,
        )

    def systemctl(self, *arguments: str) -> str:
        """Run systemctl as the user and return what it printed; a failure fails the test."""
        result = self.run("systemctl", "--user", "--no-pager", *arguments)
        assert result.returncode == 0, result.stdout + result.stderr
        return result.stdout.strip()

    def shown(self, unit: str, *properties: str) -> dict[str, str]:
        """Return properties of a unit."""
        text = self.systemctl("show", f"--property={','.join(properties)}", unit)
        return dict(line.split("=", 1) for line in text.splitlines())

    def write(self, name: str, text: str) -> None:
        """Write a file of the user's below the home."""
        path = self.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        for made in (path, *path.relative_to(self.home).parents):
            os.chown(self.home / made, USER, USER)


@contextmanager
def user_manager() -> Iterator[UserManager]:
    """Start a manager for a user with an empty home, and end it with all that it started."""
    folder = Path(tempfile.mkdtemp(prefix="skilld-user-")).resolve()
    group = Path(tempfile.mkdtemp(prefix="skilld-user-", dir=_cgroup2()))
    home, runtime = folder / "home", folder / "run"
    folder.chmod(0o755)
    for path in (home, runtime):
        path.mkdir(mode=0o700)
        os.chown(path, USER, USER)
    manager = UserManager(_start(group, home, runtime, folder / "log"), home, runtime)
    try:
        socket = runtime / "systemd/private"
        wait_for("the user manager", socket.exists, context=lambda: (folder / "log").read_text(errors="replace"))
        yield manager
    finally:
        (group / "cgroup.kill").write_text("1") if (group / "cgroup.kill").exists() else manager.process.kill()
        manager.process.wait(LIMIT)
        wait_for("the control group to be empty", lambda: not _processes(group))
        for path in sorted((path for path in group.rglob("*") if path.is_dir()), reverse=True):
            path.rmdir()
        group.rmdir()
        shutil.rmtree(folder)


def _start(group: Path, home: Path, runtime: Path, log: Path) -> subprocess.Popen[bytes]:
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), "XDG_RUNTIME_DIR": str(runtime)}
    command = ["unshare", "--mount", "--cgroup", "sh", "-c", _INSIDE, "sh", *_hidden(), "--", *_AS_USER]
    with log.open("wb") as output:
        return subprocess.Popen(
            # The shell goes into the control group first: unshare makes that the root of what is seen inside.
            ["sh", "-c", 'echo $$ > "$0"; exec "$@"', str(group / "cgroup.procs"), *command, str(SYSTEMD), "--user"],
            env={**environment, "OWNER": str(USER), "SYSTEMD_LOG_TARGET": "console"},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )


def _hidden() -> Sequence[str]:
    """Return the folders of Python and skilld, each with the folder above it that keeps the user out."""
    pairs: list[str] = []
    for shown in (ROOT, Path(sys.base_prefix)):
        closed = [folder for folder in (shown, *shown.parents) if not folder.stat().st_mode & 0o001]
        if closed:
            pairs += [str(shown), str(closed[-1])]
    return pairs


def _cgroup2() -> str:
    rows = (line.split() for line in Path("/proc/self/mounts").read_text(encoding="utf-8").splitlines())
    return next((row[1] for row in rows if row[2] == "cgroup2"), "")


def _processes(group: Path) -> str:
    return "".join(path.read_text() for path in group.rglob("cgroup.procs"))
