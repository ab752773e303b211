"""Shared by most verbs: parsers, settings, the store, the redactor, finding a proposal by ID, JSON."""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import sys
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from skilld import console
from skilld.errors import SkilldError, UsageError
from skilld.files import in_shell

if TYPE_CHECKING:
    from skilld.classify.backends import Spec
    from skilld.ingest.discover import Host
    from skilld.mining.questions import Terms
    from skilld.mining.sessions import Transcript
    from skilld.paths import Places
    from skilld.redact import Finding, Redactor
    from skilld.settings import Settings
    from skilld.store import Store
    from skilld.types import Proposal

Verbs = Any  # argparse's own type for this is private
AGAIN = "proposed again only if you say it in other words in a later session"
_MAX_NAMED = 5  # proposals, where one has to be chosen


def verb(
    verbs: Verbs, name: str, run: Callable[[argparse.Namespace], int], text: str, *, listing: bool = False
) -> argparse.ArgumentParser:
    """Add one verb; a listing one takes --json."""
    parser: argparse.ArgumentParser = verbs.add_parser(name, help=text, description=f"{text[0].upper()}{text[1:]}.")
    parser.set_defaults(run=run)
    if listing:
        parser.add_argument("--json", action="store_true", help="print one JSON document")
    return parser


def in_one_command(verb: Callable[[argparse.Namespace], int]) -> Callable[[argparse.Namespace], int]:
    """Have a verb open each repository once, and read its objects from one process."""

    def run(arguments: argparse.Namespace) -> int:
        from skilld.git.run import one_command

        with one_command():
            return verb(arguments)

    return run


def home() -> Path:
    """Return the person's home folder."""
    return Path(os.environ.get("HOME") or Path.home())


def places() -> Places:
    """Return skilld's folders."""
    from skilld import paths

    return paths.places()


def settings() -> Settings:
    """Return the settings, or raise UsageError."""
    from skilld.settings import load

    return load(places().settings_file)


def store() -> Store:
    """Open the store, creating its folder where this is the first command ever."""
    from skilld.paths import private_dir
    from skilld.store import Store

    where = places()
    private_dir(where.state)
    return Store.open(where.database)


def stored() -> Store:
    """Open the store to read; an empty one, which is kept nowhere, where there is none yet."""
    from skilld.store import Store
    from skilld.store.corruption import missing_reason

    database = places().database
    if not os.path.lexists(database) and not missing_reason(database):
        return Store.empty(database)
    return store()


def number(text: str, most: float = math.inf, *, zero: bool = True) -> float:
    """Return a number that an option is given as text. Raises ArgumentTypeError where it is none, or out of bounds."""
    with suppress(ValueError):
        if 0 <= (found := float(text)) <= most and found != math.inf and (found or zero):
            return found
    least = "of at least 0" if zero else "greater than 0"
    raise argparse.ArgumentTypeError(f"must be a number {least}" + (f" and at most {most:g}" * (most != math.inf)))


_IN_DAYS = {"h": 1 / 24, "d": 1.0, "w": 7.0}
_MAX_DAYS = 36_500


def days(text: str) -> float:
    """Return how many days to look back, given as days or like 36h, 7d and 2w; at most a hundred years."""
    unit = _IN_DAYS.get(text[-1:], 0.0)
    return min(number(text[:-1] if unit else text, _MAX_DAYS, zero=False) * (unit or 1.0), _MAX_DAYS)


def count(text: str) -> int:
    """Return a whole number of things, at least one."""
    if not re.fullmatch(r"\d{1,9}", text, re.ASCII) or not int(text):
        raise argparse.ArgumentTypeError("must be a whole number greater than 0")
    return int(text)


def folder(given: Path) -> Path:
    """Return a folder that the person named, without links. Raises SkilldError where there is none."""
    found = given.expanduser().resolve()
    if not found.is_dir():
        raise SkilldError("No such folder", str(given))
    return found


