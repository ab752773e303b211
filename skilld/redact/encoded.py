"""Find secrets one base64 deep: what decodes to text is searched like text. Pure.

All decoded runs are joined and searched in one go, so that many short runs cost no more than one long one.
"""

from __future__ import annotations

import binascii
import re
from bisect import bisect_right
from collections.abc import Iterator

from skilld.redact.findings import Detector, Finding

_RUN = re.compile(r"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{16,}+={0,2}")
_URL_SAFE = str.maketrans("-_", "+/")
_TEXT_BYTES = bytes([9, 10, 13, *range(32, 127)])


def find(text: str, detectors: tuple[Detector, ...]) -> Iterator[Finding]:
    """Yield every base64 run of `text` in whose decoded text one of `detectors` finds something."""
    spans: list[tuple[int, int]] = []
    starts: list[int] = []
    parts: list[str] = []
    size = 0
    for run in _RUN.finditer(text):
        text_of = decoded(run[0])
        if text_of:
            spans.append(run.span())
            starts.append(size)
            parts.append(text_of)
            size += len(text_of) + 1
    if not parts:
        return
    joined = "\n".join(parts)
    hit: set[int] = set()
    for detector in detectors:
        for finding in detector(joined):
            hit.update(range(bisect_right(starts, finding.start) - 1, bisect_right(starts, finding.end - 1)))
    for index in sorted(hit):
        yield Finding(*spans[index], "base64")


def decoded(run: str) -> str:
    """Return the text that `run` encodes, empty if it is no base64 or encodes something else than text."""
    core = run.rstrip("=").translate(_URL_SAFE)
    core = core[: len(core) - (len(core) % 4 == 1)]
    try:
        data = binascii.a2b_base64(core + "=" * (-len(core) % 4))
    except binascii.Error:
        return ""
    return "" if data.translate(None, _TEXT_BYTES) else data.decode("ascii")
