"""Bytes cut, doubled, spliced and swapped out of real shapes: no reader, parser or edit falls over.

What must hold for any bytes stands in tools/fuzz_targets.py. Here hypothesis damages whole inputs, which it does better
than a fuzzer that knows no shapes, and atheris follows the branches of our code: here one target for a second, to show
that it does, and all of them in `make soak`. HYPOTHESIS_EXAMPLES sets how much; `python -m tools.fuzz` runs the second
part alone.
"""

from __future__ import annotations

import os
import subprocess
import time
from collections import Counter
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skilld.agents import ADAPTERS
from skilld.types import Op, Operation
from tools import fuzz
from tools.fuzz_targets import REPLIES, SKILL, TARGETS, adapter, applied, front_matter, redaction, replies, transcripts

EXAMPLES = int(os.environ.get("HYPOTHESIS_EXAMPLES", "25"))
SECONDS = 1.0  # of the fuzzer that follows our branches; `make soak` gives it a tenth of its time, and every target
MINUTE = 60.0 * max(EXAMPLES / 100, 1)  # CPU seconds for all
GUIDED = ("front-matter",)
LINES = {
    agent: [line for path in transcripts(agent) for line in path.read_bytes().split(b"\n") if line]
    for agent in ADAPTERS
    if transcripts(agent)
}
TOKENS = (
    *(
        b"---",
        b"---\n",
        b"\n",
        b"\r\n",
        b"\r",
        b"```",
        b"~~~",
        b"!`id`",
        b"<!--",
        b"-->",
        b"&a",
        b"*a",
        b"!!python/object",
    ),
    *(
        b"\\u2028",
        b"\xe2\x80\xa8",
        b"\xef\xbb\xbf",
        b"\0",
        b"\xff",
        b"\\ud800",
        b"{",
        b"[",
        b'"',
        b"\\",
        b"null",
        b"1e999",
    ),
    *(b"<updates>", b"</updates>", b"<operations>", b"<changes>", b"9" * 400, b"[" * 2000, b"true", b"-0", b"NaN"),
)


@st.composite
def damaged(draw: st.DrawFn, samples: tuple[bytes, ...]) -> bytes:
    """Return one of the samples after a few cuts, doublings, splices, inserted tokens and flipped bytes."""
    data = draw(st.sampled_from(samples))
    for _ in range(draw(st.integers(1, 5))):
        start = draw(st.integers(0, len(data)))
        end = min(len(data), start + draw(st.integers(0, 60)))
        what = draw(st.integers(0, 4))
        if what == 0:
            data = data[:start] + data[end:]
        elif what == 1:
            data = data[:end] + data[start:]
        elif what == 2:
            other = draw(st.sampled_from(samples))
            data = data[:start] + other[draw(st.integers(0, len(other))) :]
        elif what == 3:
            data = data[:start] + draw(st.sampled_from(TOKENS)) + data[end:]
        else:
            data = data[:start] + draw(st.binary(max_size=8)) + data[end:]
    return data


@pytest.fixture(autouse=True)
def in_time() -> object:
    """Hold each of the tests to its share of the minute, in CPU time: other programs take nothing of that."""
    start = time.process_time()
    yield
    assert time.process_time() - start < MINUTE / 2


def failure_text(seen: Counter[str]) -> str:
    return ", ".join(f"{count} {what}" for what, count in seen.items())


@pytest.mark.parametrize("agent", LINES)
def test_fuzz_adapters(agent: str, report: Callable[[str], None]) -> None:
    samples = tuple(LINES[agent])
    seen: Counter[str] = Counter()

    @settings(max_examples=EXAMPLES, database=None)
    @given(lines=st.lists(st.sampled_from(samples) | damaged(samples), min_size=1, max_size=12))
    def feed(lines: list[bytes]) -> None:
        seen.update(["files", *adapter(agent, transcripts(agent)[0], b"\n".join(lines))])

    feed()
    report(failure_text(seen))
    assert seen["malformed"]
    assert seen["turns"]


@pytest.mark.parametrize(
    ("run", "samples", "reached"),
    [
        (replies, REPLIES, "read"),
        (front_matter, (SKILL, SKILL.replace(b"\n", b"\r\n")), "front matters changed, all refused"),
        (redaction, TARGETS["redactor"].seeds, "redacted"),
    ],
    ids=["replies", "front_matter", "redactor"],
)
def test_fuzz_damaged(
    run: Callable[[bytes], list[str]], samples: tuple[bytes, ...], reached: str, report: Callable[[str], None]
) -> None:
    seen: Counter[str] = Counter()

    @settings(max_examples=2 * EXAMPLES, database=None)
    @given(data=damaged(samples))
    def feed(data: bytes) -> None:
        seen.update(["inputs", *run(data)])

    feed()
    report(failure_text(seen))
    assert seen[reached]


def test_fuzz_edit_operations(report: Callable[[str], None]) -> None:
    seen: Counter[str] = Counter()
    words = st.sampled_from(
        ["- a", "- b", "1. one", "make", "---", "name: notes", "# Notes", "- new", "```", "", "x\ny"]
    )
    texts = words | st.lists(words, max_size=3).map("\n".join) | st.text(max_size=30)
    anchors = st.sampled_from(["- a", "- b", "1. one", "# Notes", "- a\n- b", "make"]) | texts
    operations = st.lists(st.builds(Operation, st.sampled_from(Op), anchors, texts), min_size=1, max_size=3)

    @settings(max_examples=2 * EXAMPLES, database=None)
    @given(data=st.just(SKILL) | damaged((SKILL,)), steps=operations)
    def edit(data: bytes, steps: list[Operation]) -> None:
        seen.update(["edits", *applied(data, steps)])

    edit()
    report(failure_text(seen))
    assert seen["applied"]


@pytest.mark.skipif(not fuzz.available(), reason=fuzz.MISSING)
def test_fuzz_guided_by_coverage(report: Callable[[str], None]) -> None:
    results = fuzz.run(SECONDS, GUIDED)
    report("; ".join(f"{result.target}: {failure_text(Counter(result.reached))}" for result in results))
    assert [finding for result in results for finding in result.findings] == []
    assert set(fuzz.TARGETS) == set(TARGETS)
    assert all(result.reached["inputs"] > len(TARGETS[result.target].seeds) for result in results)
    assert all(result.reached["edges"] > 20 for result in results), "the code under test is not watched"


def test_fuzz_reports_a_failing_run(monkeypatch: pytest.MonkeyPatch) -> None:
    failed = subprocess.CompletedProcess([], 1, b"", b"Traceback\nKeyError: 'no-such-target'\n")
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: failed)
    (finding,) = fuzz.fuzz("no-such-target", 1).findings
    assert "KeyError" in finding
