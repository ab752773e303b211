"""Sharing skills on a branch: what is on it, and that nothing else in a repository changes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from skilld.errors import RefusedError
from skilld.exchange.outgoing import (
    LeakCheck,
    SessionWords,
    SharedBranch,
    own_words,
    put_on_branch,
    redact_skill,
    restore_branch,
)
from skilld.git.errors import GitFailedError
from skilld.git.managed_repos import track_in_managed
from skilld.git.remote import find_remote_base, push, push_addresses
from skilld.git.repo import open_repo
from skilld.proposals.remove_refs import plan_removal, remove_refs
from skilld.redact import Redactor
from support.repos import SKILL, TEXT, Person, copy_repo, isolate_git, new_repo, snapshot

SESSION = "11111111-2222-3333-4444-555555555555"
CHECK = LeakCheck(
    Redactor(bytes(32)).findings, SessionWords(frozenset({SESSION}), ("review https://x.org/pr/10 with me",))
)
BRANCH = "skilld/share/release"
REF = f"refs/heads/{BRANCH}"
OURS = """\
---
name: release
description: How we release.
license: MIT
metadata:
  skilld-origin: "mined"
  skilld-sessions: "11111111-2222-3333-4444-555555555555"
  skilld-author: "Pat Person"
---

# Release
"""
SHARED = "".join(line for line in OURS.splitlines(keepends=True) if "sessions" not in line and "author" not in line)


@pytest.fixture
def person(templates: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Person:
    """Return a person with a clone of a bare repository, and work of their own that is on no remote."""
    isolate_git(monkeypatch, tmp_path / "home")
    template = templates / "clone"
    if not template.exists():
        origin = new_repo(template / "first")
        origin.git("clone", "--quiet", "--bare", ".", "../hub.git")
        origin.git("clone", "--quiet", str(template / "hub.git"), "../work")
        Person(template / "work").commit("private work", {"secret.txt": "x\n"})
    return copy_repo(template, tmp_path)


def _share(person: Person, remote: str, text: str = SHARED, branch: str = BRANCH) -> SharedBranch:
    repo = open_repo(person.root)
    return put_on_branch(repo, remote, branch, {SKILL: text}, message="Share\n", seconds=1_700_000_000, check=CHECK)


def test_the_words_of_the_person_in_a_skill_are_listed() -> None:
    text = (
        '---\nname: add-service\ndescription: "Add a service NAME, owned by team billing: 6 steps. Use when asked for'
        ' \u201cAdd a service NAME, owned by team billing\u201d."\n---\n\n'
        "- `{{name}}`: differs each time (for example `audit-log`, `spare`).\n\n- Always set the limits.\n"
        "1. Run `make lint`.\n"
    )
    quotes = "Please add a service audit-log, owned by team billing", "always set the limits!", "then make lint"
    words = ["Add a service", "owned by team billing", "audit-log", "Always set the limits"]
    assert own_words(text, SessionWords(frozenset(), quotes)) == words
    assert own_words(text, SessionWords()) == []


def test_s8_words_are_recognized_without_spaces_between_them() -> None:
    said = SessionWords(frozenset(), ("以后发布说明里总是先写工单号", "リリースノートではチケット番号を先頭に書いて"))
    assert own_words("- 发布说明里总是先写工单号。\n- 写发布\n- チケット番号を先頭に書く。\n", said) == [
        "发布说明里总是先写工单号",
        "チケット番号を先頭に書",
    ]
    field = '---\nname: a\ndescription: b\nmetadata:\n  skilld-note: "说明里总是先写工单号"\n---\n\nc\n'
    with pytest.raises(RefusedError, match="its skilld-note field repeats your words from a session"):
        redact_skill(field, LeakCheck(CHECK.secrets, said))


def _work_tree(person: Person) -> dict[str, str]:
    """Return everything in the work tree and its repository but skilld's refs and what a push tells of the remote."""
    return {name: facts for name, facts in snapshot(person.root).items() if "refs/remotes/origin/skilld" not in name}


def test_only_sessions_and_people_are_removed_from_the_front_matter() -> None:
    assert redact_skill(OURS, CHECK) == SHARED
    assert redact_skill(TEXT, CHECK) == TEXT


def test_a_secret_stops_the_share_and_names_its_line() -> None:
    with pytest.raises(RefusedError, match=r"line 12 \(\S+\)") as error:
        redact_skill(OURS + "ghp_Ab3dEf6hIj9lMn2pQr5tUv8xYz1Bc4Dd6Fg8\n", CHECK)
    assert error.value.code == 5


def test_session_text_that_cannot_be_removed_is_refused() -> None:
    with pytest.raises(RefusedError, match="names sessions or people"):
        redact_skill("---\nname: a\ndescription: b\nmetadata: {skilld-author: Pat}\n---\n\nc\n", CHECK)


