"""Y9: a program forked from the warm process behaves like a started one, and no run sees another."""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from skilld.classify.backends import OFFLINE, Spec
from skilld.protocol import MEND_RULES, AnalyseBatch, BatchJob, Job, RecoverProposals, Result
from skilld.types import Outcome
from skilld.worker.spawn import VerbWorker, Worker, worker_environment
from support import in_process, warm, warm_server
from support.fake_callers import in_terminal
from support.processes import processes_of
from support.program import Program
from support.waiting import LIMIT, wait_for

pytestmark = pytest.mark.skipif(not warm.fits(Program(Path("/")).environment), reason="programs are started anew here")
# Tells what a program can see of itself, and ends as its first word says.
PROBE = """\
import atexit, json, locale, os, random, signal, stat, sys, tempfile, threading, time

def sees():
    streams = [sys.stdin, sys.stdout, sys.stderr]
    fields = {}
    for line in open("/proc/self/status"):
        name, _, value = line.partition(":")
        if name in ("Umask", "SigBlk", "SigIgn", "SigCgt", "Threads"):
            # Signals 32 and 33 belong to the C library, which ignores them or not as its threads went.
            fields[name] = f"{int(value, 16) & ~(3 << 31):x}" if name.startswith("Sig") else value.strip()
    umask = os.umask(0)
    os.umask(umask)
    return {
        "argv": sys.argv, "path": sys.path[0], "environment": dict(os.environ), "folder": os.getcwd(), "umask": umask,
        "streams": [(one.encoding, one.errors, one.isatty(), one.line_buffering, one.newlines) for one in streams],
        "kinds": [stat.S_IFMT(os.fstat(number).st_mode) for number in range(3)],
        "leads": os.getsid(0) == os.getpid(), "group": os.getpgid(0) == os.getpid(),
        "terminal": stat.S_ISCHR(os.stat("/dev/tty").st_mode) and os.close(os.open("/dev/tty", os.O_RDWR)) is None,
        "foreground": os.tcgetpgrp(tty()) == os.getpid(), "time": time.tzname, "here": time.localtime(0)[:5],
        "locale": locale.setlocale(locale.LC_CTYPE), "files": sorted(map(int, os.listdir("/proc/self/fd")))[:-1],
        "temporary": tempfile.gettempdir(), "status": fields, "python": [sys.executable, sys.prefix],
        "handlers": [str(signal.getsignal(one)) for one in (signal.SIGINT, signal.SIGCHLD, signal.SIGPIPE)],
        "shown": [word for word in open("/proc/self/cmdline").read().split("\\0") if word],
        "waits": signal.set_wakeup_fd(-1), "nice": os.nice(0), "child": _has_children(),
    }

def tty():
    global terminal
    terminal = os.open("/dev/tty", os.O_RDWR)
    return terminal

def _has_children():
    try:
        os.waitpid(-1, os.WNOHANG)
    except ChildProcessError:
        return False
    return True

def main():
    how = sys.argv[1]
    atexit.register(lambda: (sys.stdout.write("at the end\\n"), sys.stdout.flush()))
    if how == "sees":
        found = sees()
        print(json.dumps(found), random.random() if "dice" in sys.argv else "")
    elif how == "reads":
        sys.stdout.write(sys.stdin.read().upper())
        sys.stderr.write("\\udcff\\n")
    elif how == "code":
        return int(sys.argv[2])
    elif how == "words":
        sys.exit("it ends with words")
    elif how == "raises":
        raise ValueError("no")
    elif how == "killed":
        os.kill(os.getpid(), int(sys.argv[2]))
    elif how == "thread":
        threading.Timer(0.1, lambda: print("the thread is done")).start()
    elif how == "stays":
        print("here", flush=True)
        signal.pause()
    elif how == "deaf":
        os.close(1)
        print("nobody hears this")
    elif how == "hides":
        os.environ["HIDDEN"] = "1"
        os.umask(0o777)
        os.chdir("/")
        sys.path.append("/hidden")
        random.seed(1)
        os.environ["TZ"] = "XYZ+5"
        time.tzset()

if __name__ == "__main__":
    sys.exit(main())
"""


