"""Nothing listens, and nothing is reached but the endpoint that the person set: T-29 to T-32.

Python's audit hooks (docs: "Audit events table") see every socket of the process they are set in, whatever library made
it; so the worker and the daemon run inside a small program that sets one first.
"""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from skilld import codec
from skilld.daemon.engine import Engine
from skilld.ingest.discover import Host
from skilld.protocol import FromWorker, Job, JobEnd, Result
from skilld.settings import Settings
from skilld.store import Store
from skilld.worker.spawn import worker_environment
from support.live_project import Project
from support.loopback import Handler
from support.model_answers import operations_answer, updates_answer
from support.program import Program
from support.session import LASTING, Session
from support.stub_model import StubModel

ROOT = Path(__file__).parents[2]
# Writes what is reached to the file argv[1], then runs the module argv[2] as a program with the rest as its arguments.
WATCHED = """
import json, os, runpy, sys
log = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
def hook(event, arguments):
    if event in ("socket.connect", "socket.bind", "socket.sendto", "socket.sendmsg"):
        told = [event, arguments[1]]
    elif event == "socket.getaddrinfo":
        told = [event, arguments[0]]
    elif event == "subprocess.Popen":
        told = [event, arguments[0]]
    elif event in ("os.exec", "os.posix_spawn", "os.system"):
        told = [event, arguments[0]]
    else:
        return
    os.write(log, json.dumps(told, default=repr).encode() + b"\\n")
sys.addaudithook(hook)
module = sys.argv[2]
sys.argv[:] = sys.argv[2:]
runpy.run_module(module, run_name="__main__", alter_sys=True)
"""
ANSWERS = (updates_answer(), operations_answer(), "[]")


def teach(home: Path, project: Project) -> Session:
    session = Session(home, project)
    session.use_skill()
    session.type("hello", LASTING, "ok go on", "looks good", "thanks")
    return session


def connections(log: Path) -> list[tuple[str, Any]]:
    return [tuple(json.loads(line)) for line in log.read_text().splitlines()] if log.exists() else []


def hosts(log: Path) -> set[str]:
    return {f"{event} {to}" for event, to in connections(log) if event.startswith("socket.")}


def programs(log: Path) -> set[str]:
    return {Path(str(name)).name for event, name in connections(log) if not event.startswith("socket.")}