def test_the_branch_is_based_on_the_remote_default_branch_and_pushed_alone(person: Person) -> None:
    hub = Person(person.root.parent / "hub.git")
    before, tip = _work_tree(person), person.tip()
    shared = _share(person, "origin")
    assert shared.base == find_remote_base(open_repo(person.root), str(hub.root)) == hub.tip("main")
    assert _work_tree(person) == before
    push(open_repo(person.root), "origin", shared.ref)
    assert _work_tree(person) == before
    assert person.tip() == tip
    assert hub.tip(REF) == shared.commit
    assert hub.files_changed("main", BRANCH) == [SKILL]
    assert hub.show(ref=BRANCH) == SHARED.strip()
    assert hub.git("log", "--format=%an <%ae> %s", f"main..{BRANCH}") == "Pat Person <pat@example.org> Share"
    assert [line.split("/", 2)[2] for line in hub.git("for-each-ref", "--format=%(refname)").splitlines()] == [
        "main",
        BRANCH,
    ]


def test_sharing_again_continues_from_the_tip_and_no_change_makes_no_commit(person: Person) -> None:
    first = _share(person, "origin")
    assert replace(_share(person, "origin"), before=None) == first
    push(open_repo(person.root), "origin", first.ref)
    second = _share(person, "origin", SHARED + "\nMore.\n")
    assert person.tip(f"{second.commit}^") == first.commit
    push(open_repo(person.root), "origin", second.ref)
    assert Person(person.root.parent / "hub.git").tip(REF) == second.commit


def test_a_foreign_remote_gets_only_the_skill_and_never_the_history(person: Person) -> None:
    other = person.root.parent / "other.git"
    person.git("init", "--quiet", "--bare", str(other))
    shared = _share(person, str(other))
    assert shared.base is None
    push(open_repo(person.root), str(other), shared.ref)
    assert Person(other).git("ls-tree", "-r", "--name-only", BRANCH) == SKILL
    assert Person(other).git("rev-list", "--all").splitlines() == [shared.commit]


@pytest.mark.parametrize("remote", ["origin", "stranger"])
def test_a_branch_that_holds_more_is_not_pushed(person: Person, remote: str) -> None:
    person.git("branch", BRANCH)
    before = snapshot(person.root)
    with pytest.raises(RefusedError, match="contains more than these skills"):
        _share(person, remote)
    assert snapshot(person.root) == before


def test_sharing_with_one_remote_leaks_nothing_to_another(person: Person) -> None:
    _share(person, "origin")
    with pytest.raises(RefusedError, match="contains more than these skills"):
        _share(person, str(person.root.parent / "other.git"))


@pytest.mark.parametrize("bad", ["ghp_Ab3dEf6hIj9lMn2pQr5tUv8xYz1Bc4Dd6Fg8", "secret in the message", "session"])
def test_a_branch_with_unshareable_earlier_versions_is_not_pushed(person: Person, bad: str) -> None:
    secret = "ghp_Ab3dEf6hIj9lMn2pQr5tUv8xYz1Bc4Dd6Fg8"
    person.git("switch", "--quiet", "-c", BRANCH, "origin/main")
    before = {"session": OURS, secret: f"{SHARED}\n{secret}\n"}.get(bad, SHARED + "\nOnce.\n")
    person.commit(f"wip {secret}" if "message" in bad else "wip", {SKILL: before})
    person.commit("gone again", {SKILL: SHARED})
    person.git("switch", "--quiet", "main")
    with pytest.raises(RefusedError, match="contains more than these skills"):
        _share(person, "origin")


@pytest.mark.parametrize("remote", ["origin", "address"])
def test_a_remote_with_another_push_url_gets_no_history_of_the_fetch_url(person: Person, remote: str) -> None:
    other = person.root.parent / "other.git"
    person.git("init", "--quiet", "--bare", str(other))
    person.git("config", "remote.origin.pushurl", str(other))
    shared = _share(person, remote if remote == "origin" else str(other))
    assert shared.base is None
    push(open_repo(person.root), remote if remote == "origin" else str(other), shared.ref)
    assert Person(other).git("rev-list", "--all").splitlines() == [shared.commit]


@pytest.mark.parametrize(
    ("remote", "aside"),
    [
        ("origin", ("pushurl",)),
        ("origin", ("pushInsteadOf",)),
        ("origin", ("insteadOf", "pushInsteadOf")),
        ("address", ()),
        ("address", ("insteadOf",)),
        ("address", ("insteadOf", "pushInsteadOf")),
    ],
)
def test_it_reports_the_real_push_url(person: Person, remote: str, aside: tuple[str, ...]) -> None:
    hub, folder = str(person.root.parent / "hub.git"), f"{person.root.parent}/"
    for number, setting in enumerate(aside):
        other = person.root.parent / f"aside{number}"
        person.git("init", "--quiet", "--bare", str(other / "hub.git"))
        key = "remote.origin.pushurl" if setting == "pushurl" else f"url.{other}/.{setting}"
        person.git("config", key, f"{other}/hub.git" if setting == "pushurl" else folder)
    to = "origin" if remote == "origin" else hub
    (said,) = push_addresses(open_repo(person.root), to)
    push(open_repo(person.root), to, _share(person, to).ref)
    assert Person(Path(said)).git("for-each-ref", REF)


