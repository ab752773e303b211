"""The benchmarks measure what they say. Times are not judged here."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from benchmarks import suite
from benchmarks.git_time import Repository
from benchmarks.kit import children, corpus, day, homes
from benchmarks.kit.figures import Figure, Of, Scale, Target
from benchmarks.kit.timing import percentile, side_by_side
from benchmarks.latency import next_events
from benchmarks.run import main
from skilld.agents import claude_code
from skilld.ingest.inspect import inspect
from support.rows import for_each

ROOT = Path(__file__).parents[2]
QUICK = Scale(quick=True)


def figure(value: float, yardstick: float, target: Target | None = None) -> Figure:
    return Figure(value, "ms", "something", yardstick, "a test", target)


@for_each(
    ("target", "shown", "met"),
    [
        (Target(Of.VALUE, most=30), "value at most 30", True),
        (Target(Of.VALUE, most=29.9), "value at most 29.9", False),
        (Target(Of.RATIO, least=2.5), "ratio at least 2.5", True),
        (Target(Of.RATIO, least=2.6), "ratio at least 2.6", False),
        (Target(Of.ABOVE, most=18), "above at most 18", True),
        (Target(Of.ABOVE, most=17), "above at most 17", False),
    ],
)
def test_a_target_refers_to_the_number_it_names(target: Target, shown: str, met: bool) -> None:  # noqa: FBT001 - a case
    made = figure(30.0, 12.0, target).as_json()
    assert (made.pop("target"), made.pop("met")) == (shown, met)
    beside = {"yardstick": "something", "yardstick_value": 12.0, "ratio": 2.5}
    assert made == {"value": 30.0, "unit": "ms", **beside, "basis": "a test"}
    none = figure(30.0, 0.0, Target(Of.RATIO, most=9)).as_json()
    assert (none["ratio"], none["met"]) == (None, False)


def test_tasks_alternate_and_report_medians() -> None:
    order: list[str] = []
    numbers = {"a": iter([1.0, 9.0, 2.0]), "b": iter([5.0, 4.0, 6.0])}

    def work(name: str) -> float:
        order.append(name)
        return next(numbers[name])

    assert side_by_side(3, lambda: work("a"), lambda: work("b")) == [2.0, 5.0]
    assert order == ["a", "b", "a", "b", "a", "b"]


@for_each(("share", "expected"), [(0.5, 50.0), (0.99, 99.0), (1.0, 100.0), (0.0, 1.0), (0.001, 1.0)])
def test_a_percentile_is_the_nearest_rank(share: float, expected: float) -> None:
    assert percentile([float(number) for number in range(100, 0, -1)], share) == expected


def test_an_append_is_matched_with_the_next_event_of_its_file() -> None:
    assert next_events([1.0, 2.0, 3.0, 9.0], [0.5, 1.2, 3.5]) == [(1.0, 1.2), (2.0, 3.5), (3.0, 3.5)]


def test_a_corpus_has_the_promised_mix(tmp_path: Path) -> None:
    made = corpus.write(tmp_path / "projects", 14_000_000)
    paths = sorted(tmp_path.rglob("*.jsonl"))
    sizes: Counter[str] = Counter()
    lines = 0
    for path in paths:
        for line in path.read_bytes().splitlines(keepends=True):
            record = json.loads(line)
            kind = "person" if "promptSource" in record else record["type"]
            sizes["image" if b'"image/png"' in line else kind] += len(line)
            lines += 1
    assert (made.files, made.lines, made.size) == (len(paths), lines, sum(path.stat().st_size for path in paths))
    shares = {kind: round(100 * size / made.size) for kind, size in sizes.items()}
    assert abs(shares["user"] - 79) <= 4
    assert abs(shares["image"] - 10) <= 3
    assert abs(shares["assistant"] - 11) <= 3
    assert shares["person"] <= 1
    assert 12_000 < made.size / made.lines < 18_000
    assert all(claude_code.is_transcript(path) for path in paths)
    assert sum(len(inspect(path, claude_code).turns) for path in paths) == made.turns > 50


def test_a_furnished_home_holds_no_recent_files(tmp_path: Path) -> None:
    homes.furnish(tmp_path, 20)
    below = [*(tmp_path / homes.STORE).rglob("*")]
    assert len(below) == 22
    assert max(path.stat().st_mtime for path in below) < time.time() - 300


def test_a_repository_has_the_promised_size_and_keeps_no_proposal(tmp_path: Path) -> None:
    repository = Repository(tmp_path, files=250, commits=12)

    def git(*arguments: str) -> list[str]:
        result = subprocess.run(["git", *arguments], cwd=repository.root, capture_output=True, text=True, check=True)
        return result.stdout.splitlines()

    assert len(git("ls-tree", "-r", "main")) == 250 + 1  # and the skill
    assert len(git("rev-list", "main")) == 12
    assert len(git("ls-files")) == 251
    assert repository.propose() > 0
    assert repository.commit() > 0
    assert git("for-each-ref", "--format=%(refname)") == ["refs/bench/yardstick", "refs/heads/main"]


def test_the_simulated_day_matches_its_docs_page() -> None:
    turns = day.turns()
    assert len(turns) == sum(count for count, _ in day.SESSIONS) == 100
    assert len(day.SESSIONS) == 8
    assert sum(with_skill for _, with_skill in day.SESSIONS) == 5
    assert [text for text in turns if text in day.LASTING] == list(day.LASTING)
    skill = day.skill_text("release-notes").splitlines()
    assert len(skill) == 300
    assert skill.count(day.ANCHORS[0]) == 1


@pytest.mark.skipif(sys.platform != "linux", reason="read from /proc")
def test_memory_and_processor_time_of_a_process_are_read() -> None:
    code = "x = bytearray(60_000_000); print('ready', flush=True); input()"
    command = [sys.executable, "-c", code]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"ready\n"
        rss, pss = children.memory(child.pid)
        took = children.processor_seconds(child.pid)
        child.communicate(b"\n")
    assert 60 < pss <= rss < 100
    assert 0 < took < 5


LOUD = """
import os, sys
sys.path[:0] = sys.argv[1:]
from benchmarks import run, suite
def loud(_):
    print("a line")
    os.system("echo another")
    return {}
