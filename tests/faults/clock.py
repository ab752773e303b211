"""A wall clock that a test sets while programs run; monotonic time stays what it is (inject/sitecustomize.py)."""

from __future__ import annotations

from support.program import Program
from support.warm import INJECT


class Clock:
    """The wall clock of everything `program` starts from now on."""

    def __init__(self, program: Program) -> None:
        self.folder = program.home / ".faults"
        self.folder.mkdir(exist_ok=True)
        program.environment["PYTHONPATH"] += f":{INJECT}"
        program.environment["PYTHONFAULTS"] = str(self.folder)
        self.set(0)

    def set(self, offset: float) -> None:
        """Have it be off by so many seconds."""
        new = self.folder / "clock.new"
        new.write_text(str(offset), encoding="utf-8")
        new.replace(self.folder / "clock")

    def pass_by(self, seconds: float) -> None:
        """Have it go on by so many seconds at once."""
        self.set(float((self.folder / "clock").read_text(encoding="utf-8")) + seconds)