def add_project(parser: argparse.ArgumentParser) -> None:
    """Add `--project`, by which the person says in which folder a verb works."""
    about = "the project's folder (default: the current one)"
    parser.add_argument("--project", metavar="FOLDER", type=Path, default=Path(), help=about)


def host(**more: Any) -> Host:  # noqa: ANN401 - what else a host has
    """Return whose machine this is."""
    from skilld.ingest.discover import Host

    return Host(home(), dict(os.environ), **more)


def terms(spec: Spec, settings: Settings) -> Terms:
    """Return on what terms a model is asked: within the budget, by workers with this process's umask and variables."""
    from skilld.mining.questions import Terms

    umask = os.umask(0o077)
    os.umask(umask)
    return Terms(spec, settings.budget, settings.worker.seconds, umask, dict(os.environ))


def current_folder() -> Path:
    """Return the folder in which this runs; the home where that is gone."""
    try:
        return Path.cwd()
    except FileNotFoundError:
        return home()


def past_transcripts(since: float) -> list[Transcript]:
    """Return the agents' transcripts that were written to since a Unix time."""
    from skilld.mining.sessions import recent_transcripts

    return recent_transcripts(host(roots=settings().roots), since)


def daemon_process() -> str:
    """Return the process of the daemon that runs; empty where none does."""
    from skilld.daemon.lock import holder, is_held

    lock = places().lock
    return str(holder(lock) or "unknown") if is_held(lock) else ""


def first_step(store: Store) -> str:
    """Return how to begin where skilld never ran: there is nothing to show; empty where it did."""
    from skilld.store.meta import INSTALLED_AT

    if store.meta.get(INSTALLED_AT) is not None:
        return ""
    verb = "run" if "model" in settings().model_fields_set else "setup"
    return f"skilld has not run here yet. To begin: skilld {verb}"


def redactor() -> Callable[[str], str]:
    """Return what takes secrets out of a text before it is kept or sent."""
    return _redactor().redact


def secrets() -> Callable[[str], list[Finding]]:
    """Return what finds the secrets in a text."""
    return _redactor().findings


def _redactor() -> Redactor:
    from skilld.redact import Redactor

    return Redactor(redaction_key())


def redaction_key() -> bytes:
    """Return this installation's key; where skilld never ran, and so has kept nothing, one for this process alone."""
    from skilld.paths import private_dir
    from skilld.redact import KEY_BYTES
    from skilld.redact.key import load_key

    where = places()
    if not where.state.is_dir():
        return os.urandom(KEY_BYTES)
    private_dir(where.state)
    return load_key(where.redaction_key)


def program() -> str:
    """Return what to type for skilld: its name, or its path where no folder of PATH holds it."""
    from shutil import which

    path = own_program()
    return "skilld" if which("skilld") or not path.is_file() else in_shell(path)


def own_program() -> Path:
    """Return where the program lies that this installation has, if it has one."""
    return Path(sys.executable).with_name("skilld")


def path_link() -> Path:
    """Return the place for a link to skilld that PATH holds on most systems."""
    return home() / ".local/bin/skilld"


def tell_of_path() -> None:
    """Where skilld is not on PATH, say how to have the commands work that are told of, now and in every new shell."""
    if (path := program()) == "skilld":
        return
    if str(path_link().parent) in os.environ.get("PATH", "").split(os.pathsep):
        console.say("skilld is not on your PATH. To put it there for good:")
        console.line(f"  mkdir -p ~/.local/bin && ln -s {path} ~/.local/bin/")  # never broken: it is copied
        return
    shells = {"zsh": "~/.zshrc", "fish": "~/.config/fish/config.fish", "bash": "~/.bashrc"}
    file = shells.get(Path(os.environ.get("SHELL", "")).name, "your shell's startup file")
    console.say(f"skilld is not on your PATH. Run this in each new shell, or add it to {file}:")
    console.line(f"  alias skilld={path}")


