"""States of a repository in which skilld refuses to commit; each function returns the expected reason."""

from __future__ import annotations

from support.repos import SKILL, TEXT, Person


def dirty(person: Person) -> str:
    person.write(SKILL, TEXT + "unfinished\n")
    return f"{SKILL} has uncommitted changes"


def detached(person: Person) -> str:
    person.git("checkout", "--quiet", "--detach")
    return f"no branch is checked out in {person.root}"


def on_staging(person: Person) -> str:
    person.git("switch", "--quiet", "skilld/staging")
    return f"skilld/staging itself is checked out in {person.root}"


def merging(person: Person) -> str:
    person.git("switch", "--quiet", "-c", "side", "HEAD")
    person.commit("side", {"README.md": "one\n"})
    person.git("switch", "--quiet", "main")
    person.commit("main", {"README.md": "two\n"})
    person.git("merge", "side", check=False)
    return f"a merge is in progress in {person.root}"


def rebasing(person: Person) -> str:
    person.commit("two", {"README.md": "two\n"})
    person.git("rebase", "--quiet", "--exec", "false", "HEAD^", check=False)
    return f"a rebase is in progress in {person.root}"


def bisecting(person: Person) -> str:
    person.git("bisect", "start")
    return f"a bisect is in progress in {person.root}"


def picking(person: Person) -> str:
    merging(person)
    person.git("merge", "--abort")
    person.git("cherry-pick", "side", check=False)
    return f"a cherry-pick is in progress in {person.root}"
