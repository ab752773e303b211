"""What is fuzzed, and what must hold for any bytes: adapters, the reply parsers, front matter, edits, the redactor.

A target takes bytes and returns what it could do with them, as words to count; a property that does not hold is an
AssertionError, anything else that is raised a finding too. Knows nothing of where the bytes come from: hypothesis
(tests/security/test_fuzz.py) and atheris (tools/fuzz_child.py) both call it.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from skilld.agents import ADAPTERS
from skilld.classify.closed_questions import reword
from skilld.classify.json_answer import BadReplyError
from skilld.classify.reply import parse_operations, parse_updates
from skilld.edit.lint import Severity, lint
from skilld.edit.operations import apply
from skilld.errors import SkilldError
from skilld.markdown.skill_file import parse
from skilld.redact import KEY_BYTES, Redactor
from skilld.types import BODY_OPS, Kind, Malformed, Operation, RawLine, Turn, Update
from tools.soak_report import must

FIXTURES = Path(__file__).parents[1] / "tests" / "fixtures"
SKILL = b"""---
name: notes
description: |
  Writes notes. Use when asked: "notes".
metadata: {a: &x [1, 2], b: *x}
---

# Notes

- a
- b
1. one
```sh
make
```
<!-- c -->
"""
REPLIES = (
    (
        b'<updates>[{"skill":1,"section":"Style","change":"Always use tabs.","reason":"said","kind":"preference",'
        b'"turn":2,"quote":"always use tabs","confidence":0.9}]</updates>'
    ),
    b'<operations>[{"op":"insert_after","anchor":"- a","text":"- b"},{"op":"delete","anchor":"- c"}]</operations>',
    b'```json\n{"changes": ["Use tabs."]}\n```',
    b"<updated_file>\n# Notes\n\n- a\n</updated_file>",
)
_SECRETS = (
    b"password = hunter2hunter2 and https://user:s3cretpw@db.example.org/x",
    b"Authorization: Bearer abcdefghijklmnopqrstuvwxyz0123456789",
    b"-----BEGIN RSA " + b"PRIVATE KEY-----\nMIIEowIBAAKCAQEA\n-----END RSA " + b"PRIVATE KEY-----",
    b"stringData:\n  token: YWJjZGVmZ2hpamtsbW5vcA==",
    b"[REDACTED:github:0a1b2c3d] stays",
)
APART = b"\x1f"  # between a skill and its operations, and between an anchor and its text
_STATE = 100_000  # bytes that a parser's state may have
_REDACTOR = Redactor(bytes(KEY_BYTES))
_GROWTH = 256  # characters that a redacted text may have beyond twice its length
_OPS = BODY_OPS


@dataclass(frozen=True)
class Target:
    """Something to feed bytes to, and bytes to start from."""

    run: Callable[[bytes], list[str]]
    seeds: tuple[bytes, ...]


def adapter(agent: str, name: Path, data: bytes) -> list[str]:
    """Have an agent's parser read a file: every event lies in it, and the parser can be resumed anywhere."""
    parser = ADAPTERS[agent].parser(name)
    events = []
    end = 0
    for line in data.split(b"\n"):
        start, end = end, end + len(line) + 1
        events += parser.feed(RawLine(start, end, line))
        offset, state = parser.checkpoint(end)
        must(0 <= offset <= end, "the parser resumes outside of what it read")
        must(len(json.dumps(state)) < _STATE, "its state grows without a bound")
    events += parser.flush()
    must(all(0 <= event.span.start < event.span.end <= end for event in events), "an event lies outside of the file")
    sorts = {Malformed: "malformed", Turn: "turns"}
    return [sorts[type(event)] for event in events if type(event) in sorts]


_UPDATE = Update(1, "", "Put it first.", "", Kind.PREFERENCE, 1, "put it first")


def replies(data: bytes) -> list[str]:
    """Read an answer of a model in every way: it is of the closed schema, or refused."""
    text = data.decode("utf-8", "surrogateescape")
    read: list[str] = []
    with suppress(BadReplyError):
        updates, _ = parse_updates(text, turns=3, skills=2)
        must(all(1 <= update.turn <= 3 and update.skill in {1, 2} for update in updates), "a number out of range")  # noqa: PLR2004 - as asked above
        must(all(0 <= update.confidence <= 1 for update in updates), "a confidence out of range")
        read.append("read")
    with suppress(BadReplyError):
        must(all(isinstance(change, str) for change in reword([_UPDATE], [""]).read(text)), "a change that is no text")
        read.append("read")
    with suppress(BadReplyError):
        found = parse_operations(text)
        must(isinstance(found, str) or all(item.anchor.strip() for item in found), "an operation without an anchor")
        read.append("read")
    return read


def front_matter(data: bytes) -> list[str]:
    """Take a skill apart and lint it as an edit's outcome: another front matter is always refused."""
    findings = lint(SKILL, data, "- a")
    with suppress(SkilldError):
        skill = parse(data)
        must(skill.data == data, "parsing loses bytes")
        if skill.front.encode() == SKILL[: SKILL.index(b"\n# Notes")] and not skill.bom:
            return ["parsed"]
        must(bool(findings) and findings[0].severity is Severity.REFUSE, "a changed front matter is not refused")
        return ["parsed", "front matters changed, all refused"]
    return []


def edits(data: bytes) -> list[str]:
    """Apply operations to a skill, both out of `data` (see APART): the front matter stays, or it is refused."""
    skill, *rest = data.split(APART)
    steps = [
        Operation(_OPS[len(anchor) % len(_OPS)], anchor.decode("utf-8", "replace"), text.decode("utf-8", "replace"))
        for anchor, text in zip(rest[::2], rest[1::2], strict=False)
    ]
    return applied(skill or SKILL, steps)


def applied(data: bytes, steps: list[Operation]) -> list[str]:
    """Apply operations to a skill: the front matter stays and something changes, or it is refused."""
    with suppress(SkilldError):
        after = apply(data, steps)
        must(parse(after).front == parse(data).front, "an edit changes the front matter")
        must(after != data, "an edit changes nothing")
        lint(data, after, "- a")
        return ["applied"]
    return []


def redaction(data: bytes) -> list[str]:
    """Redact a text: redacting again changes nothing, and it does not grow without a bound."""
    text = data.decode("utf-8", "surrogateescape")
    once = _REDACTOR.redact(text)
    must(_REDACTOR.redact(once) == once, "redacting twice is not redacting once")
    must(len(once) <= 2 * len(text) + _GROWTH, "the text grows")
    return ["redacted"] if once != text else []


def transcripts(agent: str) -> list[Path]:
    """Return the recorded sessions of an agent."""
    return sorted((FIXTURES / agent).rglob("*.jsonl"))


def _targets() -> dict[str, Target]:
    found = {
        f"adapter-{agent}": Target(
            partial(adapter, agent, transcripts(agent)[0]), tuple(path.read_bytes() for path in transcripts(agent))
        )
        for agent in ADAPTERS
        if transcripts(agent) and agent != "traex"  # which has the parser of Codex
    }
    steps = APART.join((b"- a", b"- new", b"- b", b""))
    return found | {
        "replies": Target(replies, REPLIES),
        "front-matter": Target(front_matter, (SKILL, SKILL.replace(b"\n", b"\r\n"))),
        "edits": Target(edits, (APART + steps, SKILL + APART + steps)),
        "redactor": Target(redaction, _SECRETS),
    }


TARGETS = _targets()
