"""`skilld skills export` and `share`: your skills for other people, without secrets or session data."""

from __future__ import annotations

import argparse
import shlex
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skilld import console
from skilld.cli import common, inventory, terminal
from skilld.errors import Exit, RetryError, SkilldError, UsageError
from skilld.files import write_atomically
from skilld.git.environment import scrub_environment
from skilld.text import count_times, pluralize

if TYPE_CHECKING:
    from collections.abc import Mapping

    from skilld.exchange.outgoing import LeakCheck
    from skilld.git.repo import Repo
    from skilld.library.rows import LibraryRow
    from skilld.store import Store

_MAX_FILES, _MAX_SHOWN = 1000, 5  # other files in a skill's folder: examined, and printed


def add(verbs: common.Verbs) -> None:
    """Add the verb."""
    parser = common.verb(verbs, "export", run, "write skills to files that you can share, without secrets or sessions")
    parser.add_argument("names", metavar="NAME", nargs="+", help="a skill's name or folder")
    parser.add_argument(
        "-o", "--out", metavar="FILE", type=Path, help="the file to write, or a folder for several skills"
    )
    parser.add_argument(
        "--format", choices=("yaml", "skill"), default="yaml", help="the format: yaml, or skill for a SKILL.md"
    )
    parser.add_argument("--with-evidence", action="store_true", help="include your quotes, the sessions and the author")


def run(arguments: argparse.Namespace) -> int:
    """Run the verb."""
    store = common.store_or_empty()
    rows = [inventory.find_skill(store, name) for name in dict.fromkeys(arguments.names)]
    out: Path | None = arguments.out
    if len(rows) > 1 and (out is None or not out.is_dir()):
        raise UsageError(
            "Where should the skills go?",
            f"writing {len(rows)} skills requires a folder",
            "Name an existing folder: -o FOLDER",
        )
    redact = common.redactor()
    for row in rows:
        text, is_masked = _export_text(store, row, arguments, redact)
        if is_masked:
            sys.stderr.write(f"skilld: {row.name}: masked something that looks like a secret\n")
        _warn_of_other_files(row)
        name = f"{row.name}.yaml" if arguments.format == "yaml" else f"{row.name}/SKILL.md"
        _write(out / name if out is not None and out.is_dir() else out, text, below=out)
    return 0


def _warn_of_other_files(row: LibraryRow) -> None:
    """Warn of other files in a skill's folder, which are not included although its text may refer to them."""
    folder = row.path.parent
    files = (path.relative_to(folder) for path in islice(folder.rglob("*"), _MAX_FILES) if path.is_file())
    if beside := sorted(str(path) for path in files if str(path) != row.path.name):
        shown = ", ".join([*beside[:_MAX_SHOWN], *(["..."] if len(beside) > _MAX_SHOWN else [])])
        sys.stderr.write(f"skilld: {row.name}: only its SKILL.md is included, not {console.plain(shown)}\n")


def _export_text(
    store: Store, row: LibraryRow, arguments: argparse.Namespace, redact: Callable[[str], str]
) -> tuple[str, bool]:
    """Return the text to write, without secrets, and whether there were any."""
    from skilld.exchange import document as yaml_text
    from skilld.exchange.outgoing import without_sessions

    said = inventory.skill_text(row.skill)
    if not arguments.with_evidence:
        said = without_sessions(said, inventory.session_words(store, [row]))
    if arguments.format == "yaml":
        document = _build_document(store, row, said, with_evidence=arguments.with_evidence)
        # Each text separately first: YAML folds long lines, and a secret split over two would not be found.
        masked = _mask(document, redact)
        dumped = yaml_text.dump_yaml(masked)
        text = redact(dumped)
        return text, masked != document or text != dumped
    text = redact(said)
    return text, text != said


