"""What no skill may say: what holds on one machine only, and what looks like it and does not."""

from __future__ import annotations

import pytest

from skilld.mining.new_skill import part_problem
from skilld.mining.values import Part, PartKind


def _forbidden_reason(text: str) -> str:
    return part_problem(Part(PartKind.RULE, text, ()), "/home/ada/shop") or ""


@pytest.mark.parametrize(
    "place",
    [
        "/home/ada/queue", "/Users/ada/queue", "`/tmp/queue/jobs`", "~/queue", "~ada/queue", "$HOME/queue",
        "${HOME}/queue", r"C:\queue\jobs", "D:/queue/jobs", "file:///home/ada/queue", r"%USERPROFILE%\queue",
        "/home/ada/shop-two/queue",
    ],
)  # fmt: skip
def test_a_machine_specific_path_is_left_out(place: str) -> None:
    assert "path specific to this machine" in _forbidden_reason(f"Keep the job queue in {place} always.")


@pytest.mark.parametrize(
    "words",
    [
        "the suite takes ~30 seconds", "keep ~ten entries of the log", "queue jobs below src/home/queue",
        "post jobs to https://example.org/home/queue", "post jobs to /api/users/queue", "a ratio of 1:/2 in the queue",
        "keep the job queue in /home/ada/shop/queue",
    ],
)  # fmt: skip
def test_generally_valid_text_is_kept(words: str) -> None:
    assert _forbidden_reason(words) == ""
