"""Thousands of generated skills and operations: nothing else changes, and undo restores the bytes.

The expected bytes are put together here from the generated lines, not by the code under test.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from skilld.edit.derive_operations import operations_from_text
from skilld.edit.insertion_point import insert_bullet
from skilld.edit.lint import is_low_risk, lint
from skilld.edit.operations import apply
from skilld.errors import SkilldError
from skilld.git.line_diff import undo
from skilld.markdown.skill_file import parse
from skilld.types import Op, Operation

EXAMPLES = int(os.environ.get("HYPOTHESIS_EXAMPLES", "20"))  # of each property; `make soak` sets more
many = settings(max_examples=EXAMPLES, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow])

WORDS = ["# Title", "## Steps", "## Steps ##", "Under", "=====", "---", "- a", "- b", "* c", "+ d", "1. one", "2) two"]
CODE = ["```sh", "```", "~~~", "  ```", "# in code", "`x` and ``y", "<!--", "-->", "<b>", "!`date`", "[l]: # (x)"]
ODD = [
    "", "", "  ", "\t- tab", "- a  ", "    code", "naïve", "日本語 です", "😀 👩‍💻", "שלום", "a\u2028b",
    "a\x0bb", "\u200b",
]  # fmt: skip
TEXTS = st.sampled_from(WORDS + CODE + ODD) | st.text(
    st.characters(exclude_characters="\r\n\0", exclude_categories=["Cs"])
)
FRONTS = ["", "---\nname: x\n---\n", "---\r\nname: x\r\ndescription: '# no'\r\n---  \r\n", "---\n- a\n---\n"]


@dataclass(frozen=True)
class Skill:
    """A generated skill as its parts: the bytes before the body, and each line of the body with its ending."""

    head: bytes
    lines: list[tuple[str, str]]

    @property
    def data(self) -> bytes:
        return self.head + self.part(0, len(self.lines))

    def part(self, start: int, end: int) -> bytes:
        return "".join(text + ending for text, ending in self.lines[start:end]).encode()


@st.composite
def skills(draw: st.DrawFn, endings: tuple[str, ...] = ("\n", "\r\n", "\r")) -> Skill:
    front = draw(st.sampled_from(FRONTS))
    ending = draw(st.sampled_from(endings))
    texts = draw(st.lists(TEXTS, min_size=1, max_size=14))
    assume(front or texts[0].rstrip(" \t") != "---")
    assume(not texts[0].startswith("\ufeff"))
    last = draw(st.sampled_from([ending, ending, ""])) if texts[-1] else ending
    lines = [(text, ending) for text in texts[:-1]] + [(texts[-1], last)]
    head = draw(st.sampled_from([b"", b"\xef\xbb\xbf"])) + front.replace("\r\n", "\n").replace("\n", ending).encode()
    return Skill(head, lines)


@st.composite
def cases(draw: st.DrawFn) -> tuple[Skill, int, int, Operation]:
    """Return a skill, the lines [start, end) of an anchor in it, and an operation with that anchor."""
    skill = draw(skills())
    start = draw(st.integers(0, len(skill.lines) - 1))
    end = draw(st.integers(start + 1, min(len(skill.lines), start + 4)))
    anchor = "\n".join(text for text, _ in skill.lines[start:end])
    assume(anchor)  # only a file that says nothing may have none, and takes it at its start
    text = "\n".join(draw(st.lists(TEXTS, min_size=1, max_size=4)))
    op = draw(st.sampled_from(list(Op)))
    return skill, start, end, Operation(op, anchor, "" if op is Op.DELETE else text)


def apply_or_none(data: bytes, operations: list[Operation], *, limited: bool = True) -> bytes | None:
    """Apply, or None where the operations are refused in the proper way."""
    try:
        return apply(data, operations, limited=limited)
    except SkilldError:
        return None


@many
@given(cases())
def test_bytes_outside_the_edited_lines_never_change(case: tuple[Skill, int, int, Operation]) -> None:
    skill, start, end, operation = case
    after = apply_or_none(skill.data, [operation])
    assume(after is not None)
    assert after is not None
    if operation.op is Op.INSERT_AFTER:
        start = end
    before_it, behind_it = skill.head + skill.part(0, start), skill.part(end, len(skill.lines))
    if behind_it:
        assert after.endswith(behind_it)
        assert after.startswith(before_it)
    else:  # at the end of the file a line may gain or lose its ending, for the final newline stays or stays missing
        assert after.startswith(before_it.rstrip(b"\r\n"))
        assert after.endswith((b"\n", b"\r")) == skill.data.endswith((b"\n", b"\r"))
    assert parse(after).front == parse(skill.data).front
    assert after.startswith(b"\xef\xbb\xbf") == skill.data.startswith(b"\xef\xbb\xbf")
    assert undo(skill.data, after, after) == skill.data


@many
@given(cases())
def test_inserted_lines_follow_the_anchor_with_the_files_line_ending(case: tuple[Skill, int, int, Operation]) -> None:
    skill, _, end, operation = case
    ending = skill.lines[0][1] or ("\r\n" if b"\r\n" in skill.head else "\r" if b"\r" in skill.head else "\n")
    after = apply_or_none(skill.data, [Operation(Op.INSERT_AFTER, operation.anchor, operation.text or "- new")])
    assume(after is not None)
    added = (operation.text or "- new").replace("\n", ending).encode()
    head, tail = skill.head + skill.part(0, end), skill.part(end, len(skill.lines))
    last = skill.lines[end - 1][1].encode()
    if last:
        assert after == head + added + last + tail
    else:  # the file stays without a final newline
        assert after == head + ending.encode() + added.rstrip(b"\r\n")


@many
@given(skills(), st.data())
def test_undoing_several_operations_restores_the_bytes(skill: Skill, data: st.DataObject) -> None:
    operations: list[Operation] = []
    now = skill.data
    for _ in range(3):
        lines = [line.text for line in parse(now).body]
        at = data.draw(st.integers(0, max(0, len(lines) - 1)))
        op = data.draw(st.sampled_from(list(Op)))
        operation = Operation(op, lines[at] if lines else "", "" if op is Op.DELETE else data.draw(TEXTS))
        after = apply_or_none(skill.data, [*operations, operation])
        if after is not None:
            operations.append(operation)
            now = after
    assume(operations and now != skill.data)
    assert undo(skill.data, now, now) == skill.data


@many
@given(skills(("\n", "\r\n")), st.lists(st.sampled_from(["\n", "\r\n", "\r"]), min_size=14, max_size=14), st.data())
def test_insertions_into_mixed_line_endings_are_undone_exactly(
    skill: Skill, ends: list[str], data: st.DataObject
) -> None:
    lines = [(text, end and other) for (text, end), other in zip(skill.lines, ends, strict=False)]
    assume(skill.head not in {b"", b"\xef\xbb\xbf"} or lines[0][0] != "---")
    mixed = Skill(skill.head, lines).data
    anchor = data.draw(st.sampled_from(lines))[0]
    operation = Operation(Op.INSERT_AFTER, anchor, data.draw(TEXTS))
    after = apply_or_none(mixed, [operation])
    assume(after is not None)
    assert after is not None
    assert undo(mixed, after, after) == mixed


@many
@given(skills(("\n", "\r\n")), TEXTS, TEXTS)
def test_two_bullets_after_one_line_apply_in_either_order(skill: Skill, one: str, two: str) -> None:
    anchor = skill.lines[-1][0]
    first = Operation(Op.INSERT_AFTER, anchor, f"- one {one}")
    second = Operation(Op.INSERT_AFTER, anchor, f"- two {two}")
    for order in ([first, second], [second, first]):
        both = apply_or_none(skill.data, order)
        assume(both is not None)
        assert both is not None
        for gone, left in ((first, second), (second, first)):
            alone = undo(skill.data, apply(skill.data, [gone]), both)
            # The last line of a file without a final newline may get one.
            assert alone.splitlines() == apply(skill.data, [left]).splitlines()
            assert undo(skill.data, apply(skill.data, [left]), alone).splitlines() == skill.data.splitlines()


@many
@given(skills(), st.data())
def test_a_rewritten_file_becomes_operations_that_produce_it(skill: Skill, data: st.DataObject) -> None:
    texts = [text for text, _ in skill.lines]
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(texts)))
        texts[at : at + data.draw(st.integers(0, 2))] = data.draw(st.lists(TEXTS, max_size=2))
    head = skill.head.decode().removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    try:
        operations = operations_from_text(skill.data, head + "\n".join(texts))
    except SkilldError:
        return
    got = [line.key for line in parse(apply(skill.data, operations)).body]
    want = [text.rstrip(" \t") for text in texts]
    assert "\n".join(got).rstrip("\n") == "\n".join(want).rstrip("\n")


@many
@given(skills(), st.sampled_from(["", "Steps", "Title", "New"]), TEXTS)
def test_a_placed_instruction_is_in_the_skill_and_can_be_undone(skill: Skill, hint: str, text: str) -> None:
    try:
        operation = insert_bullet(skill.data, hint, f"Say {text}")
        after = apply(skill.data, [operation])
    except SkilldError:
        return
    assert "say" in parse(after).data.decode().lower()  # a list may begin its items with small letters
    old, new = [line.text for line in parse(skill.data).body], [line.text for line in parse(after).body]
    rest = iter(new)
    assert all(line in rest for line in old)
    assert undo(skill.data, after, after) == skill.data


@many
@given(skills(), skills(), st.text(max_size=20))
def test_the_linter_accepts_any_pair_and_finds_nothing_without_a_change(one: Skill, other: Skill, said: str) -> None:
    assert lint(one.data, one.data, said) == []
    for finding in lint(one.data, other.data, said):
        assert finding.sentence
        assert finding.sentence.replace("\u200d", "").isprintable()
    is_low_risk(one.data, other.data)


@given(st.binary(max_size=80), st.binary(max_size=80))
def test_the_linter_accepts_any_bytes(one: bytes, other: bytes) -> None:
    lint(one, other, "")
