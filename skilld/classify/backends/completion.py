"""Sets up litellm and converts its answers to text, its errors to skilld's, and its usage to costs.

litellm's traps, measured on 1.106: it fetches a price list at import unless told not to; it retries twice unless told
not to, and `num_retries` loses the real error; its timeout is per socket read, so only the worker's wall clock is a
reliable limit; it never validates a reply against a schema. It takes seconds and 180 MB, so only a worker imports it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from skilld.classify.backends.agent_cli.base import host_of
from skilld.classify.backends.choose import model_address
from skilld.classify.json_answer import BadReplyError
from skilld.errors import RetryError, SkilldError
from skilld.types import Usage
from skilld.values import value_class


@value_class
class Rates:
    """US dollars per token: read, written, read from the provider's cache, and stored in it."""

    read: float
    written: float
    cached: float
    kept: float

    def of(self, read: int, written: int, cached: int = 0, kept: int = 0) -> float:
        """Return the price of so many tokens."""
        return read * self.read + written * self.written + cached * self.cached + kept * self.kept


# Providers whose API enforces a schema itself; for others litellm would use a tool, and skilld offers no tools.
_SCHEMA_PROVIDERS = frozenset({"azure", "gemini", "groq", "mistral", "openai", "openrouter", "vertex_ai", "xai"})
_LOCAL_PROVIDERS = frozenset({"ollama", "ollama_chat"})  # enforce it for all models, which litellm does not list
# Ollama silently cuts the beginning of a prompt that exceeds its context, mostly 4,096 tokens (its docs/faq). Few
# sizes, since it reloads the model for each.
_CONTEXT_SIZES = (8192, 16384, 32768)
_CHARACTERS_PER_TOKEN = 3  # a low estimate
_TITLE = "Could not ask the model"
_REMEDY = "Check the settings: skilld config show"
_KEY_REJECTED = "the provider rejected the key"
_NO_MODEL = "the provider has no such model"
_REQUEST_REJECTED = "the provider rejected the request"
_TOO_LONG = "the request was too long for the model"
# By class name, because importing litellm's exceptions takes as long as litellm; by status, because 402, 403 and 413
# arrive as a bare APIError (measured on 1.106, tests/unit/test_model_errors.py).
_TEMPORARY = {
    "RateLimitError": "too many requests",
    "ServiceUnavailableError": "the provider is overloaded",
    "Timeout": "timed out",
}
_PERMANENT: dict[str | int, str] = {
    "AuthenticationError": _KEY_REJECTED,
    "PermissionDeniedError": _KEY_REJECTED,
    "NotFoundError": _NO_MODEL,
    "BadRequestError": _REQUEST_REJECTED,
    "UnprocessableEntityError": _REQUEST_REJECTED,
    "UnsupportedParamsError": _REQUEST_REJECTED,
    "ContextWindowExceededError": _TOO_LONG,
    "ContentPolicyViolationError": "the provider's content policy blocked the request",
    402: "the provider requires payment",
    403: _KEY_REJECTED,
    405: _NO_MODEL,
    413: _TOO_LONG,
}
# Failures of a connection. litellm turns them, and unreadable answers, into status 500 (also on 1.106).
_CONNECTION_CLOSED = "it closed the connection without an answer"
_NOT_CONNECTED = "could not connect"
_CONNECTION_CAUSES = {
    "ConnectError": _NOT_CONNECTED,
    "ConnectTimeout": _NOT_CONNECTED,
    "ReadError": _CONNECTION_CLOSED,
    "RemoteProtocolError": _CONNECTION_CLOSED,
}
_GENERIC_ERRORS = frozenset({"APIConnectionError", "APIError", "InternalServerError"})
_UNREADABLE = "it answered, but not in the form of this provider's API"
_RETRY_AFTER_422 = "drop_params_from_unprocessable_entity_error"
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_OPTION_CAUSES = frozenset({_REQUEST_REJECTED, _TOO_LONG})


class RequestRejectedError(SkilldError):
    """The provider rejected the request, maybe because of its options."""

    def __init__(self, cause: str = _REQUEST_REJECTED) -> None:
        super().__init__(_TITLE, cause, _REMEDY)


class NotConnectedError(RetryError):
    """No connection to the provider was made, so it was asked nothing."""


def load_litellm() -> Any:  # noqa: ANN401 - an untyped module
    """Import litellm, configured to print and fetch nothing."""
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    os.environ["LITELLM_MODE"] = "PRODUCTION"  # prevents it from reading .env files
    import httpx
    import litellm
    from litellm.llms.openai import openai

    # All providers' clients follow a redirect to any address, with the prompt and any key outside of `Authorization`.
    setattr(httpx.Response, "has_redirect_location", False)  # noqa: B010 - a property, for mypy
    setattr(openai, _RETRY_AFTER_422, _do_not_retry)  # otherwise it makes a call that nobody counts
    litellm.suppress_debug_info = True
    litellm.drop_params = True  # some models accept no temperature
    return litellm


def _do_not_retry(error: Exception, _options: object) -> None:
    raise error


def supports_schema(litellm: Any, model: str) -> bool:  # noqa: ANN401 - an untyped module
    """Whether a JSON schema can be enforced for a model."""
    provider = _provider(model)
    return provider in _LOCAL_PROVIDERS or (
        provider in _SCHEMA_PROVIDERS and bool(litellm.supports_response_schema(model=model))
    )


def context_options(model: str, characters: int, answer: int) -> dict[str, int]:
    """Return the option for a local model's context: room for so many characters and an answer of so many tokens."""
    if _provider(model) not in _LOCAL_PROVIDERS:
        return {}
    wanted = characters // _CHARACTERS_PER_TOKEN + answer
    return {"num_ctx": next((size for size in _CONTEXT_SIZES if size >= wanted), _CONTEXT_SIZES[-1])}