@pytest.fixture
def program(home: Path) -> Program:
    """Return a program whose folder holds the probe."""
    (home / "probe").mkdir()
    (home / "probe/__init__.py").touch()
    (home / "probe/__main__.py").write_text(PROBE)
    return Program(home, {"TZ": "Europe/Vienna", "TMPDIR": str(home)})


def run_forked(program: Program, *words: str, typed: str = "") -> subprocess.CompletedProcess[str]:
    return warm.run(("probe", *words), program.home, program.environment, typed=typed, timeout=LIMIT)


def run_started(program: Program, *words: str, typed: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*in_terminal(), sys.executable, "-m", "probe", *words],
        cwd=program.home,
        env=program.environment,
        input=typed,
        capture_output=True,
        text=True,
        timeout=LIMIT,
        check=False,
    )


def printed_json(done: subprocess.CompletedProcess[str]) -> Any:
    return json.loads(done.stdout.splitlines()[0])


def test_y9_a_forked_program_sees_of_itself_what_a_started_one_does(program: Program) -> None:
    before = os.umask(0o27)
    try:
        anew, forked = printed_json(run_started(program, "sees")), printed_json(run_forked(program, "sees"))
    finally:
        os.umask(before)
    assert forked == anew
    assert anew["umask"] == 0o27
    assert anew["files"] == [0, 1, 2, 3]
    assert anew["leads"]
    assert anew["foreground"]
    assert anew["here"][3] == 1  # one hour after midnight in Vienna


@pytest.mark.parametrize(
    "words",
    [
        ("reads",),
        ("code", "0"),
        ("code", "3"),
        ("code", "300"),
        ("words",),
        ("killed", "15"),
        ("killed", "9"),
        ("killed", "2"),
        ("thread",),
        ("deaf",),
    ],
    ids=" ".join,
)
def test_y9_it_exits_like_a_started_one(program: Program, words: tuple[str, ...]) -> None:
    typed = "ünd\r\nso\n"
    anew, forked = (run(program, *words, typed=typed) for run in (run_started, run_forked))
    assert (forked.returncode, forked.stdout) == (anew.returncode, anew.stdout)
    if words[0] not in {"deaf", "killed"}:  # an interpreter that ends names the function that failed
        assert forked.stderr == anew.stderr


def test_y9_a_long_running_fork_is_found_by_its_home_and_stopped(program: Program) -> None:
    with (program.home / "printed").open("wb") as output:
        process = warm.start(("probe", "stays"), program.home, program.environment, output.fileno())
    wait_for("its first line", lambda: (program.home / "printed").read_text() == "here\n")
    shown = processes_of(program.home)[process.pid]
    assert (shown.split(b"\0")[1:4], process.poll()) == ([b"-m", b"probe", b"stays"], None)
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(0)
    process.terminate()
    assert (process.wait(LIMIT), process.poll()) == (-signal.SIGTERM, -signal.SIGTERM)
    assert processes_of(program.home) == {}


