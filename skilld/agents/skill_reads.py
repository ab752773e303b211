"""Finds which skills a tool call loads: calls that print a SKILL.md, matched with their results.

Name and arguments of a call in, (name, path) pairs out. A call counts if its result has no error: a refused or failed
one shows nothing. Knows the usual names of file and shell tools, but no agent.
"""

from __future__ import annotations

import ntpath
import posixpath
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import unquote

from skilld.agents.base import MAX_SHORT, items, mapping, remember, short, string
from skilld.agents.tools import COMMAND_KEYS, FILE_KEYS, FOLDER_KEYS, READ_TOOLS, SHELL_TOOLS

Use = tuple[str, str | None]

_MAX_PENDING = 32


def uses_of_call(tool: str, arguments: Mapping[str, Any], cwd: str | None) -> Iterator[Use]:
    """Yield the skills whose SKILL.md a call shows; paths are absolute if `cwd` or the call gives a folder."""
    name = tool.lower()
    if name in READ_TOOLS:
        paths = (resolve(string(arguments.get(key)), cwd) for key in FILE_KEYS if arguments.get(key))
        yield from uses_of_paths(path for path in paths if path is not None)
    elif name in SHELL_TOOLS:
        folder = next((string(arguments[key]) for key in FOLDER_KEYS if arguments.get(key)), "")
        is_url = folder.startswith("file:")
        yield from command_uses(arguments, resolve(folder, cwd) if folder and not is_url else local_path(folder or cwd))


def command_uses(holder: Mapping[str, Any], cwd: str | None) -> Iterator[Use]:
    """Yield the skills that the command in an object prints: a script, or an argument vector."""
    for key in COMMAND_KEYS:
        command = holder.get(key)
        words = [string(word) for word in command] if isinstance(command, list) else string(command)
        yield from uses_of_paths(skills_read(words, cwd))


def uses_of_paths(paths: Iterable[str]) -> Iterator[Use]:
    """Yield the skills among files at these paths."""
    return (use for path in paths if (use := use_of_path(path)))


def use_of_path(path: str) -> Use | None:
    """Return the skill that a SKILL.md belongs to, named by its folder; None for any other file."""
    parts = re.split(r"[\\/]", path)
    if parts[-1] != "SKILL.md" or len(parts) < 2 or not parts[-2]:  # noqa: PLR2004 - folder and file
        return None
    return parts[-2][:MAX_SHORT], path


class PendingCalls:
    """The newest calls without results. Saved in checkpoints: ids, names and paths."""

    def __init__(self, state: object = None) -> None:
        """Resume from a checkpoint's state; unusable entries are ignored."""
        self._calls: dict[str, list[Use]] = {}
        for call, uses in mapping(state).items():
            pairs = [use for use in items(uses) if isinstance(use, list)]
            self.add(short(call), [(short(use[0]), string(use[1]) or None) for use in pairs if len(use) == 2])  # noqa: PLR2004 - name and path

    def state(self) -> dict[str, list[list[str | None]]]:
        """Return the state for a checkpoint."""
        return {call: [[name, path] for name, path in uses] for call, uses in self._calls.items()}

    def add(self, call: str, uses: list[Use]) -> None:
        """Add the skills that a call shows if it succeeds."""
        if call and uses:
            remember(self._calls, call, uses[:_MAX_PENDING], _MAX_PENDING)

    def pop(self, call: str, *, well: bool) -> list[Use]:
        """Return the skills that a finished call has shown, none unless it ended `well`."""
        uses = self._calls.pop(call, [])
        return uses if well else []


# The SKILL.md files that a shell command prints, by Codex's own rule: a path counts if it is an argument of a reading
# program (openai/codex: core-skills/src/invocation_utils.rs, and Get-Content) whose output does not go to a file. Paths
# are resolved as text, without disk or environment.

_READERS = frozenset({"cat", "sed", "head", "tail", "less", "more", "bat", "awk", "nl", "get-content", "gc", "type"})
_SHELL_PROGRAMS = frozenset({"bash", "sh", "zsh", "dash", "fish", "powershell", "pwsh", "cmd"})
_CHANGE_FOLDER = frozenset({"cd", "pushd", "set-location"})
_MAX_DEPTH = 3  # a shell in a shell in a shell
_MAX_COMMAND = 20_000  # characters of a command that are searched, without here-documents
_MAX_PATH = 1024

_HEREDOC = re.compile(r"(?<!<)<<-?[ \t]*['\"]?(\w+)['\"]?")
_WINDOWS = re.compile(r"(?i)\bget-content\b|(?:^|[\s\"'])[a-z]:\\")
_WINDOWS_WORD = re.compile(r"\"[^\"]*\"|'[^']*'|[^\s;|&<>()\"']+|[;|&<>()]+|\n")
_PUNCTUATION = ";&|<>()\n"
_ASSIGNMENT = re.compile(r"\w+=")
_IN_PLACE = re.compile(r"-[A-Za-z]*i\S*|--in-place\S*|inplace")
_HOME = re.compile(r"\$HOME\b|\$\{HOME\}|\$env:USERPROFILE\b|%USERPROFILE%", re.IGNORECASE)
_UNRESOLVABLE = re.compile(r"[$*?`{}\[\]]")
_DRIVE = re.compile(r"[A-Za-z]:[\\/]")