def _mask(value: Any, redact: Callable[[str], str]) -> Any:  # noqa: ANN401 - maps, lists and scalars
    if isinstance(value, dict):
        return {_mask(key, redact): _mask(item, redact) for key, item in value.items()}
    if isinstance(value, list):
        return [_mask(item, redact) for item in value]
    return redact(value) if isinstance(value, str) else value


def _build_document(store: Store, row: LibraryRow, said: str, *, with_evidence: bool) -> dict[str, Any]:
    from skilld.exchange.document import UsageStats, to_document
    from skilld.skills.draft import read_draft

    accepted = store.proposals.accepted()
    quotes = [piece.quote for one in accepted if one.path == str(row.path) for piece in one.evidence]
    stats = UsageStats(row.uses.number, row.uses.success)
    draft = read_draft(said, row.name)
    return to_document(draft, stats, list(dict.fromkeys(quotes)) if with_evidence else ())


def _write(path: Path | None, text: str, *, below: Path | None) -> None:
    """Write a file, creating its folder if that is directly `below` the given one; without a path, print the text."""
    if path is None:
        console.write_part(text)
        return
    try:
        if path.parent.parent == below:
            path.parent.mkdir(exist_ok=True)
        write_atomically(path.resolve(), text.encode(), 0o644)
    except OSError as error:
        raise SkilldError("Could not write the file", f"{path}: {error.strerror or error}") from error
    console.line(f"Wrote {console.plain(str(path))}")


# `skilld skills share`: puts a skill on a branch of its own and, after confirmation, pushes it with the person's git.


_NOT_SHARED = "Nothing was shared"


@dataclass(frozen=True)
class _SharePlan:
    """One branch of `repo`: its files by their path, its commit message, and the check on what may leave."""

    repo: Repo
    branch: str
    files: dict[str, str]
    message: str
    check: LeakCheck


def add_share(verbs: common.Verbs) -> None:
    """Add the verb."""
    text = "preview skills, then push them to a branch that others can use, without personal data"
    parser = common.verb(verbs, "share", run_share, text)
    parser.add_argument("names", metavar="NAME", nargs="+", help="a skill's name or folder")
    parser.add_argument("--to", metavar="REMOTE", required=True, help="a remote of the skill's repository, or a URL")
    parser.add_argument("--branch", metavar="NAME", default="", help="the branch (default: skilld/share/NAME)")
    parser.add_argument("--dry-run", action="store_true", help="show what would be pushed without pushing it")
    parser.add_argument("--yes", action="store_true", help="do not ask for confirmation")


def run_share(arguments: argparse.Namespace) -> int:
    """Run the verb."""
    from skilld.exchange.incoming import is_address
    from skilld.exchange.outgoing import put_on_branch, restore_branch
    from skilld.git.remote import push

    removed = scrub_environment()
    remote = common.as_text(arguments.to)
    if not is_address(remote) and remote.startswith("-"):
        raise UsageError(_NOT_SHARED, f"{remote} is not a remote")
    rows = [inventory.find_skill(common.store_or_empty(), name) for name in dict.fromkeys(arguments.names)]
    plans = _plan_branches(rows, common.as_text(arguments.branch))
    for row in rows:
        _warn_of_other_files(row)
    for plan, addresses in [(plan, _addresses(plan.repo, remote, removed)) for plan in plans]:
        _print_plan(plan, addresses)
    if arguments.dry_run:
        return Exit.OK
    if not arguments.yes and not terminal.confirm("Push this? [y/N] ", _NOT_SHARED):
        console.line(f"{_NOT_SHARED}.")
        return Exit.FAILURE
    for plan in plans:
        now = int(time.time())
        shared = put_on_branch(
            plan.repo, remote, plan.branch, plan.files, message=plan.message, seconds=now, check=plan.check
        )
        if shared.commit != shared.before:
            _remember_commit(plan.repo, shared.commit)
        try:
            push(plan.repo, remote, shared.ref, removed)
        except RetryError:
            restore_branch(plan.repo, shared)
            raise
        console.line(f"Pushed {plan.branch} to {console.plain(remote)}.")
        others = f"skilld skills import {shlex.quote(remote)} --branch {shlex.quote(plan.branch)}"
        console.line(f"  to import it elsewhere: {console.plain(others)}")
        for line in _undo_commands(plan, remote):
            console.line(f"  undo: {console.plain(line)}")
    return Exit.OK


