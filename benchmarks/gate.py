"""The gate: the time and memory that the daemon spends on separating plain chatter from what may last.

Yardstick of time: one search for ten words with a regular expression in the same texts. The texts have about 1 KB each:
prose, short sentences, pasted logs, code, and a language without spaces. Memory is what importing and using the gate
adds to a process that already has the standard library modules it needs; yardstick: that process before.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import partial

from benchmarks.kit import children
from benchmarks.kit.figures import Figure, Of, Scale, Target
from benchmarks.kit.timing import seconds, side_by_side

_SENTENCE = "the parser fails when the second file is read before the index was written, please have a look at it. "
_TASK = "rename internationalization_configuration_helper to read_configuration in authentication_middleware.py. "
_LOG = "2026-01-05T10:00:00Z ERROR request 4711 failed: connection refused by upstream server after 3 tries\n"
_CODE = "```\nfor name, value in sorted(settings.items()):\n    print(name, value)\n```\nok so this prints nothing. "
_JAPANESE = "テストが失敗する理由を調べて、必要なら設定ファイルを直してから、もう一度だけ実行して結果を見せて下さい。"
TEXTS = {
    "prose": _SENTENCE * 10,
    "tasks": _TASK * 10,
    "logs": _LOG * 10 + "what is this?",
    "code": _CODE * 9,
    "japanese": _JAPANESE * 7,
}
_Judge = Callable[[str], object]
_WORDS = re.compile(
    r"\b(?:always|never|remember|instead|from now on|prefer|stop|every time|must|don't)\b", re.IGNORECASE
)


def measure(scale: Scale) -> dict[str, Figure]:
    """Return microseconds per turn (over all texts, and of the slowest), and MB."""
    from skilld.batching.gate import needs_classification

    rounds, each = scale.pick(30, 10), scale.pick(200, 50)

    def cost(judge: _Judge, text: str) -> float:
        return 1e6 * seconds(lambda: [judge(text) for _ in range(each)]) / each

    judges: tuple[_Judge, ...] = (needs_classification, _WORDS.search)
    pairs = {
        name: side_by_side(rounds, *(partial(cost, judge, text) for judge in judges)) for name, text in TEXTS.items()
    }
    slowest = max(pairs, key=lambda name: pairs[name][0])
    mean, bare = (sum(pair[i] for pair in pairs.values()) / len(pairs) for i in (0, 1))
    target = Target(Of.VALUE, most=100)
    regex = "a search for ten words by a regular expression"
    with children.scratch() as home:
        grown = [children.module("gate", home=home) for _ in range(3)]  # the first fills the bytecode cache
    return {
        "time": Figure(mean, "us", regex, bare, f"turns of 1 KB: {', '.join(TEXTS)}", target),
        "time_slowest": Figure(pairs[slowest][0], "us", regex, pairs[slowest][1], f"a turn of 1 KB: {slowest}", target),
        "memory": Figure(
            grown[-1]["after"],
            "MB",
            "the process before",
            grown[-1]["before"],
            "imported and used on each text",
            Target(Of.ABOVE, most=5),
        ),
    }


def _grow() -> dict[str, float]:
    """Return the peak memory of this process before and after the gate was imported and used."""
    before = children.peak_memory()
    from skilld.batching.gate import needs_classification

    for text in TEXTS.values():
        needs_classification(text)
    return {"before": before, "after": children.peak_memory()}


if __name__ == "__main__":
    print(json.dumps(_grow()))
