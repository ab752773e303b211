"""A scripted model for mining: a message that begins with one of these words is lasting.

It quotes and phrases in the person's own words, edits a skill by adding a bullet, and finds nothing in a skill that
says it already: what a good model would do, so that a test is about what comes after it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

from support.stub_model import Body, Reply, request_text

RULE, FACT, PITFALL = ("Always ", "Never "), ("Our ", "The staging "), ("Stop ", "No, ")
_KINDS = ((RULE, "preference"), (FACT, "fact"), (PITFALL, "correction"))
_MESSAGES = re.compile(r"<recent_messages mark=.*?>\n(.*)\n</recent_messages mark=", re.DOTALL)
_SKILL = re.compile(r"<skill_definition .*?>\n(.*?)\n</skill_definition>", re.DOTALL)
_WANTED = re.compile(r"<improvements>\n(.*?)\n</improvements>", re.DOTALL)
_FILE = re.compile(r"<current_skill_file>\n(.*?)\n</current_skill_file>", re.DOTALL)

_REQUESTS = re.compile(r"<requests>\n(.*?)\n</requests>", re.DOTALL)
_DRAFT = re.compile(r'<draft number="(\d+)">\n(.*?)\n</draft>', re.DOTALL)


def answer_request(body: Body) -> Reply | str:
    """Answer a question about messages, requests, drafts or names, or a request for operations."""
    asked = request_text(body)
    if messages := _MESSAGES.search(asked):
        skill = _SKILL.search(asked)
        return _tagged("updates", _updates(messages[1], skill[1] if skill else ""))
    if requests := _REQUESTS.search(asked):
        return _tagged("tasks", _tasks(requests[1]))
    if drafts := _DRAFT.findall(asked):
        kept = [[int(n) for n in re.findall(r"^(\d+)\. ", text, re.MULTILINE)] for _, text in drafts]
        return _tagged("drafts", [keep_lines(n, lines) for (n, _), lines in zip(drafts, kept, strict=True)])
    if "<new_skill " in asked:
        return _tagged("titles", [])  # what code drafted is good enough for it
    if "<noted>" in asked:
        return _tagged("same", [])
    wanted, file = _WANTED.search(asked), _FILE.search(asked)
    assert wanted, "a question that mining never asks"
    assert file
    text = "\n".join(f"- {item['change']}" for item in json.loads(wanted[1]))
    bullets = [line for line in file[1].splitlines() if line.startswith("- ")]
    return _tagged("operations", [{"op": "insert_after", "anchor": bullets[-1], "text": text}])


def keep_lines(draft: str, lines: Iterable[int]) -> dict[str, object]:
    """Return the answer that takes these lines of a draft as they are."""
    return {"draft": int(draft), "lines": [{"kind": "rule", "text": "", "from": [number]} for number in lines]}


def _updates(lines: str, skill: str) -> list[dict[str, object]]:
    found = []
    for line in lines.splitlines():
        message = json.loads(line)
        kind = next((kind for starts, kind in _KINDS if message["text"].startswith(starts)), None)
        if message["role"] == "user" and kind and message["text"] not in skill:
            text = {"section": "new step", "change": message["text"], "reason": "", "quote": message["text"]}
            found.append({"skill": 1, "kind": kind, "turn": message["turn"], "confidence": 0.9} | text)
    return found


def _tasks(lines: str) -> list[dict[str, list[int]]]:
    """Return the requests after which the same was run first."""
    tasks: dict[str, list[int]] = {}
    for line in map(json.loads, lines.splitlines()):
        tasks.setdefault(line["text"].partition("[ran: ")[2].partition(";")[0], []).append(line["number"])
    return [{"requests": numbers, "continued": []} for numbers in tasks.values() if len(numbers) > 1]


def _tagged(tag: str, value: object) -> str:
    return f"<{tag}>{json.dumps(value)}</{tag}>"
