"""What a session's own log tells of its end and its cost. Pure: one agent's records in, two facts out.

Claude Code records tokens per answer, pi and opencode the money as well; the others tell neither. What is not told
stays unknown and is said so. Field names as they stand in the logs (docs/agents.md names the versions).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from skilld.classify.backends.completion import Rates


class Ending(StrEnum):
    """How a session's last turn came out, as far as its log tells."""

    COMPLETED = "completed"
    INTERRUPTED = "interrupted"
    FAILED = "failed"  # an error is the last thing in it
    UNFINISHED = "unfinished"  # it stops while the agent was at work
    UNKNOWN = "unknown"


_INTERRUPTED = "[Request interrupted by user"
_CLAUDE_ENDS = {"end_turn": Ending.COMPLETED, "stop_sequence": Ending.COMPLETED, "tool_use": Ending.UNFINISHED}
_PI_ENDS = {"stop": Ending.COMPLETED, "aborted": Ending.INTERRUPTED, "error": Ending.FAILED} | {
    "toolUse": Ending.UNFINISHED
}
_CODEX_ENDS = {"task_complete": Ending.COMPLETED, "turn_aborted": Ending.INTERRUPTED, "error": Ending.FAILED}
# A record without these bytes near its beginning is none that tells: tool output is the bulk of a log.
_HEAD = 400
_TELLING = {"codex": (b"event_msg",)}


@dataclass(slots=True)
class Log:
    """Takes in the records of one session. `usd` is what they name as money, None where they name none."""

    ending: Ending = Ending.UNKNOWN
    usd: float | None = None
    _tokens: dict[str, tuple[str, tuple[int, int, int, int]]] = field(default_factory=dict)

    def see(self, agent: str, record: bytes) -> None:
        """Take in one record; what cannot be read tells nothing."""
        reader = _READERS.get(agent)
        if reader is None or not any(mark in record[:_HEAD] for mark in _TELLING.get(agent, (b"",))):
            return
        try:
            value = json.loads(record)
            if isinstance(value, dict):
                reader(self, value)
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            return

    def cost(self, rates: Callable[[str], Rates | None]) -> float | None:
        """Return the US dollars of the session: as its log says, or by the models' prices; None where unknown."""
        if self.usd is not None or not self._tokens:
            return self.usd
        total = 0.0
        for model, counts in self._tokens.values():
            if not any(counts):
                continue  # an answer that no model gave
            price = rates(model)
            if price is None:
                return None
            total += price.of(*counts)
        return total

    def spend(self, usd: object) -> None:
        """Take in money that a record names."""
        if isinstance(usd, int | float) and not isinstance(usd, bool) and usd >= 0:
            self.usd = (self.usd or 0.0) + usd

    def use(self, message: str, model: str, usage: Mapping[str, Any]) -> None:
        """Take in the tokens of one answer; several records of it repeat them."""
        names = "input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"
        read, written, cached, kept = (int(usage.get(name) or 0) for name in names)
        self._tokens[message] = (model, (read, written, cached, kept))


def _claude(log: Log, record: dict[str, Any]) -> None:
    message = record.get("message")
    kind = record.get("type")
    if kind not in {"user", "assistant"} or not isinstance(message, dict) or record.get("isSidechain"):
        return
    if kind == "user":
        interrupted = _INTERRUPTED in json.dumps(message.get("content"))[:200]
        if interrupted or not record.get("isMeta"):
            log.ending = Ending.INTERRUPTED if interrupted else Ending.UNFINISHED
        return
    if record.get("isApiErrorMessage"):
        log.ending = Ending.FAILED
        return
    log.ending = _CLAUDE_ENDS.get(str(message.get("stop_reason")), Ending.COMPLETED)
    if "costUSD" in record:
        log.spend(record["costUSD"])
    elif isinstance(usage := message.get("usage"), dict):
        log.use(str(message.get("id")), str(message.get("model")), usage)


def _codex(log: Log, record: dict[str, Any]) -> None:
    payload = record.get("payload")
    if record.get("type") == "event_msg" and isinstance(payload, dict):
        kind = str(payload.get("type"))
        if kind == "task_started" and log.ending is not Ending.UNKNOWN:  # older versions record no end of a task
            log.ending = Ending.UNFINISHED
        log.ending = _CODEX_ENDS.get(kind, log.ending)


def _opencode(log: Log, record: dict[str, Any]) -> None:
    rows = record.get("message")
    data = json.loads(rows[0]["data"]) if rows else {}
    if data.get("role") == "user":
        log.ending = Ending.UNFINISHED
    if data.get("role") != "assistant":
        return
    log.spend(data.get("cost"))
    if error := data.get("error"):
        log.ending = Ending.INTERRUPTED if "Abort" in str(error.get("name")) else Ending.FAILED
    else:
        log.ending = Ending.COMPLETED if data.get("finish") == "stop" else Ending.UNFINISHED


def _pi(log: Log, record: dict[str, Any]) -> None:
    message = record.get("message")
    if not isinstance(message, dict):
        return
    if message.get("role") == "assistant":
        log.ending = _PI_ENDS.get(str(message.get("stopReason")), Ending.UNKNOWN)
        usage = message.get("usage")
        cost = usage.get("cost") if isinstance(usage, dict) else None
        if isinstance(cost, dict):
            log.spend(cost.get("total"))
    elif message.get("role") == "user":
        log.ending = Ending.UNFINISHED


_READERS: dict[str, Callable[[Log, dict[str, Any]], None]] = {
    "claude-code": _claude,
    "codex": _codex,
    "opencode": _opencode,
    "pi": _pi,
}
