"""Damaged bytes: lines of transcripts, which no adapter may fail on, and databases, which must open again."""

from __future__ import annotations

import json
import random
import shutil
import time
from pathlib import Path, PurePath
from typing import Any

from skilld.agents import ADAPTERS
from skilld.agents.base import chunk_reader
from skilld.agents.chunk import Chunk
from skilld.daemon.recovery import open_store
from skilld.store import Store
from skilld.types import Event, SessionEnd, SkillUse, State, Turn
from tools.soak_report import Part, dice_for, must

FIXTURES = Path(__file__).parents[1] / "tests" / "fixtures"
_LINES = 12
_DATABASE_EVERY = 20  # cases
_DEEPER = 0.8  # how likely a part of a part is changed, and not the part
_STATE = 100_000  # bytes that a parser's state may have
_PAGE = 4096
_STRANGE: tuple[Any, ...] = (None, True, -1, 1e308, 10**40, "", "\ud800", "x" * 5000, [], {}, [[[]]], {"type": {}})


def run(seconds: float, seed: int, folder: Path) -> Part:
    """Damage for so long: lines of every agent in turn, and now and then a database."""
    part = Part("fuzz", seconds)
    damage = _Damage(folder, part)
    number = 0
    while not number or part.goes_on:  # setting up may have taken all the time
        damage.case(f"{seed}/{number}")
        number += 1
    return part


def again(case: str, folder: Path) -> Part:
    """Do one case again."""
    part = Part("fuzz")
    _Damage(folder, part).case(case)
    return part


class _Damage:
    """What is damaged: the lines that the fixtures of each agent hold, and a sound database."""

    def __init__(self, folder: Path, part: Part) -> None:
        known = {name: _lines(FIXTURES / name) for name in ADAPTERS if (FIXTURES / name).is_dir()}
        self._lines = {name: lines for name, lines in known.items() if lines}
        self._sound = _database(folder / "sound.db")
        self._folder = folder / "damaged"
        self._part = part

    def case(self, case: str) -> None:
        dice = dice_for(case)
        with self._part.finding(case):
            for agent, known in self._lines.items():
                _feed(agent, known, dice, self._part)
            if dice.randrange(_DATABASE_EVERY) == 0:
                _open(self._sound, self._folder, dice, self._part)
        self._part.count("cases")


def _lines(folder: Path) -> list[bytes]:
    return [line for path in sorted(folder.rglob("*.jsonl")) for line in path.read_bytes().split(b"\n") if line]


def _feed(agent: str, known: list[bytes], dice: random.Random, part: Part) -> None:
    lines = [dice.choice(_DAMAGES)(dice.choice(known), known, dice) for _ in range(_LINES)]
    part.count("lines", len(lines))
    _read(agent, lines)
    # Who sits there is told by a line that is passed over whatever else in it is damaged; nothing else may differ.
    one_by_one, in_a_block = _read(agent, [line for line in lines if line in known or not _is_passed_over(agent, line)])
    lost = [event for event in _that_count(one_by_one) if event not in in_a_block]
    must(not lost, f"passing over lines loses what was said: {lost}")


def _read(agent: str, lines: list[bytes]) -> tuple[list[Event], list[Event]]:
    """Return the events of lines, read one by one and in a chunk; raises AssertionError where one makes no sense."""
    chunk = _chunk(lines)
    fed, skimmed = (ADAPTERS[agent].parser(PurePath("s.jsonl")) for _ in range(2))
    one_by_one = [event for line in chunk.raw_lines() for event in fed.feed(line)] + fed.flush()
    in_a_chunk = chunk_reader(skimmed)(chunk) + skimmed.flush()
    for parser, events in ((fed, one_by_one), (skimmed, in_a_chunk)):
        _check(events, chunk.size)
        offset, state = parser.checkpoint(chunk.size)
        must(0 <= offset <= chunk.size, "the parser resumes outside of what it read")
        must(len(json.dumps(state)) < _STATE, "its state grows without a bound")
        ADAPTERS[agent].parser(PurePath("s.jsonl"), json.loads(json.dumps(state)))
    return one_by_one, in_a_chunk


def _is_passed_over(agent: str, line: bytes) -> bool:
    chunk = _chunk([line])
    chunk_reader(ADAPTERS[agent].parser(PurePath("s.jsonl")))(chunk)
    return chunk.passed_over > 0


def _chunk(lines: list[bytes]) -> Chunk:
    data = bytearray(b"".join(line + b"\n" for line in lines))
    return Chunk(data, len(data), 0)


def _that_count(events: list[Event]) -> list[Event]:
    return [event for event in events if isinstance(event, Turn | SkillUse | SessionEnd)]


def _check(events: list[Event], end: int) -> None:
    for event in events:
        inside = 0 <= event.span.start < event.span.end <= end
        must(inside, f"{type(event).__name__} lies outside of what was read")


def _flipped(line: bytes, known: list[bytes], dice: random.Random) -> bytes:
    del known
    damaged = bytearray(line)
    for _ in range(dice.choice((1, 3, 30))):
        damaged[dice.randrange(len(damaged))] ^= 1 << dice.randrange(8)
    return bytes(damaged).replace(b"\n", b" ")


def _spliced(line: bytes, known: list[bytes], dice: random.Random) -> bytes:
    other = dice.choice(known)
    return line[: dice.randrange(len(line))] + b"\0" * dice.choice((0, 0, 7)) + other[dice.randrange(len(other)) :]


def _whole(line: bytes, known: list[bytes], dice: random.Random) -> bytes:
    del known, dice
    return line


def _changed(line: bytes, known: list[bytes], dice: random.Random) -> bytes:
    """Put something strange somewhere into the record."""
    del known
    record = json.loads(line)
    place = record
    while isinstance(place, dict | list) and place:
        key = dice.choice([*place]) if isinstance(place, dict) else dice.randrange(len(place))
        if isinstance(place[key], dict | list) and place[key] and dice.random() < _DEEPER:
            place = place[key]
        else:
            place[key] = dice.choice(_STRANGE)
            break
    return json.dumps(record).encode()


_DAMAGES = (_flipped, _spliced, _changed, _changed, _whole)


def _database(path: Path) -> bytes:
    """Return a database with something in every part that is looked through."""
    store = Store.open(path)
    for number in range(500):
        store.meta.set(f"fact {number}", "x" * 40)
    store.close()
    return path.read_bytes()


def _open(sound: bytes, folder: Path, dice: random.Random, part: Part) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    path = folder / "skilld.db"
    damaged = bytearray(sound)
    match dice.randrange(4):
        case 0:
            for _ in range(dice.choice((1, 5, 50, 500))):
                damaged[dice.randrange(len(damaged))] ^= 1 << dice.randrange(8)
        case 1:
            start = dice.randrange(len(damaged))
            damaged[start : start + _PAGE] = bytes(len(damaged[start : start + _PAGE]))
        case 2:
            del damaged[dice.randrange(1, len(damaged)) :]
        case _:
            first, second = (dice.randrange(len(damaged) // _PAGE) * _PAGE for _ in range(2))
            page = damaged[first : first + _PAGE]
            damaged[first : first + _PAGE] = damaged[second : second + _PAGE]
            damaged[second : second + _PAGE] = page
    path.write_bytes(damaged)
    if dice.choice((True, False)):
        (folder / "skilld.db.copy").write_bytes(sound)
    store = open_store(path, time.time())
    store.proposals.in_states([*State])
    part.count("damaged databases")
    part.count("of them rebuilt", int(store.rebuild.state is not None))
    store.close()
