"""Which records of Claude Code a person sent, by what the records say of themselves.

Takes one user record; gives what was typed, or a short reason why nobody typed it. The newer versions name the sender
(`origin`), which is the client's own test; what older ones lack is made up for by flags and wrappers. Keeps no state.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from skilld.agents.claude_code.records import Record, blocks, items, string, texts
from skilld.agents.claude_code.wrappers import Words, words
from skilld.types import How

_FLAGS = (
    ("isMeta", "meta"),
    ("turnCompanion", "meta"),
    ("isCompactSummary", "compact-summary"),
    ("isVisibleInTranscriptOnly", "transcript-only"),
    ("verifiedSlackHumanTurn", "other-channel"),
    ("planContent", "plan"),
    ("textNotTyped", "injected"),
    ("handedOff", "injected"),
)
_FLAG_NAMES = frozenset(flag for flag, _ in _FLAGS)
_AUTOMATED_ENTRYPOINTS = frozenset(("mcp", "claude-code-github-action"))
_BLOCKED = "UserPromptSubmit operation blocked by hook"
_BLOCKED_PROMPT = "\n\nOriginal prompt: "


def is_signed(record: Record) -> bool:
    """Whether the client says that a human sent it. It says so of no typed command."""
    return record.origin == "human"


def is_automated(record: Record) -> bool:
    """Whether a program started the client for this record: `claude -p`, the SDK, a workflow.

    Desktop and mobile apps use the SDK too; their prompts are signed. One file can hold both sorts, so this is asked
    of each record.
    """
    entrypoint = record.string("entrypoint")
    if not entrypoint:
        return record.string("promptSource") == "sdk"
    return entrypoint.startswith("sdk") or entrypoint in _AUTOMATED_ENTRYPOINTS


def flagged(record: Record) -> str:
    """Return the reason for which a user record is not a prompt of a person by its flags alone, else nothing."""
    reason = ""
    if not _FLAG_NAMES.isdisjoint(record.fields):
        reason = next((name for flag, name in _FLAGS if record.get(flag)), "")
    if not reason and record.origin not in {"", "human"}:
        reason = "task-notification" if record.origin == "task-notification" else "injected"
    if not reason and record.string("promptSource") == "system":
        reason = "injected"
    return reason


def prompt(record: Record) -> Words | str:
    """Return what a person typed in a user record that carries no tool result, or the reason why nobody did."""
    if reason := flagged(record):
        return reason
    found = words(texts(record.content), signed=is_signed(record), bare=not record.string("promptSource"))
    if found == "empty" and any(block.get("type") == "image" for block in blocks(record.content)):
        return "image-only"
    return found


def attached(attachment: Record) -> Words | str:
    """Return what was typed in a prompt that an attachment delivers in mid-turn, or the reason why nobody did."""
    if reason := flagged(attachment):
        return reason
    if attachment.string("commandMode") != "prompt":
        return "queued-command"
    found = words(texts(attachment.get("prompt")), signed=is_signed(attachment))
    return found if isinstance(found, str) or found.how is How.TYPED else "queued-command"


def blocked_prompt(record: Record) -> str:
    """Return the prompt that a hook of the person kept from the agent: a system record is its only trace.

    The hook's own words come before it; where the phrase stands twice, only what follows the last is surely typed.
    """
    content = record.string("content")
    if record.string("subtype") != "informational" or not content.startswith(_BLOCKED):
        return ""
    return content.rpartition(_BLOCKED_PROMPT)[2] if _BLOCKED_PROMPT in content else ""


# Who sits at a Claude Code session, and where: what later records need of the earlier ones.
#
# One file can hold a person's turns and those of `claude -p`, so the question is put again for each record. Takes
# records in order; gives whether each belongs to what a person does.


class Presence:
    """Follows one transcript. All it keeps over a restart is a folder, a version and two flags."""

    def __init__(self, state: Mapping[str, Any]) -> None:
        self.cwd = string(state.get("cwd")) or None
        self.version = tuple(part for part in items(state.get("version")) if isinstance(part, int))
        # As of the last record; nobody is known to be there before the first.
        self.person = state.get("person") is True
        # Whether a human sent the last prompt of a session that a program started (desktop and mobile apps).
        self._signed = state.get("signed") is True

    def state(self) -> dict[str, Any]:
        """Return what must outlive a restart."""
        return {"cwd": self.cwd, "version": list(self.version), "person": self.person, "signed": self._signed}

    def follow(self, record: Record) -> bool:
        """Take note of a record; return whether it belongs to what a person does, not to a headless run."""
        self.cwd = record.cwd or self.cwd
        self.version = record.version or self.version
        if is_automated(record):
            if record.type == "user" and not flagged(record) and not any(record.results()):
                self._signed = is_signed(record)
            self.person = self._signed
        else:
            self.person = True
        return self.person