suite.BENCHMARKS["loud"] = loud
sys.exit(run.main(["--quick", "--only", "gate", "--only", "loud"]))
"""


def test_the_program_prints_one_document_and_nothing_else(tmp_path: Path) -> None:
    command = [sys.executable, "-c", LOUD, str(ROOT), str(ROOT / "tests")]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True, timeout=120)
    document = json.loads(result.stdout)
    assert document["quick"] is True
    assert list(document["benchmarks"]) == ["gate", "loud"]
    figures = document["benchmarks"]["gate"]["figures"]
    assert figures
    for shown in figures.values():
        assert min(shown["value"], shown["yardstick_value"]) > 0
        assert shown["ratio"] == pytest.approx(shown["value"] / shown["yardstick_value"], rel=1e-2)
    assert [text for text in ("1/2 gate", "a line", "another") if text not in result.stderr] == []
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_name_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["--only", "nonsense"])
    assert capsys.readouterr().out == ""


def test_a_failing_benchmark_does_not_stop_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(scale: Scale) -> dict[str, Figure]:
        raise RuntimeError(f"quick is {scale.quick}")

    monkeypatch.setitem(suite.BENCHMARKS, "broken", broken)
    monkeypatch.setitem(suite.BENCHMARKS, "works", lambda _: {"one": figure(1.0, 2.0)})
    told: list[str] = []
    found = suite.run(["broken", "works"], QUICK, told.append)["benchmarks"]
    assert found["broken"]["error"] == "RuntimeError: quick is True"
    assert found["works"]["figures"]["one"]["ratio"] == 0.5
    assert "    broken failed: RuntimeError: quick is True" in told
    assert "    one: 1 ms, 0.5 times something" in told


def test_the_page_explains_every_benchmark() -> None:
    page = (ROOT / "docs" / "measurements" / "performance.md").read_text(encoding="utf-8")
    assert [name for name in suite.BENCHMARKS if f"\n### {name}" not in page] == []
