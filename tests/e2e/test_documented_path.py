"""The path of a transcript line to a commit in docs/architecture.md, traced in a real daemon."""

from __future__ import annotations

import re
from pathlib import Path

from support.live_project import Project
from support.program import Program
from support.session import CHATTER, LASTING, Session
from support.waiting import wait_for

ROOT = Path(__file__).parents[2]
MAX_HOPS = 10
_HOP = re.compile(r"^\| \d+ \| (.+?) \| (.+?) \|", re.MULTILINE)
_NAMES = re.compile(r"`([^`]+)`")
# Python runs this at the start of every process of the run, the worker too: it notes which functions are called, at
# once, since a worker is killed when it is done.
_TRACER = """\
import os, re._compiler, sys, threading

_root = {root!r}
_out = os.open(f"{out}/{{os.getpid()}}", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
_seen = {{}}  # by id: the hash of code is a slow one

def _note(frame, event, argument):
    code = frame.f_code
    if id(code) not in _seen:
        _seen[id(code)] = code
        if code.co_flags & 2 and code.co_filename.startswith(_root):  # 2: a function, not the body of a class
            os.write(_out, f"{{code.co_filename[len(_root):]}} {{code.co_qualname}}\\n".encode())

def _untraced(*given, _compile=re._compiler.compile):  # most of all calls
    sys.settrace(None)
    try:
        return _compile(*given)
    finally:
        sys.settrace(_note)

re._compiler.compile = _untraced
sys.settrace(_note)
threading.settrace(_note)
"""


def documented_steps() -> list[tuple[list[str], list[str]]]:
    """Return the files and the functions that each row of the page's table names."""
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    return [(_NAMES.findall(files), _NAMES.findall(functions)) for files, functions in _HOP.findall(page)]


def test_a_daemon_calls_every_function_of_the_documented_path(home: Path, project: Project, tmp_path: Path) -> None:
    place, out = tmp_path / "tracer", tmp_path / "calls"
    place.mkdir()
    out.mkdir()
    (place / "sitecustomize.py").write_text(_TRACER.format(root=f"{ROOT / 'skilld'}/", out=str(out)))
    program = Program(home)
    with Program(home, {"PYTHONPATH": f"{place}:{ROOT}"}).daemon(anew=True):
        session = Session(home, project)
        session.use_skill()
        session.type(LASTING, *CHATTER[:4])
        wait_for("a proposal", lambda: len(program.json("proposals")) == 1, every=0.5)

    called = {tuple(line.split(" ", 1)) for file in out.iterdir() for line in file.read_text().splitlines()}
    drawn = documented_steps()
    assert 5 <= len(drawn) <= MAX_HOPS
    missing = [
        (file, function)
        for files, functions in drawn
        for file, function in zip(files, functions, strict=True)
        if not any(re.fullmatch(file.replace("AGENT", "[a-z_]+"), path) and function == name for path, name in called)
    ]
    assert missing == []
