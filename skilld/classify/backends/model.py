"""Any litellm model as a back-end: sends requests, reads answers, and asks once more if needed.

How litellm is called is in `completion`; how an answer is read in `skilld.classify.reply`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from skilld.classify import prompt
from skilld.classify import reply as schema
from skilld.classify.backends import Spec, Unfit
from skilld.classify.backends.completion import (
    NotAcceptedError,
    as_ours,
    can_be_held,
    library,
    room_for,
    text_of,
    usage_of,
)
from skilld.classify.json_answer import BadReplyError, TooLongError, without_thoughts
from skilld.classify.reply import (
    parse_changes,
    parse_fits,
    parse_matters,
    parse_operations,
    parse_repeats,
    parse_spare,
    parse_updates,
    parse_verdicts,
)
from skilld.classify.title import Title, parse_titles
from skilld.classify.trial_prompt import VERDICT_SCHEMA, parse_verdict
from skilld.classify.verify import MISQUOTED, verify
from skilld.errors import SkilldError
from skilld.types import Message, Operation, SkillDoc, Update, Usage

_MAX_TOKENS = 8000  # of an answer; what we ask for takes a few hundred, thoughts before it some thousand
_MORE_TOKENS = 32_000  # once an answer ended at that limit

_MISQUOTED = (
    "an update quotes words that do not appear, letter for letter, in the person's message that it refers to; text "
    "that they pasted or quoted does not count"
)

Read = TypeVar("Read")


class Model:
    """A litellm model string as a back-end."""

    together = True
    # With a strong model's answers for 231 sessions of strangers, 11 proposals below it were right, 11 wrong and 11
    # doubtful; of 50 right answers to written batches none was below it (docs/scoring.md).
    sure = 0.75

    def __init__(self, spec: Spec) -> None:
        self._spec = spec
        self.name = spec.model
        self.usage = Usage()
        self._asked_again = False  # the last question, for the form of its answer
        self._plainly = False  # once the provider refused a request with options
        self._most_tokens = _MAX_TOKENS

    def detect(
        self, messages: Sequence[Message], skills: Sequence[SkillDoc], *, instructions: str = ""
    ) -> tuple[list[Update], list[str]]:
        """Ask which lasting things were said, and once more where some of it is not of the asked form."""
        turns = max((message.turn or 0 for message in messages), default=0)
        names = [skill.name for skill in skills]

        def read(reply: str) -> tuple[list[Update], list[str]]:
            updates, left_out = parse_updates(reply, turns=turns, skills=len(skills), names=names)
            if left_out and not updates:
                raise BadReplyError("; ".join(dict.fromkeys(left_out)))
            return updates, left_out

        request = prompt.detection(messages, skills, instructions)
        updates, left_out = self._answer(request, schema.UPDATES, read)
        misquoting = [update for update in updates if _is_misquoting(update, messages, skills)]
        faults = [*left_out, *([_MISQUOTED] if misquoting else [])]
        if not faults or self._asked_again:
            return updates, left_out
        try:
            again, left_out = read(self._ask(prompt.retry(request, "; ".join(dict.fromkeys(faults))), schema.UPDATES))
        except SkilldError:
            return updates, left_out
        return [*again, *(one for one in updates if one not in misquoting and one not in again)], left_out

    def reword(self, updates: Sequence[Update], said: Sequence[str]) -> list[str]:
        """Ask for the same changes in the person's own words."""
        return self._answer(
            prompt.reword(updates, said), schema.CHANGES, lambda reply: parse_changes(reply, len(updates))
        )

    def polarity(self, updates: Sequence[Update], said: Sequence[str]) -> list[bool | None]:
        """Ask of each update whether it says what was meant or the opposite."""
        return self._answer(
            prompt.polarity(updates, said), schema.VERDICTS, lambda reply: parse_verdicts(reply, len(updates))
        )

    def edit(self, updates: Sequence[Update], skill: SkillDoc, unfit: Unfit | None = None) -> list[Operation] | str:
        """Ask for the operations that put the updates into the skill."""

        def read(reply: str) -> list[Operation] | str:
            suggestion = parse_operations(reply)
            if unfit and (why := unfit(suggestion)):
                raise BadReplyError(why)
            return suggestion

        return self._answer(prompt.edit(updates, skill), schema.OPERATIONS, read)

    def entitle(self, texts: Sequence[str]) -> dict[int, Title]:
        """Ask what new skills are to be called; the answers stand by their numbers, from 1. Raises as `detect`."""
        return self._answer(prompt.titles(texts), schema.TITLES, lambda reply: parse_titles(reply, len(texts)))

    def repeats(self, said: Sequence[str], rules: Sequence[str]) -> list[tuple[int, int]]:
        """Ask which thing said repeats which rule, by their numbers from 1. Raises as `detect`."""
        request = prompt.repeats(said, rules)
        return self._answer(
            request, schema.REPEATS, lambda reply: parse_repeats(reply, said=len(said), rules=len(rules))
        )

    def matters(self, work: Sequence[Mapping[str, str]], rules: Sequence[str]) -> list[int]:
        """Ask which rules could matter in a session, by their numbers from 1. Raises as `detect`."""
        request = prompt.matters(work, rules)
        return self._answer(request, schema.MATTERS, lambda reply: parse_matters(reply, len(rules)))

    def spare(self, parts: Sequence[tuple[int, str]]) -> list[tuple[int, int, str]]:
        """Ask which parts a file can do without or say more briefly, as `parse_spare` has it. Raises as `detect`."""
        most = max((number for number, _ in parts), default=0)
        return self._answer(prompt.spare(parts), schema.SPARE, lambda reply: parse_spare(reply, most))

    def fits(self, work: str, skills: Sequence[str]) -> list[int]:
        """Ask which skills a piece of work is for, by their numbers from 1, the best first. Raises as `detect`."""
        request = prompt.fits(work, skills)
        return self._answer(request, schema.FITS, lambda reply: parse_fits(reply, len(skills)))

    def write(self, request: prompt.Prompt) -> str:
        """Return what the model answers in words of its own, at the temperature that it has. Raises as `detect`."""
        return without_thoughts(self._ask(request, None))

    def held(self, request: prompt.Prompt, *, statements: int, answers: int) -> list[bool]:
        """Ask what `trial_prompt.held` asks; of each answer, whether all holds. Raises as `detect`."""
        return self._answer(
            request, VERDICT_SCHEMA, lambda reply: parse_verdict(reply, statements=statements, answers=answers)
        )

    def talk(self, messages: Sequence[Mapping[str, str]]) -> Iterator[str]:
        """Yield the answer to a conversation, piece by piece; `messages` have a role and a content.

        Raises as `detect`, and from the middle of an answer too.
        """
        litellm = library()
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
            raise as_ours(error, self._spec.model, self._spec.base_url) from None
        whole = litellm.stream_chunk_builder(pieces, messages=[dict(message) for message in messages])
        self.usage += usage_of(litellm, self._spec.model, whole)

    def _answer(self, request: prompt.Prompt, form: Mapping[str, Any], read: Callable[[str], Read]) -> Read:
        """Ask, and once more where the answer cannot be read: then the model is told what was wrong with it."""
        self._asked_again = False
        try:
            return read(self._ask(request, form))
        except TooLongError:
            raise
        except BadReplyError as error:
            self._asked_again = True
            try:
                return read(self._ask(prompt.retry(request, error.cause), form))
            except SkilldError:
                raise error from None

    def _ask(self, request: prompt.Prompt, form: Mapping[str, Any] | None) -> str:
        """Return the answer to one request, held to `form` where the provider can; the reply is checked elsewhere.

        Without a form it is asked at the model's own temperature: repeats of it are worth something.
        """
        litellm = library()
        if not self._plainly:
            held = form is not None and can_be_held(litellm, self._spec.model)
            options: dict[str, Any] = {"max_tokens": self._most_tokens}
            options |= {"temperature": 0} if form is not None else {}
            options |= {"response_format": form} if held else {}
            messages = [{"role": "system", "content": request.system}, {"role": "user", "content": request.user}]
            try:
                return self._complete(litellm, messages, options)
            except NotAcceptedError:
                self._plainly = True
        # An endpoint of one's own need not know schemas, nor take a temperature, such a limit or a system message.
        return self._complete(litellm, [{"role": "user", "content": f"{request.system}\n\n{request.user}"}], {})

    def _complete(self, litellm: Any, messages: Sequence[Mapping[str, str]], options: Mapping[str, Any]) -> str:  # noqa: ANN401 - an untyped module
        key = self._key(litellm)
        length = sum(len(message["content"]) for message in messages)
        try:
            response = litellm.completion(
                model=self._spec.model,
                messages=messages,
                timeout=self._spec.seconds,
                max_retries=0,
                base_url=self._spec.base_url,
                api_key=key,
                **room_for(self._spec.model, length, self._most_tokens),
                **options,
            )
        except Exception as error:  # noqa: BLE001 - litellm raises whatever its providers' libraries raise
            self.usage += Usage(calls=1)
            raise as_ours(error, self._spec.model, self._spec.base_url) from None  # its text may hold the prompt
        self.usage += usage_of(litellm, self._spec.model, response)
        if response is None:  # what litellm gives after two 422
            raise NotAcceptedError
        choices = getattr(response, "choices", None) or []
        if not choices:
            raise BadReplyError("it is empty")
        if getattr(choices[0], "finish_reason", None) == "length":
            self._most_tokens = _MORE_TOKENS
        return text_of(choices[0].message)

    def _key(self, litellm: Any) -> str | None:  # noqa: ANN401 - an untyped module
        """Return the key to use; None leaves it to litellm, which finds the provider's own variable.

        A missing key comes back from litellm as InternalServerError, as if the provider were down.
        """
        if self._spec.api_key:
            return self._spec.api_key
        wanted = litellm.validate_environment(model=self._spec.model)["missing_keys"]
        missing = [name for name in wanted if name.endswith("_API_KEY")]
        if missing and not self._spec.base_url:
            raise SkilldError("Could not ask the model", f"{missing[0]} is not set", "Set it, or set model_api_key.")
        return "unused" if missing else None  # an endpoint of one's own may want none; the client library wants one


def _is_misquoting(update: Update, messages: Sequence[Message], skills: Sequence[SkillDoc]) -> bool:
    return verify([update], messages, skills).faults == (MISQUOTED,)
