"""Any litellm model as a back-end: sends requests, reads answers, and asks again once if needed.

Calls of litellm are in `completion`; answers are parsed in `skilld.classify.reply`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from skilld.classify import closed_questions, prompt
from skilld.classify.backends import STARTED_WITHOUT, EditCheck, Spec
from skilld.classify.backends.completion import (
    NotConnectedError,
    RequestRejectedError,
    answer_usage,
    context_options,
    expected_usage,
    load_litellm,
    message_text,
    supports_schema,
    to_skilld_error,
)
from skilld.classify.backends.paid_calls import BudgetSpentError, PaidCall, paid_call
from skilld.classify.closed_questions import ClosedQuestion
from skilld.classify.json_answer import BadReplyError, TooLongError, without_thoughts
from skilld.classify.reply import OPERATIONS, UPDATES, parse_operations, parse_updates
from skilld.classify.verify import MISQUOTED, verify
from skilld.errors import SkilldError
from skilld.types import Message, Operation, SkillDoc, Update, Usage

_MAX_TOKENS = 8000  # of an answer, which takes a few hundred, after some thousand of thoughts
_MORE_TOKENS = 32_000  # after an answer that ended at that limit

_MISQUOTED = (
    "an update quotes words that do not appear, letter for letter, in the person's message that it refers to; text "
    "that they pasted or quoted does not count"
)

Parsed = TypeVar("Parsed")


class Model:
    """A litellm model string as a back-end."""

    edits_together = True
    # With a strong model's answers for 231 sessions of other people, 11 proposals below it were right, 11 wrong and 11
    # doubtful; of 50 right answers to written batches none was below it (docs/measurements/scoring.md).
    min_confidence = 0.75

    def __init__(self, spec: Spec) -> None:
        self._spec = spec
        self.name = spec.model
        self.usage = Usage()
        self._asked_again = False  # the last question was repeated because of the form of its answer
        self._without_options = False  # set after the provider refused a request with options
        self._most_tokens = _MAX_TOKENS

    def detect(
        self, messages: Sequence[Message], skills: Sequence[SkillDoc], *, instructions: str = ""
    ) -> tuple[list[Update], list[str]]:
        """Ask which lasting things were said, and ask again once if a part of the answer is invalid."""
        turns = max((message.turn or 0 for message in messages), default=0)
        names = [skill.name for skill in skills]

        def read(reply: str) -> tuple[list[Update], list[str]]:
            updates, left_out = parse_updates(reply, turns=turns, skills=len(skills), names=names)
            if left_out and not updates:
                raise BadReplyError("; ".join(dict.fromkeys(left_out)))
            return updates, left_out

        request = prompt.detection(messages, skills, instructions)
        updates, left_out = self._answer(request, UPDATES, read)
        misquoting = [update for update in updates if verify([update], messages, skills).faults == (MISQUOTED,)]
        faults = [*left_out, *([_MISQUOTED] if misquoting else [])]
        if not faults or self._asked_again:
            return updates, left_out
        try:
            again, left_out = read(self._ask(prompt.retry(request, "; ".join(dict.fromkeys(faults))), UPDATES))
        except SkilldError:
            return updates, left_out
        return [*again, *(one for one in updates if one not in misquoting and one not in again)], left_out

    def reword(self, updates: Sequence[Update], said: Sequence[str]) -> list[str]:
        """Ask for the same changes in the person's own words."""
        return self.answer(closed_questions.reword(updates, said))

    def polarity(self, updates: Sequence[Update], said: Sequence[str]) -> list[bool | None]:
        """Ask for each update whether it says what was meant or the opposite."""
        return self.answer(closed_questions.polarity(updates, said))

    def edit(self, updates: Sequence[Update], skill: SkillDoc, unfit: EditCheck | None = None) -> list[Operation] | str:
        """Ask for the operations that put the updates into the skill."""

        def read(reply: str) -> list[Operation] | str:
            suggestion = parse_operations(reply)
            if unfit and (why := unfit(suggestion)):
                raise BadReplyError(why)
            return suggestion

        return self._answer(prompt.edit(updates, skill), OPERATIONS, read)

    def answer(self, question: ClosedQuestion[Parsed]) -> Parsed:
        """Ask a closed question, and return what is read in the reply. Raises as `detect`."""
        return self._answer(question.request, question.form, question.read)

    def write(self, request: prompt.Prompt) -> str:
        """Return the model's answer as free text, at its own temperature. Raises as `detect`."""
        return without_thoughts(self._ask(request, None))

    def stream_chat(self, messages: Sequence[Mapping[str, str]]) -> Iterator[str]:
        """Yield the answer to a conversation, piece by piece; `messages` have a role and a content.

        Raises as `detect`, possibly in the middle of an answer.
        """
        litellm = load_litellm()
        address = self._address(litellm)
        said = [dict(message) for message in messages]
        length = sum(len(message["content"]) for message in said)
        pieces: list[Any] = []
        with self._paid_call(expected_usage(litellm, self._spec.model, length)) as call:
            try:
                for piece in litellm.completion(messages=said, stream=True, **address):
                    pieces.append(piece)
                    if text := (piece.choices[0].delta.content if piece.choices else None):
                        yield text
            except Exception as error:  # noqa: BLE001 - litellm raises whatever its providers' libraries raise
                raise to_skilld_error(error, self._spec.model, self._spec.base_url) from None
            whole = litellm.stream_chunk_builder(pieces, messages=said)
            call.used = answer_usage(litellm, self._spec.model, whole, length)

    def _answer(self, request: prompt.Prompt, form: Mapping[str, Any], read: Callable[[str], Parsed]) -> Parsed:
        """Ask, and again once with the fault if the answer cannot be read."""
        self._asked_again = False
        try:
            return read(self._ask(request, form))
        except TooLongError:
            raise
        except BadReplyError as error:
            self._asked_again = True
            try:
                return read(self._ask(prompt.retry(request, error.cause), form))
            except BudgetSpentError:
                raise
            except SkilldError:
                raise error from None

    @contextmanager
    def _paid_call(self, expected: Usage) -> Iterator[PaidCall]:
        """Make a call in the body, if the day's budget allows it, and add what it used."""
        with paid_call(self.name, expected) as call:
            try:
                yield call
            except NotConnectedError:
                call.used = Usage()
                raise
            finally:
                self.usage += call.used

    def _ask(self, request: prompt.Prompt, form: Mapping[str, Any] | None) -> str:
        """Return the answer to one request, with the schema `form` if the provider supports it.

        Without a form the model's own temperature is used, so that repeated questions get different answers.
        """
        litellm = load_litellm()
        if not self._without_options:
            held = form is not None and supports_schema(litellm, self._spec.model)
            options: dict[str, Any] = {"max_tokens": self._most_tokens}
            options |= {"temperature": 0} if form is not None else {}
            options |= {"response_format": form} if held else {}
            messages = [{"role": "system", "content": request.system}, {"role": "user", "content": request.user}]
            try:
                return self._complete(litellm, messages, options)
            except RequestRejectedError:
                self._without_options = True
        # A custom endpoint may support no schema, temperature, limit or system message.
        return self._complete(litellm, [{"role": "user", "content": f"{request.system}\n\n{request.user}"}], {})

    def _complete(self, litellm: Any, messages: Sequence[Mapping[str, str]], options: Mapping[str, Any]) -> str:  # noqa: ANN401 - an untyped module
        address = self._address(litellm)
        length = sum(len(message["content"]) for message in messages)
        with self._paid_call(expected_usage(litellm, self._spec.model, length)) as call:
            try:
                context = context_options(self._spec.model, length, self._most_tokens)
                response = litellm.completion(messages=messages, **context, **options, **address)
            except Exception as error:  # noqa: BLE001 - litellm raises whatever its providers' libraries raise
                # Its own text may contain the prompt.
                raise to_skilld_error(error, self._spec.model, self._spec.base_url) from None
            call.used = answer_usage(litellm, self._spec.model, response, length)
            if response is None:  # litellm returns it after two responses that complain about the order of messages
                call.used += Usage(calls=1)
                raise RequestRejectedError
        choices = getattr(response, "choices", None) or []
        if not choices:
            raise BadReplyError("it is empty")
        if getattr(choices[0], "finish_reason", None) == "length":
            self._most_tokens = _MORE_TOKENS
        return message_text(choices[0].message)

    def _address(self, litellm: Any) -> dict[str, Any]:  # noqa: ANN401 - an untyped module
        """Return where to ask, and for how long to wait."""
        spec = self._spec
        given = {"model": spec.model, "base_url": spec.base_url, "api_key": self._key(litellm)}
        return {**given, "timeout": spec.seconds, "max_retries": 0}

    def _key(self, litellm: Any) -> str | None:  # noqa: ANN401 - an untyped module
        """Return the key to use; None if litellm finds it in the provider's own variable.

        litellm reports a missing key as InternalServerError, as if the provider were down.
        """
        if self._spec.api_key:
            return self._spec.api_key
        wanted = litellm.validate_environment(model=self._spec.model)["missing_keys"]
        missing = [name for name in wanted if name.endswith("_API_KEY")]
        if missing and not self._spec.base_url:
            raise SkilldError(
                "Could not ask the model", f"{STARTED_WITHOUT}{missing[0]}", "Set it, or set model_api_key."
            )
        return "unused" if missing else None  # a custom endpoint may need none, but the client library does
