"""A scripted stand-in for an OpenAI-compatible chat-completions endpoint (streamed where asked), on a loopback port.

    with StubModel() as model:
        model.queue('{"updates": []}', Reply(status=429, retry_after=2))
        ...  # run skilld with model = "openai/stub" and model_base_url = model.base_url
        assert len(model.bodies) == 1

Requests are answered from the queue in order, else by `decide(body)`, else with HTTP 400: an unscripted request is a
finding, and 400 is not tried again.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from support import wire_chat
from support.loopback import Handler, LoopbackServer
from support.waiting import LIMIT
from support.wire import Say

Body = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer. `text` is what the model says; `raw` is sent in place of a well-formed completion.

    `delay` and `retry_after` are seconds; a `status` other than 200 is sent with an error body in OpenAI's shape.
    """

    text: str = ""
    status: int = 200
    retry_after: float | None = None
    delay: float = 0.0
    raw: bytes | None = None
    tokens_in: int = 100
    tokens_out: int = 10


GARBAGE = Reply(raw=b"\x00<html>no model here")
UNSCRIPTED = Reply(text="the test scripted no answer for this request", status=400)


class StubModel(LoopbackServer):
    """Answers chat completions by script; `bodies` and `headers` hold what was asked, in the order of arrival."""

    def __init__(self, decide: Callable[[Body], Reply | str] | None = None) -> None:
        super().__init__()
        self.decide = decide
        self.bodies: list[Body] = []
        self.headers: list[dict[str, str]] = []
        self._queue: deque[Reply] = deque()

    @property
    def base_url(self) -> str:
        """What a client is given as the base URL of the API."""
        return self.origin + "/v1"

    def queue(self, *replies: Reply | str) -> None:
        """Append answers to the script; a plain string is a reply with that text."""
        with self.changed:
            self._queue.extend(_as_reply(reply) for reply in replies)

    def wait_for_requests(self, count: int) -> None:
        """Wait until `count` requests have arrived in all."""
        with self.changed:
            arrived = self.changed.wait_for(lambda: len(self.bodies) >= count, LIMIT)
        assert arrived, f"waited {LIMIT:g} s for {count} model requests, {len(self.bodies)} came"

    def answer_get(self, request: Handler) -> None:
        models = {"object": "list", "data": [{"id": "stub", "object": "model", "owned_by": "tests"}]}
        request.send_body(200, json.dumps(models).encode())

    def answer_post(self, request: Handler, body: bytes) -> None:
        asked: Body = json.loads(body)
        with self.changed:
            self.bodies.append(asked)
            self.headers.append(dict(request.headers))
            scripted = self._queue.popleft() if self._queue else None
            self.changed.notify_all()
        reply = scripted or (_as_reply(self.decide(asked)) if self.decide else UNSCRIPTED)
        self.pause(reply.delay)
        wait = {} if reply.retry_after is None else {"Retry-After": f"{reply.retry_after:g}"}
        if asked.get("stream") and reply.status == HTTPStatus.OK and reply.raw is None:
            request.send_body(HTTPStatus.OK, wire_chat.stream(Say(reply.text)).encode(), kind="text/event-stream")
        else:
            request.send_body(reply.status, _payload(reply, asked), headers=wait)


def request_text(body: Body) -> str:
    """Return the text of all messages of a request, separated by blank lines."""
    return "\n\n".join(_text(message.get("content")) for message in body["messages"])


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "".join(part.get("text", "") for part in content or [])


def _as_reply(reply: Reply | str) -> Reply:
    return Reply(text=reply) if isinstance(reply, str) else reply


def _payload(reply: Reply, asked: Body) -> bytes:
    if reply.raw is not None:
        return reply.raw
    if reply.status != 200:
        return json.dumps({"error": {"message": reply.text or f"scripted {reply.status}", "type": "stub"}}).encode()
    completion = {
        "id": "chatcmpl-stub",
        "object": "chat.completion",
        "created": 0,
        "model": asked.get("model", "stub"),
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": reply.text}}],
        "usage": {
            "prompt_tokens": reply.tokens_in,
            "completion_tokens": reply.tokens_out,
            "total_tokens": reply.tokens_in + reply.tokens_out,
        },
    }
    return json.dumps(completion).encode()
