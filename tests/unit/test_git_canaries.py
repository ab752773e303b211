"""A repository full of programs that git would run: skilld's own work starts none of them."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from skilld.proposals.auto_apply import apply_unasked
from skilld.proposals.explain import find_origin
from skilld.proposals.observe import observe
from support.new_skills import commit_new
from support.repos import SKILL, TEXT, Harness, Person, insert_below

HOOKS = (
    "applypatch-msg commit-msg fsmonitor-watchman post-applypatch post-checkout post-commit post-index-change "
    "post-merge post-receive post-rewrite post-update pre-applypatch pre-auto-gc pre-commit pre-merge-commit pre-push "
    "pre-rebase pre-receive prepare-commit-msg proc-receive push-to-checkout reference-transaction "
    "sendemail-validate update"
)

PROGRAMS = """core.fsmonitor core.sshCommand core.gitProxy core.pager core.editor sequence.editor core.askPass
    core.alternateRefsCommand credential.helper gpg.program gpg.ssh.program filter.canary.clean filter.canary.smudge
    filter.canary.process diff.canary.textconv diff.canary.command diff.external trailer.canary.command
    trailer.canary.cmd pager.blame uploadpack.packObjectsHook"""


def plant_canaries(person: Person, *scope: str) -> Path:
    """Put a program in every place of which git takes one, and return the file in which each would leave its name.

    `scope` is that of `git config`: the repository's own, or `--global`.
    """
    log = person.root.parent / "canaries"
    canary = person.root.parent / "canary.sh"
    canary.write_text(f'#!/bin/sh\necho "$0 $*" >> {log}\nexit 0\n')
    canary.chmod(0o755)
    for name in HOOKS.split():
        (person.root / ".git/hooks" / name).symlink_to(canary)
    settings = dict.fromkeys(PROGRAMS.split(), str(canary)) | {
        "core.hooksPath": str(person.root / ".git/hooks"),
        "merge.canary.driver": f"{canary} %A %O %B",
        "alias.rev-list": f"!{canary}",
        "remote.origin.url": f"ext::{canary}",
        **dict.fromkeys(("commit.gpgSign", "log.showSignature", "remote.origin.promisor", "maintenance.auto"), "true"),
        "gc.auto": "1",
    }
    for name, value in settings.items():
        person.git("config", *scope, name, value)
    included = person.root / ".git/more"
    included.write_text(f"[core]\n\tsshCommand = {canary}\n\tfsmonitor = {canary}\n")
    person.git("config", *scope, "include.path", str(included))
    (person.root / ".git/info").mkdir(exist_ok=True)
    (person.root / ".git/info/attributes").write_text("*.md diff=canary merge=canary\n*.py filter=canary\n")
    log.unlink(missing_ok=True)
    return log


def test_the_canaries_fire_for_the_persons_own_git(person: Person) -> None:
    log = plant_canaries(person)
    person.write(SKILL, TEXT + "\nMore.\n")
    person.git("update-ref", "refs/heads/other", "HEAD", check=False)
    person.git("diff", "HEAD", check=False)
    assert {"reference-transaction", "canary.sh"} <= {Path(row.split()[0]).name for row in log.read_text().splitlines()}


def test_no_canary_fires_over_the_life_of_a_proposal(person: Person) -> None:
    log = plant_canaries(person)
    harness = Harness(person)
    harness.stage("p1", insert_below("- Run the tests.", "- Do a dry run."))
    harness.stage("p2", insert_below("- Push the tag.", "- Write the news."))
    commit_new(harness)
    harness.drop("p1")
    observe(person.root, list(harness.proposals.values()))
    harness.drop("n1")
    find_origin(person.skill, 3)
    os.utime(person.skill)
    harness.stage("p3", insert_below("Keep the changelog short.", "Always."))
    harness.drop("p2")
    apply_unasked(harness.edit("p3"))
    harness.drop("p3")
    assert person.tip("skilld/staging") == ""
    assert not log.exists()


def test_none_fires_in_skillds_own_repository(person: Person) -> None:
    person.git("rm", "--quiet", "--cached", SKILL)
    person.git("commit", "--quiet", "-m", "not in git")
    person.write("skills/.gitattributes", "*.md diff=canary merge=canary\n*.py filter=canary\n")
    log = plant_canaries(person, "--global")
    harness = Harness(person)
    harness.stage("p1", insert_below("- Run the tests.", "- Do a dry run."))
    person.write(SKILL, TEXT + "\nMore.\n")
    harness.observe("p1")
    harness.stage("p2", insert_below("- Push the tag.", "- Write the news."))
    person.write(".gitignore", ".claude/\n")
    commit_new(harness)
    harness.observe("n1")
    assert find_origin(person.skill, 3).proposals == ()
    apply_unasked(harness.edit("p2"))
    harness.drop("p2")
    harness.drop("p1")
    assert not log.exists()


def test_a_missing_object_is_not_fetched(person: Person) -> None:
    log = plant_canaries(person)
    person.git("config", "core.repositoryFormatVersion", "1")
    person.git("config", "extensions.partialClone", "origin")
    blob = person.git("rev-parse", "HEAD:src/app.py")
    missing = person.root / ".git/objects" / blob[:2] / blob[2:]
    missing.chmod(stat.S_IRWXU)
    missing.unlink()
    harness = Harness(person)
    harness.stage("p1", insert_below("- Run the tests.", "- Do a dry run."))
    assert harness.drop("p1").tip is None
    assert not log.exists()
