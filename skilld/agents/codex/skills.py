"""Finds out from Codex's records which skills entered the conversation.

Bodies of records in, (name, path) pairs out: the injected `<skill>` block, the mention chosen from the list, and shell
calls that print a SKILL.md, called directly or from code. A mere listing of available skills gives nothing.
"""

from __future__ import annotations

import json
import ntpath
import posixpath
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import unquote

from skilld.agents.base import SHORT, mapping, objects, short, string
from skilld.agents.tools import COMMAND_KEYS, FOLDER_KEYS, SHELL_TOOLS

# Finds the SKILL.md files that a shell command prints, by Codex's own rule.
#
# A command and its working directory in, paths out. A path counts if a reading program (openai/codex: core-
# skills/src/invocation_utils.rs, and Get-Content) names it as an argument and its output is not sent to a file.
# Paths are resolved as text; no disk, no environment.

_READERS = frozenset({"cat", "sed", "head", "tail", "less", "more", "bat", "awk", "nl", "get-content", "gc", "type"})
_SHELLS = frozenset({"bash", "sh", "zsh", "dash", "fish", "powershell", "pwsh", "cmd"})
_CHANGE = frozenset({"cd", "pushd", "set-location"})
_DEPTH = 3  # a shell in a shell in a shell
_MAX_COMMAND = 20_000  # characters of a command that are looked at, here-documents aside
_PATH = 1024

_HEREDOC = re.compile(r"(?<!<)<<-?[ \t]*['\"]?(\w+)['\"]?")
_WINDOWS = re.compile(r"(?i)\bget-content\b|(?:^|[\s\"'])[a-z]:\\")
_WINDOWS_WORD = re.compile(r"\"[^\"]*\"|'[^']*'|[^\s;|&<>()\"']+|[;|&<>()]+|\n")
_MARKS = ";&|<>()\n"
_ASSIGNMENT = re.compile(r"\w+=")
_IN_PLACE = re.compile(r"-[A-Za-z]*i\S*|--in-place\S*|inplace")
_HOME = re.compile(r"\$HOME\b|\$\{HOME\}|\$env:USERPROFILE\b|%USERPROFILE%", re.IGNORECASE)
_UNKNOWN = re.compile(r"[$*?`{}\[\]]")
_DRIVE = re.compile(r"[A-Za-z]:[\\/]")


def skills_read(command: str | Sequence[str], cwd: str | None, depth: int = 0) -> Iterator[str]:
    """Yield the path of each SKILL.md that a command prints, absolute where `cwd` or the command tells.

    `command` is a script or an argument vector. A path in the person's home keeps its `~`.
    """
    if isinstance(command, str):
        if "SKILL.md" not in command:
            return
        for words, writes, folder in _simple_commands(command, cwd):
            yield from _read_by(words, writes=writes, cwd=folder, depth=depth)
    else:
        yield from _read_by(list(command), writes=False, cwd=cwd, depth=depth)


def resolve(path: str, cwd: str | None) -> str | None:
    """Return a path made absolute as text against `cwd` (which may be a file: URL), or None where that cannot be."""
    path = _HOME.sub("~", path)
    base = local_path(cwd)
    if not path or len(path) > _PATH or _UNKNOWN.search(path) or "\0" in path + (base or ""):
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


def _read_by(words: list[str], *, writes: bool, cwd: str | None, depth: int) -> Iterator[str]:
    words = list(_without_prefix(words))
    if not words:
        return
    program = re.split(r"[\\/]", words[0])[-1].lower().removesuffix(".exe")
    if program in _SHELLS and depth < _DEPTH:
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
    """Yield the words of each simple command of a script, whether its output goes to a file, and where it runs."""
    words: list[str] = []
    writes = False
    target = False
    for word, is_mark in _words(script):
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
            cwd = _changed(words, cwd)
            words, writes, target = [], False, False
    yield words, writes, cwd


def _changed(words: list[str], cwd: str | None) -> str | None:
    if len(words) == 2 and words[0].lower() in _CHANGE:  # noqa: PLR2004 - the command and its folder
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


def _words(script: str) -> Iterator[tuple[str, bool]]:
    script = _without_heredocs(script.replace("\\\n", " "))[:_MAX_COMMAND]
    if _WINDOWS.search(script):
        for match in _WINDOWS_WORD.finditer(script):
            word = match[0]
            yield (word.strip("\"'"), False) if word[0] not in _MARKS else (word, True)
        return
    lexer = shlex.shlex(script, posix=True, punctuation_chars=_MARKS)
    lexer.whitespace = " \t\r"
    lexer.whitespace_split = True
    lexer.commenters = ""
    try:
        tokens = list(lexer)
    except ValueError:  # an open quote: Codex, too, falls back to the blanks
        tokens = script.split(" ")
    for token in tokens:
        yield token, bool(token) and all(char in _MARKS for char in token)


Use = tuple[str, str | None]

