"""Real worker processes that misbehave: each becomes a result in time, leaving nothing behind."""

from __future__ import annotations

import gc
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from skilld import codec
from skilld.classify.backends import OFFLINE, Spec
from skilld.classify.partial_results import WindowResult
from skilld.daemon.messages import Message, WorkerSlot
from skilld.protocol import (
    AnalyseBatch,
    BatchJob,
    BatchResult,
    GitResult,
    Job,
    JobEnd,
    KeepRequest,
    ObserveProposals,
    PartialResult,
    RecoverProposals,
    Result,
)
from skilld.types import Outcome, Usage
from skilld.worker import spawn
from skilld.worker.spawn import Worker, worker_environment
from support.processes import processes_of, workers_of
from support.rows import for_each
from support.waiting import LIMIT, wait_for

JOB = Job(RecoverProposals(()), 0o077)
LOOK = Job(ObserveProposals(now=0.0, proposals=()), 0o077)
BATCH = Job(AnalyseBatch(batch=BatchJob(), closed_at="", backend=Spec(OFFLINE)), 0o077)
LARGE = Job(RecoverProposals(("y" * 1_000_000,)), 0o077)
ANSWERED = WindowResult(window="w", model="m", usage=Usage())
PLAN = f"print({codec.encode(KeepRequest(ANSWERED))!r}, flush=True)"
DONE = Result(outcome=Outcome.NOTHING, detail="done")
RESULT = f"print({codec.encode(JobEnd(DONE, stays=False, asked_models=False))!r}, flush=True)"


class Bench:
    """Starts stand-ins for the worker's program: a package `skilld.worker` that stands before the real one."""

    def __init__(self, folder: Path) -> None:
        self._package = folder / "skilld/worker"
        self._package.mkdir(parents=True)
        (folder / "skilld/__init__.py").touch()
        (self._package / "__init__.py").touch()
        self.environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(folder), "HOME": str(folder)}
        self.plans: list[PartialResult] = []

    def worker(self, script: str) -> Worker:
        program = f"import json, os, signal, subprocess, sys, time\n{script}\n"
        (self._package / "__main__.py").write_text(program)
        return Worker(self.environment)

    def run(self, script: str, *, seconds: float = LIMIT, job: Job = JOB) -> Result:
        with self.worker(script) as worker:
            return worker.do(job, seconds, self.plans.append)


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def _detail(result: Result) -> str:
    assert result.outcome is Outcome.RETRY
    return result.detail


def test_a_job_goes_in_and_its_result_comes_out(bench: Bench, tmp_path: Path) -> None:
    place = tmp_path / "job"
    script = f"open({str(place)!r}, 'wb').write(sys.stdin.buffer.readline())\nprint('a library says hello')\n{RESULT}"
    assert bench.run(script) == DONE
    assert codec.decode(Job, place.read_bytes()) == JOB


def test_a_plan_is_stored_before_the_worker_continues(bench: Bench) -> None:
    script = f"sys.stdin.buffer.readline()\n{PLAN}\nif sys.stdin.buffer.readline() == b'go\\n':\n    {RESULT}"
    assert bench.run(script) == DONE
    assert bench.plans == [ANSWERED]


@pytest.mark.parametrize(
    "script",
    [
        "",
        "raise SystemExit(3)",
        "print('no json')",
        "print('[1, 2]')",
        "os.kill(os.getpid(), signal.SIGSEGV)",
        "print('x' * (9 << 20))",
        "sys.stdout.buffer.write(b'\\xff\\xfe')",
        "import nothing_of_that_name",
        "os.close(1)\nos.close(2)\ntime.sleep(60)",
    ],
)
def test_exiting_without_a_result_is_retried(bench: Bench, script: str) -> None:
    assert "exited without a result" in _detail(bench.run(script))


ENDED = {"type": "JobEnd", "result": {"type": "Result", "outcome": "nothing"}, "stays": False, "asked_models": False}


