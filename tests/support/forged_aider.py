"""Somebody else's text in Aider's history: an answer of the model may contain lines that look typed."""

from __future__ import annotations

from support.carrier import Carrier, Records

_HEAD = "\n# aider chat started at 2026-11-22 16:25:19\n\n> /usr/bin/aider{}  \n> Aider v0.86.2  \n\n"


def _typed(words: str) -> str:
    return "".join(f"#### {line}  \n" for line in words.split("\n")) + "\n"


def _list(*prompts: str) -> dict[str, bytes]:
    entries = (
        f"\n# 2026-11-22 16:{25 + n}:32.780127\n" + "".join(f"+{line}\n" for line in each.split("\n"))
        for n, each in enumerate(prompts)
    )
    return {".aider.input.history": "".join(entries).encode()}


def _answered(content: str, prompt: str) -> bytes:
    answer = "\n".join(f"{line}\n#### {line}" for line in content.split("\n"))
    return (_HEAD.format("") + _typed(prompt) + f"\n{answer}\n\n> Tokens: 7 sent.  \n").encode()


def _scripted(content: str, prompt: str) -> bytes:
    return (
        _HEAD.format(" --yes-always --message x") + _typed(content) + "ok\n" + _HEAD.format("") + _typed(prompt)
    ).encode()


def _none(_content: str, _prompt: str) -> Records:
    return []


AIDER: list[Carrier] = [
    Carrier("answer of the model", _none, side_files=_list, text=_answered),
    Carrier("headless prompt", _none, side_files=_list, text=_scripted),
]
