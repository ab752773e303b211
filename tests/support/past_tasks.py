"""Recorded sessions of past tasks: each command really ran, in a project that the data describes.

A task of `tests/data/tasks/*.json` has the files of a project, and sessions as scripts: what was typed, and what the
agent ran, changed and wrote. The commands run in a copy of the project, and the transcript contains their results.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skilld.clock import parse_time
from skilld.mining.new_skill import build_skill
from skilld.mining.selection import judge
from skilld.mining.session_summary import Feedback, detect_feedback, summarize
from skilld.mining.sessions import Session, SessionFilter, SessionSet, read_sessions, transcripts_below
from skilld.mining.values import Candidate, Judgement
from skilld.skills.draft import write_draft
from support.waiting import LIMIT

DAY = "2026-11-20"
NOW = parse_time("2026-11-20T09:00:00Z") or 0.0

DATA = Path(__file__).parents[1] / "data" / "tasks"


@dataclass(frozen=True)
class Task:
    """One item of the data: `expected` says what a draft has to hold, empty where there is to be none.

    `answers` are what a model would say of what was said: quote, change and kind.
    """

    name: str
    agent: str
    files: Mapping[str, str]
    sessions: Sequence[Sequence[str]]
    expected: Mapping[str, Any]
    answers: Sequence[Mapping[str, str]]


def load(name: str) -> list[Task]:
    """Return the tasks of a file of the data."""
    items = json.loads((DATA / f"{name}.json").read_text(encoding="utf-8"))
    return [Task(**{"agent": "claude-code", "expected": {}, "answers": ()} | item) for item in items]


def make_project(task: Task, root: Path, *, versioned: bool = True) -> Path:
    """Write a project as it is before the task, in a repository if it is `versioned`, and return its folder."""
    for path, text in task.files.items():
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    if versioned:
        run_shell(root, "git init -q -b main && git add -A && git commit -q -m Start")
    return root


def run_shell(folder: Path, command: str) -> subprocess.CompletedProcess[str]:
    """Run a command as an agent does."""
    environment = {
        "PATH": os.environ["PATH"], "HOME": str(folder), "LANG": "C.UTF-8", "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_NAME": "A", "GIT_AUTHOR_EMAIL": "a@example.org",
        "GIT_COMMITTER_NAME": "A", "GIT_COMMITTER_EMAIL": "a@example.org",
    }  # fmt: skip
    return subprocess.run(
        ["sh", "-c", command], cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=LIMIT
    )


def record_sessions(task: Task, home: Path, root: Path, work: Path) -> None:
    """Write the transcripts of a task's sessions, each run in a fresh copy below `work`, as if it were `root`."""
    for number, script in enumerate(task.sessions, 1):
        versioned = any(line.startswith("$ git") for line in script)
        copy = make_project(task, work / f"{task.name}-{number}", versioned=versioned)
        writer = (_Codex if task.agent == "codex" else _Claude)(home, root, f"2026-11-{10 + number:02}T09:00:00.000Z")
        for line in script:
            _do(line, writer, copy)
        writer.write()


def recorded_sessions(home: Path) -> SessionSet:
    """Return the recorded sessions as mining reads them."""
    return read_sessions([*transcripts_below(home, 0)], SessionFilter(), lambda text: text, lambda _: None)


def judge_sessions(task: Task, home: Path, *, model: bool) -> Judgement:
    """Return what the recorded sessions yield: by a model's stored answers, or by rules alone."""
    reading = recorded_sessions(home)
    rows = [
        summarize(session, _told(task, session) if model else detect_feedback(session)) for session in reading.sessions
    ]
    return judge(rows, [], {}, now=NOW)


def _told(task: Task, session: Session) -> list[Feedback]:
    return [
        Feedback(turn.turn_key or "", answer["quote"], answer["change"], answer["kind"], 0.9)
        for turn in session.turns
        for answer in task.answers
        if answer["quote"] in turn.text
    ]


def skill_text(candidate: Candidate) -> str:
    """Return the SKILL.md that a candidate would be."""
    return write_draft(build_skill(candidate, day=DAY, with_sessions=True))


def missing_parts(expected: Mapping[str, Any], text: str) -> list[str]:
    """Return which expected parts a draft is missing, by the guide in docs/measurements/mining.md."""
    steps = [line for line in text.splitlines() if re.match(r"\d+\. ", line)]
    where = [next((n for n, line in enumerate(steps) if step in line), -1) for step in expected["steps"]]
    pitfalls = [line for line in text.splitlines() if line.startswith("- `") and " failed" in line]
    tried, worked = expected["pitfall"]
    said = re.split(r"^## (?:Steps|Check)$", text, maxsplit=1, flags=re.MULTILINE)[0].splitlines()[10:]
    faults = {
        "a step": -1 in where,
        "the order": where != sorted(where),
        "no other step": len(steps) != len(where),
        "the check": f"- Run `{expected['check']}`." not in text,
        "the pitfall": not any(tried in line and worked in line for line in pitfalls),
        "no other pitfall": len(pitfalls) > 1,
        "the correction": not any(expected["correction"] in line for line in said),
    }
    return [what for what, is_so in faults.items() if is_so]


def draft_commands(text: str, values: Mapping[str, str]) -> list[str]:
    """Return the commands of a draft in their order, the check last, with values for its variables."""
    found = re.findall(r"^(?:\d+\.|-) Run `(.+)`\.", text, re.MULTILINE)
    return [re.sub(r"\{\{(\w+)\}\}", lambda hole: values[hole[1]], command) for command in found]


