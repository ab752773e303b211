"""Workers as real processes that misbehave in every way: each becomes a result, in time, and nothing is left behind."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from skilld.worker.spawn import Worker, worker_environment
from support.processes import processes_of
from support.waiting import LIMIT, wait_for

JOB = {"kind": "probe"}
RESULT = 'print(json.dumps({"type": "result", "outcome": "nothing", "detail": "done"}), flush=True)'


class Bench:
    """Starts stand-ins for the worker's program: a package `skilld.worker` that stands before the real one."""

    def __init__(self, folder: Path) -> None:
        self._package = folder / "skilld/worker"
        self._package.mkdir(parents=True)
        (folder / "skilld/__init__.py").touch()
        (self._package / "__init__.py").touch()
        self.environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(folder), "HOME": str(folder)}
        self.plans: list[dict[str, Any]] = []

    def worker(self, script: str, *, seconds: float = LIMIT, job: Any = JOB) -> Worker:
        program = f"import json, os, signal, subprocess, sys, time\n{script}\n"
        (self._package / "__main__.py").write_text(program)
        return Worker(job, self.environment, seconds)

    def run(self, script: str, *, seconds: float = LIMIT, job: Any = JOB) -> dict[str, Any]:
        return self.worker(script, seconds=seconds, job=job).result(self.plans.append)


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def _detail(result: dict[str, Any]) -> str:
    assert result["outcome"] == "retry"
    return str(result["detail"])


def test_the_job_goes_in_and_the_last_line_comes_out(bench: Bench) -> None:
    script = (
        "job = json.loads(sys.stdin.buffer.readline())\n"
        "print('a library says hello')\n"
        "print(json.dumps({'type': 'result', 'outcome': 'nothing', 'detail': job['kind']}))"
    )
    assert bench.run(script) == {"type": "result", "outcome": "nothing", "detail": "probe"}


def test_a_plan_is_kept_before_the_worker_goes_on(bench: Bench) -> None:
    script = (
        "sys.stdin.buffer.readline()\n"
        "print(json.dumps({'type': 'plan', 'proposals': [1]}), flush=True)\n"
        "answer = sys.stdin.buffer.readline().decode()\n"
        "print(json.dumps({'type': 'result', 'outcome': 'nothing', 'detail': answer}))"
    )
    assert bench.run(script)["detail"] == "go\n"
    assert bench.plans == [{"type": "plan", "proposals": [1]}]


@pytest.mark.parametrize(
    "script",
    [
        "",
        "raise SystemExit(3)",
        "print('no json')",
        "print('[1, 2]')",
        "print(json.dumps({'type': 'result'}))",
        "print(json.dumps({'type': 'result', 'outcome': 'splendid'}))",
        "print(json.dumps({'type': 'progress'}))",
        "os.kill(os.getpid(), signal.SIGSEGV)",
        "print('x' * (9 << 20))",
        "sys.stdout.buffer.write(b'\\xff\\xfe')",
        "import nothing_of_that_name",
        "os.close(1)\nos.close(2)\ntime.sleep(60)",
    ],
)
def test_an_end_without_a_result_is_tried_again(bench: Bench, script: str) -> None:
    assert "ended without a result" in _detail(bench.run(script))


@pytest.mark.parametrize(
    "script",
    [
        "time.sleep(60)",
        "sys.stdin.buffer.readline()\ntime.sleep(60)",
        f"{RESULT}\ntime.sleep(60)",  # a result, and then it hangs
        "while True: print('and on', flush=True)",
        "subprocess.Popen(['sleep', '60'])",  # a child of its own keeps the pipe open
    ],
)
def test_what_takes_too_long_is_ended(bench: Bench, script: str) -> None:
    assert "took longer than" in _detail(bench.run(script, seconds=0.6))


def test_a_worker_that_never_reads_a_large_job_is_ended_too(bench: Bench) -> None:
    assert "took longer than" in _detail(bench.run("time.sleep(60)", seconds=0.6, job={"x": "y" * 1_000_000}))


def test_a_worker_that_dies_before_it_reads_a_large_job_is_tried_again(bench: Bench) -> None:
    assert "ended without a result" in _detail(bench.run("os._exit(1)", job={"x": "y" * 1_000_000}))