def write_json(value: object) -> int:
    """Print one JSON document; returns the exit code."""
    # ASCII, so that nothing from outside reaches a terminal raw and no locale can refuse it.
    sys.stdout.write(json.dumps(value, indent=2, default=str) + "\n")
    return 0


def as_text(given: str) -> str:
    """Return an argument of the command line as text: bytes that are none become U+FFFD."""
    return given.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def the_proposal(store: Store, given: str) -> Proposal:
    """Return the proposal a person means by an id, the start of one, or a commit."""
    given = as_text(given)
    found = store.proposals.find(given) if given else []
    if len(found) == 1:
        return found[0]
    if found:
        raise SkilldError("Ambiguous ID", f"{given} matches {len(found)} proposals", "Type more of the ID.")
    raise SkilldError("No such proposal", given, "List them: skilld proposals --state all")


def which(store: Store, verb: str, states: Iterable[str]) -> NoReturn:
    """Say which proposals a verb that was given no ID could mean, the newest first."""
    from skilld.types import State

    found = store.proposals.in_states([State(state) for state in states])[::-1]
    if not found:
        why = "there are no proposals yet" if verb == "show" else f"no proposals are {' or '.join(states)}"
        raise UsageError(f"Nothing to {verb}", why)
    for one in found[:_MAX_NAMED]:
        state = "" if one.state is State.OPEN else f" [{one.state.value}]"
        console.warn(console.plain(f"{one.id}  {one.skill}{state}  {one.summary}"), 10)
    if found[_MAX_NAMED:]:
        console.warn(f"and {len(found) - _MAX_NAMED} more: skilld proposals --state all")
    raise UsageError("Which proposal?", "no ID was given", f"skilld {verb} {found[0].id}")


# How far long work has come: one line on a terminal, drawn again and again. Elsewhere nothing is shown.

_EVERY = 0.2  # seconds between two drawings
_WIDTH = 78
_MIN_RATE_SECONDS = 3.0  # seconds after which a rate means something


def account(what: str, done: int, total: int, passed: float) -> str:
    """Return the line after `passed` seconds: how much is done, how fast it goes, how long it may still take."""
    line = f"{what}: {done} of {total}"
    if not done or passed < _MIN_RATE_SECONDS:
        return line
    rate = done / passed
    shown = f"{rate:.0f} a second" if rate >= 1 else f"{rate * 60:.1f} a minute"
    return f"{line}, {shown}, {_duration((total - done) / rate)} left"


def _duration(seconds: float) -> str:
    for size, unit in ((3600, "h"), (60, "min")):
        if seconds >= size:
            return f"about {seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s"


class Progress:
    """One piece of long work, or one after the other."""

    def __init__(self, what: str = "") -> None:
        self._what = what
        self._shown = sys.stderr.isatty()
        self._start = time.monotonic()
        self._drawn = 0.0

    @property
    def due(self) -> bool:
        """Whether it is time to draw: what it costs to count can be spared otherwise."""
        return self._shown and time.monotonic() - self._drawn >= _EVERY

    def __call__(self, what: str, done: int, total: int) -> None:
        """Draw the line of the piece that is at work now, if it is time to."""
        if what != self._what:
            self.clear()
            self._what, self._start, self._drawn = what, time.monotonic(), 0.0
        if self.due:
            self.show(done, total)

    def show(self, done: int, total: int) -> None:
        """Draw the line."""
        if self._shown:
            self._drawn = time.monotonic()
            line = account(self._what, done, total, self._drawn - self._start)
            sys.stderr.write(f"\r{line[:_WIDTH]:{_WIDTH}}")
            sys.stderr.flush()

    def clear(self) -> None:
        """Take the line away, for other lines or for good."""
        if self._shown and self._drawn:
            sys.stderr.write("\r" + " " * _WIDTH + "\r")
            sys.stderr.flush()
