"""A loopback stand-in for the model APIs of real agent clients, streamed: Anthropic's, OpenAI's two and Gemini's.

    with StubAgents() as stub:
        stub.rules = [Rule("release notes", Call("Skill", {"skill": "release-notes"}), Say("Done."))]
        ...  # start a client with stub.origin (Claude Code, Gemini CLI) or stub.origin + "/v1"

A rule's first step answers a prompt that contains its words, each further step answers the next tool result of the
same thread. Prompts without a rule get a short text, and so do requests that offer no tools: those are the clients'
own side calls (titles, summaries) and consume nothing.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from types import ModuleType

from support import wire_chat, wire_gemini, wire_messages, wire_responses
from support.loopback import Handler, LoopbackServer
from support.waiting import NEVER
from support.wire import Asked, Call, Say, Step

__all__ = ["Call", "Rule", "Say", "Step", "StubAgents"]

# By the last word of the path: Gemini's has the name of a model before it.
_WIRES: Mapping[str, ModuleType] = {
    "messages": wire_messages,
    "responses": wire_responses,
    "completions": wire_chat,
    "streamGenerateContent": wire_gemini,
}
_UNSCRIPTED = Say("Understood.")
_SIDE_CALL = Say("A short title")


@dataclass(frozen=True, slots=True, init=False)
class Rule:
    """When the newest user text contains `words`, answer with these steps, one per request."""

    words: str
    steps: tuple[Step, ...]

    def __init__(self, words: str, *steps: Step) -> None:
        object.__setattr__(self, "words", words)
        object.__setattr__(self, "steps", steps)


class StubAgents(LoopbackServer):
    """Answers all wire formats by `rules`, which a test may change at any time; `log` keeps every request."""

    def __init__(self, *rules: Rule) -> None:
        super().__init__()
        self.rules: list[Rule] = list(rules)
        self.models: list[str] = []  # listed for clients that take no other
        self.log: list[Asked] = []
        self._pending: dict[str, list[Step]] = {}
        self._may_answer = threading.Event()
        self._may_answer.set()

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold all answers back while the context lasts: the client is busy, and the person can act meanwhile."""
        self._may_answer.clear()
        try:
            yield
        finally:
            self._may_answer.set()

    def main_requests(self) -> list[Asked]:
        """Return the requests that offered tools: the conversation itself, without the client's side calls."""
        return [asked for asked in self.log if asked.has_tools]

    def answer_get(self, request: Handler) -> None:
        models = [{"id": name, "object": "model"} for name in self.models]
        request.send_body(200, json.dumps({"object": "list", "data": models}).encode())

    def answer_post(self, request: Handler, body: bytes) -> None:
        path = request.path.partition("?")[0]
        if path == "/v1/messages/count_tokens":
            request.send_body(200, json.dumps({"input_tokens": 100}).encode())
            return
        if path.endswith(":generateContent"):
            request.send_body(200, wire_gemini.side_answer(_SIDE_CALL.text))
            return
        wire = _WIRES.get(re.split("[/:]", path)[-1])
        if wire is None:
            request.send_body(200, b"{}")
            return
        asked = wire.read(json.loads(body))
        with self.changed:
            step = self._next_step(asked)
            self.log.append(asked)
        self.pause(step.delay)
        self._may_answer.wait(NEVER)
        request.send_body(200, wire.stream(step).encode(), kind="text/event-stream")

    def _next_step(self, asked: Asked) -> Step:
        if not asked.has_tools:
            return _SIDE_CALL
        if asked.after_tool:
            pending = self._pending.get(asked.thread, [])
        else:
            rule = next((rule for rule in self.rules if rule.words in asked.newest), None)
            pending = list(rule.steps) if rule else []
            self._pending[asked.thread] = pending
        return pending.pop(0) if pending else _UNSCRIPTED