def test_another_url_of_the_same_place_is_the_same_remote(person: Person) -> None:
    person.git("config", "remote.origin.url", "https://example.org/team/work.git")
    person.git("config", "remote.origin.pushurl", "git@example.org:team/work")
    assert find_remote_base(open_repo(person.root), "origin") == person.tip("origin/main")
    assert find_remote_base(open_repo(person.root), "ssh://git@example.org/team/work.git") == person.tip("origin/main")


@pytest.mark.parametrize("branch", ["a..b", "-x", "x.lock", "skilld/staging", "a b", ""])
def test_no_other_branch_is_created(person: Person, branch: str) -> None:
    before = person.git("for-each-ref")
    with pytest.raises(RefusedError, match=r"is not a valid branch name|belongs to skilld"):
        _share(person, "origin", branch=branch)
    assert person.git("for-each-ref") == before


def test_a_checked_out_branch_is_left_alone(person: Person) -> None:
    person.git("switch", "--quiet", "-c", BRANCH, "origin/main")
    with pytest.raises(RefusedError, match="is checked out"):
        _share(person, "origin")


def test_a_skill_the_remote_already_has_is_not_shared(person: Person) -> None:
    with pytest.raises(RefusedError, match="the remote already has this version"):
        _share(person, "origin", TEXT)


def test_a_remote_refusal_is_reported_in_its_words(person: Person) -> None:
    shared = _share(person, "origin")
    with pytest.raises(GitFailedError, match="nosuch"):
        push(open_repo(person.root), str(person.root.parent / "nosuch.git"), shared.ref)


def test_an_unpushed_share_is_undone(person: Person) -> None:
    before = person.git("for-each-ref")
    restore_branch(open_repo(person.root), _share(person, "origin"))
    assert person.git("for-each-ref") == before
    first = _share(person, "origin")
    restore_branch(open_repo(person.root), _share(person, "origin", SHARED + "\nMore.\n"))
    assert person.tip(REF) == first.commit
    restore_branch(open_repo(person.root), _share(person, "origin"))
    assert person.tip(REF) == first.commit


def test_an_untracked_skill_is_shared_from_skillds_own_repository(person: Person, tmp_path: Path) -> None:
    file = tmp_path / "home/.claude/skills/release/SKILL.md"
    file.parent.mkdir(parents=True)
    file.write_text(OURS)
    (file.parent / "notes.txt").write_text("mine\n")
    before = snapshot(tmp_path / "home")
    tracked = track_in_managed(file, tmp_path / "data")
    hub = str(person.root.parent / "hub.git")
    shared = put_on_branch(
        tracked.repo, hub, BRANCH, {tracked.relpath: OURS}, message="Share\n", seconds=1, check=CHECK
    )
    push(tracked.repo, hub, shared.ref)
    assert Person(person.root.parent / "hub.git").git("ls-tree", "-r", "--name-only", BRANCH) == "release/SKILL.md"
    assert snapshot(tmp_path / "home") == before


def test_uninstalling_removes_the_share_branches(person: Person) -> None:
    before = person.git("for-each-ref")
    shared = _share(person, "origin")
    assert plan_removal(person.root, [shared.commit]).refs == (REF,)
    assert person.tip(REF) == shared.commit
    assert remove_refs(person.root, [shared.commit]).refs == (REF,)
    assert person.git("for-each-ref") == before


@pytest.mark.parametrize("own", ["on top", "another with the same", "by hand", "amended"])
def test_a_share_branch_with_a_commit_of_the_person_is_kept(person: Person, own: str) -> None:
    shared = _share(person, "origin")
    person.git("switch", "--quiet", BRANCH)
    subject = "Mine"
    if own == "by hand":  # nothing but what other branches hold, yet nothing that skilld made
        person.git("reset", "--quiet", "--hard", "main")
        subject = "private work"
    elif own == "amended":
        person.git("commit", "--quiet", "--amend", "--allow-empty", "--message", subject)
    else:
        person.commit(subject, {"mine.txt": "x\n"})
        if own == "another with the same":
            person.git("branch", f"{BRANCH}-2")
    person.git("switch", "--quiet", "main")
    ref_removal = remove_refs(person.root, [shared.commit])
    names = [REF, f"{REF}-2"] if own == "another with the same" else [REF]
    assert (ref_removal.refs, ref_removal.kept) == (
        (),
        dict.fromkeys(names, f"it contains a commit of yours: {subject}"),
    )
    assert all(person.tip(name) for name in names)


def test_a_share_branch_in_use_is_kept(person: Person) -> None:
    shared = _share(person, "origin")
    person.git("worktree", "add", "--quiet", "../beside", BRANCH)
    beside = person.root.parent / "beside"
    ref_removal = remove_refs(person.root, [shared.commit])
    assert (ref_removal.refs, ref_removal.kept) == ((), {REF: f"it is checked out in {beside}"})
