"""What every live test starts from: installed clients, an empty home, a project with a skill, a stand-in for the model.

All of it is made anew for each test, so the tests can run in any order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

pytest.register_assert_rewrite("support.live_stories")

from support.live_agent import LiveAgent  # noqa: E402 - the rewriting must be asked for before
from support.live_bench import Bench  # noqa: E402
from support.live_project import Project  # noqa: E402
from support.processes import end_processes_of  # noqa: E402
from support.program import Program  # noqa: E402
from support.stub_agents import StubAgents  # noqa: E402
from support.stub_model import StubModel  # noqa: E402
from tools.live_clients import Client, missing_programs  # noqa: E402

MakeBench = Callable[..., Bench]


@pytest.fixture
def home(home: Path) -> Iterator[Path]:
    """Give the empty home of every test, and leave none of its processes behind."""
    yield home
    end_processes_of(home)


@pytest.fixture
def stub() -> Iterator[StubAgents]:
    with StubAgents() as server:
        yield server


@pytest.fixture
def model() -> Iterator[StubModel]:
    with StubModel() as server:
        yield server


@pytest.fixture
def make_bench(tmp_path: Path, home: Path, stub: StubAgents) -> MakeBench:
    """Return what makes a bench for one client, or skips the test with the reason why it cannot.

    A bench is made in the given project, else in a new one that has the skill; and with the given stand-in, if any.
    """

    def make(
        agent: type[LiveAgent], client: Client, project: Project | None = None, own: StubAgents | None = None
    ) -> Bench:
        missing = missing_programs()
        if missing:
            pytest.skip(f"{' and '.join(missing)} not found on PATH")
        if not client.is_there:
            pytest.skip(f"{client.package} {client.version} is not installed: run tools/live_clients.py")
        project = project or Project(tmp_path / "project", home, agent.project_skills)
        server = own or stub
        return Bench(agent(client.path, home, project.root, server), project, Program(home), server)

    return make
