"""One request to litellm: set up our way, its answer as text, its errors as ours, its cost.

litellm's traps, measured on 1.106: it fetches a price list at import unless told not to; it retries twice unless told
not to, and `num_retries` loses the real error; its timeout is per socket read, so the worker's wall clock is the limit
that holds; a reply is never validated against a schema. It costs seconds and 180 MB, so only a worker imports it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from skilld.classify.backends.choose import address
from skilld.classify.json_answer import BadReplyError
from skilld.errors import RetryError, SkilldError
from skilld.types import Usage

# What a model's tokens cost.


@dataclass(frozen=True, slots=True)
class Rates:
    """US dollars for each token: read, written, read from and put into the provider's cache."""

    read: float
    written: float
    cached: float
    kept: float

    def of(self, read: int, written: int, cached: int = 0, kept: int = 0) -> float:
        """Return the price of so many tokens."""
        return read * self.read + written * self.written + cached * self.cached + kept * self.kept


# Whose API holds a model to a schema by itself; for others litellm would make a tool of it, and we offer no tools.
_HOLD_TO_A_SCHEMA = frozenset({"azure", "gemini", "groq", "mistral", "openai", "openrouter", "vertex_ai", "xai"})
_LOCAL = frozenset({"ollama", "ollama_chat"})  # hold every model to it; litellm's list knows none of their models
# Ollama cuts the beginning off what is longer than the context it was started with, in most set-ups 4,096 tokens, and
# says nothing (its docs/faq). Few sizes, since it loads the model anew for each.
_CONTEXTS = (8192, 16384, 32768)
_PER_TOKEN = 3  # characters, counted low
_TITLE = "Could not ask the model"
_REMEDY = "Check the settings: skilld config show"
_KEY = "the provider rejected the key"
_MODEL = "the provider has no such model"
_REQUEST = "the provider rejected the request"
_LENGTH = "the request was too long for the model"
# By class name, because importing litellm's exceptions costs as much as litellm; by status, because 402, 403 and 413
# come back as a bare APIError (measured on 1.106, tests/unit/test_model_errors.py).
_PASSING = {
    "RateLimitError": "too many requests",
    "ServiceUnavailableError": "the provider is overloaded",
    "Timeout": "timed out",
}
_PERMANENT: dict[str | int, str] = {
    "AuthenticationError": _KEY,
    "PermissionDeniedError": _KEY,
    "NotFoundError": _MODEL,
    "BadRequestError": _REQUEST,
    "UnprocessableEntityError": _REQUEST,
    "UnsupportedParamsError": _REQUEST,
    "ContextWindowExceededError": _LENGTH,
    "ContentPolicyViolationError": "the provider's content policy blocked the request",
    402: "the provider requires payment",
    403: _KEY,
    405: _MODEL,
    413: _LENGTH,
}
# What a connection came to. litellm makes a status of 500 of it, and of an answer that it cannot read (on 1.106 too).
_CLOSED = "it closed the connection without an answer"
_CONNECTION = {
    "ConnectError": "could not connect",
    "ConnectTimeout": "could not connect",
    "ReadError": _CLOSED,
    "RemoteProtocolError": _CLOSED,
}
_MADE_UP = frozenset({"APIConnectionError", "APIError", "InternalServerError"})
_UNREADABLE = "it answered, but not in the form of this provider's API"
_ELSEWHERE = frozenset({301, 302, 303, 307, 308})
_MAY_BE_OUR_OPTIONS = frozenset({_REQUEST, _LENGTH})


class NotAcceptedError(SkilldError):
    """The provider did not accept the request as it was put."""

    def __init__(self, cause: str = _REQUEST) -> None:
        super().__init__(_TITLE, cause, _REMEDY)


def library() -> Any:  # noqa: ANN401 - an untyped module
    """Return litellm, made quiet and local."""
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    os.environ["LITELLM_MODE"] = "PRODUCTION"  # else it reads .env files
    import httpx
    import litellm

    # All providers' clients follow a redirect to any address, with the prompt and, but for `Authorization`, the key.
    setattr(httpx.Response, "has_redirect_location", False)  # noqa: B010 - mypy knows it for a property
    litellm.suppress_debug_info = True
    litellm.drop_params = True  # some models take no temperature
    return litellm


def can_be_held(litellm: Any, model: str) -> bool:  # noqa: ANN401 - an untyped module
    """Whether a model can be held to a JSON schema."""
    provider = _provider(model)
    return provider in _LOCAL or (provider in _HOLD_TO_A_SCHEMA and bool(litellm.supports_response_schema(model=model)))


