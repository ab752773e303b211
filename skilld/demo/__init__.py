"""Plays the demo, from a typed session to a proposal, inside one temporary folder."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Collection, Mapping
from datetime import UTC, datetime
from importlib import resources
from pathlib import Path
from typing import Any

from skilld import console
from skilld.errors import SkilldError
from skilld.files import shell_quoted
from skilld.git.staging_branch import STAGING_BRANCH
from skilld.text import pluralize

# The demo's session, written as Claude Code would: one record appended per line.

_VERSION = "2.1.197"


class Transcript:
    """One session file that grows."""

    def __init__(self, path: Path, project: Path, skills: Path) -> None:
        self._path = path
        self._project = project
        self._skills = skills
        self._parent: str | None = None
        self.session_id = path.stem

    def add(self, step: Mapping[str, str]) -> None:
        """Append one step of the session: what the person typed, what the agent wrote, or a skill it called."""
        if "person" in step:
            self._append("user", {"role": "user", "content": step["person"]}, _TYPED_FIELDS)
        elif "agent" in step:
            self._append("assistant", _assistant({"type": "text", "text": step["agent"]}), {})
        else:
            self._call(step["skill"])

    def _call(self, skill: str) -> None:
        call = f"toolu_{uuid.uuid4().hex[:24]}"
        use = {"type": "tool_use", "id": call, "name": "Skill", "input": {"skill": skill}}
        self._append("assistant", _assistant(use), {})
        result = {"type": "tool_result", "tool_use_id": call, "content": f"Launching skill: {skill}"}
        done = {"toolUseResult": {"success": True, "commandName": skill}}
        self._append("user", {"role": "user", "content": [result]}, done)
        body = f"Base directory for this skill: {self._skills / skill}\n\n"
        meta = {"isMeta": True, "sourceToolUseID": call}
        self._append("user", {"role": "user", "content": [{"type": "text", "text": body}]}, meta)

    def _append(self, kind: str, message: Mapping[str, Any], extra: Mapping[str, Any]) -> None:
        own = str(uuid.uuid4())
        record = {
            "parentUuid": self._parent,
            "isSidechain": False,
            "type": kind,
            "message": message,
            "uuid": own,
            "timestamp": datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "userType": "external",
            "entrypoint": "cli",
            "cwd": str(self._project),
            "sessionId": self.session_id,
            "version": _VERSION,
            "gitBranch": "main",
            **extra,
        }
        self._parent = own
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(record, ensure_ascii=False) + "\n")


_TYPED_FIELDS = {"origin": {"kind": "human"}, "promptSource": "typed", "permissionMode": "default"}


def _assistant(block: Mapping[str, Any]) -> dict[str, Any]:
    return {"role": "assistant", "model": "demo", "content": [block], "stop_reason": "end_turn"}


_STEP_SECONDS = 0.25  # between two steps
_MAX_WAIT_SECONDS = 60.0  # for one step, on a busy machine
_RESOURCES = "skilld.demo"


def play(*, keep: bool) -> int:
    """Play the demo; return the exit code. With `keep` its folder stays."""
    root = Path(tempfile.mkdtemp(prefix="skilld-demo-")).resolve()
    environment = _environment(root)
    daemon = None
    try:
        project = _create_repository(root / "project", ".claude/skills/release-notes/SKILL.md", environment)
        plain = _create_repository(root / "plain", "CLAUDE.md", environment)
        daemon = _start_daemon(root, environment)
        console.line(f"Everything happens in a temporary folder: {root}")
        console.line("The daemon is running offline. Someone is working in Claude Code with the release-notes skill:\n")
        _type_session(root, project, "session.json")
        console.line()
        known = _show_proposal(environment, set(), keep=keep)
        console.line("\nIn a second repository, with no skill in use, Claude Code loads CLAUDE.md:\n")
        _type_session(root, plain, "plain.json")
        console.line()
        _show_proposal(environment, known, keep=keep)
        _show_commands()
        console.line()
        if keep:
            there = f"cd {shell_quoted(project)} && export HOME={shell_quoted(root / 'home')}"
            console.line(f"The folder was kept. To try the commands there: {there}")
        else:
            console.line("The demo removed its folder. To keep it and try the commands: skilld demo --keep")
    finally:
        if daemon is not None:
            _stop_daemon(daemon)
        if not keep:
            shutil.rmtree(root, ignore_errors=True)
    return 0


def _start_daemon(root: Path, environment: Mapping[str, str]) -> subprocess.Popen[str]:
    """Start the daemon, and return it once it follows transcripts."""
    daemon = subprocess.Popen(
        _command("run"),
        env=dict(environment),
        cwd=root,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        _wait_for(lambda: _has_started(daemon, environment), "the daemon did not start")
    except BaseException:
        _stop_daemon(daemon)
        raise
    return daemon


def _stop_daemon(daemon: subprocess.Popen[str]) -> None:
    if daemon.poll() is None:
        daemon.terminate()
        daemon.communicate(timeout=_MAX_WAIT_SECONDS)


def _show_proposal(environment: Mapping[str, str], known: Collection[str], *, keep: bool) -> set[str]:
    """Wait for a proposal that is not `known` yet and show it; with `keep` also the commands that decide on it.

    Returns the ids of what is new.
    """

    def new() -> list[dict[str, Any]]:
        return [one for one in _run_skilld(environment, "proposals", "--json") or [] if one["id"] not in known]

    found = _wait_for(new, "no proposal was created")
    console.line(console.paint(f"{pluralize(len(found), 'proposal')}, {_describe_evidence(found[0])}", "bold") + "\n")
    sys.stdout.flush()
    more = () if keep else ("--without-commands",)  # their folder will be removed
    subprocess.run(_command("show", found[0]["id"], *more), env=_coloured_environment(environment), check=True)
    return {one["id"] for one in found}


def _show_commands() -> None:
    console.line("\nIn your own repository, decide with skilld review, or with git:")
    console.table(
        [
            (f"git diff ...{STAGING_BRANCH}", "see what is proposed"),
            (f"git merge {STAGING_BRANCH}", "accept it"),
            ("git revert COMMIT", "undo it"),
        ],
        indent="  ",
    )


def _type_session(root: Path, project: Path, name: str) -> None:
    folder = root / "home/.claude/projects/demo"
    folder.mkdir(parents=True, exist_ok=True)
    transcript = Transcript(folder / f"{uuid.uuid4()}.jsonl", project, project / ".claude/skills")
    steps = json.loads(resources.files(_RESOURCES).joinpath(name).read_text("utf-8"))
    turns = 0
    for step in steps:
        transcript.add(step)
        if "person" in step:
            turns += 1
            console.line(f"  {console.paint(f'turn {turns}', 'dim')}  {console.paint('> ' + step['person'], 'cyan')}")
        sys.stdout.flush()
        time.sleep(_STEP_SECONDS)


def _environment(root: Path) -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "TERM", "PYTHONPATH") if name in os.environ}
    settings = {"SKILLD_NOTIFY__ENABLED": "false", "SKILLD_MODEL": "offline"}
    return kept | settings | {"HOME": str(root / "home"), "NO_COLOR": "1"}


def _create_repository(project: Path, relpath: str, environment: Mapping[str, str]) -> Path:
    """Create a repository with one of the demo's files."""
    path = project / relpath
    path.parent.mkdir(parents=True)
    Path(environment["HOME"]).mkdir(exist_ok=True)
    path.write_text(resources.files(_RESOURCES).joinpath("project", path.name).read_text("utf-8"), encoding="utf-8")
    for arguments in (
        ("init", "-q", "-b", "main"),
        ("config", "user.name", "Demo"),
        ("config", "user.email", "demo@localhost"),
        ("add", "-A"),
        ("commit", "-q", "-m", f"Add {path.name}"),
    ):
        try:
            subprocess.run(["git", *arguments], cwd=project, env=dict(environment), check=True, capture_output=True)
        except FileNotFoundError:
            raise SkilldError("The demo needs git", "it is not installed", "Install git and try again.") from None
    return project


