"""Which back-end is chosen: a stand-in for Ollama, and what is found but never used unasked."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator

import pytest

from skilld.classify.backends import Spec
from skilld.classify.backends import choose as backends_choose
from skilld.classify.backends.choose import choose
from support.loopback import Handler, LoopbackServer
from support.rows import for_each
from support.waiting import LIMIT


class Ollama(LoopbackServer):
    """Answers /api/tags with what it is given."""

    def __init__(self) -> None:
        super().__init__()
        self.status = 200
        self.body = json.dumps({"models": [{"name": "qwen3:4b", "details": {"family": "qwen3"}}]}).encode()
        self.requests: list[str] = []

    def answer_get(self, request: Handler) -> None:
        self.requests.append(request.path)
        request.send_body(self.status, self.body)

    def answer_post(self, request: Handler, body: bytes) -> None:
        raise AssertionError(f"nothing is sent to find out, not {len(body)} bytes to {request.path}")

    @property
    def address(self) -> str:
        return self.origin.removeprefix("http://")


@pytest.fixture
def ollama() -> Iterator[Ollama]:
    with Ollama() as server:
        yield server


@pytest.fixture(autouse=True)
def short_timeout(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have an answer waited for however busy this machine is."""
    monkeypatch.setattr(backends_choose, "_ANSWER_SECONDS", LIMIT)


def _closed_port() -> str:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{probe.getsockname()[1]}"


def _choose(host: str, **environment: str) -> Spec:
    return choose("auto", None, None, 60.0, {"OLLAMA_HOST": host, **environment}).spec


def test_the_users_choice_always_wins(ollama: Ollama) -> None:
    there = {"OLLAMA_HOST": ollama.address, "OPENAI_API_KEY": "x"}
    assert choose("offline", None, None, 60.0, there).spec == Spec("offline")
    assert choose("openai/x", "http://h/v1", "k", 60.0, there).spec == Spec("openai/x", "http://h/v1", "k", 60.0)
    assert choose("offline", None, None, 60.0, there).why == "you chose it"
    assert ollama.requests == []


def test_a_local_ollama_that_answers_is_used(ollama: Ollama) -> None:
    assert _choose(ollama.address) == Spec("ollama_chat/qwen3:4b", ollama.origin, None, 60.0)
    assert ollama.requests == ["/api/tags"]


@pytest.mark.parametrize(
    "form", ["http://127.0.0.1:{port}", "localhost:{port}", "0.0.0.0:{port}", ":{port}", "http://:{port}/"]
)
def test_the_ollama_address_is_parsed_as_ollama_does(ollama: Ollama, form: str) -> None:
    port = ollama.address.rpartition(":")[2]
    spec = _choose(form.format(port=port))
    assert spec.model == "ollama_chat/qwen3:4b"
    assert str(spec.base_url).endswith(f":{port}")


def test_an_embedding_only_model_is_skipped(ollama: Ollama) -> None:
    models = [
        {"name": "nomic-embed-text:latest", "details": {"family": "nomic-bert"}},
        {"name": "all-minilm:l6", "details": {"family": "bert"}},
        {"name": "llama3.2:3b"},
    ]
    ollama.body = json.dumps({"models": models}).encode()
    assert _choose(ollama.address).model == "ollama_chat/llama3.2:3b"


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (200, b'{"models": []}'),
        (200, b'{"models": null}'),
        (200, b'{"models": ["x"]}'),
        (200, b'{"models": [{"name": "\\u001b[31m"}]}'),
        (200, b'{"models": [{"name": "a", "details": "b"}]}'),
        (200, b"[]"),
        (200, b"<html>"),
        (200, b"[" * 100_000),
        (500, b"{}"),
    ],
)
def test_an_invalid_answer_falls_back_to_offline(ollama: Ollama, status: int, body: bytes) -> None:
    ollama.status, ollama.body = status, body
    assert _choose(ollama.address) == Spec("offline")


@for_each(
    "host",
    [
        "example.org:11434",
        "192.0.2.1",
        "http://user@example.org:80",
        "127.0.0.1:99999",
        "127.0.0.1:x",
        "[::1",
        "https://localhost:1",
    ],
)
def test_a_remote_ollama_is_never_contacted(host: str) -> None:
    assert _choose(host) == Spec("offline")


def test_without_any_backend_it_is_offline_and_says_so() -> None:
    choice = choose("auto", None, None, 60.0, {"OLLAMA_HOST": _closed_port()})
    assert choice.spec == Spec("offline")
    assert choice.why == "recognizes only explicit wording; to choose a judge: skilld setup"


def test_a_chosen_model_is_suggested_no_alternative() -> None:
    assert choose("openai/gpt-5", None, None, 60.0, {"OPENAI_API_KEY": "sk-secret"}).found == ()


def test_a_found_api_key_is_mentioned_but_not_used() -> None:
    choice = choose("auto", None, None, 60.0, {"OLLAMA_HOST": _closed_port(), "OPENAI_API_KEY": "sk-secret"})
    assert choice.spec == Spec("offline")
    assert "OPENAI_API_KEY is set; to use it: skilld config set model openai/gpt-5-mini" in choice.found
    assert "sk-secret" not in repr(choice)
