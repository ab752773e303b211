"""Who gave a command, judged by process trees of Linux and macOS (S3, S4)."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import replace

from skilld.agents import ADAPTERS
from skilld.caller.judge import DoubtKind, judge_caller
from skilld.caller.programs import AGENT_VARIABLES, PROGRAMS
from skilld.caller.tree import Process, Tree, parse_ps
from skilld.cli import permissions
from skilld.cli.parser import build_parser
from support.rows import for_each

TTY = "34816"
OTHER = "34817"


def tree(*above: str, terminal: str = TTY, first: str = "systemd") -> Tree:
    """Return the tree of a command below these programs, the nearest first; the terminals are written `name!tty`."""
    chain = [Process(1000, 999, session=999, terminal=terminal, comm="skilld", argv=("python", "-m", "skilld"))]
    for number, one in enumerate(above):
        words, _, tty = one.partition("!")
        argv = (words,) if ": " in words else tuple(words.split())  # a title is one word
        pid = 999 - number
        chain.append(
            Process(
                pid,
                pid - 1,
                pid,
                tty,
                0,
                argv[0] if argv[0].startswith("/") else "",
                argv[0].rpartition("/")[2][:15],
                argv,
            )
        )
    if first:
        chain[-1] = replace(chain[-1], parent=1)
        chain.append(Process(1, 0, session=1, comm=first, argv=(f"/sbin/{first}",)))
    else:
        chain[-1] = replace(chain[-1], parent=0)
    return Tree(tuple(chain))


PEOPLE = {
    "a desktop terminal": tree(f"bash!{TTY}", "/usr/libexec/gnome-terminal-server", "/lib/systemd/systemd --user"),
    "xterm": tree(f"-bash!{TTY}", "xterm", "i3", "Xorg"),
    "a terminal nobody has heard of, below the desktop": tree(f"fish!{TTY}", "/opt/newterm", "/usr/bin/gnome-shell"),
    "a console": tree(f"-bash!{TTY}", "/bin/login -p --"),
    "ssh": tree(f"-bash!{TTY}", "sshd: ada@pts/0", "sshd: ada [priv]", "sshd: /usr/sbin/sshd -D [listener]"),
    "ssh from OpenSSH 9.8 on": tree(f"-bash!{TTY}", "/usr/lib/openssh/sshd-session", "/usr/sbin/sshd -D"),
    "tmux": tree(f"-bash!{TTY}", "tmux: server"),
    "screen": tree(f"/bin/bash!{TTY}", "SCREEN -S work"),
    "zellij": tree(f"zsh!{TTY}", "/usr/bin/zellij --server /run/user/1000/zellij"),
    "VS Code": tree(f"/usr/bin/bash --init-file x!{TTY}", "/usr/share/code/code --type=utility"),
    "VS Code's server": tree(
        f"bash!{TTY}", "/home/a/.vscode-server/cli/node /home/a/.vscode-server/out/bootstrap-fork --type=ptyHost"
    ),
    "Cursor's terminal": tree(f"bash!{TTY}", "/opt/cursor/cursor --type=utility"),
    "IntelliJ": tree(f"bash!{TTY}", "/opt/idea/jbr/bin/java -Didea.paths.selector=X com.intellij.idea.Main"),
    "Emacs": tree(f"bash!{TTY}", "/usr/bin/emacs-29.1 --fg-daemon"),
    "sudo in a terminal": tree(f"bash!{TTY}", f"sudo -i!{OTHER}", f"bash!{OTHER}", "konsole"),
    "script in a terminal": tree(f"bash!{TTY}", f"script!{OTHER}", f"bash!{OTHER}", "kitty"),
    "a name longer than the kernel keeps": Tree((
        Process(9, 8, 8, TTY, comm="skilld"),
        Process(8, 7, 8, TTY, comm="bash"),
        Process(7, 1, 7, comm="gnome-terminal-"),
    )),
    "docker exec": tree(f"bash!{TTY}", first=""),
    "the first process of a container": Tree((
        Process(7, 1, 1, TTY, comm="skilld"),
        Process(1, 0, 1, TTY, comm="bash"),
    )),
    "WSL": tree(f"-bash!{TTY}", "Relay(9)", "SessionLeader", first="init"),
}  # fmt: skip


@for_each("place", PEOPLE)
def test_a_person_is_recognized_by_the_processes_above(place: str) -> None:
    assert judge_caller(PEOPLE[place], {}) is None


NOBODY = {
    "an agent's shell": (tree("/bin/bash -c x", "claude --resume", f"-bash!{TTY}", "tmux: server"), DoubtKind.AGENT),
    "an agent's terminal": (
        tree(f"bash!{TTY}", "/opt/codex/codex-x86_64-unknown-linux-musl", "kitty"),
        DoubtKind.AGENT,
    ),
    "script by an agent": (tree(f"sh!{TTY}", "script", "bash", "claude", f"bash!{OTHER}", "xterm"), DoubtKind.AGENT),
    "a terminal that an agent opened": (tree(f"bash!{TTY}", "xterm", "sh", "claude", "bash", "kitty"), DoubtKind.AGENT),
    "an agent by its package": (
        tree("sh -c x", "node /n/node_modules/@anthropic-ai/claude-code/cli.js", "bash", "kitty"),
        DoubtKind.AGENT,
    ),
    "an agent that Python runs": (tree("sh", "/usr/bin/python3.12 -m aider --yes", "bash", "kitty"), DoubtKind.AGENT),
    "an agent that npx runs": (tree("sh", "node /usr/bin/npx @openai/codex", "bash", "kitty"), DoubtKind.AGENT),
    "an agent in a container": (tree("bash", "claude", f"bash!{TTY}", first=""), DoubtKind.AGENT),
    "an agent that is all of a container": (tree(f"bash!{TTY}", first="claude"), DoubtKind.AGENT),
    "no terminal": (tree("bash", "xterm", terminal=""), DoubtKind.NO_TERMINAL),
    "cron": (tree("/bin/sh -c x", "/usr/sbin/cron -f", terminal=""), DoubtKind.NO_TERMINAL),
    "an orphan": (tree(first="systemd"), DoubtKind.ORPHAN),
    "an orphan of a session": (tree("/lib/systemd/systemd --user"), DoubtKind.ORPHAN),
    "an orphaned script": (tree(f"sh!{TTY}", "script -qec x"), DoubtKind.ORPHAN),
    "an orphan at a container's shell": (
        Tree((Process(9, 1, 8, OTHER, comm="skilld"), Process(1, 0, 1, TTY, comm="bash"))),
        DoubtKind.ORPHAN,
    ),
    "a namespace of an agent's making": (
        Tree((Process(3, 1, 0, TTY, comm="skilld"), Process(1, 0, 0, TTY, comm="unshare"))),
        DoubtKind.ORPHAN,
    ),
    "batch mode of an editor": (tree(f"sh!{TTY}", "emacs --batch --eval x", "script"), DoubtKind.ORPHAN),
    "no processes to be seen": (Tree(()), DoubtKind.ORPHAN),
    "a parent that is hidden": (Tree((Process(9, 8, 8, TTY, comm="skilld"),)), DoubtKind.ORPHAN),
    "a terminal that an agent has": (
        Tree(PEOPLE["the first process of a container"].chain, Process(5, 1, 1, TTY, comm="claude")),
        DoubtKind.AGENT,
    ),
    "a multiplexer that an agent started": (
        Tree((
            Process(9, 8, 8, TTY, comm="skilld"),
            Process(8, 7, 8, TTY, comm="sh"),
            Process(7, 1, 7, comm="tmux: server", argv=("tmux: server",), marks=frozenset({"CLAUDECODE"})),
        )),
        DoubtKind.MARK,
    ),
}  # fmt: skip


@for_each("place", NOBODY)
def test_nothing_else_is_taken_for_a_person(place: str) -> None:
    given, why = NOBODY[place]
    doubt = judge_caller(given, {})
    assert doubt is not None
    assert (doubt.why, bool(doubt.words)) == (why, True)


@for_each("mark", sorted(AGENT_VARIABLES))
def test_an_agents_variable_refuses_and_none_permits(mark: str) -> None:
    doubt = judge_caller(PEOPLE["tmux"], {mark: "1"})
    assert doubt is not None
    assert mark in doubt.words
    assert judge_caller(PEOPLE["tmux"], {mark: "0"}) is None
    assert judge_caller(NOBODY["an orphan"][0], {mark: ""}) is not None


def test_every_followed_agent_can_be_recognized() -> None:
    titles = {program.title for program in PROGRAMS}
    assert {adapter.INFO.title for adapter in ADAPTERS.values()} <= titles
    for program in PROGRAMS:
        for name in program.names:
            for shown in (name, name.upper(), f"/opt/x/{name}", f"node /opt/{name}.js", f"python3 -u /bin/{name}"):
                doubt = judge_caller(tree("sh", shown, "bash", "kitty"), {})
                assert doubt is not None, shown
                assert doubt.why is DoubtKind.AGENT, shown


@for_each(
    "honest",
    [
        "bash /home/a/codex/run.sh",
        "/home/a/claude-code/.venv/bin/python -m pytest",
        "/home/a/aider/bin/python x.py",
        "vim claude.md",
        "piper",
        "node server.js @openai/codex",
        "python3 -c claude",
        "make codex",
    ],
)
def test_agent_look_alikes_are_not_agents(honest: str) -> None:
    assert judge_caller(tree(f"{honest}!{TTY}", f"bash!{TTY}", "kitty"), {}) is None


def test_a_terminal_named_in_the_settings_counts() -> None:
    given = tree(f"bash!{TTY}", "/opt/Newterm")
    assert judge_caller(given, {}) is not None
    assert judge_caller(given, {}, ["newterm"]) is None


MAC = """\
    1     0     0 ??       /sbin/launchd
  600     1     0 ??       /System/Applications/Utilities/Terminal.app/Contents/MacOS/Terminal
  601   600   604 ttys001  login
  602   601   604 ttys001  -zsh
  604   602   604 ttys001  /opt/homebrew/Cellar/python@3.12/bin/python3.12
  700     1     0 ??       /Applications/Visual Studio Code.app/Contents/MacOS/Electron
  701   700     0 ??       /Applications/Visual Studio Code.app/Contents/Frameworks/Code Helper.app/Contents/MacOS/Code Helper
  702   701   703 ttys002  /bin/zsh
  703   702   703 ttys002  /usr/bin/python3
  710   702   710 ttys002  claude
  711   710     0 ??       /bin/zsh
  712   711     0 ??       /usr/bin/python3
  800     1   800 ttys003  /usr/bin/python3
