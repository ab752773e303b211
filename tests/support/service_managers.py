"""Fake service managers, scripts on PATH: they record requests and answer what a test prepared."""

from __future__ import annotations

from pathlib import Path

# Keeps what it was asked, and whether the service is loaded and running, in files beside it. With `slow` there it ends
# after bootout has answered.
LAUNCHCTL = """#!/bin/sh
cd "$(dirname "$0")"
echo "$@" >> asked
case "$1" in
print)
    [ ! -e ending ] || { rm loaded ending; exit 0; }
    [ -e loaded ] || exit 113
    printf 'x = {\\n\\tstate = running\\n\\tpid = 4711\\n\\truns = 3\\n}\\n' ;;
bootstrap) touch loaded ;;
bootout)
    [ ! -e slow ] || { touch ending; echo 'Boot-out failed: 36: Operation now in progress' >&2; exit 36; }
    rm loaded ;;
getenv) [ "$2" != HTTPS_PROXY ] || echo http://proxy.example ;;
esac
"""
SYSTEMCTL = """#!/bin/sh
cd "$(dirname "$0")"
shift 3
echo "$@" >> asked
[ ! -e fails ] || { echo "$(cat fails)" >&2; exit 1; }
case "$1" in
show-environment) printf "HOME=%s\\nODD=\\$'a\\\\\\\\'b'\\n" "$HOME" ;;
show) cat shown ;;
esac
"""
STOPPED = "ActiveState=inactive\nResult=success\nStatusText=\nMainPID=0\nNRestarts=0\nUnitFileState=\n"
RUNNING = "ActiveState=active\nResult=success\nStatusText=at work\nMainPID=4711\nNRestarts=2\nUnitFileState=enabled\n"


class FakeManager:
    """A manager's program."""

    def __init__(self, folder: Path, name: str, text: str) -> None:
        self.folder = folder
        folder.mkdir()
        (folder / name).write_text(text, encoding="utf-8")
        (folder / name).chmod(0o755)
        (folder / "shown").write_text(STOPPED, encoding="utf-8")

    def requests(self) -> list[str]:
        """Return the requests since the last call, except queries."""
        log = self.folder / "asked"
        lines = log.read_text(encoding="utf-8").splitlines() if log.exists() else []
        log.unlink(missing_ok=True)
        return [line for line in lines if not line.startswith(("print ", "getenv ", "show"))]
