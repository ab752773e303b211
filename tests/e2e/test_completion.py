"""Tab completion in real shells: commands, proposal ids with summaries, settings and values."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from skilld import paths
from skilld.paths import private_dir
from skilld.store import Store
from support.proposals import COMMIT_FIELDS, make_proposal

SHELLS = {
    "bash": """eval "$(skilld completion bash)"
COMP_LINE="$LINE" COMP_POINT=${#LINE} COMP_TYPE=9 COMP_WORDS=($LINE) COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
_python_argcomplete skilld; printf '%s\\n' "${COMPREPLY[@]}" """,
    "fish": 'skilld completion fish | source; complete -C "$LINE"',
    # Its completion works in an interactive shell only: one that is given a pseudo-terminal, and Tab.
    "zsh": """zmodload zsh/zpty; zpty shell zsh -f -i
w() { zpty -w shell "$1"; }
w 'PS1=; autoload -Uz compinit; compinit -u; eval "$(skilld completion zsh)"; stty -echo; zle_bracketed_paste=()'
w 'zstyle ":completion:*" list-prompt ""; LISTMAX=9999; bindkey "^I" list-choices; echo re''ady'
while zpty -r shell line; do [[ $line == *ready* ]] && break; done
zpty -w -n shell "$LINE"$'\\t'; sleep 2; zpty -w -n shell $'\\C-u'; w 'echo do''ne'
while zpty -r shell line; do print -r -- "$line"; [[ $line == *done* ]] && break; done""",
}


@pytest.fixture
def shell_home(home: Path) -> Path:
    private_dir(paths.places().database.parent)
    store = Store.open(paths.places().database)
    store.proposals.add(make_proposal(**COMMIT_FIELDS))
    store.close()
    return home


@pytest.mark.parametrize("shell", SHELLS)
def test_tab_completes(shell_home: Path, shell: str) -> None:
    result = _complete_in_shell(shell, SHELLS[shell], shell_home, "skilld config set batch.")
    assert all(name in result.stdout for name in ("batch.turns", "batch.idle_minutes")), result.stderr


# A package puts its file where the shell looks for it at the first Tab.
INSTALLED = {
    "bash": SHELLS["bash"].replace('eval "$(skilld completion bash)"', 'source "$FILES/skilld.bash"'),
    "fish": 'source "$FILES/skilld.fish"; complete -C "$LINE"',
    "zsh": SHELLS["zsh"]
    .replace("autoload -Uz", "fpath=($FILES $fpath); autoload -Uz")
    .replace('; eval "$(skilld completion zsh)"', ""),
}


@pytest.mark.parametrize("shell", INSTALLED)
def test_18_8_the_packaged_files_complete(shell_home: Path, shell: str) -> None:
    result = _complete_in_shell(shell, INSTALLED[shell], shell_home, "skilld show ")
    assert make_proposal(**COMMIT_FIELDS).id in result.stdout, result.stderr


def _complete_in_shell(shell: str, script: str, home: Path, line: str) -> subprocess.CompletedProcess[str]:
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"{shell} is not installed")
    environment = {
        "HOME": str(home),
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "TERM": "xterm",
        "FILES": str(Path(__file__).parents[2] / "completions"),
        "LINE": line,
    }
    return _run_shell(program, script, environment)


def _run_shell(program: str, script: str, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    command = [program, "-c", script]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)


def test_tab_completes_behind_an_alias(shell_home: Path) -> None:
    """As the README has it for a checkout: skilld is not on PATH, so that only its path can be called."""
    program = shutil.which("bash")
    assert program is not None
    own = Path(sys.executable).with_name("skilld")
    named = "$(complete -p skilld | sed 's/.*-F //; s/ .*//') skilld"
    script = SHELLS["bash"].replace("$(skilld completion bash)", f"$({own} completion bash)")
    script = script.replace("_python_argcomplete skilld", named)
    environment = {"HOME": str(shell_home), "PATH": "/usr/bin:/bin", "TERM": "xterm", "LINE": "skilld accept "}
    result = _run_shell(program, f"alias skilld={own}; {script}", environment)
    assert make_proposal(**COMMIT_FIELDS).id in result.stdout, result.stderr
