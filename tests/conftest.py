"""Isolates every test from the person's machine: its own home, a minimal environment, no network but loopback.

A test that reaches outside in this process (opens a file of the real home, connects to another machine) gets an error
at once, and fails even if the code under test swallows that error. Child processes are not watched; they inherit the
environment, which names nothing of the real home.
"""

from __future__ import annotations

import gc
import ipaddress
import itertools
import os
import pwd
import shutil
import signal
import socket
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import hypothesis
import pytest

from support import git_clock, no_sync, warm, warm_server
from support.fake_callers import terminal_process_tree
from support.forks import Forks

if TYPE_CHECKING:
    from support.in_process_daemon import InProcessDaemon

ROOT = Path(__file__).resolve().parents[1]
MEMORY = Path("/dev/shm")  # noqa: S108 - each test has a folder of its own in it
MEMORY_ROOM = 1 << 30  # bytes; the tests have a fifth of it at a time
DAY = 24 * 3600
MONTH = 30 * DAY
GIT_FOLDER = pytest.StashKey[Path]()
_HOMES = itertools.count()
KEPT = {
    "PATH",
    "LANG",
    "TERM",
    "TMPDIR",
    "TZ",
    "USER",
    "LOGNAME",
    "VIRTUAL_ENV",
    "CI",
    "LIVE_CLIENTS_DIR",
    git_clock.CHOSEN,
    warm.CHOSEN,
}
KEPT_PREFIXES = ["LC_", "PYTHON", "PYTEST", "HYPOTHESIS_", "COVERAGE_"]
OF_INSTALLERS = ("PIP_", "UV_", "SSL_")  # how this machine asks the package index; others would take it for a person's
IDENTITY = {"NAME": "Ada Tester", "EMAIL": "ada@example.org"}
# Audit events of Python (docs: "Audit events table") whose arguments name files, and those that name other machines.
FILE_EVENTS = {"open", "sqlite3.connect", "shutil.rmtree", "os.listdir", "os.scandir", "os.mkdir", "os.rmdir"}
FILE_EVENTS |= {"os.remove", "os.rename", "os.link", "os.symlink", "os.truncate", "os.chmod", "os.utime"}
NETWORK_EVENTS = {"socket.connect", "socket.sendto", "socket.sendmsg"}
PROCESS_EVENTS = {"subprocess.Popen", "os.fork", "os.forkpty", "os.posix_spawn", "os.exec"}