def _do(line: str, writer: _Writer, copy: Path) -> None:
    mark, _, text = line.partition(" ")
    if mark == ">":
        writer.typed(text)
    elif mark == "$":
        result = run_shell(copy, text)
        writer.ran(text, result.returncode, result.stdout + result.stderr)
    elif mark == "~":
        path, _, content = text.partition(" = ")
        file = copy / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content + "\n", encoding="utf-8")
        writer.changed(path)
    else:
        writer.wrote(text)


class _Writer:
    def __init__(self, home: Path, root: Path, at: str) -> None:
        self.home, self.root, self.at = home, root, at
        self.session = str(uuid.uuid4())
        self.records: list[dict[str, Any]] = []

    def typed(self, text: str) -> None:
        raise NotImplementedError

    def ran(self, command: str, code: int, output: str) -> None:
        raise NotImplementedError

    def changed(self, path: str) -> None:
        raise NotImplementedError

    def wrote(self, text: str) -> None:
        raise NotImplementedError

    @property
    def file(self) -> Path:
        raise NotImplementedError

    def write(self) -> None:
        self.file.parent.mkdir(parents=True, exist_ok=True)
        self.file.write_text("".join(f"{json.dumps(record)}\n" for record in self.records), encoding="utf-8")


class _Claude(_Writer):
    @property
    def file(self) -> Path:
        return self.home / ".claude/projects/-x-project" / f"{self.session}.jsonl"

    def typed(self, text: str) -> None:
        human = {"origin": {"kind": "human"}, "promptSource": "typed", "permissionMode": "default"}
        self._add("user", {"role": "user", "content": text}, **human)

    def wrote(self, text: str) -> None:
        self._answer({"type": "text", "text": text})

    def ran(self, command: str, code: int, output: str) -> None:
        said = f"Exit code {code}\n{output}" if code else output
        self._call("Bash", {"command": command}, said, failed=bool(code))

    def changed(self, path: str) -> None:
        self._call("Write", {"file_path": f"{self.root}/{path}", "content": "x"}, "File written", failed=False)

    def _call(self, name: str, given: Mapping[str, str], said: str, *, failed: bool) -> None:
        call = f"toolu_{uuid.uuid4().hex[:24]}"
        self._answer({"type": "tool_use", "id": call, "name": name, "input": given})
        result = {"type": "tool_result", "tool_use_id": call, "content": said} | ({"is_error": True} if failed else {})
        self._add("user", {"role": "user", "content": [result]}, toolUseResult=f"Error: {said}" if failed else {})

    def _answer(self, block: Mapping[str, Any]) -> None:
        usage = {"input_tokens": 1200, "output_tokens": 150, "cache_read_input_tokens": 9000}
        more = {"id": f"msg_{len(self.records)}", "stop_reason": "end_turn", "usage": usage}
        self._add("assistant", {"role": "assistant", "model": "scripted", "content": [block], **more})

    def _add(self, kind: str, message: Mapping[str, Any], **more: Any) -> None:
        self.records.append(
            {
                "parentUuid": None, "isSidechain": False, "type": kind, "message": message, "uuid": str(uuid.uuid4()),
                "timestamp": self.at, "userType": "external", "entrypoint": "cli", "cwd": str(self.root),
                "sessionId": self.session, "version": "2.1.197", "gitBranch": "main", **more,
            }
        )  # fmt: skip


class _Codex(_Writer):
    def __init__(self, home: Path, root: Path, at: str) -> None:
        super().__init__(home, root, at)
        meta = {"id": self.session, "cwd": str(root), "originator": "codex-tui", "source": "cli"}
        self._add("session_meta", meta | {"thread_source": "user", "cli_version": "0.145.0"})

    @property
    def file(self) -> Path:
        return self.home / ".codex/sessions/2026/11/10" / f"rollout-2026-11-10T09-00-00-{self.session}.jsonl"

    def typed(self, text: str) -> None:
        content = [{"type": "input_text", "text": text}]
        self._add("response_item", {"type": "message", "role": "user", "content": content})
        self._add("event_msg", {"type": "user_message", "message": text, "images": []})

    def wrote(self, text: str) -> None:
        self._add("event_msg", {"type": "agent_message", "message": text})

    def ran(self, command: str, code: int, output: str) -> None:
        said = f"Exit code: {code}\nWall time: 0.1 seconds\nOutput:\n{output}"
        self._call("shell", {"command": ["bash", "-lc", command], "workdir": str(self.root)}, said)

    def changed(self, path: str) -> None:
        patch = f"*** Begin Patch\n*** Add File: {path}\n+x\n*** End Patch"
        self._call("shell", {"command": ["apply_patch", patch], "workdir": str(self.root)}, "Exit code: 0\nOutput:\n")

    def _call(self, name: str, given: Mapping[str, Any], said: str) -> None:
        call = f"call_{uuid.uuid4().hex[:12]}"
        made = {"type": "function_call", "name": name, "arguments": json.dumps(given), "call_id": call}
        self._add("response_item", made)
        self._add("response_item", {"type": "function_call_output", "call_id": call, "output": said})

    def _add(self, kind: str, payload: Mapping[str, Any]) -> None:
        self.records.append({"timestamp": self.at, "type": kind, "payload": payload})
