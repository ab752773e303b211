"""`make soak`: what it reports, how it ends, and that a finding can be had again."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
import structlog

from faults.damages import DAMAGES
from tools import soak, soak_damage, soak_large, soak_properties
from tools.soak_report import Part, must


@pytest.fixture(autouse=True)
def _own_log(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(structlog, "configure", lambda **_: None)  # it would hold for all tests after this one


def test_it_reports_its_progress_as_text_and_json(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    out = tmp_path / "soak.json"
    chosen = ["--only", "files", "--only", "fuzz", "--out", str(out)]
    assert soak.main(["--minutes", "0.02", "--seed", "3", *chosen]) == 0
    document = json.loads(out.read_text())
    assert (document["seed"], document["findings"]) == (3, 0)
    assert document["parts"]["files"]["reached"]["cases"] > 0
    assert document["parts"]["fuzz"]["reached"]["lines"] > 0
    errors = capsys.readouterr().err
    assert [line.split()[0] for line in errors.splitlines()] == ["files", "fuzz"]
    assert " 0 findings" in errors


def test_a_finding_ends_it_with_1_and_names_the_command_to_repeat_it(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def lost(seconds: float, seed: int, folder: Path) -> Part:
        part = Part("files", seconds)
        assert folder.is_dir()
        with part.finding(f"{seed}/17"):
            must(holds=False, what="lost after truncate")
        return part

    monkeypatch.setitem(soak.PARTS, "files", replace(soak.PARTS["files"], run=lost))
    out = tmp_path / "soak.json"
    assert soak.main(["--only", "files", "--out", str(out)]) == 1
    assert json.loads(out.read_text())["findings"] == 1
    errors = capsys.readouterr().err
    assert "AssertionError: lost after truncate" in errors
    assert "make soak ARGS=\"--only files --again '0/17'\"" in errors


def test_a_failing_property_is_found_and_a_round_can_be_repeated(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    wrong = tmp_path / "test_wrong.py"
    wrong.write_text(
        "import os\nfrom hypothesis import given, settings, strategies as st\n\n"
        "@settings(max_examples=int(os.environ['HYPOTHESIS_EXAMPLES']))\n"
        "@given(st.integers(0, 50))\ndef test_it(number):\n    assert number != 7\n"
    )
    monkeypatch.setattr(soak_properties, "FILES", (str(wrong),))
    (finding,) = soak_properties.again("3/500", tmp_path).findings
    assert "number=7" in finding
    assert finding.endswith("again: make soak ARGS=\"--only properties --again '3/500'\"")
    assert soak_properties.again("3/0", tmp_path).findings  # no examples are no success


def test_damage_covers_every_kind_and_ends(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    cases: list[str] = []

    def note(_world: object, _unharmed: object, case: str, part: Part) -> None:
        cases.append(case)
        part.seconds = 0.0 if len(cases) > len(DAMAGES) else part.seconds

    monkeypatch.setattr(soak_damage, "_machine", lambda _: (None, None))
    monkeypatch.setattr(soak_damage, "_case", note)
    assert soak_damage.run(1000.0, 7, tmp_path).findings == []
    assert {case.rpartition("/")[2] for case in cases} == {*DAMAGES}
    assert len(set(cases)) == len(DAMAGES) + 1


@pytest.mark.slow
def test_a_large_transcript_in_miniature(tmp_path: Path) -> None:
    part = soak_large.again("small", tmp_path, lines=5000, size=20_000_000)
    assert part.findings == []
    assert part.reached["turns that are there twice"] == 25
    assert not [*tmp_path.rglob("s1.jsonl")]
