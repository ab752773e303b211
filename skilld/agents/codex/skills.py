"""Finds which skills entered a Codex conversation.

Bodies of records in, (name, path) pairs out: from the injected `<skill>` block, a mention chosen from the list, and
shell calls that print a SKILL.md, directly or from code. A list of available skills gives nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from skilld.agents.base import MAX_SHORT, mapping, objects, read_object, short, string
from skilld.agents.skill_reads import Use, command_uses, local_path, resolve, skills_read, uses_of_call, uses_of_paths
from skilld.agents.tools import SHELL_TOOLS

_BLOCK = re.compile(
    r"\s*<skill>\s*<name>([^<\n]+)</name>\s*(?:<path>([^<\n]+)</path>\s*)?(<unavailable_notice>)?", re.IGNORECASE
)
MAX_CODE = 200_000  # characters of a program that are searched
# Comments come first so that an apostrophe in one does not open a string. Unclosed ones end with the program (or the
# line), so the scan stays linear.
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
    return short(block[1].strip()), _clean_path(block[2])


def mention_uses(item: Mapping[str, Any]) -> Iterator[Use]:
    """Yield the skills that a completed user message has next to its text."""
    for element in objects(item.get("content")):
        path = string(element.get("path")).removeprefix("skill://")
        name = short(element.get("name"))
        if name and (element.get("type") == "skill" or path.endswith("SKILL.md")):
            yield name, _clean_path(path)


def call_uses(call: Mapping[str, Any], cwd: str | None) -> Iterator[Use]:
    """Yield the skills that a tool call reads; `cwd` is the session's folder."""
    kind, name = string(call.get("type")), string(call.get("name"))
    if kind == "custom_tool_call":
        if name == "exec":
            yield from uses_of_paths(_paths_in_code(string(call.get("input")), cwd))
        return
    if kind == "local_shell_call":
        yield from uses_of_call("shell", mapping(call.get("action")), cwd)
    elif name in SHELL_TOOLS or name == "read_file":
        yield from uses_of_call(name, mapping(read_object(string(call.get("arguments")))), cwd)


def execution_uses(item: Mapping[str, Any], cwd: str | None) -> Iterator[Use]:
    """Yield the skills that an executed command printed: it mirrors a call, or is the only trace of one in code."""
    return command_uses(item, local_path(string(item.get("cwd")) or cwd))


def _paths_in_code(code: str, cwd: str | None) -> Iterator[str]:
    """Yield the SKILL.md paths in all strings of a program that are commands, even in variables or lists."""
    if "SKILL.md" not in code or not ("exec_command" in code or "shell" in code):
        return
    found: list[list[str]] = []
    folder: str | None = None
    for token in reversed(list(_TOKEN.finditer(code[:MAX_CODE]))):  # the folder follows the command
        text = unescaped(token["double"] or token["single"] or token["template"] or "")
        if token["folder"]:
            folder = resolve(text, cwd)
        elif "SKILL.md" in text and not text.lstrip().startswith("*** Begin Patch"):
            found.append(list(skills_read(text, folder or cwd)))
    for paths in reversed(found):
        yield from paths


def unescaped(text: str) -> str:
    """Return the value of a string literal in a program."""
    return _ESCAPE.sub(_unescape, text)


def _unescape(escape: re.Match[str]) -> str:
    what = escape[1]
    return string(chr(int(what[1:], 16))) if len(what) > 1 else _ESCAPED.get(what, what)


def _clean_path(path: str | None) -> str | None:
    cleaned = string(path).strip()
    return cleaned if cleaned and len(cleaned) <= 2 * MAX_SHORT and "\0" not in cleaned else None
