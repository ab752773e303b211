"""A team of 200 people with 50 rules each: fetched, checked, merged, and pushed by 20 of them at the same time.

Real keys, real git, and a bare repository on this disk. Yardstick: a plain `git fetch` of the same refs into an empty
repository, without looking at the contents. Also what all of it costs people who joined nothing: `skilld status` beside
the same program without those packages, and the daemon's check of what to sync beside a call of an empty function.
"""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from benchmarks.kit import children
from benchmarks.kit.desk import engine
from benchmarks.kit.figures import Figure, Of, Scale, Target
from benchmarks.kit.timing import seconds, side_by_side
from skilld.daemon.schedule import due_sync
from skilld.git.borrowed_repo import BorrowedRepo, Push
from skilld.git.environment import scrub_environment
from skilld.team import refs, sign
from skilld.team.candidates import group_candidates
from skilld.team.records import Record, RecordType, rule_key
from skilld.team.refs import TEAM_REFS, ReadResult
from support.teams import ssh_key

_RULES, _AT_ONCE, _DISTINCT = 50, 20, 500
_FILE = "CLAUDE.md"
_PACKAGE = Path(__file__).resolve().parents[1] / "skilld"
_VERBS = ["name", "write", "keep", "test", "move", "check", "cache", "sort", "merge", "log"]
_THINGS = ["branch", "module", "release", "changelog", "fixture", "column", "header", "route", "queue", "index"]
_WAYS = ["before", "after", "beside", "without", "under"]


def measure(scale: Scale) -> dict[str, Figure]:
    """Return how long it takes to fetch and merge them, what they take on the remote, and what a push of 20 loses."""
    people = scale.pick(200, 20)
    with children.scratch() as folder:
        made = _Made(folder, people)
        plain = min(map(made.plain, range(3)))
        found: list[ReadResult] = []
        used = [_processor()]
        first = seconds(lambda: found.append(made.read("reader", found)))
        used.append(_processor())
        again = seconds(lambda: found.append(made.read("reader", found)))
        used.append(_processor())
        merged = seconds(lambda: group_candidates(found[-1].members.values()))
        used.append(_processor())
        lost = float(made.push_at_once())
        size = made.size()
    basis, fetch = f"{people} people, {_RULES} rules each, {_DISTINCT} distinct", "a plain git fetch of the same refs"
    under_two = Target(Of.VALUE, most=2.0)
    return _not_joined(scale) | {
        "first": Figure(first + merged, "s", fetch, plain, basis, under_two),
        "again": Figure(again + merged, "s", fetch, plain, basis, under_two),
        "first_processor": Figure(used[1] - used[0] + used[3] - used[2], "s", fetch, plain, basis, under_two),
        "again_processor": Figure(used[3] - used[1], "s", fetch, plain, basis, under_two),
        "merge": Figure(merged, "s", fetch, plain, basis),
        "size": Figure(size, "MB", "5 MB", 5.0, basis, Target(Of.VALUE, most=5.0)),
        "lost": Figure(lost, "records", "none", 0.0, f"{_AT_ONCE} pushing at once", Target(Of.VALUE, most=0.0)),
    }


def _processor() -> float:
    """Return the processor time of this process and of the children that have ended."""
    who = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return sum(one.ru_utime + one.ru_stime for one in who)


def _not_joined(scale: Scale) -> dict[str, Figure]:
    """Return what it costs who joined nothing, in processor time."""
    rounds, calls = scale.pick((21, 100_000), (5, 10_000))
    with children.scratch() as folder:
        trees = [folder / name / "skilld" for name in ("with", "without")]
        for tree, left_out in zip(trees, ((), ("team*", "machines*")), strict=True):
            shutil.copytree(_PACKAGE, tree, ignore=shutil.ignore_patterns("__pycache__", *left_out))

        def status(tree: Path) -> float:
            before = _processor()
            children.python(["-m", "skilld", "status"], folder, {"PYTHONPATH": str(tree.parent)})
            return _processor() - before

        for tree in trees:
            status(tree)  # writes bytecode
        ours, bare = side_by_side(rounds, *(lambda tree=tree: status(tree) for tree in trees))
        desk = engine(folder, all_new=False)
        look = seconds(lambda: [due_sync(desk, 0.0) for _ in range(calls)])
        empty = seconds(lambda: [_do_nothing(desk, 0.0) for _ in range(calls)])
    return {
        "not_joined_status": Figure(
            ours, "s", "the same without teams and machines", bare, f"{rounds} times", Target(Of.RATIO, most=1.05)
        ),
        "not_joined_look": Figure(
            look / calls * 1e6, "us", "a call", empty / calls * 1e6, f"{calls} times", Target(Of.VALUE, most=100)
        ),
    }