def _wait_for(probe: Callable[[], Any], failure: str) -> Any:  # noqa: ANN401 - the probe's result
    deadline = time.monotonic() + _MAX_WAIT_SECONDS
    while time.monotonic() < deadline:
        if found := probe():
            return found
        time.sleep(0.3)  # each probe starts a program
    raise SkilldError("The demo failed", failure, "Run the demo again. If it keeps failing, report a bug.")


def _has_started(daemon: subprocess.Popen[str], environment: Mapping[str, str]) -> bool:
    if daemon.poll() is not None:
        raise SkilldError("The demo failed", f"the daemon exited immediately: {daemon.communicate()[0].strip()}")
    status = _run_skilld(environment, "status", "--json") or {}
    return status.get("daemon") is not None


def _run_skilld(environment: Mapping[str, str], *arguments: str) -> Any:  # noqa: ANN401 - JSON is Any
    done = subprocess.run(_command(*arguments), env=dict(environment), capture_output=True, text=True, check=False)
    return json.loads(done.stdout) if done.returncode == 0 else None


def _command(*arguments: str) -> list[str]:
    return [sys.executable, "-P", "-m", "skilld", *arguments]


def _coloured_environment(environment: Mapping[str, str]) -> dict[str, str]:
    if not console.is_coloured():
        return dict(environment)
    return {name: value for name, value in environment.items() if name != "NO_COLOR"} | {"CLICOLOR_FORCE": "1"}


def _describe_evidence(found: Mapping[str, Any]) -> str:
    return f"based on {len(found['evidence'])} of 5 turns, on the branch {STAGING_BRANCH}:"