_BLOCK = re.compile(
    r"\s*<skill>\s*<name>([^<\n]+)</name>\s*(?:<path>([^<\n]+)</path>\s*)?(<unavailable_notice>)?", re.IGNORECASE
)
MAX_CODE = 200_000  # characters of a program that are looked at
# Comments come first so that an apostrophe in one does not open a string. What is not closed ends with the program (or
# the line): the scan stays linear.
CODE_COMMENT = r"//[^\n]*|/\*.*?(?:\*/|\Z)"
CODE_STRING = (
    r"(?:\"(?P<double>(?:\\.|[^\"\\\n])*+)\\?(?:\"|\n|\Z)"
    r"|'(?P<single>(?:\\.|[^'\\\n])*+)\\?(?:'|\n|\Z)"
    r"|`(?P<template>(?:\\.|[^`\\])*+)\\?(?:`|\Z))"
)
_TOKEN = re.compile(rf"{CODE_COMMENT}|(?P<folder>\b(?:workdir|cwd)[\"']?\s*:\s*)?{CODE_STRING}", re.DOTALL)
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|\n|.)", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "\n": ""}


def block_use(text: str) -> Use | None:
    """Return the skill of an injected `<skill>` block, None for other text or a notice that the skill is gone."""
    block = _BLOCK.match(text)
    if block is None or block[3]:
        return None
    return short(block[1].strip()), _claimed(block[2])


def mention_uses(item: Mapping[str, Any]) -> Iterator[Use]:
    """Yield the skills that a completed user message carries beside its text."""
    for element in objects(item.get("content")):
        path = string(element.get("path")).removeprefix("skill://")
        name = short(element.get("name"))
        if name and (element.get("type") == "skill" or path.endswith("SKILL.md")):
            yield name, _claimed(path)


def call_uses(call: Mapping[str, Any], cwd: str | None) -> Iterator[Use]:
    """Yield the skills that a tool call reads; `cwd` is where the session runs."""
    kind, name = string(call.get("type")), string(call.get("name"))
    if kind == "custom_tool_call":
        if name == "exec":
            yield from _named(_code_reads(string(call.get("input")), cwd))
        return
    arguments = mapping(call.get("action")) if kind == "local_shell_call" else _arguments(call)
    if name in SHELL_TOOLS or kind == "local_shell_call":
        folder = next((string(arguments[key]) for key in FOLDER_KEYS if arguments.get(key)), "")
        base = resolve(folder, cwd) if folder and not folder.startswith("file:") else local_path(folder or cwd)
        yield from _command_uses(arguments, base)
    elif name == "read_file":
        path = string(arguments.get("file_path")) or string(arguments.get("path"))
        found = resolve(path, cwd) if path.endswith("SKILL.md") else None
        yield from _named(iter([found] if found else []))


def execution_uses(item: Mapping[str, Any], cwd: str | None) -> Iterator[Use]:
    """Yield the skills that a command which was run printed: the mirror of a call, and all that code mode shows."""
    folder = string(item.get("cwd"))
    yield from _command_uses(item, local_path(folder or cwd))


def _command_uses(holder: Mapping[str, Any], cwd: str | None) -> Iterator[Use]:
    for key in COMMAND_KEYS:
        command = holder.get(key)
        if isinstance(command, list):
            yield from _named(skills_read([string(word) for word in command], cwd))
        elif isinstance(command, str):
            yield from _named(skills_read(string(command), cwd))


def _arguments(call: Mapping[str, Any]) -> Mapping[str, Any]:
    try:
        return mapping(json.loads(string(call.get("arguments"))))
    except (ValueError, RecursionError):
        return {}


def _code_reads(code: str, cwd: str | None) -> Iterator[str]:
    """Every string of the program that is a command; one that stands in a variable or a list is found, too."""
    if "SKILL.md" not in code or not ("exec_command" in code or "shell" in code):
        return
    found: list[list[str]] = []
    folder: str | None = None
    for token in reversed(list(_TOKEN.finditer(code[:MAX_CODE]))):  # the folder stands behind the command
        text = unescaped(token["double"] or token["single"] or token["template"] or "")
        if token["folder"]:
            folder = resolve(text, cwd)
        elif "SKILL.md" in text and not text.lstrip().startswith("*** Begin Patch"):
            found.append(list(skills_read(text, folder or cwd)))
    for paths in reversed(found):
        yield from paths


def unescaped(text: str) -> str:
    """Return what a string of a program stands for."""
    return _ESCAPE.sub(_character, text)


def _character(escape: re.Match[str]) -> str:
    what = escape[1]
    if len(what) > 1:
        return string(chr(int(what[1:], 16)))
    return _ESCAPED.get(what, what)


def _named(paths: Iterator[str]) -> Iterator[Use]:
    for path in paths:
        folder = re.split(r"[\\/]", path)[-2]
        if folder:
            yield folder[:SHORT], path


def _claimed(path: str | None) -> str | None:
    cleaned = string(path).strip()
    return cleaned if cleaned and len(cleaned) <= 2 * SHORT and "\0" not in cleaned else None
