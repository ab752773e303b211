"""What most verbs share: settings, the store, the redactor, finding a proposal by ID, JSON."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from skilld import console
from skilld.errors import SkilldError, UsageError, cause_of
from skilld.files import shell_quoted
from skilld.text import join_words, truncate

if TYPE_CHECKING:
    from skilld.classify.backends import Spec
    from skilld.ingest.discover import Host
    from skilld.mining.questions import Terms
    from skilld.mining.sessions import Transcript
    from skilld.paths import Places
    from skilld.redact import Finding, Redactor
    from skilld.settings import Settings
    from skilld.store import Store
    from skilld.store.learnings import Learning
    from skilld.types import Proposal

REPROPOSAL_CONDITION = "proposed again only if you say it in other words in a later session"
_MAX_SHOWN_PATH = 200  # characters
_MAX_LISTED = 5  # proposals listed if the person named none


def home() -> Path:
    """Return the person's home folder."""
    return Path(os.environ.get("HOME") or Path.home())


def places() -> Places:
    """Return skilld's folders."""
    from skilld import paths

    return paths.places()


def settings() -> Settings:
    """Return the settings. Raises UsageError if they are not valid."""
    from skilld.settings import load_file

    return load_file(places().settings_file)


def store() -> Store:
    """Open the store, creating it if necessary."""
    from skilld.store import Store

    where = places()
    check_exposure(where)
    return Store.open(where.database)


def check_exposure(where: Places) -> None:
    """Raise SkilldError if the database or the redaction key is another user's or open to others.

    What merely is at the place of the database is left to whoever opens it: the daemon moves it aside.
    """
    from skilld.paths import check_private
    from skilld.store.corruption import is_replaced

    check_private(where, [where.redaction_key])
    try:
        check_private(where, [where.database])
    except SkilldError:
        if not is_replaced(where.database):
            raise
        return
    # Opening the database would take over its log.
    check_private(where, [where.database.with_name(f"{where.database.name}{suffix}") for suffix in ("-wal", "-shm")])


def store_or_empty() -> Store:
    """Open the store for reading; if there is none yet, return an empty one in memory."""
    from skilld.paths import dangling_link, private_dir
    from skilld.store import Store
    from skilld.store.corruption import missing_reason

    database = places().database
    if not os.path.lexists(database) and not missing_reason(database):
        if dangling_link(database.parent):
            private_dir(database.parent)  # raises: there may be one where the link leads
        return Store.empty(database)
    return store()


def expand_path(given: str | Path) -> Path:
    """Return a path that the person typed, with ~ expanded.

    Raises SkilldError if no file can be there: a name is too long, symlinks lead in a circle, the user is unknown.
    """
    try:
        found = Path(given).expanduser()
        with suppress(FileNotFoundError, NotADirectoryError, PermissionError):
            found.lstat()
    except (OSError, RuntimeError, ValueError) as error:
        raise _no_such_path(given, error) from error
    return found


def resolve_path(given: str | Path) -> Path:
    """Return a path that the person typed, with ~ and symlinks resolved. Raises SkilldError as `expand_path`."""
    found = expand_path(given)
    try:
        return found.resolve()
    except FileNotFoundError:
        raise  # the current folder is gone, which `entry.main` reports
    except (OSError, RuntimeError) as error:
        raise _no_such_path(given, error) from error


def _no_such_path(given: str | Path, error: Exception) -> SkilldError:
    shown = truncate(as_text(str(given)), _MAX_SHOWN_PATH)
    return SkilldError("No such file or folder", f"{shown}: {cause_of(error)}")


def path_or_none(given: str) -> Path | None:
    """Return the path that a text names, with ~ and symlinks resolved; None if no file can be there."""
    try:
        return Path(given).expanduser().resolve()
    except (OSError, RuntimeError, ValueError):
        return None


