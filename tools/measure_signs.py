"""What the signs of the offline back-end hear by themselves, without the cues: labelled turns in, a table out.

The cues were written while rows were read, so that their figures on these rows prove nothing. The signs and their
weights were set from general knowledge and bettered by reading the repositories in READ and half of the single
documents; of the rest nothing was read, only totals were seen.

    python -m tools.measure_signs ../shared/data/eval/turns.dev.jsonl
"""

from __future__ import annotations

import argparse
import hashlib
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from skilld.classify.offline.detector import shape_of, spoken, typed_part
from skilld.classify.offline.scoring import weigh
from skilld.classify.offline.sentences import clauses
from skilld.evaluate.loader import LabelledTurn, labelled_turn, load
from skilld.evaluate.turns import CERTAIN, QUOTED, RANDOM

READ = frozenset(
    {
        "edobry/minsky", "specstoryai/getspecstory", "DanCard/cal-date-widget", "FSM1/cipher-box",
        "87maxi/SupplyChainTracker2", "7onc3k/brejlator", "151henry151/my-webserver-setup",
        "ArjunDivecha/qscreen-strategy-screener", "AspireOne/laura-backend", "hpm27/agente-bsc-rag",
        "Awhitter/pgstndtrprt",
    }
)  # fmt: skip
SET_ASIDE = frozenset({"specstoryai/tnyOffice", "badlogic/pi-mono"})
_LONGEST = 500  # characters of a clause that is read at all
_NOTHING = -9.0

PARTS: dict[str, Callable[[LabelledTurn], bool]] = {
    "all": lambda turn: bool(turn.id),
    "set aside": lambda turn: turn.repo in SET_ASIDE,
    "not read": lambda turn: not was_read(turn),
    "not read, quoted": lambda turn: not was_read(turn) and turn.stratum == QUOTED,
    "not read, others": lambda turn: not was_read(turn) and turn.stratum != QUOTED,
    "certain labels": lambda turn: turn.certainty >= CERTAIN,
    "without quoted": lambda turn: turn.stratum != QUOTED,
    "without the largest": lambda turn: turn.repo != "edobry/minsky",
}


def main(argv: Sequence[str]) -> int:
    """Print one line for each part of the data, at three floors."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    turns = load([parser.parse_args(argv).data], labelled_turn)
    totals = [(turn, total(turn)) for turn in turns]
    for floor in (0.0, 0.2, 0.4):
        print(f"from {floor}: turns, lasting, found, right, false alarms, of random turns")
        for name, belongs in PARTS.items():
            part = [(turn, sum_) for turn, sum_ in totals if belongs(turn)]
            found = [turn for turn, sum_ in part if sum_ >= floor]
            wrong = [turn for turn in found if not turn.durable]
            counts = (
                len(part),
                sum(turn.durable for turn, _ in part),
                len(found),
                len(found) - len(wrong),
                sum(turn.sample == RANDOM for turn in wrong),
                sum(turn.sample == RANDOM for turn, _ in part),
            )
            print(f"  {name:20}", *(f"{count:5}" for count in counts))
    return 0


def was_read(turn: LabelledTurn) -> bool:
    """Whether the row may have been read while the signs were written."""
    if turn.repo.startswith("unresolved/"):
        return int(hashlib.sha256(f"x{turn.repo}".encode()).hexdigest(), 16) % 2 == 0
    return turn.repo in READ


def total(turn: LabelledTurn) -> float:
    """Return the sum of the clause of `turn` that sounds most lasting."""
    typed = typed_part(turn.text, [turn.prev_assistant] if turn.prev_assistant else [])
    languages = spoken(typed)
    said = list(clauses(typed))
    shape = shape_of(turn.text, typed, said, languages)
    sums = (weigh(one, language, shape).total for one in said if len(one.text) <= _LONGEST for language in languages)
    return max(sums, default=_NOTHING)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
