"""Which records of Claude Code a person sent, by what the records say of themselves.

Takes one user record; gives what was typed, or a short reason why nobody typed it. The newer versions name the sender
(`origin`), which is the client's own test; what older ones lack is made up for by flags and wrappers. Keeps no state.
"""

from __future__ import annotations

from skilld.agents.claude_code.records import Record, blocks, texts
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
