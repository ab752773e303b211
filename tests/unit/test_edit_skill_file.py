"""A SKILL.md parsed into front matter, lines with their endings, sections and code."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skilld.errors import SkilldError
from skilld.markdown.skill_file import MAX_BYTES, MAX_LINES, Line, parse
from skilld.markdown.structure import Role, blank_code, code_spans, roles, sections
from support.rows import for_each


def body(text: str) -> list[Line]:
    return list(parse(text.encode()).body)


def test_front_matter_body_and_line_endings_are_parsed() -> None:
    skill = parse(b"\xef\xbb\xbf---\r\nname: x\r\n--- \t\r\n# T\r\n\n- a\rlast")
    assert skill.bom
    assert skill.front == "---\r\nname: x\r\n--- \t\r\n"
    assert skill.body == (Line("# T", "\r\n"), Line("", "\n"), Line("- a", "\r"), Line("last", ""))
    assert skill.line_count == 7
    assert skill.ending == "\r\n"


@for_each("data", [b"", b"\n", b"no front\n", b"text\n---\nname: x\n---\n", b"\n---\nname: x\n---\n"])
def test_a_file_without_front_matter_is_all_body(data: bytes) -> None:
    assert parse(data).front == ""
    assert parse(data).data == data


def test_only_markdown_line_endings_end_a_line() -> None:
    assert [line.text for line in parse("a\u2028b\x0bc\x0cd\x85e\n".encode()).body] == ["a\u2028b\x0bc\x0cd\x85e"]


@for_each(
    ("data", "cause"),
    [
        (b"caf\xe9\n", "byte 3 is not UTF-8"),
        (b"a\0b\n", "NUL"),
        (b"x" * (MAX_BYTES + 1), "1048577 bytes"),
        (b"\n" * (MAX_LINES + 1), "10001 lines"),
        (b"---\nname: x\n# T\n", "not closed"),
        (b"---\nx: " + b"y" * 70_000 + b"\n---\n", "front matter is over"),
    ],
)
def test_an_uneditable_file_is_refused_with_the_cause(data: bytes, cause: str) -> None:
    with pytest.raises(SkilldError) as error:
        parse(data)
    assert cause in error.value.cause


@given(st.binary(max_size=300) | st.text(max_size=200).map(lambda text: ("---\n" + text).encode("utf-8", "replace")))
def test_any_bytes_round_trip_or_are_refused(data: bytes) -> None:
    try:
        skill = parse(data)
    except SkilldError:
        return
    assert skill.data == data
    sections(skill.body)


def test_sections_know_their_own_lines_and_subsections() -> None:
    found = sections(body("intro\n# One\na\n## Two ##\nb\n### Three\nc\n## Four\n"))
    assert [(part.title, part.level, part.start, part.own_end, part.end) for part in found] == [
        ("", 0, 0, 1, 1),
        ("One", 1, 2, 3, 8),
        ("Two", 2, 4, 5, 7),
        ("Three", 3, 6, 7, 7),
        ("Four", 2, 8, 8, 8),
    ]


def test_underlined_headings_count_and_horizontal_rules_do_not() -> None:
    text = "Title\n=====\n\nNext\n---\n\n---\n- item\n---\n#no heading\n####### seven\n"
    assert [(part.title, part.level) for part in sections(body(text))] == [("Title", 1), ("Next", 2)]


def test_headings_in_code_and_comments_do_not_count() -> None:
    text = "# A\n```sh\n# no\n```\n~~~\n## no\n```\n~~~\n<!--\n# no\n-->\n# B\n"
    assert [part.title for part in sections(body(text))] == ["A", "B"]


def test_fences_inside_list_items_are_code() -> None:
    text = "1. Step\n\n   ```sh\n   # no heading\n   ```\n2. - ```\n     # no\n     ```\n# H\n"
    assert [part.title for part in sections(body(text))] == ["", "H"]


def test_an_unclosed_fence_runs_to_the_end() -> None:
    assert roles(body("a\n```\nb\n# c"))[1:] == [Role.FENCE, Role.CODE, Role.CODE]


def test_a_code_span_needs_a_closing_run_of_the_same_length() -> None:
    assert [span.content for span in code_spans("`a` ``b ` c`` ` d \\` e")] == ["a", "b ` c", "d \\"]
    assert blank_code("x `y` z") == "x     z"
    assert [span.content for span in code_spans("\\`a` b`")] == ["b"]