def skills_read(command: str | Sequence[str], cwd: str | None, depth: int = 0) -> Iterator[str]:
    """Yield the path of each SKILL.md that a command prints, absolute if `cwd` or the command gives a folder.

    `command` is a script or an argument vector. A path in the person's home keeps its `~`.
    """
    if isinstance(command, str):
        if "SKILL.md" not in command:
            return
        for words, writes, folder in _simple_commands(command, cwd):
            yield from _paths_read(words, writes=writes, cwd=folder, depth=depth)
    else:
        yield from _paths_read(list(command), writes=False, cwd=cwd, depth=depth)


def resolve(path: str, cwd: str | None) -> str | None:
    """Return a path made absolute as text with `cwd` (which may be a file: URL); None if that is not possible."""
    path = _HOME.sub("~", path)
    base = local_path(cwd)
    if not path or len(path) > _MAX_PATH or _UNRESOLVABLE.search(path) or "\0" in path + (base or ""):
        return None
    if _DRIVE.match(path) or (base is not None and _DRIVE.match(base) and path[0] not in "/~"):
        joined = ntpath.normpath(ntpath.join(base or "", path))
        return joined if _DRIVE.match(joined) else None
    if path[0] not in "/~":
        if base is None or base[:1] not in {"/", "~"}:
            return None
        path = posixpath.join(base, path)
    return posixpath.normpath(path)


def local_path(cwd: str | None) -> str | None:
    """Return a working directory as a path: newer clients log it as a file: URL."""
    if cwd is None or not cwd.startswith("file://"):
        return cwd or None
    path = unquote(cwd[len("file://") :])
    return path[1:] if _DRIVE.match(path[1:]) else path


def _paths_read(words: list[str], *, writes: bool, cwd: str | None, depth: int) -> Iterator[str]:
    words = list(_without_prefix(words))
    if not words:
        return
    program = re.split(r"[\\/]", words[0])[-1].lower().removesuffix(".exe")
    if program in _SHELL_PROGRAMS and depth < _MAX_DEPTH:
        script = next((word for word in words[:0:-1] if " " in word), None)
        if script is not None:
            yield from skills_read(script, cwd, depth + 1)
        return
    if program not in _READERS or writes:
        return
    if program in {"sed", "awk"} and any(_IN_PLACE.fullmatch(word) for word in words):
        return
    for word in words[1:]:
        if re.split(r"[\\/]", word)[-1] == "SKILL.md":
            path = resolve(word, cwd)
            if path is not None:
                yield path


def _without_prefix(words: list[str]) -> list[str]:
    at = 0
    while at < len(words) and (
        words[at] in {"command", "time", "sudo", "then", "do", "{"} or _ASSIGNMENT.match(words[at])
    ):
        at += 1
    return words[at:]


def _simple_commands(script: str, cwd: str | None) -> Iterator[tuple[list[str], bool, str | None]]:
    """Yield the words of each simple command of a script, whether its output goes to a file, and its folder."""
    words: list[str] = []
    writes = False
    target = False
    for word, is_mark in _tokens(script):
        if not is_mark:
            if not target:
                words.append(word)
            target = False
        elif ">" in word:
            is_error = bool(words) and words[-1] == "2"
            if is_error:
                words.pop()
            writes = writes or not (is_error or word == ">&")
            target = True
        elif "<" in word:
            target = False
        else:
            yield words, writes, cwd
            cwd = _folder_after(words, cwd)
            words, writes, target = [], False, False
    yield words, writes, cwd


def _folder_after(words: list[str], cwd: str | None) -> str | None:
    if len(words) == 2 and words[0].lower() in _CHANGE_FOLDER:  # noqa: PLR2004 - the command and its folder
        return resolve(words[1], cwd)
    return cwd


def _without_heredocs(script: str) -> str:
    if "<<" not in script:
        return script
    kept: list[str] = []
    waits_for = ""
    for line in script.split("\n"):
        if waits_for:
            waits_for = "" if line.strip() == waits_for else waits_for
            continue
        start = _HEREDOC.search(line)
        waits_for = start[1] if start else ""
        kept.append(_HEREDOC.sub("", line))
    return "\n".join(kept)


def _tokens(script: str) -> Iterator[tuple[str, bool]]:
    script = _without_heredocs(script.replace("\\\n", " "))[:_MAX_COMMAND]
    if _WINDOWS.search(script):
        for match in _WINDOWS_WORD.finditer(script):
            word = match[0]
            yield (word.strip("\"'"), False) if word[0] not in _PUNCTUATION else (word, True)
        return
    lexer = shlex.shlex(script, posix=True, punctuation_chars=_PUNCTUATION)
    lexer.whitespace = " \t\r"
    lexer.whitespace_split = True
    lexer.commenters = ""
    try:
        tokens = list(lexer)
    except ValueError:  # an open quote: Codex also falls back to splitting at blanks
        tokens = script.split(" ")
    for token in tokens:
        yield token, bool(token) and all(char in _PUNCTUATION for char in token)
