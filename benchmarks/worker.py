"""The worker's cold start: from the start of its process until its first request reaches the model's endpoint.

The job is a real one, made by the engine from a transcript; the endpoint is a stand-in on the loopback. Yardstick: a
process that imports litellm and nothing else, until the import is done. Both have a bytecode cache.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

from benchmarks.kit import children
from benchmarks.kit.desk import engine
from benchmarks.kit.figures import Figure, Of, Scale, Target
from benchmarks.kit.homes import person
from benchmarks.kit.timing import side_by_side
from skilld.protocol import Job
from skilld.worker.spawn import Worker
from support.live_project import Project
from support.session import CHATTER, LASTING, Session
from support.stub_model import Body, StubModel

_IMPORT = "import os, litellm; os.write(1, b'.'); os._exit(0)"
_NO_NETWORK = {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_MODE": "PRODUCTION"}


def measure(scale: Scale) -> dict[str, Figure]:
    """Return the median time until the first request."""
    with children.scratch() as home:
        arrived: list[float] = []

        def decide(body: Body) -> str:
            del body
            arrived.append(time.perf_counter())
            return "<updates>[]</updates>"

        with StubModel(decide) as model:
            job = _job(home, model.base_url)

            def first_request() -> float:
                arrived.clear()
                start = time.perf_counter()
                with Worker(children.environment(home)) as worker:
                    result = worker.do(job, 60.0, charge=lambda _call: "")
                if not arrived:
                    raise RuntimeError(f"the worker asked nothing: {result.detail}")
                return arrived[0] - start

            first_request()  # fills the bytecode cache
            took, bare = side_by_side(scale.pick(7, 2), first_request, lambda: _import(home))
    target = Target(Of.VALUE, most=2.5)
    return {"first_request": Figure(took, "s", "import litellm", bare, "one skill, five turns", target)}


def _job(home: Path, base_url: str) -> Job:
    person(home)
    project = Project(home / "project", home, ".claude/skills")
    session = Session(home, project)
    session.use_skill()
    session.type(*CHATTER[:4], LASTING)
    settings = {"model": "openai/stub", "model_base_url": base_url}
    desk = engine(home, all_new=True, settings=settings)
    desk.follower.sweep()
    desk.close_due(time.time())
    batch = desk.next_batch(time.time())
    assert batch is not None
    return desk.start(batch)


def _import(home: Path) -> float:
    command = [sys.executable, "-c", _IMPORT]
    start = time.perf_counter()
    process = subprocess.Popen(command, env=children.environment(home, _NO_NETWORK), stdout=subprocess.PIPE)
    assert process.stdout is not None
    if os.read(process.stdout.fileno(), 1) != b".":
        raise RuntimeError("litellm cannot be imported")
    took = time.perf_counter() - start
    process.communicate()
    return took