def test_nothing_it_started_outlives_it(bench: Bench, tmp_path: Path) -> None:
    marker = tmp_path / "pid"
    script = (
        "sys.stdin.buffer.readline()\n"
        "child = subprocess.Popen(['sleep', '1000'], stdout=subprocess.DEVNULL)\n"
        f"open({str(marker)!r}, 'w').write(str(child.pid))\n{RESULT}"
    )
    assert bench.run(script)["outcome"] == "nothing"
    wait_for("the grandchild to be gone", lambda: not _runs(int(marker.read_text())))


def test_a_worker_that_is_killed_from_outside_gives_a_result(bench: Bench) -> None:
    worker = bench.worker("sys.stdin.buffer.readline()\ntime.sleep(60)")
    worker.kill()
    worker.kill()
    assert "ended without a result" in _detail(worker.result(bench.plans.append))


def test_a_program_that_cannot_be_started_is_tried_again(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.executable", "/nowhere/python")
    assert _detail(bench.run("")) == "the worker could not be started"


@pytest.fixture
def no_thread() -> Iterator[None]:
    """Let no thread be started: none has room for a stack of so many bytes."""
    usual = threading.stack_size(1 << 46)
    yield
    threading.stack_size(usual)


@pytest.mark.usefixtures("no_thread")
def test_where_no_thread_can_be_had_it_is_tried_again_and_nothing_is_left(bench: Bench, tmp_path: Path) -> None:
    results: list[dict[str, Any]] = []
    bench.worker("time.sleep(1000)").follow(bench.plans.append, results.append)
    results.append(bench.run("time.sleep(1000)"))
    assert [_detail(result) for result in results] == ["this machine has no thread left for it"] * 2
    assert processes_of(tmp_path) == {}


def test_a_plan_too_long_to_be_kept_ends_in_a_result(bench: Bench) -> None:
    results: list[dict[str, Any]] = []
    script = "print(json.dumps({'type': 'plan', 'proposals': ['x' * (5 << 20)]}), flush=True)\ntime.sleep(1000)"
    bench.worker(script).follow(bench.plans.append, results.append)
    wait_for("a result", lambda: results)
    assert "too long to be kept" in _detail(results[0])
    assert bench.plans == []


def test_workers_leave_no_descriptor_and_no_zombie(bench: Bench) -> None:
    bench.run(RESULT)
    gc.collect()  # else what earlier tests left open may be closed meanwhile
    before = _descriptors()
    for _ in range(5):
        worker = bench.worker(f"sys.stdin.buffer.readline()\n{RESULT}")
        worker.result(bench.plans.append)
        with pytest.raises(ChildProcessError):
            os.waitpid(worker._process.pid if worker._process else 0, os.WNOHANG)
    assert _descriptors() == before


def test_the_real_worker_ends_when_its_daemon_is_gone(tmp_path: Path) -> None:
    worker = Worker(JOB, {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "PYTHONPATH": str(_REPOSITORY)}, LIMIT)
    process = worker._process
    assert process is not None
    assert process.stdin is not None
    process.stdin.close()
    assert process.wait(LIMIT) != 0
    worker.kill()


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
from skilld.worker.spawn import start
import os
environment = {"PATH": os.environ["PATH"], "PYTHONPATH": sys.argv[1], "HOME": sys.argv[1]}
start({"kind": sys.argv[2]}, environment, 1000).result(print)
"""


@pytest.mark.parametrize("kind", ["analyse", "mine"])
@pytest.mark.usefixtures("bench")
def test_s2_nothing_outlives_a_daemon_that_is_killed(tmp_path: Path, kind: str) -> None:
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


def test_s2_a_worker_ended_by_the_kernel_says_so(bench: Bench) -> None:
    assert "more processor time" in _detail(bench.run("os.kill(os.getpid(), signal.SIGXCPU)"))


def test_a_worker_knows_nothing_of_git_of_agents_and_of_other_secrets() -> None:
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


@pytest.mark.parametrize(
    ("given", "direct"),
    [
        ({}, "localhost,127.0.0.1,::1"),
        ({"NO_PROXY": "corp.example"}, "corp.example,localhost,127.0.0.1,::1"),
        ({"no_proxy": "a", "NO_PROXY": "b"}, "a,localhost,127.0.0.1,::1"),
    ],
)
def test_a_model_on_this_machine_is_asked_through_no_proxy(given: dict[str, str], direct: str) -> None:
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
