"""Any model that litellm knows. The only import of litellm; it costs seconds and 180 MB, so only a worker does it.

litellm's traps, measured on 1.106: it fetches a price list at import unless told not to; it retries twice unless told
not to, and `num_retries` loses the real error; its timeout is per socket read, so the worker's wall clock is the limit
that holds; a reply is never validated against a schema.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from skilld.classify import prompt, schema
from skilld.classify.backends import Spec
from skilld.classify.backends.rates import Rates
from skilld.classify.reply import BadReplyError, parse_changes, parse_operations, parse_updates
from skilld.errors import RetryError, SkilldError
from skilld.types import Message, Operation, SkillDoc, Update, Usage

_MAX_TOKENS = 4000
# Whose API holds a model to a schema by itself; for others litellm would make a tool of it, and we offer no tools.
_HOLD_TO_A_SCHEMA = frozenset({"azure", "gemini", "groq", "mistral", "openai", "openrouter", "vertex_ai", "xai"})
_LOCAL = frozenset({"ollama", "ollama_chat"})  # hold every model to it; litellm's list knows none of their models
_KEY = "The provider refused the key."
_MODEL = "The provider knows no such model."
_REQUEST = "The provider did not accept the request."
_LENGTH = "The request was too long for the model."
# By class name, because importing litellm's exceptions costs as much as litellm; by status, because 402, 403 and 413
# come back as a bare APIError (measured on 1.106, tests/unit/test_model_errors.py).
_PERMANENT: dict[str | int, str] = {
    "AuthenticationError": _KEY,
    "PermissionDeniedError": _KEY,
    "NotFoundError": _MODEL,
    "BadRequestError": _REQUEST,
    "UnprocessableEntityError": _REQUEST,
    "UnsupportedParamsError": _REQUEST,
    "ContextWindowExceededError": _LENGTH,
    "ContentPolicyViolationError": "The provider refused the content.",
    402: "The provider wants to be paid first.",
    403: _KEY,
    405: _MODEL,
    413: _LENGTH,
}


class _NotAcceptedError(SkilldError):
    """The provider did not accept the request as it was put."""


class Model:
    """A litellm model string as a back-end."""

    together = True
    # Between what the prompt calls sure and unsure. Asked for 70 labelled batches, a strong model gave all 40 right
    # updates 0.65 and more, and four of the ten wrong ones less (docs/quality.md).
    sure = 0.65

    def __init__(self, spec: Spec) -> None:
        self._spec = spec
        self.name = spec.model
        self.usage = Usage()

    def detect(
        self, messages: Sequence[Message], skills: Sequence[SkillDoc], *, instructions: str = ""
    ) -> tuple[list[Update], list[str]]:
        """Ask which lasting things were said."""
        reply = self._ask(prompt.detection(messages, skills, instructions), schema.UPDATES)
        turns = max((message.turn or 0 for message in messages), default=0)
        return parse_updates(reply, turns=turns, skills=len(skills))

    def reword(self, updates: Sequence[Update]) -> list[str]:
        """Ask for the same changes in the person's own words."""
        return parse_changes(self._ask(prompt.reword(updates), schema.CHANGES), len(updates))

    def edit(self, updates: Sequence[Update], skill: SkillDoc) -> list[Operation] | str:
        """Ask for the operations that put the updates into the skill."""
        return parse_operations(self._ask(prompt.edit(updates, skill), schema.OPERATIONS))

    def talk(self, messages: Sequence[Mapping[str, str]]) -> Iterator[str]:
        """Yield the answer to a conversation, piece by piece; `messages` have a role and a content.

        Raises as `detect`, and from the middle of an answer too.
        """
        litellm = _litellm()
        key = self._key(litellm)
        pieces: list[Any] = []
        try:
            for piece in litellm.completion(
                model=self._spec.model,
                messages=[dict(message) for message in messages],
                timeout=self._spec.seconds,
                max_retries=0,
                base_url=self._spec.base_url,
                api_key=key,
                stream=True,
            ):
                pieces.append(piece)
                if text := (piece.choices[0].delta.content if piece.choices else None):
                    yield text
        except Exception as error:  # noqa: BLE001 - litellm raises whatever its providers' libraries raise
            self.usage += Usage(calls=1)
            raise _as_ours(error, self._spec.base_url) from None
        whole = litellm.stream_chunk_builder(pieces, messages=[dict(message) for message in messages])
        self.usage += _usage(litellm, self._spec.model, whole)

    def _ask(self, request: prompt.Prompt, form: Mapping[str, Any]) -> str:
        """Return the answer to one request, held to `form` where the provider can; the reply is checked elsewhere."""
        litellm = _litellm()
        held = _can_be_held(litellm, self._spec.model)
        try:
            return self._complete(litellm, request, form if held else None)
        except _NotAcceptedError:
            if not held:
                raise
            return self._complete(litellm, request, None)  # an endpoint of that name need not know schemas

    def _complete(self, litellm: Any, request: prompt.Prompt, form: Mapping[str, Any] | None) -> str:  # noqa: ANN401 - an untyped module
        key = self._key(litellm)
        try:
            response = litellm.completion(
                model=self._spec.model,
                messages=[{"role": "system", "content": request.system}, {"role": "user", "content": request.user}],
                temperature=0,
                max_tokens=_MAX_TOKENS,
                timeout=self._spec.seconds,
                max_retries=0,
                base_url=self._spec.base_url,
                api_key=key,
                **({"response_format": form} if form else {}),
            )
        except Exception as error:  # noqa: BLE001 - litellm raises whatever its providers' libraries raise
            self.usage += Usage(calls=1)
            raise _as_ours(error, self._spec.base_url) from None  # its text may hold the prompt
        self.usage += _usage(litellm, self._spec.model, response)
        choices = getattr(response, "choices", None) or []
        content = choices[0].message.content if choices else None
        if not isinstance(content, str) or not content.strip():
            raise BadReplyError("it is empty")
        return content

    def _key(self, litellm: Any) -> str | None:  # noqa: ANN401 - an untyped module
        """Return the key to use; None leaves it to litellm, which finds the provider's own variable.

        A missing key comes back from litellm as InternalServerError, as if the provider were down.
        """
        if self._spec.api_key:
            return self._spec.api_key
        wanted = litellm.validate_environment(model=self._spec.model)["missing_keys"]
        missing = [name for name in wanted if name.endswith("_API_KEY")]
        if missing and not self._spec.base_url:
            raise SkilldError("The model could not be asked", f"{missing[0]} is not set", "Set it, or model_api_key.")
        return "unused" if missing else None  # an endpoint of one's own may want none; the client library wants one