# Timing belongs in benchmarks: a slow machine must not fail a property, neither in itself nor in making its examples.
# The examples are the same every time, so that no change fails by chance; a long run, with HYPOTHESIS_EXAMPLES, looks
# for others.
hypothesis.settings.register_profile(
    "skilld",
    deadline=None,
    derandomize="HYPOTHESIS_EXAMPLES" not in os.environ,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
hypothesis.settings.load_profile("skilld")


class FenceError(RuntimeError):
    """A test reached for something outside its fence."""


class Fence:
    """An audit hook that refuses access to the real home and the network; `reached` lists what was refused."""

    def __init__(self) -> None:
        self.reached: list[str] = []
        self.quick = False  # no child processes either
        homes = {Path.home(), Path(pwd.getpwuid(os.getuid()).pw_dir)}
        self.homes = tuple(f"{home}/" for home in homes if home != Path("/"))
        # Python itself, this repository and the data beside it may lie below the home.
        temporary = [str(MEMORY), tempfile.gettempdir()]
        open_to_tests = [ROOT, ROOT.parent / "shared", sys.base_prefix, *temporary, sys.pycache_prefix]
        self.open_to_tests = tuple(f"{path}/" for path in [*open_to_tests, *sys.path] if path)

    def __call__(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Raise FenceError if an audit event reaches outside."""
        if event in FILE_EVENTS:
            for path in arguments:
                if isinstance(path, str | bytes | os.PathLike) and self.is_private(os.fsdecode(path)):
                    self.refuse(f"{event} {os.fsdecode(path)}")
        elif event in NETWORK_EVENTS:
            connection, address = arguments
            if connection.family in {socket.AF_INET, socket.AF_INET6} and not is_loopback(address[0]):
                self.refuse(f"{event} {address}")
        elif event in PROCESS_EVENTS and self.quick:
            raise FenceError("a quick test starts no process: name its module in NOT_QUICK (tests/unit/conftest.py)")
        elif event == "socket.getaddrinfo" and not is_loopback(arguments[0]):
            self.refuse(f"{event} {arguments[0]}")

    def is_private(self, path: str) -> bool:
        """Whether a path is in the person's home and not needed by tests."""
        full = os.path.abspath(path) + "/"  # noqa: PTH100 - it touches no disk, and pathlib's resolve() would
        return full.startswith(self.homes) and not full.startswith(self.open_to_tests)

    def refuse(self, what: str) -> None:
        self.reached.append(what)
        raise FenceError(f"tests must not touch the real home or the network: {what}")


def is_loopback(host: str | bytes | None) -> bool:
    """Whether a host name or address is this machine's own (None is what a listening socket asks for)."""
    name = os.fsdecode(host or "localhost")
    try:
        return name == "localhost" or ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


FENCE = Fence()


def plain_environment(home: Path) -> dict[str, str]:
    """Return the environment of a test: what programs need to run, with `home` as the home.

    XDG_*, CLAUDE_CONFIG_DIR, CODEX_HOME and their like are left out, so everything follows HOME, also for a test that
    starts a program in yet another home; provider keys, the session bus and an outer agent's variables are gone.
    """
    kept = {name: value for name, value in os.environ.items() if name in KEPT or name.startswith(tuple(KEPT_PREFIXES))}
    identity = {f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER") for what, value in IDENTITY.items()}
    git = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_TERMINAL_PROMPT": "0", "GIT_ALLOW_PROTOCOL": "file"}
    return {**kept, **identity, **git, **variables_of(home)}


def variables_of(home: Path) -> dict[str, str]:
    """Return the variables that name a home, the only ones in which the environments of two tests differ."""
    return {"HOME": str(home), "XDG_RUNTIME_DIR": f"{home}/.runtime", "GIT_CONFIG_GLOBAL": f"{home}/.gitconfig"}


def furnish(home: Path) -> None:
    """Add a git identity to a home, for programs that drop GIT_* variables."""
    (home / ".runtime").mkdir(mode=0o700)
    user = f"[user]\n\tname = {IDENTITY['NAME']}\n\temail = {IDENTITY['EMAIL']}\n"
    branch = "[init]\n\tdefaultBranch = main\n"
    (home / ".gitconfig").write_text(user + branch + git_clock.NO_TIDYING, encoding="utf-8")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--forks`."""
    parser.addoption("--forks", default="0", help="processes for the tests; auto: by the processors")


def keep_files_in_memory() -> None:
    """Keep temporary files, and so every home, in memory if /dev/shm exists and has enough room.

    Creating and removing a folder costs forty times the processor time on a disk, a third of the whole run.
    """
    if "TMPDIR" in os.environ or not os.access(MEMORY, os.W_OK):
        return
    memory = os.statvfs(MEMORY)
    if not memory.f_flag & os.ST_NOEXEC and memory.f_bavail * memory.f_frsize >= MEMORY_ROOM:
        os.environ["TMPDIR"] = tempfile.tempdir = str(MEMORY)


def pytest_configure(config: pytest.Config) -> None:
    """Isolate collection too: test modules import libraries that look around when imported."""
    gc.disable()  # until all are collected
    if not any("tests/live" in each or "tests/packages" in each for each in config.args):
        keep_files_in_memory()
    home = Path(tempfile.mkdtemp(prefix="skilld-home-"))
    config.add_cleanup(lambda: shutil.rmtree(home, ignore_errors=True))
    git_folder = config.stash[GIT_FOLDER] = Path(tempfile.mkdtemp(prefix=git_clock.PREFIX))
    config.add_cleanup(lambda: shutil.rmtree(git_folder, ignore_errors=True))
    furnish(home)
    if any("tests/packages" in each for each in config.args):
        KEPT_PREFIXES.extend(OF_INSTALLERS)
    environment = plain_environment(home)
    os.environ.clear()
    os.environ.update(environment)
    git_clock.install(git_folder)
    git_clock.restart(git_folder, int(time.time()))  # for fixtures of a module, which come before the first test
    sys.addaudithook(FENCE)
    if "not live" in config.option.markexpr:  # what `make test` runs: real clients sandbox themselves, or become others
        no_sync.install()
    # A script starts what it puts in the background with SIGINT ignored, and every child inherits that.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_finish() -> None:
    """Collect garbage from here on, but never among the collected tests, which stay; git readers need no clock."""
    gc.freeze()
    gc.enable()
    gc.set_threshold(50_000)  # by default it is looked for every 700 things, which took an eighth of all time
    if "skilld.git.run" in sys.modules:
        git_clock.use_real_git_for_readers()


def pytest_sessionstart(session: pytest.Session) -> None:
    """Start the warm servers of a whole run while one process collects the tests: the other processors have no work."""
    config = session.config
    if _has_forks(config) and config.option.markexpr != "quick":
        is_whole = config.args_source is pytest.Config.ArgsSource.TESTPATHS
        warm.shared_in, close = warm.share(at_once=is_whole)
        config.add_cleanup(close)


def _has_forks(config: pytest.Config) -> bool:
    # macOS: its frameworks do not bear a fork.
    return config.option.forks != "0" and not config.option.collectonly and sys.platform != "darwin"


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    """Run the tests in forks, if asked to."""
    config, asked = session.config, session.config.option.forks
    if not _has_forks(config) or session.testsfailed:
        return None
    is_quick = config.option.markexpr == "quick"
    # All but the quick ones wait for more than half of their time: with two more than there are processors, a third of
    # two was idle.
    count = (os.cpu_count() or 1) + (0 if is_quick else 6) if asked == "auto" else int(asked)
    base = config._tmp_path_factory.getbasetemp()  # type: ignore[attr-defined]
    if not is_quick:
        warm_server.load_skilld()
        if config.args_source is pytest.Config.ArgsSource.TESTPATHS:
            warm_server.load_litellm()  # or each fork does, for the first of its tests that asks a model
        gc.freeze()
        gc.enable()

    def begin(number: int) -> None:
        own = config._tmp_path_factory._basetemp = base / f"fork{number}"  # type: ignore[attr-defined]
        own.mkdir(mode=0o700)
        config.stash[GIT_FOLDER] = own / f"{git_clock.PREFIX}clock"
        git_clock.install(config.stash[GIT_FOLDER])
        git_clock.restart(config.stash[GIT_FOLDER], int(time.time()))

    Forks(session, count, begin).run()
    return True


@pytest.fixture(autouse=True)
def home(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Path]:
    """Give the test an empty home; fail it afterwards if it reached outside."""
    place = tmp_path_factory.getbasetemp() / f"home{next(_HOMES)}"  # mktemp looks through all that are there
    place.mkdir(mode=0o700)
    furnish(place)
    for name, value in variables_of(place).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("skilld.git.environment._taken", {})
    FENCE.reached.clear()
    # The proposals of unit tests are dated months ago and those of whole programs now; commits decide them afterwards.
    ago, slack = (MONTH, DAY) if "unit" in request.path.parts else (0, 0)
    git_clock.restart(request.config.stash[GIT_FOLDER], int(time.time()) - ago, slack)
    FENCE.quick = request.node.get_closest_marker("quick") is not None
    yield place
    FENCE.quick = False
    if not request.session.testsfailed:  # else it is looked at; all of them at the end took half a minute
        shutil.rmtree(place, ignore_errors=True)
    assert not FENCE.reached, f"the test touched the real home or the network: {FENCE.reached}"


@pytest.fixture(autouse=True)
def called_by_a_person(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make a person the caller of commands in this process, whoever runs the tests."""
    monkeypatch.setattr("skilld.cli.permissions.process_tree", terminal_process_tree)


@pytest.fixture
def scrubbed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take git's variables out of this process, as a program of skilld's does before it runs git."""
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)


@pytest.fixture
def daemon(home: Path, scrubbed: None) -> Iterator[InProcessDaemon]:
    """Give a daemon and its worker in the test's own process, following the home."""
    from support.in_process_daemon import InProcessDaemon

    del scrubbed
    made = InProcessDaemon(home)
    yield made
    made.close()


@pytest.fixture
def fence() -> Fence:
    """Give the fence itself, to its own test."""
    return FENCE