def resolve_folder(given: Path) -> Path:
    """Return a folder that the person named, with symlinks resolved. Raises SkilldError if it does not exist."""
    found = resolve_path(given)
    if not found.is_dir():
        raise SkilldError("No such folder", str(given))
    return found


def check_agent(agent: str | None) -> None:
    """Raise UsageError if the person named an agent that skilld does not know."""
    from skilld.agents import ADAPTERS

    if agent is not None and agent not in ADAPTERS:
        raise UsageError("No such agent", f"{as_text(agent) or 'no name given'}; known agents: {', '.join(ADAPTERS)}")


def host(**facts: Any) -> Host:  # noqa: ANN401 - further fields of the host
    """Return the person's home and environment, in which agents and transcripts are found."""
    from skilld.ingest.discover import Host

    return Host(home(), dict(os.environ), **facts)


def terms(spec: Spec, settings: Settings) -> Terms:
    """Return the terms for asking a model: the budget, and workers with this process's umask and environment."""
    from skilld.mining.questions import Terms

    return Terms(spec, settings.budget, settings.worker.seconds, umask(), dict(os.environ))


def umask() -> int:
    """Return this process's umask, which can only be read by setting another one."""
    found = os.umask(0o077)
    os.umask(found)
    return found


def current_folder() -> Path:
    """Return the current folder, or the home if that has been removed."""
    try:
        return Path.cwd()
    except FileNotFoundError:
        return home()


def past_transcripts(since: float) -> list[Transcript]:
    """Return the agents' transcripts that were modified after `since`, a Unix time."""
    from skilld.mining.sessions import recent_transcripts

    return recent_transcripts(host(roots=settings().roots), since)


def passed_over() -> list[Learning]:
    """Return what recently sounded lasting but was not treated as a rule offline; nothing if a model judges."""
    from skilld.classify.backends import OFFLINE
    from skilld.pipeline.documents import session_opt_out
    from skilld.proposals.passed_over import load_passed_over
    from skilld.settings import choose_back_end

    with suppress(SkilldError, OSError):  # other checks tell of it
        if choose_back_end(settings(), os.environ, in_job=False).spec.model == OFFLINE:
            store = store_or_empty()
            found = [one for one in load_passed_over(store, time.time()) if not session_opt_out(one.project)]
            if found:
                from skilld.jobs.asks import without_proposed  # loads the tables of the classifier

                return without_proposed(store, found)
    return []


def is_of_project(learning: Learning, folder: Path) -> bool:
    """Whether a learning was said in the project of this folder, in any of its work trees."""
    from skilld.git.same_project import project_root

    return project_root(Path(learning.project or "/")) == project_root(folder)


def daemon_pid() -> str:
    """Return the process ID of the running daemon, as text; empty if none is running."""
    from skilld.daemon.lock import holder, is_held

    lock = places().lock
    return str(holder(lock) or "unknown") if is_held(lock) else ""


def first_step_hint(store: Store) -> str:
    """Return how to begin if skilld has never run here, so there is nothing to show; otherwise empty."""
    from skilld.store.meta import INSTALLED_AT

    if store.meta.get(INSTALLED_AT) is not None:
        return ""
    verb = "run" if "model" in settings().model_fields_set else "setup"
    return f"skilld has not run here yet. To begin: skilld {verb}"


def redactor() -> Callable[[str], str]:
    """Return the function that removes secrets from a text before it is stored or sent."""
    return _redactor().redact


def secret_finder() -> Callable[[str], list[Finding]]:
    """Return the function that finds the secrets in a text."""
    return _redactor().findings


def _redactor() -> Redactor:
    from skilld.redact import Redactor

    return Redactor(redaction_key())


def redaction_key() -> bytes:
    """Return this installation's key; if skilld has never run, and so has stored nothing, a key for this process."""
    from skilld.paths import check_private
    from skilld.redact import KEY_BYTES
    from skilld.redact.key import load_key

    where = places()
    if not where.state.is_dir():
        return os.urandom(KEY_BYTES)
    check_private(where, (where.redaction_key,))
    return load_key(where.redaction_key)