@pytest.mark.parametrize(
    ("told", "field"),
    [
        ({"type": "JobEnd"}, "asked_models is missing"),
        ({"type": "Progress"}, "type is not one of"),
        ({**ENDED, "surplus": 1}, "has an unknown field, surplus"),
        ({**ENDED, "result": {"type": "Result", "outcome": "splendid"}}, "result.outcome is not a valid Outcome"),
        ({**ENDED, "result": {"type": "BatchResult", "outcome": "nothing", "learnings": [{}]}}, "learnings[0]."),
        ({**ENDED, "result": {"type": "BatchResult", "outcome": "nothing", "learnings": 5}}, "learnings is not a list"),
        (
            {**ENDED, "result": {"type": "Result", "outcome": "retry", "retry_after": "soon"}},
            "retry_after is not a valid float",
        ),
    ],
)
def test_an_invalid_result_is_a_failure_naming_the_field(bench: Bench, told: dict[str, object], field: str) -> None:
    result = bench.run(f"print({json.dumps(told)!r}, flush=True)\ntime.sleep(60)")
    assert result.outcome is Outcome.FAILED
    assert "the worker's result is invalid" in result.detail
    assert field in result.detail


@pytest.mark.parametrize(
    "script",
    [
        "sys.stdin.buffer.readline()\ntime.sleep(60)",
        "while True: print('and on', flush=True)",
        "subprocess.Popen(['sleep', '60'])",  # a child of its own keeps the pipe open
    ],
)
def test_a_job_that_takes_too_long_is_killed(bench: Bench, script: str) -> None:
    assert "took longer than" in _detail(bench.run(script, seconds=0.6))


def test_a_worker_that_never_reads_a_large_job_is_killed(bench: Bench) -> None:
    assert "took longer than" in _detail(bench.run("time.sleep(60)", seconds=0.6, job=LARGE))


def test_a_worker_that_dies_before_reading_a_large_job_is_retried(bench: Bench) -> None:
    assert "exited without a result" in _detail(bench.run("os._exit(1)", job=LARGE))


def test_no_child_of_a_worker_outlives_it(bench: Bench, tmp_path: Path) -> None:
    marker = tmp_path / "pid"
    script = (
        "sys.stdin.buffer.readline()\n"
        "child = subprocess.Popen(['sleep', '1000'], stdout=subprocess.DEVNULL)\n"
        f"open({str(marker)!r}, 'w').write(str(child.pid))\n{RESULT}"
    )
    assert bench.run(script) == DONE
    wait_for("the grandchild to be gone", lambda: not _runs(int(marker.read_text())))


def test_an_externally_killed_worker_yields_a_result(bench: Bench) -> None:
    worker = bench.worker(f"sys.stdin.buffer.readline()\n{PLAN}\ntime.sleep(60)")

    def kill(_plan: object) -> None:
        worker.kill()
        worker.kill()

    assert "exited without a result" in _detail(worker.do(JOB, LIMIT, kill))


# Runs the code that a job of recalling names, and tells its process.
SERVE = """
for line in sys.stdin.buffer:
    work = json.loads(line)["work"]
    for code in work.get("paths", ()):
        exec(code)
    result = {"type": "Result", "outcome": "nothing", "detail": str(os.getpid())}
    asked = work["type"] == "AnalyseBatch"
    print(json.dumps({"type": "JobEnd", "result": result, "stays": True, "asked_models": asked}), flush=True)
"""


