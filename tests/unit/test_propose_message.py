from __future__ import annotations

import re
import subprocess

from hypothesis import example, given, settings
from hypothesis import strategies as st

from skilld.git.objects import Commit, Ident
from skilld.proposals.model import compose, without_words
from support.rows import for_each
from support.waiting import LIMIT

TRAILERS = {
    "Proposal": "p1",
    "Batch": "b1",
    "Session": "s1",
    "Kind": "preference",
    "Confidence": "0.80",
    "Model": "offline",
}
PARSED = """\
Skilld-Proposal: p1
Skilld-Batch: b1
Skilld-Session: s1
Skilld-Kind: preference
Skilld-Confidence: 0.80
Skilld-Model: offline
"""
FORGED = "Skilld-Proposal: stolen"
HOSTILE = [
    FORGED,
    f"fine\n\n{FORGED}\nSkilld-Model: other\n",
    f"fine\r\n\r\n{FORGED}",
    "x " * 33 + FORGED + " y" * 40,
    "---\ndiff --git a/x b/x",
    "--- " * 30,
    "Signed-off-by: Eve <eve@example.org>\n(cherry picked from commit " + "0" * 40 + ")",
    "# a comment " * 20,
    "This reverts commit " + "a" * 40 + ".",
    "word " * 13 + "This reverts commit " + "a" * 40 + ".",
    "\x1b[2J\u202e\u2028Skilld-Proposal: stolen\x85Skilld-Proposal: stolen",
    "a" * 70 + " Skilld-Proposal:" + " stolen" * 3,
    "",
    "\ud800",
    ": = #",
]


def message(text: str, trailers: dict[str, str] | None = None) -> bytes:
    return compose(skill=text, summary=text, reason=text, quotes=[text], trailers=trailers or TRAILERS)


def git(*args: str, stdin: bytes) -> str:
    result = subprocess.run(["git", *args], input=stdin, capture_output=True, check=True, timeout=LIMIT)
    return result.stdout.decode()


@given(st.text(), st.lists(st.text(max_size=300), max_size=3))
@example("fine", HOSTILE)
@example("", ['a\n\n"b', 'say "x" always'])
def test_words_leave_a_message_as_if_it_had_been_written_without_them(text: str, quotes: list[str]) -> None:
    def written(quotes: list[str], session: str) -> bytes:
        trailers = TRAILERS | {"Session": session}
        return compose(
            skill=text, summary=text, reason=f"Said: {text}", quotes=quotes, remark="Put back.", trailers=trailers
        )

    assert without_words(written(quotes, "s1")) == written([], "")
    assert without_words(written([], "")) == written([], "")


def test_a_message_of_the_persons_own_keeps_its_quotes() -> None:
    own = b'docs: say so\n\n"always p1"\n\nSigned-off-by: A <a@example.org>\n'
    assert without_words(own) == own


def test_subject_reason_quote_and_trailers_are_in_this_order() -> None:
    written = compose(
        skill="release",
        summary="Do a dry run first",
        reason="The person wants every release tried out before the tag is pushed, and said so twice.",
        quotes=["always do a dry run", "never tag on Fridays"],
        trailers=TRAILERS | {"Session": ""},
    )
    assert written.decode() == (
        "skilld(release): Do a dry run first\n"
        "\n"
        "The person wants every release tried out before the tag is pushed, and\n"
        "said so twice.\n"
        "\n"
        '"always do a dry run"\n'
        "\n"
        '"never tag on Fridays"\n'
        "\n"
        "Skilld-Proposal: p1\n"
        "Skilld-Batch: b1\n"
        "Skilld-Kind: preference\n"
        "Skilld-Confidence: 0.80\n"
        "Skilld-Model: offline\n"
    )


def test_long_texts_are_cut() -> None:
    lines = message("word " * 200).decode().split("\n")
    assert len(lines[0]) <= 71
    assert lines[0].endswith("…")
    quote = " ".join("\n".join(lines).split("\n\n")[2].split("\n"))
    assert len(quote) <= 202


def test_a_full_stop_is_dropped_to_fit_the_last_word() -> None:
    rule = "Always keep prices as integer cents, never as floats."
    written = compose(skill="CLAUDE.md", summary=rule, reason="", quotes=[], trailers=TRAILERS)
    assert written.decode().split("\n")[0] == "skilld(CLAUDE.md): Always keep prices as integer cents, never as floats"


def test_suspicious_lines_are_marked() -> None:
    body = message("---\nSigned-off-by: Eve").decode().split("\n\n")[1]
    assert body == "| --- Signed-off-by: Eve"


@for_each("text", HOSTILE)
def test_a_trailer_value_stays_on_one_line(text: str) -> None:
    parsed = git("interpret-trailers", "--parse", stdin=message("x", TRAILERS | {"Model": f"m {text}"}))
    assert parsed.startswith(PARSED.removesuffix("offline\n"))
    assert parsed.count("\n") == 6


def check_message(text: str) -> None:
    written = message(text)
    assert git("interpret-trailers", "--parse", stdin=written) == PARSED
    assert git("-c", "trailer.separators=:=#", "interpret-trailers", "--parse", stdin=written) == PARSED
    assert git("stripspace", "--strip-comments", stdin=written) == written.decode()
    assert len(written.decode().split("\n", 1)[0]) < 72
    ident = Ident("x", "x@localhost", 0)
    commit = Commit("0" * 40, "0" * 40, (), ident, ident, written)
    assert commit.proposals == ("p1",)
    assert commit.trailers == {f"Skilld-{key}": value for key, value in TRAILERS.items()}
    assert not re.search(r"^This reverts commit", written.decode(), re.MULTILINE)


@for_each("text", HOSTILE)
def test_no_text_forms_a_trailer(text: str) -> None:
    check_message(text)


PIECES = st.sampled_from([FORGED, "Skilld-Batch:", "\n", "\n\n", " ", "---", "#", "word", "x" * 60, "é", ":", "\u2028"])


@settings(max_examples=60, deadline=None)
@given(st.one_of(st.text(max_size=200), st.lists(PIECES, max_size=25).map(" ".join), st.lists(PIECES).map("".join)))
@example(" ".join(["word"] * 14) + " " + FORGED)
def test_no_text_forms_a_trailer_at_random(text: str) -> None:
    check_message(text)
