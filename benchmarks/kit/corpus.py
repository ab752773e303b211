"""Generated transcripts of Claude Code: a size in, files of realistic records out, and what is in them.

The mix is that of a large collection of sessions, in bytes: 79 % results of tools, 10 % records with images, 11 % the
agent's own words and calls, 0.5 % a person's prompts; 15 KB a line. Seeded, so every run reads the same bytes.
"""

from __future__ import annotations

import json
import random
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import cycle
from pathlib import Path

FILE_SIZE = 1_200_000  # bytes, in the mean; real ones have from 2 KB to 50 MB
_START = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
_WORDS = """the build of module passes but test for parser fails with error in line value is not defined when config
reads file path returns None so we check cache before index update and log each request id at debug level then
retry""".split()  # noqa: SIM905 - read as text
_PROMPTS = (
    "ok go on",
    "thanks, that looks right",
    "now run the tests again",
    "why does the second case fail?",
    "rename the helper to read_config and update its callers",
    "the last change broke the import, please look at the traceback again",
)
_IMAGE = "iVBORw0KGgoAAAANSUhEUgAA" * 20


@dataclass(frozen=True, slots=True)
class Corpus:
    """What was written: `turns` are the prompts that a reader must find, each once."""

    store: Path
    files: int
    lines: int
    size: int
    turns: int


def write(store: Path, size: int, *, seed: int = 1) -> Corpus:
    """Write about `size` bytes of sessions below `store` (an agent's `projects` folder), eight to a project."""
    texts = _Texts(random.Random(seed))
    files = lines = written = turns = 0
    while written < size:
        folder = store / f"-work-project-{files // 8}"
        folder.mkdir(parents=True, exist_ok=True)
        wanted = min(texts.file_size(), size - written)
        session = Session(folder, random.Random(f"{seed}/{files}"))
        with session.path.open("wb") as out:
            own = 0
            while own < wanted:
                for line, is_turn in _exchange(session, texts):
                    out.write(line)
                    own += len(line)
                    lines += 1
                    turns += is_turn
        files += 1
        written += own
    return Corpus(store, files, lines, written, turns)


class Session:
    """Makes the records of one session's file."""

    def __init__(self, folder: Path, chance: random.Random) -> None:
        self._random = chance
        self.id = self._uuid()
        self.path = folder / f"{self.id}.jsonl"
        self._parent: str | None = None
        self._at = _START

    def _uuid(self) -> str:
        return str(uuid.UUID(int=self._random.getrandbits(128), version=4))

    def prompt(self, text: str) -> bytes:
        """Return the line of a prompt that a person typed."""
        typed = {"promptSource": "typed", "origin": {"kind": "human"}}
        return self._line("user", {"role": "user", "content": text}, typed)

    def prompt_with_image(self, text: str, data: str) -> bytes:
        """Return the line of a prompt with a pasted picture."""
        source = {"type": "base64", "media_type": "image/png", "data": data}
        content = [{"type": "image", "source": source}, {"type": "text", "text": text}]
        typed = {"promptSource": "typed", "origin": {"kind": "human"}}
        return self._line("user", {"role": "user", "content": content}, typed)

    def reply(self, text: str) -> bytes:
        """Return the line of a text that the agent wrote."""
        return self._line("assistant", _of_agent({"type": "text", "text": text}), {})

    def call(self, tool: str, text: str) -> bytes:
        """Return the line of a tool call with `text` in its input."""
        use = {"type": "tool_use", "id": "toolu_1", "name": tool, "input": {"command": text}}
        return self._line("assistant", _of_agent(use), {})

    def result(self, text: str) -> bytes:
        """Return the line of a tool's result: it holds the output twice, as the client writes it."""
        block = {"tool_use_id": "toolu_1", "type": "tool_result", "content": text, "is_error": False}
        extra = {"toolUseResult": {"stdout": text, "stderr": "", "interrupted": False, "isImage": False}}
        return self._line("user", {"role": "user", "content": [block]}, extra)

    def screenshot(self, data: str) -> bytes:
        """Return the line of a tool's result that is a picture."""
        source = {"type": "base64", "data": data, "media_type": "image/png"}
        block = {"tool_use_id": "toolu_1", "type": "tool_result", "content": [{"type": "image", "source": source}]}
        extra = {"toolUseResult": {"type": "image", "file": {"base64": data, "type": "image/png"}}}
        return self._line("user", {"role": "user", "content": [block]}, extra)

    def _line(self, kind: str, message: Mapping[str, object], extra: Mapping[str, object]) -> bytes:
        own = self._uuid()
        self._at += timedelta(seconds=7)
        record = {
            "parentUuid": self._parent,
            "isSidechain": False,
            "userType": "external",
            "cwd": "/home/pat/project",
            "sessionId": self.id,
            "version": "2.1.197",
            "gitBranch": "main",
            "type": kind,
            "message": message,
            "uuid": own,
            "timestamp": self._at.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "entrypoint": "cli",
            **extra,
        }
        self._parent = own
        return json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


class _Texts:
    """Texts of realistic lengths, made once and used in turn."""

    def __init__(self, chance: random.Random) -> None:
        self._random = chance
        self.results = cycle([self._output(length) for length in self._lengths(251, 11_800)])
        self.replies = cycle([self._prose(length) for length in self._lengths(127, 2_900)])
        self.images = cycle([_IMAGE * (1 + length // len(_IMAGE)) for length in self._lengths(31, 24_000)])
        self.prompts = cycle(_PROMPTS)
        self.kinds = cycle(range(40))

    def file_size(self) -> int:
        return int(FILE_SIZE * self._random.lognormvariate(-0.5, 1.0))

    def _lengths(self, count: int, mean: int) -> list[int]:
        drawn = [self._random.lognormvariate(0.0, 1.2) for _ in range(count)]
        return [int(mean * length * count / sum(drawn)) for length in drawn]

    def _prose(self, length: int) -> str:
        words = self._random.choices(_WORDS, k=max(1, length // 6))
        return " ".join(words)[:length]

    def _output(self, length: int) -> str:
        lines = []
        while length > 0:
            line = f"{self._random.randrange(2000):6}\t    " + self._prose(self._random.randrange(10, 90))
            lines.append(line + self._random.choice(["", ";", ' "name": "x",', "\\n", " {"]))
            length -= len(line) + 2
        return "\n".join(lines)


def _exchange(session: Session, texts: _Texts) -> Iterator[tuple[bytes, bool]]:
    """Yield the lines that one prompt leads to, and of each whether it is a turn."""
    kind = next(texts.kinds)
    prompt = next(texts.prompts)
    yield (session.prompt_with_image(prompt, next(texts.images)) if kind == 0 else session.prompt(prompt)), True
    for call in range(8):
        text = next(texts.replies)
        yield (session.call("Bash", text) if call % 4 else session.reply(text)), False
        if call == 5 and kind % 2:
            yield session.screenshot(next(texts.images)), False
        else:
            yield session.result(next(texts.results)), False


def _of_agent(block: Mapping[str, object]) -> dict[str, object]:
    usage = {"input_tokens": 5, "cache_read_input_tokens": 40000, "output_tokens": 300, "service_tier": "standard"}
    named = {"model": "claude-sonnet", "id": "msg_1", "type": "message", "role": "assistant"}
    return {**named, "content": [block], "stop_reason": None, "stop_sequence": None, "usage": usage}