def _work(job: Job, log: Path, home: Path) -> Result:
    """Have a watched worker do a job, as the daemon would, and return its result."""
    environment = worker_environment({**os.environ, "HOME": str(home), "PYTHONPATH": str(ROOT)})
    with subprocess.Popen(
        [sys.executable, "-P", "-c", WATCHED, str(log), "skilld.worker"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment,
        cwd="/",
        start_new_session=True,
        text=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(codec.encode(job) + "\n")
        process.stdin.flush()
        for line in process.stdout:
            told = codec.decode(FromWorker, line)
            if isinstance(told, JobEnd):
                return told.result
            process.stdin.write("go\n")
            process.stdin.flush()
    raise AssertionError("the worker gave no result")


def _job(home: Path, project: Project, settings: Settings) -> Job:
    (home / ".local/state/skilld").mkdir(parents=True, mode=0o700)
    store = Store.open(home / "skilld.db")
    engine = Engine(store, settings, Host(home, {}), time.time())
    teach(home, project)
    engine.follower.sweep()
    engine.close_due(time.time())
    batch = engine.next_batch(time.time())
    assert batch is not None
    job = engine.start(batch)
    store.close()
    return job


def test_t31_a_worker_connects_only_to_the_configured_endpoint(home: Path, project: Project, tmp_path: Path) -> None:
    log = tmp_path / "reached"
    with StubModel() as model:
        model.queue(*ANSWERS)
        job = _job(home, project, Settings(model="openai/stub", model_base_url=model.base_url))
        result = _work(job, log, home)
        host, port = model.origin.removeprefix("http://").split(":")
        assert len(model.bodies) == 3
    assert result.outcome == "proposed", result
    found = hosts(log)
    assert f"socket.connect {[host, int(port)]}" in found
    probe = "socket.bind ['::1', 0]"  # urllib3, on import: it binds and closes, to see whether there is IPv6
    assert found <= {f"socket.connect {[host, int(port)]}", f"socket.getaddrinfo {host}", probe}
    assert programs(log) <= {"git", "null", "uname"}  # the last by Python's platform module, for a provider's library


def test_t31_an_offline_worker_connects_to_nothing(home: Path, project: Project, tmp_path: Path) -> None:
    log = tmp_path / "reached"
    result = _work(_job(home, project, Settings(model="offline")), log, home)
    assert result.outcome == "proposed", result
    assert hosts(log) == set()
    assert programs(log) <= {"git", "null"}  # /dev/null: GitPython looks for git when it is imported (skilld.git.run)


@pytest.mark.parametrize("verb", [["run", "--once"], ["proposals"], ["status"]])
def test_t29_t30_t31_the_daemon_and_the_commands_connect_to_nothing_and_listen_nowhere(
    home: Path, project: Project, program: Program, tmp_path: Path, verb: list[str]
) -> None:
    log = tmp_path / "reached"
    teach(home, project)
    result = subprocess.run(
        [sys.executable, "-c", WATCHED, str(log), "skilld", *verb],
        cwd=home,
        env=program.environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    assert hosts(log) == set()
    assert programs(log) <= {"git", Path(sys.executable).name, "sh"}  # the last ends a worker whose daemon is gone


def test_the_network_monitor_sees_what_it_should(home: Path, tmp_path: Path) -> None:
    log = tmp_path / "reached"
    code = "import socket\nsocket.socket().connect_ex(('127.0.0.1', 9))\nsocket.socket().bind(('127.0.0.1', 0))\n"
    (tmp_path / "reaching.py").write_text(code)
    subprocess.run(
        [sys.executable, "-c", WATCHED, str(log), "reaching"],
        env={**os.environ, "HOME": str(home), "PYTHONPATH": str(tmp_path)},
        check=True,
    )
    assert hosts(log) == {"socket.connect ['127.0.0.1', 9]", "socket.bind ['127.0.0.1', 0]"}


def test_t29_t30_no_module_of_ours_listens() -> None:
    listening = {"bind", "listen", "start_server", "start_unix_server", "create_server", "serve_forever"}
    servers = {"http.server", "socketserver", "xmlrpc.server", "wsgiref", "asyncio.streams"}
    found = []
    for path in sorted((ROOT / "skilld").rglob("*.py")):
        if not re.search(
            r"^\s*(?:import|from) (?:socket|asyncio|anyio|http|xmlrpc|wsgiref)", path.read_text(), re.MULTILINE
        ):
            continue  # without one of these a `listen` is a word
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in listening:
                found.append(f"{path.name}:{node.lineno}")
            names = [node.module] if isinstance(node, ast.ImportFrom) else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            found += [f"{path.name}:{name}" for name in names if name in servers]
    assert found == []


class _Pointing(StubModel):
    """Sends every question on to `place`."""

    place = ""

    def answer_post(self, request: Handler, body: bytes) -> None:
        self.bodies.append(json.loads(body))
        request.send_body(307, b"", headers={"Location": f"{self.place}/chat/completions"})


def test_t32_redirects_of_an_endpoint_are_not_followed(home: Path, project: Project) -> None:
    with StubModel() as elsewhere, _Pointing() as model:
        model.place = elsewhere.base_url
        settings = {"SKILLD_MODEL": "openai/stub", "SKILLD_MODEL_BASE_URL": model.base_url}
        program = Program(home, {"SKILLD_NOTIFY__ENABLED": "false", **settings})
        program.run("run", "--once")
        teach(home, project)
        program.run("run", "--once")
        assert (len(model.bodies), len(elsewhere.bodies)) == (1, 0)
    assert "redirects to another URL" in program.json("status")["last_error"]["message"]


@pytest.mark.parametrize("configured", [True, False])
def test_t32_no_project_file_or_transcript_can_set_an_endpoint(
    home: Path, project: Project, *, configured: bool
) -> None:
    with StubModel() as ours, StubModel() as theirs:
        ours.queue(*ANSWERS)
        redirect = {
            **dict.fromkeys(("OPENAI_BASE_URL", "OPENAI_API_BASE", "SKILLD_MODEL_BASE_URL"), theirs.base_url),
            **dict.fromkeys(("ANTHROPIC_BASE_URL", "OLLAMA_HOST", "OLLAMA_API_BASE"), theirs.origin),
            "SKILLD_MODEL": "openai/theirs",
            "OPENAI_API_KEY": "theirs",
            "HTTP_PROXY": theirs.origin,
        }
        env_file = "".join(f"{name}={value}\n" for name, value in redirect.items())
        toml = f'model = "openai/theirs"\nmodel_base_url = "{theirs.base_url}"\napply = "auto"\n'
        for name in (".env", ".env.local", ".envrc"):
            (project.root / name).write_text(env_file)
        # One called .skilld.toml can only narrow, and one that says anything else has the project left alone.
        for name in ("skilld.toml", "config.toml", ".skilld/config.toml", "skilld/config.toml"):
            (project.root / name).parent.mkdir(exist_ok=True)
            (project.root / name).write_text(toml)
        (project.root / ".claude/settings.json").write_text(json.dumps({"env": redirect}))
        program = Program(home, {"SKILLD_NOTIFY__ENABLED": "false"})
        if configured:
            program.environment |= {"SKILLD_MODEL": "openai/stub", "SKILLD_MODEL_BASE_URL": ours.base_url}
            # Set by the shell of the project (direnv does that), not by skilld's settings.
            program.environment |= {"OPENAI_BASE_URL": theirs.base_url, "OPENAI_API_BASE": theirs.base_url}
        program.run("run", "--once")
        session = teach(home, project)
        session.raw(json.dumps({"type": "system", "env": redirect, "model_base_url": theirs.base_url}).encode() + b"\n")
        _check_here(program, project, "run", "--once")
        assert (len(ours.bodies), len(theirs.bodies)) == (3 if configured else 0, 0)
        assert theirs.headers == []
    (proposal,) = program.json("proposals")
    assert proposal["model"] == ("openai/stub" if configured else "offline")
    assert proposal["state"] == "open"


def _check_here(program: Program, project: Project, *verb: str) -> None:
    """Run a verb in the project's own folder."""
    command = [sys.executable, "-m", "skilld", *verb]
    result = subprocess.run(command, cwd=project.root, env=program.environment, capture_output=True, check=False)
    assert result.returncode == 0, result.stderr
