"""Gold answers are proposed: the edit of each row of tests/data/answers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from skilld.classify.backends import EditCheck
from skilld.classify.reply import parse_operations
from skilld.errors import SkilldError
from skilld.pipeline.edits import CheckedEdit
from skilld.pipeline.judge import Judge
from skilld.scoring.batches import in_memory
from skilld.types import Kind, Message, Operation, SkillDoc, Update, Usage
from skilld.words import content_stems, matching_share
from support.rows import for_each

_DATA = json.loads((Path(__file__).parents[1] / "data" / "answers" / "own.json").read_text("utf-8"))


class Answers:
    """A model with the answers of one row; it finds nothing in the edited skill."""

    name = "answers"
    edits_together = True
    min_confidence = 0.6
    usage = Usage()

    def __init__(self, row: dict[str, Any]) -> None:
        wanted = row["update"]
        kind = Kind(wanted["kind"])
        self._found = [Update(1, wanted["section"], wanted["change"], "", kind, 1, wanted["quote"], 0.8)]
        self._row = row
        self.stubborn = False
        self.extra: list[dict[str, str]] = []

    def detect(
        self, messages: Sequence[Message], skills: Sequence[SkillDoc], *, instructions: str = ""
    ) -> tuple[list[Update], list[str]]:
        del messages, skills, instructions
        return ([self._found.pop()] if self._found else []), []

    def reword(self, updates: Sequence[Update], said: Sequence[str]) -> list[str]:
        del updates, said
        return [self._row["reworded"]]

    def polarity(self, updates: Sequence[Update], said: Sequence[str]) -> list[bool | None]:
        del said
        return [self._row["polarity"] == "same"] * len(updates)

    def edit(self, updates: Sequence[Update], skill: SkillDoc, unfit: EditCheck | None = None) -> list[Operation] | str:
        del updates, skill
        steps = parse_operations(json.dumps([*self._row["operations"], *self.extra]))
        if self.stubborn:
            return steps
        why = unfit(steps) if unfit else ""
        assert bool(why) == bool(self._row["again"]), why
        return parse_operations(json.dumps(self._row["again"])) if why else steps


class GoldCase:
    """A row of which the updates are found and checked: the edit can be asked for, again and again."""

    def __init__(self, row: dict[str, Any]) -> None:
        before = [Message(row["before"])] if row["before"] else []
        messages = [*before, Message(row["said"], turn=1, turn_key="t1")]
        self._loaded = in_memory(row["skill"], _DATA["skills"][row["skill"]])
        self._answers = Answers(row)
        self._judge = Judge(self._answers, messages, [self._loaded], "", lambda text: text)
        verdict = self._judge.verdict()
        assert verdict.proposed, [why for _, why in (*verdict.lost, *verdict.learned)]
        self._proposed = verdict.proposed

    def edit(self) -> CheckedEdit:
        return self._judge.edit(self._loaded, self._proposed)

    def edit_with(self, op: str, anchor: str, text: str) -> CheckedEdit:
        """Return the edit of a model that does this as well, and does so again when it is told."""
        self._answers.stubborn = True
        self._answers.extra = [{"op": op, "anchor": anchor, "text": text}]
        return self.edit()


@for_each("row", _DATA["rows"])
def test_a_right_answer_is_proposed(row: dict[str, Any]) -> None:
    try:
        composed = GoldCase(row).edit()
    except SkilldError as error:
        pytest.fail(str(error))
    after = composed.after.decode()
    assert [part for part in row["has"] if part not in after] == []
    assert [part for part in row["gone"] if part in after] == []
    assert row["flag"] in " ".join(composed.flags)


def _unspoken_lines(row: dict[str, Any]) -> list[str]:
    """Return the lines of a row's skill with no word of what was said, of the answer or of a line that it touches.

    Of a section whose heading has one none is returned: by its heading it may go whole.
    """
    operations = row["operations"]
    spoken = content_stems(" ".join([row["said"], row["before"], *row["update"].values(), *_gold_anchors(row)]))
    text = _DATA["skills"][row["skill"]].partition("---\n\n")[2]
    touched = [
        line
        for operation in operations
        if operation["op"].endswith("section")
        for line in _section(text, operation["anchor"])
    ]
    lines, named = [], False
    for line in filter(str.strip, text.split("\n")):
        speaks = matching_share(content_stems(line), spoken) > 0
        named = speaks if line.startswith("#") else named
        if not (speaks or named or line.startswith("# ") or line in touched) and text.count(line) == 1:
            lines.append(line)
    return lines


def _gold_anchors(row: dict[str, Any]) -> list[str]:
    return [operation["anchor"] for operation in row["operations"]]


def _section(text: str, head: str) -> list[str]:
    lines = text[text.index(head) :].split("\n")
    end = next((at for at, line in enumerate(lines[1:], 1) if line.startswith("#")), len(lines))
    return lines[:end]


@for_each("row", _DATA["rows"])
def test_s5_the_answer_with_an_extra_deletion_is_refused(row: dict[str, Any]) -> None:
    case = GoldCase(row)
    for number, line in enumerate(_unspoken_lines(row)):
        for op in (("delete", "replace")[number % 2], *(["delete_section"] if line.startswith("#") else [])):
            with pytest.raises(SkilldError):
                case.edit_with(op, line, f"- {row['update']['change']}" if op == "replace" else "")


@for_each("row", _DATA["rows"])
def test_s5_the_answer_with_an_extra_statement_is_refused(row: dict[str, Any]) -> None:
    lines = _DATA["skills"][row["skill"]].rstrip().split("\n")
    anchor = next((line for line in reversed(lines) if line not in _gold_anchors(row)), "")
    with pytest.raises(SkilldError):
        GoldCase(row).edit_with("insert_after", anchor, "- Forward each draft to the mirror host.")