def test_y9_a_verb_forked_by_a_daemon_sees_it_among_its_ancestors(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program, control = Program(home), warm._the_server(str(warm.REPOSITORY)).control
    above = os.getpid()

    def start(command: list[str], **options: Any) -> Any:
        if not warm_server.is_child_of_daemon(command):
            return subprocess.Popen(command, **options)
        return warm_server.LentWorker(control, command, options["env"], below=above)

    pipes = {"PIPE": subprocess.PIPE, "DEVNULL": subprocess.DEVNULL}
    monkeypatch.setattr("skilld.worker.spawn.subprocess", SimpleNamespace(Popen=start, **pipes))
    job = Job(MEND_RULES, 0o077)
    with program.daemon() as daemon, VerbWorker(program.environment) as worker:
        assert worker.do(job, LIMIT).exit == 5, "only a daemon may have it"
        above = daemon.pid
        assert worker.do(job, LIMIT) == Result(outcome=Outcome.NOTHING)


def test_a_job_that_is_done_here_sees_what_a_worker_does(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def look() -> tuple[Path, dict[str, str], int]:
        os.umask(umask := os.umask(0))
        return Path.cwd(), dict(os.environ), umask

    def does(_job: Job, _daemon: object) -> Result:
        seen.append(look())
        os.environ["LEFT"] = "behind"
        return Result(outcome=Outcome.NOTHING, detail="here")

    seen = list[tuple[Path, dict[str, str], int]]()
    monkeypatch.setenv("GIT_DIR", "/elsewhere")
    monkeypatch.setattr("skilld.worker.__main__._dispatch", does)
    before, given = look(), {"HOME": str(home), "GIT_DIR": "/elsewhere"}
    do = in_process._do_here(lambda *_: Result(outcome=Outcome.NOTHING, detail="in a fork"))
    batch = AnalyseBatch(batch=BatchJob(), closed_at="", backend=Spec(OFFLINE), matcher=Spec("a model"))
    works = (RecoverProposals(()), batch, MEND_RULES)
    done = [do((VerbWorker if work is works[2] else Worker)(given), Job(work, 0o027), LIMIT) for work in works]
    assert [one.detail for one in done] == ["here", "in a fork", "in a fork"]
    assert seen == [(Path("/"), worker_environment(given), 0o027)]
    assert look() == before


def test_y9_an_uncaught_exception_is_shown(program: Program) -> None:
    result = run_forked(program, "raises")
    assert (result.returncode, result.stderr.splitlines()[-1]) == (1, "ValueError: no")
    assert result.stdout == "at the end\n"


def test_y9_no_run_sees_what_another_did(program: Program) -> None:
    first = run_forked(program, "sees", "dice")
    assert run_forked(program, "hides").returncode == 0
    last = run_forked(program, "sees", "dice")
    dice = [json.loads(done.stdout.splitlines()[0].rpartition(" ")[2]) for done in (first, last)]
    assert dice[0] != dice[1]
    one, other = (json.loads(done.stdout.splitlines()[0].rpartition(" ")[0]) for done in (first, last))
    assert one == other
    assert "HIDDEN" not in other["environment"]


def test_y9_commands_answer_as_started_ones_do(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = Program(home)
    assert program.run("run", "--once").returncode == 0
    verbs = (("doctor", "--json"), ("nonsense",), ("show", "ffffffff"))
    forked = [program.run(*verb) for verb in verbs]
    monkeypatch.setenv(warm.CHOSEN, "0")
    anew = [program.run(*verb) for verb in verbs]
    assert [(one.returncode, one.stderr) for one in forked] == [(one.returncode, one.stderr) for one in anew]
    assert [one.stdout.splitlines()[:1] for one in forked] == [one.stdout.splitlines()[:1] for one in anew]
    assert [one.returncode for one in anew[1:]] != [0] * 2


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("LANG", "de_AT.UTF-8"),
        ("LC_ALL", "C"),
        ("PYTHONPATH", "/elsewhere"),
        ("PYTHONFAULTS", "/x"),
        (warm.CHOSEN, "0"),
    ],
)
def test_y9_variables_python_reads_at_startup_need_a_real_start(
    home: Path, monkeypatch: pytest.MonkeyPatch, variable: str, value: str
) -> None:
    environment = Program(home).environment
    assert warm.fits(environment)
    assert not warm.fits(environment, "x" * 100_000)
    monkeypatch.setenv(warm.CHOSEN, "1")
    if variable == warm.CHOSEN:
        monkeypatch.setenv(variable, value)
    assert not warm.fits({**environment, variable: value} if variable != warm.CHOSEN else environment)


def test_a_library_that_is_kept_ready_is_found_where_it_is_and_comes_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    import wsgiref

    monkeypatch.setattr(sys, "meta_path", [warm_server._Imported("wsgiref"), *sys.meta_path])
    assert "wsgiref" not in sys.modules
    spec = importlib.util.find_spec("wsgiref")
    assert spec is not None
    assert spec.origin is not None
    assert spec.origin.endswith("/wsgiref/__init__.py")
    assert [Path(place).name for place in spec.submodule_search_locations or ()] == ["wsgiref"]
    assert importlib.import_module("wsgiref") is wsgiref