def _do_nothing(*_: object) -> object:
    return None


class _Made:
    """The remote with everybody's refs."""

    def __init__(self, folder: Path, people: int) -> None:
        scrub_environment()
        self._folder = folder
        self._environment = {name: os.environ[name] for name in ("PATH", "HOME")}
        self._address = str(folder / "hub.git")
        subprocess.run(["git", "init", "--quiet", "--bare", self._address], check=True)
        self._writer = self._copy("writer")
        self._names = [f"person-{number:03}" for number in range(people)]
        self._keys = {name: self._key(name) for name in self._names}
        commits = {name: self._write(name, 1) for name in self._names}
        done = self._writer.push(self._address, [Push(TEAM_REFS + name, oid, "") for name, oid in commits.items()])
        if done.status != 0:
            raise RuntimeError(done.err)

    def _copy(self, name: str) -> BorrowedRepo:
        return BorrowedRepo(self._folder / name / "a.git", None, "sha1")

    def _key(self, name: str) -> sign.SigningKey:
        ssh_key(self._folder / "keys" / name)
        return sign.find_key(self._writer.git, self._folder / "keys" / name)

    def _write(self, name: str, serial: int) -> str:
        def seal(plain: bytes) -> bytes:
            return sign.sign_commit(plain, self._keys[name], self._environment, self._folder, "sha1")

        number = self._names.index(name)
        wanted = [_record((number * 7 + one * 11) % _DISTINCT, number % 28 + 1) for one in range(_RULES)]
        return refs.write_commit(self._writer, name, serial, wanted, seal)

    def read(self, name: str, before: Sequence[ReadResult]) -> ReadResult:
        pins = refs.update_pins({}, before[-1]) if before else {}
        found = refs.read_members(self._copy(name), self._address, pins, self._environment)
        if found.refused or len(found.members) != len(self._names):
            raise RuntimeError(str(found.refused))
        return found

    def plain(self, number: int) -> float:
        into = self._folder / f"plain-{number}.git"
        subprocess.run(["git", "init", "--quiet", "--bare", str(into)], check=True)
        fetch = ["git", "-C", str(into), "fetch", "-q", self._address, f"{TEAM_REFS}*:{TEAM_REFS}*"]
        return seconds(lambda: subprocess.run(fetch, check=True))

    def push_at_once(self) -> int:
        """Have 20 people push a newer version at the same time, and return how many records are missing then."""
        names = self._names[:_AT_ONCE]
        commits = {name: self._write(name, 2) for name in names}
        listed = self._writer.list_refs(self._address, [f"{TEAM_REFS}*"])
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            for one in [
                pool.submit(refs.publish, self._writer, self._address, *each, listed) for each in commits.items()
            ]:
                one.result()
        found = self.read("later", [])
        there = sum(len(one.records) for one in found.members.values())
        fresh = all(found.members[name].serial == 2 for name in names)
        return len(self._names) * _RULES - there if fresh else len(names) * _RULES

    def size(self) -> float:
        """Return the MB that the remote's objects take, as they were pushed."""
        out = subprocess.run(
            ["git", "-C", self._address, "count-objects", "-v"], check=True, capture_output=True, text=True
        ).stdout
        rows = dict(line.split(": ") for line in out.splitlines())
        return (int(rows["size"]) + int(rows["size-pack"])) / 1024


def _record(number: int, day: int) -> Record:
    verb, thing, way = _VERBS[number % 10], _THINGS[number // 10 % 10], _WAYS[number // 100]
    rule = f"Always {verb} the {thing} {way} its {_THINGS[(number + 3) % 10]} in area {number}."
    return Record(
        what=RecordType.RULE,
        key=rule_key(rule, _FILE),
        rule=rule,
        kind="preference",
        place=_FILE,
        target="instructions",
        first="2026-03-01",
        day=f"2026-03-{day:02}",
        decided=f"2026-03-{day:02}",
        sessions=2,
        agents=("claude-code",),
        said="accepted",
        rev=1,
    )