def prices(model: str) -> Rates | None:
    """Return what a model's tokens cost, by litellm's own list; None where it names no price. Nothing is fetched."""
    try:
        known = _litellm().get_model_info(model)
    except Exception:  # noqa: BLE001 - a model that is not in the list; litellm raises several types for it
        return None
    read, written = known.get("input_cost_per_token"), known.get("output_cost_per_token")
    if read is None or written is None:
        return None
    cached, kept = known.get("cache_read_input_token_cost"), known.get("cache_creation_input_token_cost")
    return Rates(float(read), float(written), float(cached or read), float(kept or read))


def _litellm() -> Any:  # noqa: ANN401 - an untyped module
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    os.environ["LITELLM_MODE"] = "PRODUCTION"  # else it reads .env files
    import litellm

    litellm.suppress_debug_info = True
    litellm.drop_params = True  # some models take no temperature
    return litellm


def _can_be_held(litellm: Any, model: str) -> bool:  # noqa: ANN401 - an untyped module
    provider = model.partition("/")[0] if "/" in model else "openai"
    return provider in _LOCAL or (provider in _HOLD_TO_A_SCHEMA and bool(litellm.supports_response_schema(model=model)))


def _usage(litellm: Any, model: str, response: Any) -> Usage:  # noqa: ANN401 - an untyped module
    used = getattr(response, "usage", None)
    tokens_in = int(getattr(used, "prompt_tokens", 0) or 0)
    tokens_out = int(getattr(used, "completion_tokens", 0) or 0)
    try:
        costs = litellm.cost_per_token(model=model, prompt_tokens=tokens_in, completion_tokens=tokens_out)
        usd = float(sum(costs))
    except Exception:  # noqa: BLE001 - a model without a known price; litellm raises several types for it
        usd = 0.0
    return Usage(1, tokens_in, tokens_out, usd)


def _as_ours(error: Exception, base_url: str | None = None) -> SkilldError:
    kind = type(error).__name__
    why = _PERMANENT.get(kind) or _PERMANENT.get(getattr(error, "status_code", ""))
    if why is not None:
        kind_of_error = _NotAcceptedError if why == _REQUEST else SkilldError
        return kind_of_error("The model could not be asked", why, "Check it with: skilld config show")
    headers = getattr(error, "litellm_response_headers", None)
    after = headers.get("retry-after") if isinstance(headers, Mapping) else None
    seconds = float(after) if isinstance(after, str) and after.replace(".", "", 1).isdecimal() else None
    where = f"no usable answer from {base_url}" if base_url else "no usable answer from the provider"
    return RetryError("The model could not be asked", f"{where} ({kind}); it is tried again later", after=seconds)
