"""Everything that people, agents and programs do to transcripts, beside the model of what must be known afterwards.

`make soak` and the property test take random steps with it.
"""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path

from faults.known import Known
from skilld.ingest.discover import Root
from skilld.ingest.follow import Follower
from skilld.store import Store
from support.claude_lines import prompt_line

FILES = 4
_LONG_AGO = 0.0


class Files:
    """Some transcripts, a store, and a follower that comes and goes."""

    def __init__(self, root: Path, dice: random.Random) -> None:
        self.folders = [root / "projects" / name for name in ("-a", "-b")]
        for folder in self.folders:
            folder.mkdir(parents=True)
        self._dice = dice
        self._database = root / "skilld.db"
        self._store = Store.open(self._database)
        self._roots = [Root("claude-code", root / "projects")]
        self._follower = Follower(self._store, self._roots, _LONG_AGO)
        self._number = 0
        self._known = Known()
        self.log: list[str] = []

    def step(self) -> None:
        """Do one thing, whichever comes up."""
        action = self._dice.choice(_ACTIONS)
        self.log.append(action.__name__)
        action(self)

    def check(self) -> None:
        """Look a last time, and compare what is known with what must be."""
        self.look()
        waiting = self._store.transcripts.waiting("claude-code", "s1")
        self._known.check([turn.key.removeprefix("claude-code:") for turn in waiting], self.log)
        self._store.close()

    def look(self) -> None:
        """Have the follower look."""
        for path in self._paths():
            self._known.look(path.read_bytes())
        self._follower.sweep()

    def append(self) -> None:
        self._write("ab", b"".join(self._line() for _ in range(self._dice.randint(1, 4))))

    def append_half(self) -> None:
        line = self._line()
        self._write("ab", line[: self._dice.randrange(1, len(line))])

    def append_in_two(self) -> None:
        line, path = self._line(), self._some_path()
        cut = self._dice.randrange(1, len(line))
        for part in (line[:cut], line[cut:]):
            with path.open("ab") as file:
                file.write(part)
            self.look()

    def garbage(self) -> None:
        self._write("ab", self._dice.choice([b"\0" * 300, b"\xff\xfe{\n", b"\n\n", b'{"type":"user"}\n', b"\r\n"]))

    def truncate(self) -> None:
        path = self._some_path()
        size = path.stat().st_size
        os.truncate(path, self._dice.choice([0, size // 2, self._dice.randint(0, size)]))

    def truncate_and_grow(self) -> None:
        self.truncate()
        for _ in range(self._dice.randint(1, 3)):
            self.append()

    def replace(self) -> None:
        path = self._some_path()
        lines = path.read_bytes().splitlines(keepends=True)
        kept = [line for line in lines if self._dice.random() < 0.7]
        new = path.with_suffix(".tmp")
        new.write_bytes(b"".join(kept) + self._line())
        new.replace(path)

    def copy(self) -> None:
        _copy(self._some_path(), self._new_path())

    def copytruncate(self) -> None:
        path = self._some_path()
        _copy(path, self._new_path())
        os.truncate(path, 0)

    def rename(self) -> None:
        self._some_path().rename(self._new_path())

    def delete(self) -> None:
        self._some_path().unlink()

    def restart(self) -> None:
        self._store.close()
        self._store = Store.open(self._database)
        self._follower = Follower(self._store, self._roots, _LONG_AGO)

    def _line(self) -> bytes:
        self._number += 1
        key = f"t{self._number}"
        self._known.typed.add(key)
        return prompt_line(
            key, self._dice.choice(["always use tabs", "é" * self._dice.randint(1, 900), "x\\n{}\u2028"])
        )

    def _write(self, mode: str, data: bytes) -> None:
        with self._some_path().open(mode) as file:
            file.write(data)

    def _paths(self) -> list[Path]:
        return sorted(path for folder in self.folders for path in folder.glob("*.jsonl"))

    def _some_path(self) -> Path:
        paths = self._paths()
        if not paths or (len(paths) < FILES and self._dice.random() < 0.3):
            path = self._new_path()
            path.touch()
            return path
        return self._dice.choice(paths)

    def _new_path(self) -> Path:
        return self._dice.choice(self.folders) / f"{self._dice.randrange(8)}.jsonl"


_ACTIONS: tuple[Callable[[Files], None], ...] = (
    *(Files.append, Files.append, Files.append_half, Files.append_in_two, Files.garbage),
    *(Files.truncate, Files.truncate_and_grow, Files.replace, Files.copy, Files.copytruncate),
    *(Files.rename, Files.delete, Files.look, Files.look, Files.restart),
)


def _copy(path: Path, new: Path) -> None:
    if new != path:
        shutil.copyfile(path, new)
