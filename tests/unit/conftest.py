"""What most unit tests of git and of the store start from; a file that needs more takes these and adds to them."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from skilld.store import Store
from support.kept_steps import KeptSteps
from support.new_store import new_store
from support.proposal_life import ProposalLife
from support.repos import Harness, Person, isolate_git, new_repo
from support.stub_model import StubModel

# Left out of `make test-quick`: modules whose tests start processes (it refuses them), or take more than five seconds.
NOT_QUICK = frozenset(
    [
        "accept_all",
        "access_remedy",
        "agent_cli",
        "agent_cli_process",
        "all_agents",
        "amended_subjects",
        "archive",
        "benchmarks",
        "client_presence",
        "commands",
        "config",
        "console",
        "copied_repo",
        "core_dumps",
        "cross_agent",
        "current_work_tree",
        "decide_accept",
        "decide_auto",
        "decide_observe",
        "decide_why",
        "desktop_notices",
        "docs",
        "dropped_proposals",
        "edit_properties",
        "effect",
        "effect_survey",
        "emptied_section",
        "exchange_share",
        "exchange_sources",
        "file_identity",
        "forks",
        "format_drift",
        "git_attributes",
        "git_canaries",
        "git_damage",
        "git_filtered",
        "git_line",
        "git_person",
        "git_private",
        "git_refs",
        "git_run",
        "git_states",
        "git_tree",
        "gold_answers",
        "imports",
        "install",
        "isolation",
        "kept_steps",
        "limits",
        "later_looks",
        "life_in_states",
        "learnings_taken_back",
        "left_behind",
        "lockfile",
        "logs_verb",
        "moved_folders",
        "moved_sections",
        "new_skills",
        "new_skills_private",
        "new_skills_staged",
        "nightly",
        "offline_listen",
        "opt_out_branches",
        "overtaken",
        "partly_replaced",
        "partial_decisions",
        "plain_words",
        "person_text",
        "plugins",
        "project_fingerprint",
        "proposal_poll",
        "proposal_life",
        "proposal_walks",
        "propose_base",
        "propose_message",
        "propose_staging",
        "redact",
        "refit_proposals",
        "refused_subjects",
        "removed_refs",
        "release",
        "remake",
        "remedies",
        "renamed_files",
        "report",
        "retry_failed_tests",
        "rewritten_lines",
        "same_asks",
        "scoring_cli",
        "scoring_rules",
        "service",
        "settings_cache",
        "skill_age",
        "stale_proposals",
        "stands_on",
        "statusline",
        "swapped_files",
        "team_membership",
        "twins",
        "whereabouts",
        "written_proposals",
        "store",
        "store_journal",
        "targets",
        "team_sign",
        "undo_accept",
        "units",
        "waiting_decided",
        "waiting_learnings",
        "warm",
        "watchdog",
        "worker_process",
        "worker_restage",
        "worker_stage",
    ]
)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave alone what `make test-quick` does not run: it would be imported by every process."""
    if config.option.markexpr == "quick" and collection_path.stem.removeprefix("test_") in NOT_QUICK:
        return True
    return None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what `make test-quick` runs."""
    here = Path(__file__).parent
    for item in items:
        if item.path.parent == here and item.path.stem.removeprefix("test_") not in NOT_QUICK:
            item.add_marker("quick")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """Give a new store in a file."""
    opened = new_store(tmp_path / "skilld.db")
    yield opened
    opened.close()


@pytest.fixture
def person(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Person:
    """Return somebody with a repository with one skill, and with a home of their own."""
    isolate_git(monkeypatch, tmp_path / "home")
    return new_repo(tmp_path / "work")


@pytest.fixture
def tmp_path(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Path]:
    """Give each test with a `life` a folder at the same path: what it begins with may be a copy."""
    if "life" not in request.fixturenames:
        yield tmp_path
        return
    place = tmp_path.with_name("life")
    tmp_path.rename(place)
    yield place
    place.rename(tmp_path)


@pytest.fixture
def life(tmp_path: Path, person: Person, store: Store, monkeypatch: pytest.MonkeyPatch) -> ProposalLife:
    """Return what proposals in that repository go through; a test's first steps may be copies of another's."""
    return ProposalLife(person, store, KeptSteps(tmp_path, store, monkeypatch))


@pytest.fixture(scope="module")
def templates(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Give the folder in which a module's first test leaves the repository that all of its tests copy."""
    folder = tmp_path_factory.mktemp("templates")
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def harness(person: Person) -> Harness:
    """Return skilld on that repository, with nothing proposed."""
    return Harness(person)


@pytest.fixture
def stub() -> Iterator[StubModel]:
    """Give a scripted model behind an endpoint on loopback."""
    with StubModel() as server:
        yield server