def command_name() -> str:
    """Return the command that starts skilld: its name, or its path if it is not on PATH."""
    from shutil import which

    path = own_executable()
    return "skilld" if which("skilld") or not path.is_file() else shell_quoted(path)


def own_executable() -> Path:
    """Return the path at which this installation has its executable, if it has one."""
    return Path(sys.executable).with_name("skilld")


def path_symlink() -> Path:
    """Return where a symlink to skilld belongs: in a folder that is on PATH on most systems."""
    return home() / ".local/bin/skilld"


def print_path_hint() -> None:
    """If skilld is not on PATH, print how to make its commands work, now and in every new shell."""
    if (path := command_name()) == "skilld":
        return
    if str(path_symlink().parent) in os.environ.get("PATH", "").split(os.pathsep):
        console.say("skilld is not on your PATH. To add it permanently:")
        console.line(f"  mkdir -p ~/.local/bin && ln -s {path} ~/.local/bin/")  # not wrapped: people copy it
        return
    shells = {"zsh": "~/.zshrc", "fish": "~/.config/fish/config.fish", "bash": "~/.bashrc"}
    file = shells.get(Path(os.environ.get("SHELL", "")).name, "your shell's startup file")
    console.say(f"skilld is not on your PATH. Run this in each new shell, or add it to {file}:")
    console.line(f"  alias skilld={path}")


def write_json(value: object) -> int:
    """Print one JSON document; returns the exit code."""
    # ASCII, so that no foreign bytes reach a terminal and every locale can print it.
    sys.stdout.write(json.dumps(value, indent=2, default=str) + "\n")
    return 0


def pick(value: object, *names: str) -> dict[str, Any]:
    """Return these fields of a value, as a part of a JSON document."""
    return {name: getattr(value, name) for name in names}


def as_text(given: str) -> str:
    """Return a command-line argument as text, with invalid bytes replaced by U+FFFD."""
    return given.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def find_proposal(store: Store, given: str) -> Proposal:
    """Return the proposal with this ID, prefix of an ID, or commit. Raises SkilldError unless there is exactly one."""
    given = as_text(given)
    found = store.proposals.find(given) if given else []
    if len(found) == 1:
        return found[0]
    if found:
        raise SkilldError("Ambiguous ID", f"{given} matches {len(found)} proposals", "Type more of the ID.")
    from skilld.cli.learnings import find_asks

    if len(find_asks(store, given)) == 1:
        raise SkilldError("Not a proposal yet", f"{given} is a learning", f"To see it: skilld show {given}")
    raise SkilldError("No such proposal", given, "List them: skilld proposals --state all")


def check_ids(arguments: argparse.Namespace) -> None:
    """Raise SkilldError if one of the IDs that were typed is empty, and so no proposal's."""
    if not all(arguments.ids):
        raise SkilldError("No such proposal", "an ID is empty", "List them: skilld proposals --state all")


def fail_without_id(store: Store, verb: str, states: Iterable[str]) -> NoReturn:
    """Say which proposals a verb that was given no ID could mean, the newest first."""
    from skilld.types import State

    found = store.proposals.in_states([State(state) for state in states])[::-1]
    if not found:
        why = "there are no proposals yet" if verb == "show" else f"no proposals are {join_words([*states], 'or')}"
        raise UsageError(f"Nothing to {verb}", why)
    for one in found[:_MAX_LISTED]:
        state = "" if one.state is State.OPEN else f" [{one.state.value}]"
        console.warn(console.plain(f"{one.id}  {one.skill}{state}  {one.summary}"), 10)
    if found[_MAX_LISTED:]:
        console.warn(f"and {len(found) - _MAX_LISTED} more: skilld proposals --state all")
    raise UsageError("Which proposal?", "no ID was given", f"skilld {verb} {found[0].id}")
