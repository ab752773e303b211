"""The values that flow between the stages, in the words of the glossary in docs/architecture.md.

`events` are what is read out of transcripts, `judging` is what a batch is asked about and what comes of it, `proposals`
are what is proposed. Imports nothing else of skilld. Everything here is frozen: a stage takes values and returns new
ones.
"""

from __future__ import annotations

from skilld.types.events import (
    Event,
    How,
    Ignored,
    Malformed,
    RawLine,
    Reply,
    SessionEnd,
    SkillUse,
    Span,
    ToolCall,
    ToolEvent,
    ToolOutcome,
    ToolResult,
    Turn,
)
from skilld.types.judging import Cause, ClosedBy, Kind, Message, Outcome, SkillDoc, SkillRef, TargetKind, Update, Usage
from skilld.types.proposals import BODY_OPS, Evidence, Op, Operation, Proposal, State

__all__ = [
    "BODY_OPS",
    "Cause",
    "ClosedBy",
    "Event",
    "Evidence",
    "How",
    "Ignored",
    "Kind",
    "Malformed",
    "Message",
    "Op",
    "Operation",
    "Outcome",
    "Proposal",
    "RawLine",
    "Reply",
    "SessionEnd",
    "SkillDoc",
    "SkillRef",
    "SkillUse",
    "Span",
    "State",
    "TargetKind",
    "ToolCall",
    "ToolEvent",
    "ToolOutcome",
    "ToolResult",
    "Turn",
    "Update",
    "Usage",
]
