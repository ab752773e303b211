"""Scores the questions about rules and about skills that fit a task, on labelled pairs and tasks.

    python -m tools.score repeats|matters|finding FILE... [--stored FOLDER]

Judged by words alone, or with answers kept in FOLDER (docs/scoring.md). The figures are in docs/measurements.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from skilld.classify.backends import OFFLINE, Backend, Spec, make_backend
from skilld.git.environment import scrub_environment
from skilld.redact import KEY_BYTES, Redactor
from skilld.scoring.stored import StoredAnswers, StoredModel
from tools import score_finding, score_rules

_JUDGES = {"repeats": score_rules.judge_repeats, "matters": score_rules.judge_relevance}


def score(kind: str, files: Sequence[Path], stored: Path | None = None) -> dict[str, Any]:
    """Return the figures of one kind; `stored` is the folder of a model's answers."""
    answers = StoredAnswers(stored) if stored else None

    def make() -> Backend:
        return StoredModel(answers) if answers else make_backend(Spec(OFFLINE))

    if kind == "finding":
        return score_finding.figures([*score_finding.judge(score_finding.load(files), make)])
    scrub_environment()
    redact = Redactor(os.urandom(KEY_BYTES)).redact
    return score_rules.figures(kind, [*_JUDGES[kind](score_rules.load(files), make, redact)])


def main() -> int:
    """Print the figures as JSON."""
    parser = argparse.ArgumentParser(prog="python -m tools.score")
    parser.add_argument("kind", choices=(*_JUDGES, "finding"))
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--stored", type=Path, metavar="FOLDER")
    arguments = parser.parse_args()
    json.dump(score(arguments.kind, arguments.files, arguments.stored), sys.stdout, indent=2)
    return 0


if __name__ == "__main__":
    sys.exit(main())
