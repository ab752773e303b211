"""Issue 19, part 5: skills are found for labelled tasks, by words and with a strong model's stored answers."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from skilld.__main__ import main

DATA = Path(__file__).parents[1] / "data"


def scored(name: str, backend: str, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    arguments = ["eval", "finding", "--data", str(DATA / "finding" / f"{name}.jsonl"), "--backend", backend, "--json"]
    assert main(arguments) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


@pytest.mark.parametrize("name", ["develop", "held", "third"])
def test_a_strong_models_stored_answers_find_the_right_skill(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(DATA / "answers/finding", tmp_path / "finding")
    found = scored(name, f"stored:{tmp_path / 'finding'}", capsys)
    assert found["unanswered"] == 0, "a request has changed"
    assert min(found["found_share"], found["left_alone_share"]) >= 0.9


@pytest.mark.parametrize(("name", "share"), [("develop", 0.8), ("held", 0.85), ("third", 0.5)])
def test_words_alone_do_as_published(name: str, share: float, capsys: pytest.CaptureFixture[str]) -> None:
    found = scored(name, "offline", capsys)
    assert (found["found_share"] >= share, found["left_alone_share"] >= 0.9) == (True, True)