def test_one_process_runs_several_jobs_and_exits_when_idle(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    with bench.worker(SERVE) as worker:
        doers = {worker.do(JOB, LIMIT).detail for _ in range(3)}
        assert len(doers) == 1
        worker.close_if_idle()
        assert _runs(int(*doers))
        monkeypatch.setattr(spawn, "_MAX_IDLE_SECONDS", -1.0)
        worker.close_if_idle()
        assert not _runs(int(*doers))
        assert worker.do(JOB, LIMIT).detail not in doers


@pytest.mark.parametrize("end", ["os.abort()", "time.sleep(60)", "print('x' * (9 << 20))\nos._exit(0)"])
def test_a_crash_affects_only_one_job(bench: Bench, end: str) -> None:
    with bench.worker(SERVE) as worker:
        first = worker.do(JOB, LIMIT)
        assert worker.do(Job(RecoverProposals((end,)), 0o077), 0.6).outcome is Outcome.RETRY
        then = worker.do(JOB, LIMIT)
        assert (first.outcome, then.outcome) == (Outcome.NOTHING, Outcome.NOTHING)
        assert first.detail != then.detail


def test_a_worker_that_exited_while_idle_affects_no_job(bench: Bench) -> None:
    with bench.worker(SERVE) as worker:
        first = int(worker.do(JOB, LIMIT).detail)
        os.kill(first, signal.SIGKILL)
        wait_for("it to be gone", lambda: not _runs(first))
        assert worker.do(JOB, LIMIT).outcome is Outcome.NOTHING


@pytest.mark.parametrize(("job", "same"), [(BATCH, True), (LOOK, False), (JOB, False)])
def test_a_git_check_shares_no_process_with_a_model(bench: Bench, job: Job, same: bool) -> None:  # noqa: FBT001 - a table
    with bench.worker(SERVE) as worker:
        first = worker.do(BATCH, LIMIT).detail
        assert (worker.do(job, LIMIT).detail == first) is same


def test_a_program_that_cannot_start_is_retried(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.executable", "/nowhere/python")
    assert _detail(bench.run("")) == "the worker could not be started"


@pytest.fixture
def no_thread() -> Iterator[None]:
    """Let no thread be started: none has room for a stack of so many bytes."""
    usual = threading.stack_size(1 << 46)
    yield
    threading.stack_size(usual)


@pytest.mark.usefixtures("no_thread")
def test_if_no_thread_can_start_it_is_retried_and_nothing_leaks(bench: Bench, tmp_path: Path) -> None:
    results: list[Result] = []

    def post(message: Message) -> None:
        assert callable(message)
        message(0.0)

    working = WorkerSlot(post, bench.worker("time.sleep(1000)"))
    working.start(JOB, LIMIT, lambda result, _: results.append(result))
    results.append(bench.run("time.sleep(1000)"))
    assert [_detail(result) for result in results] == ["this machine cannot start any more threads"] * 2
    assert processes_of(tmp_path) == {}


def test_an_overlong_plan_ends_in_a_result(bench: Bench) -> None:
    script = "print(json.dumps({'type': 'KeepRequest', 'what': 'x' * (5 << 20)}), flush=True)\ntime.sleep(1000)"
    assert "too large to process" in _detail(bench.run(script))
    assert bench.plans == []


def test_workers_leave_no_descriptor_and_no_zombie(bench: Bench) -> None:
    bench.run(RESULT)
    gc.collect()  # else what earlier tests left open may be closed meanwhile
    with suppress(ChildProcessError):  # and what they left unwaited for would be taken for ours
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    before = _descriptors()
    for _ in range(5):
        bench.run(f"sys.stdin.buffer.readline()\n{RESULT}")
        with suppress(ChildProcessError):
            assert os.waitpid(-1, os.WNOHANG) == (0, 0), "no zombie; the server of support.warm may be a child"
    assert _descriptors() == before


def test_the_real_worker_runs_several_jobs(tmp_path: Path) -> None:
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "PYTHONPATH": str(_REPOSITORY)}
    (tmp_path / ".local/state/skilld").mkdir(parents=True, mode=0o700)
    with Worker(environment) as worker:
        results = [worker.do(LOOK, LIMIT), worker.do(BATCH, LIMIT)]
        (first,) = workers_of(tmp_path)
        results.append(worker.do(LOOK, LIMIT))
        assert workers_of(tmp_path) == [first]
    assert [type(result) for result in results] == [GitResult, BatchResult, GitResult]
    wait_for("it to be gone", lambda: workers_of(tmp_path) == [])


def test_the_real_worker_exits_with_its_daemon(tmp_path: Path) -> None:
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "PYTHONPATH": str(_REPOSITORY)}
    with subprocess.Popen(
        [sys.executable, "-m", "skilld.worker"], env=environment, stdin=subprocess.PIPE, start_new_session=True
    ) as process:
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(LIMIT) == -signal.SIGKILL


