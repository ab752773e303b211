"""R5, R7, R8: tries are for failures of the work; what an unusable answer was about is kept; full disks are told of."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from faults import apart
from faults.clock import Clock
from faults.disk import MOUNT, PROBE, fill
from faults.model import CALLS, learned_rules, program_with, quotes, right_answer, teach
from support.live_project import Project
from support.model_answers import updates_answer
from support.program import Program
from support.session import LASTING
from support.stub_model import GARBAGE, Reply, StubModel

HOUR = 3600.0
KILLS = 4  # more than what ends a batch of one try


def _start_batch(home: Path, project: Project, program: Program, tries: str = "1") -> Clock:
    program.environment["SKILLD_WORKER__ATTEMPTS"] = tries
    clock = Clock(program)
    program.run("run", "--once")
    teach(home, project)
    return clock


def test_r5_a_killed_worker_costs_its_batch_no_try(home: Path, project: Project, program: Program) -> None:
    clock = _start_batch(home, project, program)
    (clock.folder / "kill").write_text("worker 1")
    for _ in range(KILLS):
        assert program.run("run", "--once").returncode == 0
        assert program.json("status")["batches"] == {"pending": 1, "done": 0, "parked": 0}
        clock.pass_by(HOUR)
    (clock.folder / "kill").unlink()
    program.run("run", "--once")
    assert quotes(program) == [LASTING]


def test_r5_a_killed_daemon_costs_its_batch_no_try(home: Path, project: Project, program: Program) -> None:
    clock = _start_batch(home, project, program)
    program.run("pause")
    program.run("run", "--once")
    program.run("resume")
    (clock.folder / "kill").write_text("daemon 6")
    for _ in range(KILLS):
        assert program.run("run", "--once").returncode < 0
    (clock.folder / "kill").unlink()
    program.run("run", "--once")
    assert quotes(program) == [LASTING]


@pytest.mark.slow
def test_r5_a_batch_that_always_kills_its_worker_is_parked(home: Path, project: Project, program: Program) -> None:
    clock = _start_batch(home, project, program, tries="2")
    (clock.folder / "abort").write_text("worker 1")
    states = []
    for _ in range(6):
        program.run("run", "--once")
        states.append(program.json("status")["batches"]["parked"])
        clock.pass_by(HOUR)
    assert states == [0, 0, 0, 0, 0, 1], "three times as often as work that fails"
    (clock.folder / "abort").unlink()
    program.run("retry")
    program.run("run", "--once")
    assert quotes(program) == [LASTING]


@pytest.mark.parametrize(
    "answers",
    [
        ("this is no JSON at all", "nor is this"),
        pytest.param((GARBAGE, GARBAGE), marks=pytest.mark.slow),
        pytest.param((updates_answer(kind="revolution"), Reply(text="")), marks=pytest.mark.slow),
    ],
    ids=["prose", "bytes", "wrong schema, cut short"],
)
def test_r7_turns_with_an_unusable_answer_are_kept_and_judged_by_retry(
    home: Path, project: Project, answers: tuple[Reply | str, Reply | str]
) -> None:
    with StubModel(right_answer) as model:
        program = program_with(home, model, SKILLD_WORKER__ATTEMPTS="1")
        program.run("run", "--once")
        teach(home, project)
        model.queue(*answers)
        program.run("run", "--once")
        asked = len(model.bodies)
        unusable = answers[0] is not GARBAGE
        assert program.json("status")["batches"] == {"pending": 0, "done": unusable, "parked": not unusable}
        if unusable:  # that is the provider's trouble, and the person's word waits in the batch
            assert learned_rules(program) == [LASTING]
            told = program.run("status").stdout
            assert "0 waiting to be judged, 0 judged, 1 failed" in told
            assert "failed because the answer could not be used: 1; to ask again: skilld retry" in told
            checks = {one["name"]: one["detail"] for one in program.json("doctor")["checks"]}
            assert checks["batches"].startswith("1 failed because the answer could not be used")
            assert "; 1 batch failed; " in checks["model answers"]
        assert asked <= 2
        model.bodies.clear()
        model._queue.clear()
        assert "1 batch will be retried " in program.run("retry").stdout
        program.run("run", "--once")
        assert len(model.bodies) == CALLS
    assert quotes(program) == [LASTING]
    assert program.json("learnings") == [], "what is proposed is not kept besides"


@pytest.mark.parametrize("kind", ["preference", "change_step"])
def test_r7_an_unusable_answer_on_the_edit_loses_nothing(home: Path, project: Project, kind: str) -> None:
    with StubModel(right_answer) as model:
        program = program_with(home, model, SKILLD_WORKER__ATTEMPTS="1")
        program.run("run", "--once")
        teach(home, project)
        model.queue(updates_answer(kind=kind), "no JSON at all", "nor is this", *["nor this"] * (kind != "preference"))
        program.run("run", "--once")
        if kind == "preference":  # code can place what only adds
            assert (quotes(program), learned_rules(program)) == ([LASTING], [])
            return
        assert (quotes(program), learned_rules(program)) == ([], [LASTING])
        model._queue.clear()
        assert "1 batch will be retried " in program.run("retry").stdout
        program.run("run", "--once")
    assert (quotes(program), learned_rules(program)) == ([LASTING], [])


@pytest.mark.parametrize("where", ["repository", pytest.param("data", marks=pytest.mark.slow)])
def test_r8_a_full_disk_is_reported_and_nothing_is_left_behind(
    home: Path, project: Project, program: Program, where: str
) -> None:
    """Of the repository, and of skilld's own repositories."""
    apart.skip_unless(PROBE)
    git = project.root / ".git"
    folder = git if where == "repository" else home / ".local/share/skilld"
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    if where == "data":
        folder.chmod(0o700)
    clock = Clock(program)
    program.environment["SKILLD_WORKER__ATTEMPTS"] = "1"
    mount = f"cp -a {folder} {home}/kept; {MOUNT.format(size='2m', folder=folder)}; cp -a {home}/kept/. {folder}"
    if where == "data":  # a skill that git does not track
        (project.root / ".gitignore").write_text(".claude\n")
        project.git("rm", "--quiet", "-r", "--cached", ".claude")
        project.git("commit", "--quiet", "--all", "--message", "Track no skill")
    program.run("run", "--once")
    with apart.mount_point(program, mount) as root:  # every verb in there is a Python of its own
        inside = Path(f"{root}{folder}")
        filler = fill(inside)
        teach(home, project)
        program.run("run", "--once")
        clock.pass_by(2 * HOUR)
        result = program.run("doctor", "--json")
        disk = next(check for check in json.loads(result.stdout)["checks"] if check["name"] == "disk")
        assert result.returncode == 1
        assert (disk["verdict"], disk["remedy"][:15]) == ("fail", "Free some space")
        assert str(folder) in disk["detail"] or str(project.root) in disk["detail"]
        filler.unlink()
        program.run("run", "--once")
        assert quotes(program) == [LASTING]
        assert list(inside.rglob("tmp_obj_*")) == []