def _addresses(repo: Repo, remote: str, removed: Mapping[str, str]) -> list[str]:
    """Return the addresses that a push goes to. Raises UsageError if `remote` is unknown."""
    from skilld.exchange.incoming import is_address
    from skilld.git.remote import push_addresses

    addresses = push_addresses(repo, remote, removed)
    if addresses == [remote] and not is_address(remote) and not (repo.toplevel / remote).exists():
        remedy = f"List the remotes: git -C {shlex.quote(str(repo.toplevel))} remote -v"
        raise UsageError(_NOT_SHARED, f"{remote} is not a URL, a folder or a remote of {repo.toplevel}", remedy)
    return addresses


def _remember_commit(repo: Repo, commit: str) -> None:
    """Store the commit, so that `skilld uninstall` recognizes it as skilld's."""
    from skilld.store.meta import SHARED_COMMITS

    store = common.store()
    with store.transaction():
        known = store.meta.get(SHARED_COMMITS, {})
        made = {*known.get(str(repo.address), []), commit}
        store.meta.set(SHARED_COMMITS, known | {str(repo.address): sorted(made)})


def _plan_branches(rows: list[LibraryRow], branch: str) -> list[_SharePlan]:
    """Return a plan for each skill's branch; a single one if the branch is named and they share a repository."""
    from skilld.exchange.outgoing import BRANCH_PREFIX, LeakCheck, redact_skill
    from skilld.git.managed_repos import track
    from skilld.proposals.staging import private_repositories

    plans: dict[tuple[Path, str], _SharePlan] = {}
    check = LeakCheck(common.secret_finder(), inventory.session_words(common.store_or_empty(), rows))
    for row in rows:
        text = redact_skill(inventory.skill_text(row.skill), check)
        tracked = track(row.path, private_repositories())
        key = (tracked.repo.address, branch or BRANCH_PREFIX + row.name)
        plan = plans.get(key) or _SharePlan(tracked.repo, key[1], {}, "", check)
        message = f"{plan.message}Share the skill {row.name}\n\n{_provenance(row)}\n\n"
        plans[key] = replace(plan, files=plan.files | {tracked.relpath: text}, message=message)
    if branch and len(plans) > 1:
        raise UsageError(_NOT_SHARED, f"the skills are in {len(plans)} repositories", "Share them one at a time.")
    return list(plans.values())


def _provenance(row: LibraryRow) -> str:
    """Describe where a skill came from, in numbers: no words and no sessions."""
    parts = [f"Learned from {pluralize(row.origins, 'session')}."] if row.origins else []
    parts += [f"Used {count_times(row.uses.number)}."] if row.uses.number else []
    return " ".join([*parts, "Shared with skilld."])


def _print_plan(plan: _SharePlan, addresses: list[str]) -> None:
    where = " and ".join(map(console.plain, addresses))
    console.line(f"Branch {console.paint(plan.branch, 'bold')} for {where}, containing only:")
    for path, text in plan.files.items():
        console.line(f"+++ {console.plain(path)}", style="bold")
        for line in text.splitlines():
            console.line(f"+{console.plain(line)}", style="green")
    console.line()


def _undo_commands(plan: _SharePlan, remote: str) -> list[str]:
    git = f"git -C {shlex.quote(str(plan.repo.toplevel))}"
    if plan.repo.private:
        git = f"git --git-dir={shlex.quote(str(plan.repo.git_dir))}"
    name = shlex.quote(plan.branch)
    return [f"{git} push {shlex.quote(remote)} --delete {name}", f"{git} branch -D {name}"]
