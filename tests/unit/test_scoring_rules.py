"""Rules and skills scored on labelled pairs: by words, and with a strong model's stored answers."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from skilld.__main__ import main
from skilld.classify import closed_questions, prompt
from skilld.errors import SkilldError
from skilld.scoring.rules import load

DATA = Path(__file__).parents[1] / "data"


def score(kind: str, backend: str, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    arguments = ["eval", kind, "--data", str(DATA / "effect" / f"{kind}.txt"), "--backend", backend, "--json"]
    assert main(arguments) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


@pytest.fixture
def answers(tmp_path: Path) -> Path:
    """A folder with the stored answers, which are replayed: nobody is asked."""
    shutil.copytree(DATA / "answers", tmp_path / "answers")
    return tmp_path / "answers"


@pytest.mark.parametrize(("kind", "pairs", "least"), [("repeats", 180, 0.9), ("matters", 120, 0.8)])
def test_a_strong_models_stored_answers_are_right(
    kind: str, pairs: int, least: float, answers: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Issue 17: repeats with recall and precision of at least 0.9, "could matter" of 0.8 each, in each hand's pairs."""
    found = score(kind, f"stored:{answers / kind}", capsys)
    assert (found["n"], found["unanswered"], len(found["by_half"])) == (pairs, 0, 3), "a request has changed"
    for half in found["by_half"].values():
        assert (half["recall"] >= least, half["precision"] >= least) == (True, True)


@pytest.mark.parametrize(("kind", "asked"), [("repeats", 180), ("matters", 117)])
def test_a_changed_question_has_no_stored_answer(
    kind: str, asked: int, answers: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Answers belong to a wording: after a change nothing counts as answered, and the new requests are written.

    Three pairs of "matters" have only a question that the gate spares, about which nobody is asked.
    """
    rules = prompt.load_text
    monkeypatch.setattr(closed_questions, "load_text", lambda name: rules(name).replace("rules", "Rules"))
    found = score(kind, f"stored:{answers / kind}", capsys)
    assert found["unanswered"] == asked
    assert any((answers / kind / "asked").iterdir())


@pytest.mark.parametrize(("kind", "precision", "recall"), [("repeats", 0.98, 0.85), ("matters", 0.75, 0.7)])
def test_words_alone_score_as_published(
    kind: str, precision: float, recall: float, capsys: pytest.CaptureFixture[str]
) -> None:
    """docs/measurements/effect.md: over all halves. Of what was written to mislead words, they tell far less."""
    found = score(kind, "offline", capsys)
    assert (found["precision"] >= precision, found["recall"] >= recall) == (True, True)


def test_a_malformed_pair_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "pairs.txt"
    path.write_text("# note\n== a\nyes | Use x. | do y\nyes | Use x.\n")
    with pytest.raises(SkilldError, match="line 4"):
        load([path])
    path.write_text("== a\nyes | Use x. | do y | z\n")
    (pair,) = load([path])
    assert (pair.half, pair.wanted, pair.text) == ("a", True, "do y | z")


def find_scores(name: str, backend: str, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    arguments = ["eval", "finding", "--data", str(DATA / "finding" / f"{name}.jsonl"), "--backend", backend, "--json"]
    assert main(arguments) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


@pytest.mark.parametrize("name", ["develop", "held", "third"])
def test_a_strong_models_stored_answers_find_the_right_skill(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(DATA / "answers/finding", tmp_path / "finding")
    found = find_scores(name, f"stored:{tmp_path / 'finding'}", capsys)
    assert found["unanswered"] == 0, "a request has changed"
    assert min(found["found_share"], found["left_alone_share"]) >= 0.9


@pytest.mark.parametrize(("name", "share"), [("develop", 0.8), ("held", 0.85), ("third", 0.5)])
def test_words_alone_find_skills_as_published(name: str, share: float, capsys: pytest.CaptureFixture[str]) -> None:
    found = find_scores(name, "offline", capsys)
    assert (found["found_share"] >= share, found["left_alone_share"] >= 0.9) == (True, True)
