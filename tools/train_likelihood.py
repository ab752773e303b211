r"""Train the likelihood model: written messages in, skilld/classify/offline/likelihood.json out.

Deterministic: the same files give the same bytes. tools/said has the messages of each writer, one a line: its kind, a
tab, and the text, in which a line break is written \n and what is lasting stands between « and ». The examples of the
unit tests are learned, too. Labelled turns of real people may be given, which are not in the repository; nothing but
the weights is stored of them.

    python -m tools.train_likelihood turns.jsonl            # write the weights
    python -m tools.train_likelihood turns.jsonl --check    # print how each file fares with weights from the others
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from array import array
from base64 import b64encode
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import exp
from pathlib import Path

from skilld.classify.offline import likelihood
from skilld.classify.offline.likelihood import BUCKETS, Model
from skilld.classify.offline.likely import clause_features

SAID = Path(__file__).with_name("said")
EXAMPLES = Path(__file__).parents[1] / "tests" / "data" / "everyday"
WEIGHTS = Path(likelihood.__file__).with_name("likelihood.json")
EXAMPLE_FILES = ("told", "lasting", "practice", "passing", "chat", "families", "cases")
TYPED_WEIGHT = 1.5  # of a clause of real people's turns, beside one of a written message
PASSES = 12  # over all clauses; the weights are the mean of those after each pass of the second half
STEP = 0.05
DECAY = 5e-5  # per clause, times the step
THRESHOLDS = (0.5, 0.6, 0.7, 0.8, 0.9)
MIN_OVERLAP = 0.5  # of a clause or of what is lasting, the shorter of the two


@dataclass(frozen=True, slots=True)
class Message:
    """One message: its text, what is lasting in it (start and end), and its kind."""

    text: str
    lasting: tuple[tuple[int, int], ...]
    kind: str


@dataclass(frozen=True, slots=True)
class Example:
    """One clause as the model sees it; `message` numbers its message within the file."""

    message: int
    found: tuple[int, ...]
    lasting: bool
    weight: float


def main(argv: Sequence[str]) -> int:
    """Train and write the weights file, or print the cross-validated figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("turns", type=Path, nargs="*", help="labelled turns of real people")
    parser.add_argument("--check", action="store_true", help="print figures, cross-validated by file; write nothing")
    given = parser.parse_args(argv)
    said = sorted(SAID.glob("*.txt"))
    messages = {path.stem: list(read_messages(path)) for path in said} | {"examples": list(read_examples())}
    typed = {path.stem: list(read_turns(path)) for path in given.turns}
    examples = {name: list(prepare(rows)) for name, rows in messages.items()}
    examples |= {name: list(prepare(rows, TYPED_WEIGHT)) for name, rows in typed.items()}
    if given.check:
        for name, rows in (messages | typed).items():
            others = [one for other, found in examples.items() if other != name for one in found]
            print(name, *outcome(rows, examples[name], fitted(others)), sep="  ")
        return 0
    model = fitted([one for found in examples.values() for one in found])
    stored = {
        "made_by": "tools/train_likelihood.py",
        "data_sha256": [
            hashlib.sha256(path.read_bytes()).hexdigest()
            for path in (*said, *(EXAMPLES / f"{name}.txt" for name in EXAMPLE_FILES), *given.turns)
        ],
        "messages": sum(map(len, messages.values())),
        "turns": sum(map(len, typed.values())),
        "bias": round(model.bias, 6),
        "scale": round(model.scale, 8),
        "weights": b64encode(model.weights.tobytes()).decode(),
    }
    WEIGHTS.write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")
    return 0


def read_messages(path: Path) -> Iterator[Message]:
    """Yield the messages of a file in tools/said."""
    for line in path.read_text(encoding="utf-8").splitlines():
        kind, _, marked = line.partition("\t")
        text, spans = "", []
        for i, part in enumerate(marked.replace("\\n", "\n").replace("»", "«").split("«")):
            if i % 2:
                spans.append((len(text), len(text) + len(part)))
            text += part
        yield Message(text, tuple(spans), kind)


def read_examples() -> Iterator[Message]:
    """Yield the examples of the unit tests: one a line, in some files after its kind, language, skill and context."""
    for name in EXAMPLE_FILES:
        for line in (EXAMPLES / f"{name}.txt").read_text(encoding="utf-8").splitlines():
            kind, *_, text = line.split("|", 4) if name in {"families", "cases"} else (name, line)
            lasting = kind in {"told", "lasting", "practice", "explicit", "plain"}
            if not line.startswith("#") and kind != "mixed" and " >> " not in text:
                yield Message(text, ((0, len(text)),) if lasting else (), kind)


def read_turns(path: Path) -> Iterator[Message]:
    """Yield labelled turns; lasting ones only if their label quotes what is lasting."""
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        text, quotes = row["text"], row.get("lasting", ())
        if quotes or row.get("label") != "durable":
            spans = [(text.find(one), text.find(one) + len(one)) for one in quotes]
            yield Message(text, tuple(spans), row.get("label") or row["kind"])


def prepare(messages: Sequence[Message], weight: float = 1.0) -> Iterator[Example]:
    """Yield the clauses of messages as examples."""
    for number, message in enumerate(messages):
        for clause, found in clause_features(message.text):
            begin, end = clause.start, clause.start + len(clause.text)
            lasting = any(
                min(end, last) - max(begin, first) > MIN_OVERLAP * min(last - first, end - begin)
                for first, last in message.lasting
            )
            yield Example(number, tuple(sorted(found)), lasting, weight)


def fitted(examples: Sequence[Example]) -> Model:
    """Return the model by gradient descent, one clause at a time, with averaging; weights rounded to one byte."""
    weights, sums, bias, bias_sum = [0.0] * BUCKETS, [0.0] * BUCKETS, 0.0, 0.0
    shrunk = 1.0  # the true weight of a bucket is weights[bucket] * shrunk: decay in one multiplication
    ordered = sorted(range(len(examples)), key=lambda i: (i * 2654435761) % 2**32)
    for done in range(PASSES):
        step = STEP / (1 + done / 4)
        for i in ordered:
            example = examples[i]
            guess = bias + shrunk * sum([weights[bucket] for bucket in example.found])
            error = (example.lasting - 1 / (1 + exp(-max(-30.0, min(30.0, guess))))) * example.weight
            shrunk *= 1 - step * DECAY
            change = step * error / shrunk
            for bucket in example.found:
                weights[bucket] += change
            bias += step * error
        if done >= PASSES // 2:
            sums = [total + shrunk * value for total, value in zip(sums, weights, strict=True)]
            bias_sum += bias
    count = PASSES - PASSES // 2
    scale = max(abs(total) for total in sums) / count / 127
    return Model(bias_sum / count, scale, array("b", [round(total / count / scale) for total in sums]))


def outcome(messages: Sequence[Message], examples: Sequence[Example], model: Model) -> Iterator[str]:
    """Yield, for each threshold, how many messages are taken for lasting rightly and wrongly."""
    likely = [0.0] * len(messages)
    for one in examples:
        likely[one.message] = max(likely[one.message], likelihood.likelihood(set(one.found), model))
    yield f"lasting {sum(bool(one.lasting) for one in messages)} of {len(messages)}"
    for threshold in THRESHOLDS:
        taken = [bool(m.lasting) for m, p in zip(messages, likely, strict=True) if p >= threshold]
        yield f"{threshold}: {sum(taken)} right, {len(taken) - sum(taken)} wrong"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
