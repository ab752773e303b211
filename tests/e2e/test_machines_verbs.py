"""`skilld machines`: joining, leaving, what is shown and synced, and who is refused."""

from __future__ import annotations

import json
import re
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from skilld.edit.insertion_point import insert_bullet
from skilld.past import PastSession, Repeat
from skilld.proposals.decide import accepting, rejecting
from skilld.protocol import SYNC_MACHINES, Job, Result
from skilld.store.learnings import Learning
from skilld.team import refs
from skilld.team.records import Record, RecordType, rule_key
from skilld.team.sync import Hub, make_signer, open_hub
from skilld.types import Evidence, How, Outcome, Span, State, TargetKind, Turn
from skilld.worker.spawn import VerbWorker
from support.machines import Machine, SyncGroup
from support.repos import isolate_git
from support.waiting import LIMIT, wait_for
from tools.json_documents import definition

PNPM = "Use pnpm, not npm, to install packages."
DATES = "Write dates as YYYY-MM-DD in the changelog."


@pytest.fixture
def group(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SyncGroup:
    isolate_git(monkeypatch, tmp_path / "nobody")
    return SyncGroup(tmp_path)


def run_machines(one: Machine, *arguments: str) -> str:
    ran = one.program.run("machines", *arguments)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


def add_learning(one: Machine, change: str, session: str) -> Learning:
    return Learning(
        f"l-{session}", f"codex:{session}", f"note: {change}", change, "fact", "codex", session,
        str(one.clone.root), None, "no file yet", 0.6, "2026-03-02T09:00:00Z",
    )  # fmt: skip


def test_join_shows_what_would_be_sent_and_leave_removes_it(group: SyncGroup) -> None:
    tower = group.machine("tower")
    tower.say(PNPM)
    result = tower.program.run("machines", "join", str(group.remote), typed="n\n")
    assert f"  {PNPM}\n    decided; " in result.stdout
    assert '{"' not in result.stdout
    assert "quote: " in result.stdout, "all that would be sent is shown"
    sent = tower.program.run("machines", "join", str(group.remote), "--as-sent", typed="n\n").stdout
    assert f'"rule":"{PNPM}"' in sent
    assert result.returncode == 5, "there is no terminal to say yes on"
    assert group.refs() == []
    run_machines(tower, "join", str(group.remote), "--name", "tower", "--yes")
    assert group.refs() == ["refs/skilld/machines/tower"]
    document = tower.program.json("machines", "status")
    jsonschema.validate(document, definition("machines status"))
    assert document["machines"] == ["tower"]
    (rule,) = document["rules"]
    assert (rule["rule"], rule["standing"], rule["sessions"]) == (PNPM, "open", 1)
    assert rule["file"].endswith("/CLAUDE.md")
    assert tower.program.run("machines", "status").stdout.count("/CLAUDE.md; said in 1 session") == 1
    assert not re.search(r"[0-9a-f]{16}/CLAUDE", tower.program.run("machines", "status").stdout), "named as people do"
    again = tower.program.run("machines", "join", str(group.remote), "--yes")
    assert "this machine has already joined as tower" in again.stderr
    second = group.machine("laptop").program.run("machines", "join", str(group.remote), typed="n\n").stdout
    assert "  1 record that your other machines have sent already\n" in second
    assert PNPM not in second
    run_machines(tower, "leave", "--yes")
    assert group.refs() == []
    assert tower.program.run("machines", "status").returncode == 1
    assert tower.known() == []
    assert not [*(tower.home / ".local/state/skilld/machines").iterdir()]
    assert "remote" not in (tower.home / ".config/skilld/config.toml").read_text()


def test_leaving_says_which_machines_still_send_its_records(group: SyncGroup) -> None:
    tower, laptop = group.machine("tower"), group.machine("laptop")
    tower.say(PNPM)
    for machine in (tower, laptop):
        run_machines(machine, "join", str(group.remote), "--name", machine.name, "--yes")
    left = run_machines(tower, "leave").splitlines()
    assert left[0] == "This machine has left. Its ref was deleted from the remote. All decisions stand."
    assert left[2:] == [
        "  Each of your other machines has this machine's records too, with your quotes, and sends them again.",
        "  To delete those: skilld machines leave, on each of them. For one that is lost:",
        f"    git push {group.remote} --delete refs/skilld/machines/laptop",
    ]
    run_machines(laptop, "sync")
    shown = group.team.hub.git(f"--git-dir={group.remote}", "grep", "pnpm", "refs/skilld/machines/laptop")
    assert f'"quote":"from now on: {PNPM}"' in shown
    left = run_machines(laptop, "leave").splitlines()
    assert left[0] == "This machine has left. Its data was deleted from the remote. All decisions stand."
    assert (len(left), group.refs()) == (2, [])


def test_a_rule_of_a_repository_that_is_not_here_is_named_without_its_number(group: SyncGroup) -> None:
    tower, laptop = group.machine("tower"), group.machine("laptop")
    tower.say(PNPM)
    for machine in (tower, laptop):
        run_machines(machine, "join", str(group.remote), "--name", machine.name, "--yes")
    assert run_machines(laptop, "status").splitlines()[2:] == [
        f"open      {PNPM}",
        "    CLAUDE.md in a repository that is not here; said in 1 session",
    ]


def test_a_fresh_machine_says_how_accepted_rules_get_into_its_files(group: SyncGroup) -> None:
    tower, laptop = group.machine("tower"), group.machine("laptop")
    own = tower.home / ".claude/CLAUDE.md"
    own.parent.mkdir(parents=True)
    own.write_text("# Mine\n\n## Rules\n\n- Be brief.\n")
    step = insert_bullet(own.read_bytes(), "Rules", DATES)
    tower.say(DATES, path=str(own), skill="CLAUDE.md", target=TargetKind.PERSONAL, operations=(step,))
    for machine in (tower, laptop):
        machine.say(PNPM)
    tower.decide(DATES, accepting())
    tower.decide(PNPM, accepting())
    for machine in (tower, laptop):
        run_machines(machine, "join", str(group.remote), "--name", machine.name, "--yes")
    told = {*run_machines(laptop, "status").splitlines()}
    place = "~/.claude/CLAUDE.md; said in 1 session; not in the file here: to add it: skilld machines add"
    assert {f"accepted  {DATES}", f"    {place}"} <= told
    way = f"it comes with git pull or, to add it: skilld accept {laptop.find(PNPM).id}"
    project = f"{laptop.clone.root}/CLAUDE.md; said in 2 sessions; not in the file here: {way}"
    assert {f"accepted  {PNPM}", f"    {project}"} <= told
    assert laptop.program.run("accept", laptop.find(PNPM).id).returncode == 0
    third = group.machine("third")
    run_machines(third, "join", str(group.remote), "--name", "third", "--yes")
    third.program.before = ("sh", "-c", 'cd "$0" && exec "$@"', str(third.clone.root))
    told = {*run_machines(third, "status").splitlines()}
    assert {f"    {third.clone.root}/CLAUDE.md; said in 2 sessions", f"    {place}"} <= told, "git may not have it now"
    assert "not in the file here: it" not in run_machines(laptop, "status")
    assert "not in the file here" not in run_machines(tower, "status")


def _accept_own(one: Machine, rule: str, **changes: Any) -> None:
    """Have the person accept a rule for their own file on one machine."""
    own = one.home / ".claude/CLAUDE.md"
    own.parent.mkdir(parents=True, exist_ok=True)
    own.write_text("# Mine\n\n## Rules\n\n- Be brief.\n")
    step = insert_bullet(own.read_bytes(), "Rules", rule)
    fields = {"path": str(own), "skill": "CLAUDE.md", "target": TargetKind.PERSONAL, "operations": (step,)}
    one.say(rule, **fields, **changes)
    one.decide(rule, accepting())


@pytest.mark.parametrize(
    ("there", "then"),
    [("# Mine\n\n- Use tabs.\n", f"# Mine\n\n- Use tabs.\n- {DATES}\n"), (None, f"- {DATES}\n")],
)
def test_one_command_adds_the_rules_of_other_machines_to_the_persons_own_file(
    group: SyncGroup, there: str | None, then: str
) -> None:
    tower, laptop = group.machine("tower"), group.machine("laptop")
    _accept_own(tower, DATES)
    own = laptop.home / ".claude/CLAUDE.md"
    own.parent.mkdir(parents=True, exist_ok=True)
    if there is not None:
        own.write_text(there)
    for machine in (tower, laptop):
        run_machines(machine, "join", str(group.remote), "--name", machine.name, "--yes")
    asked = laptop.program.run("machines", "add")
    assert f"{own}: {DATES}\n" in asked.stdout.replace("~", str(laptop.home))
    assert (asked.returncode, own.exists()) == (5, there is not None), "there is no terminal to say yes on"
    added = run_machines(laptop, "add", "--yes")
    assert own.read_text().endswith(then)
    (made,) = laptop.store.proposals.in_states([State.ACCEPTED])
    assert f"skilld revert {made.id}" in added
    assert (made.summary, made.evidence[0].quote) == (DATES, f"from now on: {DATES}")
    nothing = "Your own files have all the rules that you accepted on your other machines.\n"
    assert run_machines(laptop, "add", "--yes") == nothing
    assert "not in the file here" not in run_machines(laptop, "status")
    run_machines(laptop, "sync")
    (rule,) = laptop.program.json("machines", "status")["rules"]
    assert (rule["rule"], rule["standing"], rule["sessions"]) == (DATES, "accepted", 1)
    assert laptop.program.run("revert", made.id).returncode == 0
    assert (own.read_text() if own.exists() else None) == there


def test_a_rule_that_may_do_harm_is_not_added_with_the_others(group: SyncGroup) -> None:
    tower, laptop = group.machine("tower"), group.machine("laptop")
    _accept_own(tower, "Always commit with `--no-verify`.")
    (laptop.home / ".claude").mkdir(parents=True, exist_ok=True)
    own = laptop.home / ".claude/CLAUDE.md"
    own.write_text("# Mine\n\n- Use tabs.\n")
    for machine in (tower, laptop):
        run_machines(machine, "join", str(group.remote), "--name", machine.name, "--yes")
    assert "was left open: it skips hooks" in run_machines(laptop, "add", "--yes")
    assert own.read_text() == "# Mine\n\n- Use tabs.\n"


def test_a_fresh_clone_that_the_person_is_in_counts_as_here(group: SyncGroup) -> None:
    tower, laptop = group.machine("tower"), group.machine("laptop")
    tower.say(PNPM)
    for machine in (tower, laptop):
        run_machines(machine, "join", str(group.remote), "--name", machine.name, "--yes")
    laptop.program.before = ("sh", "-c", 'cd "$0" && exec "$@"', str(laptop.clone.root))
    place = f"    {laptop.clone.root}/CLAUDE.md; said in 1 session"
    assert run_machines(laptop, "status").splitlines()[2:] == [f"open      {PNPM}", place]


def test_a_rule_said_in_two_sessions_of_one_machine_counts_both(group: SyncGroup) -> None:
    tower = group.machine("tower")
    proposal = tower.say(PNPM)
    path = tower.home / "later.jsonl"
    path.touch()
    file = tower.store.transcripts.add_file("claude-code", str(path), path.stat(), baseline=0)
    turn = Turn("claude-code:later", "claude-code", "later", PNPM, proposal.created_at, How.TYPED, Span(0, 9))
    tower.store.transcripts.record_activity("claude-code", "later", cwd=None, activity=1.0)
    tower.store.transcripts.add_turn(turn, file.id, counts=True, lasting=True)
    tower.store.proposals.add_evidence(proposal.id, Evidence(turn.key, f"again: {PNPM}"))
    run_machines(tower, "join", str(group.remote), "--name", "tower", "--yes")
    (rule,) = tower.program.json("machines", "status")["rules"]
    assert rule["sessions"] == 2


def test_the_daemon_adopts_decisions_made_elsewhere(group: SyncGroup) -> None:
    tower, laptop = group.machine("tower"), group.machine("laptop")
    for machine in (tower, laptop):
        machine.say(PNPM)
        run_machines(machine, "join", str(group.remote), "--name", machine.name, "--yes")
    tower.decide(PNPM, rejecting())
    run_machines(tower, "sync")
    with laptop.program.daemon():
        wait_for("the rejection to hold here", lambda: laptop.state(PNPM) is State.REJECTED)
    assert "pnpm" not in laptop.staged()
    (rule,) = laptop.program.json("machines", "status")["rules"]
    assert (rule["standing"], rule["sessions"]) == ("rejected", 2)


def test_an_unreachable_remote_is_only_mentioned_in_the_status(group: SyncGroup) -> None:
    tower = group.machine("tower")
    run_machines(tower, "join", str(group.remote), "--name", "tower", "--yes")
    away = group.remote.rename(group.remote.with_name("away.git"))
    with VerbWorker(tower.program.environment) as worker:
        assert worker.do(Job(SYNC_MACHINES, 0o077), LIMIT) == Result(outcome=Outcome.NOTHING)
    assert "the last sync failed: Could not reach the remote" in run_machines(tower, "status")
    assert tower.program.json("status")["last_error"] is None
    away.rename(group.remote)
    run_machines(tower, "sync")
    assert tower.program.json("machines", "status")["trouble"] == ""


def test_learnings_are_synced_and_deletions_too(group: SyncGroup) -> None:
    tower, laptop = group.machine("tower"), group.machine("laptop")
    laptop.store.transcripts.record_activity("codex", "s9", cwd=str(laptop.clone.root), activity=1.0)
    tower.store.learnings.add(add_learning(tower, DATES, "one"))
    for one in (tower, laptop, tower):
        one.sync()
    (found,) = laptop.store.learnings.all()
    assert (found.change, found.quote) == (DATES, f"note: {DATES}")
    assert (found.project, found.agent) == (str(laptop.clone.root), "codex")
    # What it is said in twice, it is known on both to be said in two sessions, and told back to nobody.
    laptop.store.learnings.add(add_learning(laptop, DATES, "two"))
    for one in (laptop, tower, laptop, tower):
        one.sync()
    assert [len(machine.store.learnings.all()) for machine in (tower, laptop)] == [2, 2]
    for kept in tower.store.learnings.all():
        tower.store.learnings.forget(kept.id)
    for one in (tower, laptop):
        one.sync()
    assert laptop.store.learnings.all() == []
    # Said again after that, it is one again.
    tower.store.learnings.add(add_learning(tower, DATES, "three"))
    for one in (tower, laptop):
        one.sync()
    assert DATES in {learning.change for learning in laptop.store.learnings.all()}


def test_repeats_are_synced_to_a_machine_whose_file_has_the_line(group: SyncGroup) -> None:
    tower, laptop = group.machine("tower"), group.machine("laptop")
    laptop.store.transcripts.record_activity("codex", "s9", cwd=str(laptop.clone.root), activity=1.0)
    file = str(tower.clone.root / "CLAUDE.md")
    repeat = Repeat("codex:t1", "again: short functions", file, 5, "Keep functions short.", 1.0)
    past = PastSession("codex", "s1", str(tower.clone.root), "", 1.8e9, (file,), (), (), (repeat,))
    tower.store.past.save("/t.jsonl", 1, 1.0, [past])
    for machine in (tower, laptop, tower, laptop):
        machine.sync()
    (session,) = laptop.store.past.sessions()
    (heard,) = session.repeats
    assert (heard.path, heard.line, heard.text) == (str(laptop.clone.root / "CLAUDE.md"), 5, "Keep functions short.")
    assert (session.at, session.said, heard.quote) == (1.8e9, (), "")
    assert len(tower.store.past.sessions()) == 1


def test_secrets_and_shallow_clones_are_not_synced(group: SyncGroup, monkeypatch: pytest.MonkeyPatch) -> None:
    tower = group.machine("tower")
    # One of a version that did not refuse it yet.
    monkeypatch.setattr("skilld.proposals.staging.refuse_secrets", lambda *_: None)
    tower.say("Deploy with the token ghp_Ab3dEf6hIj9lMn2pQr5tUv8xYz1Bc4Dd6Fg8 only.")
    output = run_machines(tower, "join", str(group.remote), "--name", "tower", "--yes")
    assert "not sent, because it contains what looks like a secret" in output
    assert tower.program.json("machines", "status")["rules"] == []
    assert "ghp_" not in group.team.hub.git(f"--git-dir={group.remote}", "grep", "-a", "-h", "", group.refs()[0])
    laptop = group.machine("laptop")
    laptop.say(PNPM)
    (laptop.clone.root / ".git/shallow").write_text(laptop.clone.git("rev-parse", "HEAD") + "\n")
    laptop.sync()
    assert [one for one in laptop.known() if "pnpm" in one] == []


def test_a_machine_pushing_foreign_records_is_refused_and_named(group: SyncGroup) -> None:
    tower, eve = group.machine("tower"), group.machine("eve-evil")
    tower.say(PNPM)
    tower.sync()
    # A record of a team's, signed and well-formed, does not belong here; neither does one in another's name.
    hub = _hub(eve)
    team = Record(
        what=RecordType.REJECTED, key=rule_key(PNPM, "CLAUDE.md"), rule=PNPM, place="CLAUDE.md", day="2026-03-02"
    )
    _force_commit(
        group,
        eve,
        refs.write_commit(hub.borrowed, "eve-evil", 1, [team], make_signer(hub), form=refs.MACHINES_LAYOUT),
        "eve-evil",
    )
    assert "not allowed here" in tower.sync().membership.refused["eve-evil"]
    _force_commit(
        group,
        eve,
        refs.write_commit(hub.borrowed, "tower", 99, [], make_signer(hub), form=refs.MACHINES_LAYOUT),
        "tower",
    )
    put_right = tower.sync()
    assert tower.state(PNPM) is State.OPEN
    assert "tower" not in put_right.membership.refused, "it is written anew at once"
    assert PNPM in json.loads(tower.known()[0])["rule"]


def _hub(one: Machine) -> Hub:
    return open_hub(one.membership, one.home / "copy", home=one.home, env=one.program.environment)


def _force_commit(group: SyncGroup, one: Machine, commit: str, name: str) -> None:
    (copy,) = (one.home / "copy").iterdir()
    one.clone.git(f"--git-dir={copy}", "push", "-q", "-f", str(group.remote), f"{commit}:refs/skilld/machines/{name}")


def test_a_publicly_readable_repository_is_refused(group: SyncGroup) -> None:
    tower = group.machine("tower")
    tower.say(PNPM)
    group.team.hub.git(f"--git-dir={group.team.hub.root}", "update-server-info")
    handler = partial(SimpleHTTPRequestHandler, directory=str(group.team.folder))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        url = f"http://127.0.0.1:{server.server_port}/hub.git"
        result = tower.program.run("machines", "join", url, "--yes")
    finally:
        server.shutdown()
        server.server_close()
    assert result.returncode == 5
    assert f"anyone can read {url}" in result.stderr
    assert tower.program.run("machines", "status").returncode == 1
