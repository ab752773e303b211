"""The managed block: inserted and removed without touching any other byte (SAFETY T-35)."""

from __future__ import annotations

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from skilld.exchange.managed_block import BlockError, put_block, read_block, remove_block
from support.rows import for_each

BODY = "## Skills\n\n- `a`: does é\n"
END = b"<!-- skilld:skills:end -->"
# Like people's files: odd line ends, byte order marks, code with markers in it, no last newline.
_PIECES = st.sampled_from(
    [
        "# Title",
        "",
        "Words. ",
        "\t- item",
        "é ü 漢",
        "```md\n<!-- skilld:skills:start join=1 hash=0123456789abcdef x -->\nold\n<!-- skilld:skills:end -->\n```",
        "~~~~\n```\n<!-- skilld:skills:end -->\n~~~~",
        "    <!-- skilld:skills:start",
        "text <!-- skilld:skills:end -->",
        "<!-- a comment -->",
        "<!-- tapes:skills:start -->",
        "\u2028",
        "\x0c",
    ]
)


@st.composite
def files(draw: st.DrawFn) -> bytes:
    """Return the bytes of a generated Markdown file."""
    lines = "\n".join(draw(st.lists(_PIECES, max_size=8))).split("\n")
    ends = draw(st.lists(st.sampled_from(["\n", "\r\n", "\r"]), min_size=len(lines), max_size=len(lines)))
    text = "".join(line + end for line, end in zip(lines, ends, strict=True))
    if draw(st.booleans()):
        text = text.rstrip("\r\n")
    return (b"\xef\xbb\xbf" if draw(st.booleans()) else b"") + text.encode()


@settings(max_examples=300)
@given(files(), st.sampled_from([BODY, "- other\n", ""]))
def test_inserting_and_removing_the_block_changes_nothing_else(data: bytes, renewed: str) -> None:
    once = put_block(data, BODY)
    assert once.startswith(data)
    assert read_block(once) == BODY
    assert put_block(once, BODY) == once
    again = put_block(once, renewed)
    assert again.startswith(data)
    assert read_block(again) == renewed
    assert put_block(again, BODY) == once
    assert remove_block(again) == data
    assert remove_block(data) == data


@settings(max_examples=100)
@given(files(), files())
def test_later_text_around_the_block_stays(before: bytes, after: bytes) -> None:
    assume(not after.startswith(b"\xef\xbb\xbf"))
    once = put_block(before, BODY)
    assert put_block(once + after, "- new\n").endswith(after)
    out = remove_block(once + after)
    assert out is not None
    assert out.startswith(before)
    assert out.endswith(after)
    assert out.replace(b"\r", b"").replace(b"\n", b"") == (before + after).replace(b"\r", b"").replace(b"\n", b"")


def test_a_file_we_created_is_deleted_with_its_block_unless_edited() -> None:
    made = put_block(None, BODY)
    assert remove_block(made) is None
    assert remove_block(b"Mine.\n" + made) == b"Mine.\n"
    assert remove_block(put_block(b"", BODY)) == b""


def test_the_line_endings_of_a_block_may_change_with_its_file() -> None:
    once = put_block(b"One\nTwo\n", BODY)
    changed = once.replace(b"\n", b"\r\n")
    assert read_block(changed) == BODY
    assert remove_block(changed) == b"One\r\nTwo\r\n"


def _modified_blocks() -> dict[str, bytes]:
    once = put_block(b"Text\n", BODY)
    return {
        "edited": once.replace(b"does", b"did"),
        "marker": once.replace(b"hash=", b"hush="),
        "no end": once.replace(END, b""),
        "no start": once.replace(b"<!-- skilld:skills:start", b"<!-- "),
        "twice": once + once,
        "nested": once.replace(END, once + END),
        "turned": END + b"\n" + once.replace(END, b""),
    }


@for_each("name", _modified_blocks())
def test_a_modified_block_is_left_alone(name: str) -> None:
    with pytest.raises(BlockError):
        put_block(_modified_blocks()[name], BODY)
    with pytest.raises(BlockError):
        remove_block(_modified_blocks()[name])


@for_each("data", [b"caf\xe9\n", "text".encode("utf-16"), b"a\0b", b"```\nnever closed\n"])
def test_a_file_that_cannot_take_a_block_is_left_alone(data: bytes) -> None:
    with pytest.raises(BlockError):
        put_block(data, BODY)