"""  # noqa: E501 - as ps prints it
MAC_WORDS = """\
    1 /sbin/launchd
  600 /System/Applications/Utilities/Terminal.app/Contents/MacOS/Terminal
  601 login -pf ada
  602 -zsh
  604 /opt/homebrew/Cellar/python@3.12/bin/python3.12 -m skilld accept 1
  700 /Applications/Visual Studio Code.app/Contents/MacOS/Electron
  701 /Applications/Visual Studio Code.app/Contents/Frameworks/Code Helper.app/Contents/MacOS/Code Helper --type=utility
  702 /bin/zsh -il
  703 /usr/bin/python3 -m skilld accept 1
  710 claude
  711 /bin/zsh -c skilld accept 1
  712 /usr/bin/python3 -m skilld accept 1
  800 /usr/bin/python3 -m skilld accept 1
"""


@for_each(
    ("pid", "why"),
    [(604, None), (703, None), (712, DoubtKind.AGENT), (800, DoubtKind.ORPHAN)],
)
def test_the_same_holds_for_ps_output_on_macos(pid: int, why: DoubtKind | None) -> None:
    table = parse_ps(MAC, MAC_WORDS, lambda _: 0)
    chain = []
    while pid:
        chain.append(table[pid])
        pid = table[pid].parent
    doubt = judge_caller(Tree(tuple(chain)), {})
    assert (doubt.why if doubt else None) is why


def _leaves(parser: argparse.ArgumentParser, path: tuple[str, ...] = ()) -> Iterator[str]:
    groups = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    # A refusal names the command as it was given, which `words` holds: an option so called crashed `report --html`.
    assert "words" not in {action.dest for action in parser._actions}
    if path and parser.get_default("run"):
        yield " ".join(path)
    for group in groups:
        for name, inner in group.choices.items():
            if inner.get_default("run") or any(
                isinstance(action, argparse._SubParsersAction) for action in inner._actions
            ):
                yield from _leaves(inner, (*path, name))


# The person's alone: a new command must be listed here, or be declared in skilld/cli/permissions.py with a reason.
THE_PERSONS = (
    ["accept", "chat", "feedback", "pause", "reject", "restore", "resume", "retry", "revert", "review", "snooze"]
    + [f"config {action}" for action in ("edit", "set", "unset")]
    + [f"service {action}" for action in ("start", "stop", "uninstall")]
    + [f"team {action}" for action in ("join", "leave")]
    + [f"machines {action}" for action in ("add", "join", "leave")]
    + [f"skills {action}" for action in ("archive", "delete", "disable", "enable", "import")]
)


def test_every_command_is_for_persons_unless_declared_otherwise() -> None:
    found = set(_leaves(build_parser()))
    declared = permissions.READ_ONLY.keys() | permissions.UNATTENDED.keys()
    assert declared <= found
    assert found - declared == {*THE_PERSONS}


@for_each(
    ("words", "reads"),
    [
        ("learnings", True),
        ("learnings --forget 1", False),
        ("sync --all --dry-run", True),
        ("sync --all", False),
        ("uninstall --dry-run", True),
        ("uninstall", False),
        ("git log --oneline", True),
        ("git diff --output=/tmp/x", False),
        ("git grep --op=vi x", False),
        ("git grep -nOvi x", False),
        ("git grep -n --only-matching O", False),
        ("git grep -n Only -- OPEN.md", True),
        ("git reflog expire --all", False),
        ("git merge skilld/staging", False),
        ("skills export notes", True),
        ("skills export notes -o /tmp/x", False),
        ("skills restore", True),
        ("skills restore notes", False),
        ("skills eval notes --dry-run", True),
        ("skills eval notes --yes", False),
        ("service install --dry-run", True),
        ("mine --dry-run", True),
        ("config", True),
        ("setup --json", True),
        ("setup agent", False),
        ("setup --statusline tmux", False),
        ("setup --statusline tmux --json", False),
        ("setup agent --json", False),
        ("config set model offline", False),
    ],
)
def test_read_only_commands_are_recognized_by_their_arguments(words: str, reads: bool) -> None:  # noqa: FBT001 - a column
    given = build_parser().parse_args(words.split())
    when = permissions.READ_ONLY.get(permissions.command_of(given))
    assert (when is not None and when(given)) is reads
