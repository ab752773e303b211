"""The message of a proposal's commit. Pure: redacted text in, bytes out; knows neither git nor the repository.

Shape: subject, reason, quote, then our trailers as the last paragraph. Text of a model or a person stands only in the
first three, and a line of it that a program could read as a trailer, a patch or a commit's name is marked with a bar.
`git interpret-trailers` judges it in tests/unit/test_propose_message.py.
"""

from __future__ import annotations

import re
import textwrap

from skilld.text import cut, one_line

SUBJECT = 71
WIDTH = 72
QUOTE = 200
_SKILL = 32

# "Token:" in any of the separators that trailer.separators may name, a divider or patch, a comment, a reverted commit.
_MARKED = re.compile(
    r"\s*([A-Za-z0-9-]+\s*[:=#]|-|#|diff |Index|From |\(cherry picked|This reverts|This reapplies|reverts commit)",
    re.IGNORECASE,
)


def compose(
    *,
    skill: str,
    summary: str,
    reason: str,
    quote: str,
    trailers: dict[str, str],
) -> bytes:
    """Return the message of a proposal.

    `trailers` are written in their order as `Skilld-<key>: <value>`; empty ones, and an empty reason or quote, are
    left out. At most 200 characters of the quote are kept.
    """
    paragraphs = [_subject(skill, summary)]
    paragraphs += [_paragraph(text) for text in (reason, _quoted(quote)) if text.strip()]
    rows = [f"Skilld-{key}: {one_line(value)}" for key, value in trailers.items() if value.strip()]
    return ("\n\n".join([*paragraphs, "\n".join(rows)]) + "\n").encode("utf-8", "backslashreplace")


def _subject(skill: str, summary: str) -> str:
    head = f"skilld({cut(one_line(skill) or 'skill', _SKILL)}): "
    what = one_line(summary) or "update"
    room = SUBJECT - len(head)
    return head + (what if len(what) <= room else what[: room - 1].rstrip() + "…")


def _quoted(quote: str) -> str:
    text = one_line(quote)
    return f'"{cut(text, QUOTE)}"' if text else ""


def _paragraph(text: str) -> str:
    lines = textwrap.wrap(one_line(text), WIDTH - 2, break_on_hyphens=False)
    return "\n".join(f"| {line}" if _MARKED.match(line) else line for line in lines)