def room_for(model: str, characters: int, answer: int) -> dict[str, int]:
    """Return the option that lets a local model take in so many characters, and answer in so many tokens."""
    if _provider(model) not in _LOCAL:
        return {}
    wanted = characters // _PER_TOKEN + answer
    return {"num_ctx": next((size for size in _CONTEXTS if size >= wanted), _CONTEXTS[-1])}


def text_of(message: Any) -> str:  # noqa: ANN401 - a value of an untyped module
    """Return what a message says: its text, or the arguments of the one tool call that some models make of it.

    Servers that take a model's thoughts out sometimes take all of it for thoughts. Raises BadReplyError if it says
    nothing.
    """
    calls = getattr(message, "tool_calls", None) or []
    called = calls[0].function.arguments if len(calls) == 1 else None
    for text in (getattr(message, "content", None), called, getattr(message, "reasoning_content", None)):
        if isinstance(text, str) and text.strip():
            return text
    raise BadReplyError("it is empty")


def usage_of(litellm: Any, model: str, response: Any) -> Usage:  # noqa: ANN401 - an untyped module
    """Return what one answer cost."""
    used = getattr(response, "usage", None)
    tokens_in = int(getattr(used, "prompt_tokens", 0) or 0)
    tokens_out = int(getattr(used, "completion_tokens", 0) or 0)
    try:
        costs = litellm.cost_per_token(model=model, prompt_tokens=tokens_in, completion_tokens=tokens_out)
        usd = float(sum(costs))
    except Exception:  # noqa: BLE001 - a model without a known price; litellm raises several types for it
        usd = 0.0
    return Usage(1, tokens_in, tokens_out, usd)


def prices(model: str) -> Rates | None:
    """Return what a model's tokens cost, by litellm's own list; None if it names no price. Nothing is fetched."""
    litellm = library()
    try:
        known = litellm.get_model_info(model)
    except Exception:  # noqa: BLE001 - a model that is not in the list; litellm raises several types for it
        return None
    if known["key"] not in litellm.model_cost and not known["litellm_provider"].startswith("ollama"):
        return None  # litellm knows the family by the name ("claude-..."), and answers with a price of 0
    read, written = known.get("input_cost_per_token"), known.get("output_cost_per_token")
    if read is None or written is None:
        return None
    cached, kept = known.get("cache_read_input_token_cost"), known.get("cache_creation_input_token_cost")
    return Rates(float(read), float(written), float(cached or read), float(kept or read))


def as_ours(error: Exception, model: str, base_url: str | None = None) -> SkilldError:
    """Return what litellm raised as an error of ours; its own text may hold the prompt."""
    kind = type(error).__name__
    why = _PERMANENT.get(kind) or _PERMANENT.get(getattr(error, "status_code", ""))
    if why is not None:
        return NotAcceptedError(why) if why in _MAY_BE_OUR_OPTIONS else SkilldError(_TITLE, why, _REMEDY)
    headers = getattr(error, "litellm_response_headers", None)
    after = headers.get("retry-after") if isinstance(headers, Mapping) else None
    seconds = float(after) if isinstance(after, str) and after.replace(".", "", 1).isdecimal() else None
    where = f"no usable answer from {address(model, base_url, os.environ) or 'the provider'}"
    if getattr(error, "status_code", 0) in _ELSEWHERE:
        where += ", which redirects to another URL; if you trust that URL, set model_base_url to it"
    return RetryError(_TITLE, f"{where}; {_passing(kind, error)}", after=seconds)


def _passing(kind: str, error: Exception) -> str:
    if kind in _MADE_UP:
        behind = list(_behind(error))
        if found := next((_CONNECTION[name] for one in behind if (name := type(one).__name__) in _CONNECTION), ""):
            return found
        # A status that a server sent comes from the library that read it.
        if not any(type(one).__module__.partition(".")[0] in {"httpx", "openai"} for one in behind):
            return _UNREADABLE
    status = getattr(error, "status_code", None)
    return _PASSING.get(kind) or (f"HTTP status {status}" if isinstance(status, int) else "an unknown error")


def _behind(error: BaseException) -> Iterator[BaseException]:
    """Yield what an error came from, the newest first."""
    seen: set[int] = set()
    cause = error.__cause__ or error.__context__
    while cause is not None and id(cause) not in seen:
        seen.add(id(cause))
        yield cause
        cause = cause.__cause__ or cause.__context__


def _provider(model: str) -> str:
    return model.partition("/")[0] if "/" in model else "openai"
