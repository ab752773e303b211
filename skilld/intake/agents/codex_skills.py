"""Reads out of Codex's records which skills' instructions entered the conversation.

Bodies of records in, (name, path) pairs out: the injected `<skill>` block, the mention chosen from the list, and shell
calls that print a SKILL.md, called directly or from code. A mere listing of available skills gives nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from skilld.intake.agents.codex_shell import local_path, resolve, skills_read
from skilld.intake.agents.fields import SHORT, mapping, objects, short, string

Use = tuple[str, str | None]

_BLOCK = re.compile(
    r"\s*<skill>\s*<name>([^<\n]+)</name>\s*(?:<path>([^<\n]+)</path>\s*)?(<unavailable_notice>)?", re.IGNORECASE
)
_SHELL_TOOLS = frozenset({"exec_command", "shell", "shell_command", "bash", "container.exec", "local_shell"})
_COMMAND_KEYS = ("cmd", "command", "script")
_FOLDER_KEYS = ("workdir", "cwd", "working_directory")

_LONGEST_CODE = 200_000  # characters of a program that are looked at
# Comments come first so that an apostrophe in one does not open a string. What is not closed ends with the program (or
# the line): the scan stays linear.
_TOKEN = re.compile(
    r"//[^\n]*|/\*.*?(?:\*/|\Z)"
    r"|(?P<folder>\b(?:workdir|cwd)[\"']?\s*:\s*)?"
    r"(?:\"(?P<double>(?:\\.|[^\"\\\n])*+)\\?(?:\"|\n|\Z)"
    r"|'(?P<single>(?:\\.|[^'\\\n])*+)\\?(?:'|\n|\Z)"
    r"|`(?P<template>(?:\\.|[^`\\])*+)\\?(?:`|\Z))",
    re.DOTALL,
)
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
    if name in _SHELL_TOOLS or kind == "local_shell_call":
        folder = next((string(arguments[key]) for key in _FOLDER_KEYS if arguments.get(key)), "")
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
    for key in _COMMAND_KEYS:
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
    for token in reversed(list(_TOKEN.finditer(code[:_LONGEST_CODE]))):  # the folder stands behind the command
        text = _ESCAPE.sub(_character, token["double"] or token["single"] or token["template"] or "")
        if token["folder"]:
            folder = resolve(text, cwd)
        elif "SKILL.md" in text and not text.lstrip().startswith("*** Begin Patch"):
            found.append(list(skills_read(text, folder or cwd)))
    for paths in reversed(found):
        yield from paths


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