# A worker that is deep in a regular expression, which gives no other thread its turn, and has a child of its own.
DEEP = """
import re, threading
def listen():
    sys.stdin.buffer.read()
    os.killpg(0, signal.SIGKILL)
sys.stdin.buffer.readline()
child = subprocess.Popen(['sleep', '1000'], stdout=subprocess.DEVNULL)
threading.Thread(target=listen, daemon=True).start()
with open(PIDS + '.new', 'w') as file:
    file.write(f'{os.getpid()} {child.pid}')
os.rename(PIDS + '.new', PIDS)
re.match('(a+)+$', 'a' * 60 + 'b')
"""
DAEMON = """
import sys
from skilld.protocol import MINE_SESSIONS, Job
from skilld.worker.spawn import VerbWorker, Worker
import os
environment = {"PATH": os.environ["PATH"], "PYTHONPATH": sys.argv[1], "HOME": sys.argv[1]}
{"analyse": Worker, "mine": VerbWorker}[sys.argv[2]](environment).do(Job(MINE_SESSIONS, 0), 1000)
"""


@pytest.mark.parametrize("kind", ["analyse", "mine"])
@pytest.mark.usefixtures("bench")
def test_s2_nothing_outlives_a_killed_daemon(tmp_path: Path, kind: str) -> None:
    pids = tmp_path / "pids"
    program = f"import os, signal, subprocess, sys\nPIDS = {str(pids)!r}\n{DEEP}"
    (tmp_path / "skilld/worker/__main__.py").write_text(program)
    (tmp_path / "skilld/__main__.py").write_text(program)  # of mining
    environment = {**os.environ, "PYTHONPATH": str(_REPOSITORY), "HOME": str(tmp_path)}
    with subprocess.Popen([sys.executable, "-c", DAEMON, str(tmp_path), kind], env=environment, cwd="/") as daemon:
        wait_for("the worker to be at work", pids.exists)
        daemon.kill()
    wait_for("the worker and its child to be gone", lambda: not any(map(_runs, map(int, pids.read_text().split()))))
    wait_for("the guard to be gone", lambda: not processes_of(tmp_path))


def test_s2_a_worker_killed_by_the_kernel_says_so(bench: Bench) -> None:
    assert "more CPU time" in _detail(bench.run("os.kill(os.getpid(), signal.SIGXCPU)"))


def test_a_worker_gets_no_git_agent_or_other_secret_variables() -> None:
    kept = worker_environment(
        {
            "PATH": "/bin",
            "HOME": "/h",
            "XDG_STATE_HOME": "/s",
            "LC_ALL": "C",
            "OPENAI_API_KEY": "k",
            "HTTPS_PROXY": "http://proxy",
            "GIT_DIR": "/x",
            "CLAUDECODE": "1",
            "GITHUB_TOKEN": "t",
            "SKILLD_MODEL_API_KEY_FILE": "x",
            "LD_PRELOAD": "/x.so",
            "OPENAI_BASE_URL": "http://elsewhere",
        }
    )
    assert set(kept) == {
        "PATH",
        "HOME",
        "XDG_STATE_HOME",
        "LC_ALL",
        "OPENAI_API_KEY",
        "HTTPS_PROXY",
        "no_proxy",
        "NO_PROXY",
        "SKILLD_CHILD",
    }


@for_each(
    ("given", "direct"),
    [
        ({}, "localhost,127.0.0.1,::1"),
        ({"NO_PROXY": "corp.example"}, "corp.example,localhost,127.0.0.1,::1"),
        ({"no_proxy": "a", "NO_PROXY": "b"}, "a,localhost,127.0.0.1,::1"),
    ],
)
def test_a_local_model_is_asked_without_a_proxy(given: dict[str, str], direct: str) -> None:
    kept = worker_environment({"HTTP_PROXY": "http://proxy", **given})
    assert (kept["no_proxy"], kept["NO_PROXY"]) == (direct, direct)


_REPOSITORY = Path(__file__).parents[2]


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        return b") Z" not in Path(f"/proc/{pid}/stat").read_bytes() if Path("/proc").exists() else True
    except OSError:
        return False


def _descriptors() -> int:
    folder = Path("/proc/self/fd")
    return len([*folder.iterdir()]) if folder.exists() else 0