def message_text(message: Any) -> str:  # noqa: ANN401 - a value of an untyped module
    """Return the text of a message, or the arguments of the single tool call that some models answer with.

    Servers that separate a model's thoughts sometimes take everything for thoughts. Raises BadReplyError if it is
    empty.
    """
    calls = getattr(message, "tool_calls", None) or []
    called = calls[0].function.arguments if len(calls) == 1 else None
    for text in (getattr(message, "content", None), called, getattr(message, "reasoning_content", None)):
        if isinstance(text, str) and text.strip():
            return text
    raise BadReplyError("it is empty")


def answer_usage(litellm: Any, model: str, response: Any, asked: int) -> Usage:  # noqa: ANN401 - an untyped module
    """Return the usage of one answer to a question of `asked` characters."""
    used = getattr(response, "usage", None)
    choices = getattr(response, "choices", None) or []
    written = getattr(choices[0].message, "content", None) or "" if choices else ""
    reported = int(getattr(used, "prompt_tokens", 0) or 0), int(getattr(used, "completion_tokens", 0) or 0)
    tokens_in, tokens_out = counted_tokens(*reported, asked, len(written))
    try:
        costs = litellm.cost_per_token(model=model, prompt_tokens=tokens_in, completion_tokens=tokens_out)
        usd = float(sum(costs))
    except Exception:  # noqa: BLE001 - a model without a known price; litellm raises several types for it
        usd = 0.0
    return Usage(1, tokens_in, tokens_out, usd)


def expected_usage(litellm: Any, model: str, asked: int) -> Usage:  # noqa: ANN401 - an untyped module
    """Return the least that a question of `asked` characters will use: the call and its input."""
    return answer_usage(litellm, model, None, asked)


def counted_tokens(tokens_in: int, tokens_out: int, asked: int, written: int) -> tuple[int, int]:
    """Return the tokens that an endpoint reported, or an estimate by characters if it reported none.

    Many local servers and proxies report none, and the daily budget must have a limit there, too.
    """
    if tokens_in > 0:
        return tokens_in, tokens_out
    return asked // _CHARACTERS_PER_TOKEN, max(tokens_out, written // _CHARACTERS_PER_TOKEN)


def token_rates(model: str) -> Rates | None:
    """Return the rates of a model from litellm's own list; None if it has no price. Nothing is fetched."""
    litellm = load_litellm()
    try:
        known = litellm.get_model_info(model)
    except Exception:  # noqa: BLE001 - a model that is not in the list; litellm raises several types for it
        return None
    if known["key"] not in litellm.model_cost and not known["litellm_provider"].startswith("ollama"):
        return None  # litellm only recognizes the family by the name ("claude-..."), with a price of 0
    read, written = known.get("input_cost_per_token"), known.get("output_cost_per_token")
    if read is None or written is None:
        return None
    cached, kept = known.get("cache_read_input_token_cost"), known.get("cache_creation_input_token_cost")
    return Rates(float(read), float(written), float(cached or read), float(kept or read))


def to_skilld_error(error: Exception, model: str, base_url: str | None = None) -> SkilldError:
    """Convert an error of litellm, whose own text may contain the prompt."""
    kind = type(error).__name__
    why = _PERMANENT.get(kind) or _PERMANENT.get(getattr(error, "status_code", ""))
    if why is not None:
        return RequestRejectedError(why) if why in _OPTION_CAUSES else SkilldError(_TITLE, why, _REMEDY)
    headers = getattr(error, "litellm_response_headers", None)
    after = headers.get("retry-after") if isinstance(headers, Mapping) else None
    seconds = float(after) if isinstance(after, str) and after.replace(".", "", 1).isdecimal() else None
    host = model_address(model, base_url, os.environ) or _tried_host(error) or "the provider"
    where = f"no usable answer from {host}"
    if getattr(error, "status_code", 0) in _REDIRECTS:
        where += ", which redirects to another URL; if you trust that URL, set model_base_url to it"
    cause = _temporary_cause(kind, error)
    made = NotConnectedError if cause == _NOT_CONNECTED else RetryError
    return made(_TITLE, f"{where}; {cause}", after=seconds)


def _temporary_cause(kind: str, error: Exception) -> str:
    if kind in _GENERIC_ERRORS:
        behind = list(_causes(error))
        if found := next(
            (_CONNECTION_CAUSES[name] for one in behind if (name := type(one).__name__) in _CONNECTION_CAUSES), ""
        ):
            return found
        # A status from a server is raised by the library that read it.
        if not any(type(one).__module__.partition(".")[0] in {"httpx", "openai"} for one in behind):
            return _UNREADABLE
    status = getattr(error, "status_code", None)
    return _TEMPORARY.get(kind) or (f"HTTP status {status}" if isinstance(status, int) else "an unknown error")


def _tried_host(error: Exception) -> str:
    """Return the host that a failed request was sent to, empty if unknown; litellm's own errors name a made-up one."""
    for one in _causes(error):
        if type(one).__module__.partition(".")[0] in {"httpx", "openai"}:
            with suppress(AttributeError, RuntimeError):  # it has no request
                return host_of(str(one.request.url))  # type: ignore[attr-defined]
    return ""


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield the causes of an error, the newest first."""
    seen: set[int] = set()
    cause = error.__cause__ or error.__context__
    while cause is not None and id(cause) not in seen:
        seen.add(id(cause))
        yield cause
        cause = cause.__cause__ or cause.__context__


def _provider(model: str) -> str:
    return model.partition("/")[0] if "/" in model else "openai"
