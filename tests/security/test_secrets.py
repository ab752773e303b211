"""T-22: a secret said, answered or kept in a skill is in no request, database, log, commit or notice."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from skilld.daemon.engine import Engine
from skilld.ingest.discover import Host
from skilld.jobs.analyse import analyse
from skilld.protocol import AnalyseBatch, BatchResult
from skilld.redact import Redactor
from skilld.redact.key import load_key
from skilld.settings import Settings
from skilld.store import Store
from support.live_project import Project
from support.model_answers import CHANGE, NO_UPDATES, operations_answer, updates_answer
from support.notifications import notification_server
from support.program import Program
from support.session import LASTING, Session
from support.stub_model import Reply, StubModel
from support.waiting import wait_for

# Made up, in the issuers' documented shapes; in two parts, so that no scanner takes this file for a leak.
TYPED = (
    "ghp_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5",
    "AKIA" + "Q3EGRT5YUI7OPL2K",
    "sk-ant-" + "api03-" + "Zk3" * 30 + "Q-AA",
    "xoxb-" + "284719305562-2847193055627-" + "Rk9vTq2LmZx7Wb4NcY8sDf3H",
    "postgres://app:" + "pL9vQ2xR7t" + "@db.example.org/app",
)
ANSWERED = "sk_live_" + "4eC39HqLyjWDarjtT1zdp7dcQ9xY"
IN_SKILL = "glpat-" + "xY7zQ2wE9rT4uI1oP6aS"


def _updates(**changes: object) -> str:
    return updates_answer(**{"reason": f"asked for with {ANSWERED}"} | changes)


def _operations(text: str) -> str:
    return operations_answer(text=text)


@contextmanager
def _notices() -> Iterator[tuple[str, list[dict[str, Any]]]]:
    if shutil.which("dbus-daemon") is None:
        yield "", []
    else:
        with notification_server() as server:
            yield server.address, server.shown


def _plant_secrets(home: Path, project: Project) -> None:
    text = project.skill_path.read_text()
    project.skill_path.write_text(f"{text}\nThe draft is uploaded with the token {IN_SKILL}.\n")
    project.git("commit", "--quiet", "--all", "--message", "Say how to upload")
    session = Session(home, project)
    session.use_skill()
    session.type(
        f"hello, use {TYPED[0]}",
        f"{LASTING} My keys are {TYPED[1]} and {TYPED[2]}.",
        f"ok; export SLACK_TOKEN={TYPED[3]}",
        f"thanks, it runs on {TYPED[4]}",
    )
    session.reply(f"I used {TYPED[0]} for it.")
    session.type("go on")


def _stored_bytes(home: Path) -> bytes:
    """Return all bytes that skilld keeps: database, write-ahead log, logs, crash reports, settings, repositories."""
    files = [path for folder in (".local", ".config") for path in (home / folder).rglob("*") if path.is_file()]
    assert any(path.name == "skilld.db" for path in files)
    return b"".join(path.read_bytes() for path in [*files, home / "skilld-run.log"])


def _changed_files(project: Project, before: set[str]) -> str:
    """Return what is new in the repository: every object made since, as text, and the names of refs."""
    new = sorted(_objects(project) - before)
    shown = [project.git("cat-file", "-p", name) for name in new]
    return "\n".join([*shown, project.git("for-each-ref")])


def _objects(project: Project) -> set[str]:
    listed = project.git("cat-file", "--batch-all-objects", "--batch-check=%(objectname)")
    return set(listed.splitlines())


# What the model answers, and whether that ends in a proposal. The last batch is tried again, so none follows it.
ANSWERS: dict[str, tuple[tuple[str | Reply, ...], bool]] = {
    "reason": ((_updates(), _operations(f"- {CHANGE}"), NO_UPDATES), True),
    "section": ((_updates(section=f"Style {ANSWERED}"), _operations(f"- {CHANGE}"), NO_UPDATES), True),
    "operation": ((_updates(), _operations(f"- {CHANGE} Use {ANSWERED}.")), False),
    "change": ((_updates(change=f"{CHANGE} Use {ANSWERED}."),), False),
    "other words": (
        (
            _updates(change="Prefix every bullet with its issue identifier."),
            f"<changes>{json.dumps([f'{CHANGE} Use {ANSWERED}.'])}</changes>",
        ),
        False,
    ),
    "prose": ((f"I will not say {ANSWERED}",) * 2, False),  # asked once more, since it cannot be read
    "error": ((Reply(status=500, text=f"trouble with {ANSWERED} and {TYPED[0]}"),), False),
}


@pytest.mark.usefixtures("scrubbed")
def test_t22_no_secret_is_sent_stored_committed_or_shown(home: Path, tmp_path: Path) -> None:
    projects = {name: Project(tmp_path / name, home, ".claude/skills") for name in ANSWERS}
    before: dict[str, set[str]] = {}
    with StubModel() as model, _notices() as (bus, notices):
        settings = {"SKILLD_MODEL": "openai/stub", "SKILLD_MODEL_BASE_URL": model.base_url}
        program = Program(home, settings | {"DBUS_SESSION_BUS_ADDRESS": bus})
        assert program.run("run", "--once").returncode == 0
        for name, (answers, proposed) in ANSWERS.items():
            asked = len(model.bodies) + len(answers)
            model.queue(*answers)
            _plant_secrets(home, projects[name])
            before[name] = _objects(projects[name])
            if name == "reason":
                with program.daemon():
                    wait_for("a proposal", lambda: program.json("proposals"), context=program.output)
                    if bus:
                        wait_for("a notice", lambda: list(notices), context=program.output)
            else:
                _judge(home, model)
            assert len(model.bodies) == asked, name
            assert bool(projects[name].git("for-each-ref", "refs/heads/skilld")) is proposed, name
        assert program.json("status")["batches"] == {"pending": 1, "done": len(ANSWERS) - 1, "parked": 0}
        sent = json.dumps(model.bodies) + json.dumps(model.headers)
        shown = "".join(
            program.run(verb, *more).stdout
            for verb in ("status", "proposals", "learnings")
            for more in ((), ("--json",))
        )
        assert len(program.json("proposals", "--state", "all")) == sum(proposed for _, proposed in ANSWERS.values())
    kept = _stored_bytes(home)
    written = {name: _changed_files(project, before[name]) for name, project in projects.items()}
    for secret in (*TYPED, ANSWERED):
        password = "pL9vQ2xR7t" if "://" in secret else secret
        places = {"sent": sent, "notices": json.dumps(notices), "shown": shown, **written}
        assert [place for place, text in places.items() if password in text] == []
        assert password.encode() not in kept
    assert IN_SKILL not in sent + json.dumps(notices) + shown
    assert IN_SKILL.encode() not in kept
    # The person's own file keeps what stands in it; no message, diff line or ref of ours repeats it.
    assert {name: text.count(IN_SKILL) for name, text in written.items()} == {
        name: int(proposed) for name, (_, proposed) in ANSWERS.items()
    }


def _judge(home: Path, model: StubModel) -> None:
    """Do in this process what the daemon and its worker do with the one batch that waits: litellm is loaded once."""
    state = home / ".local/state/skilld"
    store = Store.open(state / "skilld.db")
    try:
        chosen = Settings(model="openai/stub", model_base_url=model.base_url)
        engine = Engine(store, chosen, Host(home, {}), time.time())
        engine.follower.sweep()
        engine.close_due(time.time())
        batch = engine.next_batch(time.time())
        assert batch is not None

        def keep(plan: BatchResult) -> None:
            engine.save_plan(batch, plan, time.time())

        work = engine.start(batch).work
        assert isinstance(work, AnalyseBatch)
        result = analyse(work, Redactor(load_key(state / "redaction.key")).redact, keep)
        engine.finish(batch, result, time.time())
    finally:
        store.close()


def test_t22_without_its_key_it_stops_and_stores_no_words(home: Path, project: Project, program: Program) -> None:
    session = Session(home, project)
    session.use_skill()
    session.type("hello", f"{LASTING} My key is {TYPED[1]}", "ok", "thanks", "go on")
    (home / ".local/state/skilld/redaction.key").write_bytes(b"short")
    (home / ".local/state/skilld/redaction.key").chmod(0o600)
    assert program.run("run", "--once").returncode == 0
    assert "redaction key is damaged" in program.json("status")["last_error"]["message"]
    assert program.json("proposals") == []
    kept = b"".join(path.read_bytes() for path in (home / ".local").rglob("*") if path.is_file())
    assert TYPED[1].encode() not in kept
    assert b"ticket number" not in kept


def test_t22_text_stored_by_a_command_is_redacted(home: Path, project: Project, program: Program) -> None:
    session = Session(home, project)
    session.use_skill()
    session.type("hello", LASTING, "ok", "thanks", "go on")
    program.run("run", "--once")
    (proposal,) = program.json("proposals")
    for verb in (
        ("reject", proposal["id"], "--why", f"the key is {TYPED[0]}"),
        ("record", f"use {TYPED[0]}", "--result", f"it was {TYPED[0]}", "--qa-passed", "--tool", TYPED[0]),
        ("feedback", "release-notes", "--helpful", "--note", f"thanks to {TYPED[0]}"),
        ("learnings", "--search", TYPED[0]),
        ("recommend", f"deploy with {TYPED[0]}"),
    ):
        assert program.run(*verb).returncode == 0, verb
    assert TYPED[0].encode() not in b"".join(
        path.read_bytes() for path in (home / ".local").rglob("*") if path.is_file()
    )
