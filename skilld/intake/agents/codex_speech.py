"""Makes turns of what a Codex rollout shows a person to have said: prompts, answers to questions, review instructions.

Records that carry such words in, each in one or more mirrors; turns, or the reasons why there are none, out. Knows
nothing of replies and skills.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from skilld.intake.agents.codex_mirrors import Mirrors
from skilld.intake.agents.codex_prompts import Prompt, injected, injected_kind, is_wrapped, own_words, read_prompt
from skilld.intake.agents.codex_questions import Questions, digest
from skilld.intake.agents.codex_records import Record
from skilld.intake.agents.codex_session import Session
from skilld.intake.agents.expanded import Lookup, no_templates, typed_arguments
from skilld.intake.agents.fields import mapping, objects, short, string
from skilld.text import fold
from skilld.types import Event, How, Ignored, Turn


@dataclass(frozen=True, slots=True)
class _Pending:
    """A user's response item whose mirror, the carrier that knows the person, should be the next line."""

    record: Record
    text: str
    is_marked: bool  # its content kinds say that it is the user's


class Speech:
    """What was said in one rollout. Shares the session with the parser."""

    def __init__(self, session: Session, state: Mapping[str, Any]) -> None:
        """Resume from a checkpoint's state; an empty one is a fresh start."""
        self._session = session
        self._prompts = Mirrors(state.get("prompts"))
        self.questions = Questions(mapping(state.get("questions")))
        self._pending: _Pending | None = None
        self.templates: Lookup = no_templates

    def state(self) -> dict[str, Any]:
        """Return the state for a checkpoint."""
        return {"prompts": self._prompts.state(), "questions": self.questions.state()}

    def waits_from(self, end: int) -> int:
        """Return the start of the prompt that still waits for its mirror, or `end` if none does."""
        return end if self._pending is None else self._pending.record.span.start

    def on_turn(self) -> None:
        """Take note that a new turn begins."""
        self._prompts.clear()

    def on_event(self, record: Record) -> list[Event]:
        """Return the events of a legacy user_message."""
        body = record.body
        if string(body.get("kind")) not in {"", "plain"}:  # up to 0.4x: user_instructions, environment_context
            return [*self.give_up(), Ignored("injected", record.span)]
        client_id = short(body.get("client_id"))
        return self._mirrored(record, "event", string(body.get("message")), native=client_id, client_id=client_id)

    def on_item(self, record: Record) -> list[Event]:
        """Return the events of a completed UserMessage item."""
        item = record.body
        texts = [string(part.get("text")) for part in objects(item.get("content")) if part.get("type") == "text"]
        text = "".join(own_words([text for text in texts if not injected(text)] or texts))
        native, client_id = short(item.get("id")), short(item.get("client_id"))
        return self._mirrored(record, "item", text, native=native, client_id=client_id)

    def on_response(self, record: Record, texts: list[str]) -> list[Event]:
        """Hold a response item of role user until its mirror comes, unless it is the client's own context."""
        named = mapping(record.body.get("internal_chat_message_metadata_passthrough")).get("content_item_kinds")
        kinds = [string(kind) for kind in named] if isinstance(named, list) else []
        reason = injected_kind(kinds) if kinds else next(filter(None, map(injected, texts)), "")
        if reason:
            return [Ignored(reason, record.span)]
        text = "".join(own_words(texts))
        self._pending = _Pending(record, text, bool(kinds)) if text.strip() else None
        return []

    def give_up(self) -> list[Event]:
        """Take what is held for what it is: an image or a reply often has no mirror, and the oldest files have none."""
        pending, self._pending = self._pending, None
        if pending is None or not self._prompts.is_new(digest(pending.text), "response"):
            return []
        if not pending.is_marked and (self._session.mirrored or is_wrapped(pending.text)):
            return [Ignored("injected", pending.record.span)]
        return self._heard(pending.record, pending.text, native=short(pending.record.body.get("id")), client_id="")

    def on_review(self, record: Record) -> list[Event]:
        """Note that a review begins. It runs on prompts of the client's; only custom instructions were typed."""
        self._session.review = True
        words = string(mapping(record.body.get("target")).get("instructions")).strip()
        if not words:
            return []
        reason = self._session.not_a_person("", record.turn_id)
        if reason:
            return [Ignored(reason, record.span)]
        key = self._key(record.turn_id or self._session.turn_id, digest("review", words))
        return [self._turn(record, key, words, How.COMMAND)]

    def on_output(self, record: Record) -> list[Event]:
        """Return the answers in the output of a question call."""
        return self._answers(record, self.questions.answers(record.body))

    def on_retained(self, record: Record) -> list[Event]:
        """Return the notes in a verified_answer."""
        is_answer = record.body.get("type") == "verified_answer"
        return self._answers(record, self.questions.verified(record.body)) if is_answer else []

    def _mirrored(self, record: Record, carrier: str, text: str, *, native: str, client_id: str) -> list[Event]:
        is_paired = self._pending is not None and _say_the_same(self._pending.text, text)
        events = [] if is_paired else self.give_up()
        self._pending = None
        self._session.mirrored = True
        mark = digest(text)
        is_new = self._prompts.is_new(mark, carrier)
        if is_paired:
            self._prompts.is_new(mark, "response")
            self._session.review = False  # a review's own prompts are no response items of this thread
        return events + (self._heard(record, text, native=native, client_id=client_id) if is_new else [])

    def _heard(self, record: Record, text: str, *, native: str, client_id: str) -> list[Event]:
        """Make turns of a prompt seen for the first time, or name the reason why it is none."""
        session = self._session
        turn_id = record.turn_id or session.turn_id
        is_steer = session.prompts > 0 and turn_id == session.turn_id != ""
        key = native or self._key(turn_id, digest(text))
        reason = session.not_a_person(client_id, turn_id) or ("review" if session.review else "")
        session.prompts += 1
        session.order += 1
        arguments = typed_arguments(text, self.templates(session.cwd or None))
        prompt = (
            read_prompt(text, leaves_plan_mode=session.leaves_plan_mode)
            if arguments is None
            else Prompt(arguments, How.COMMAND, reason="" if arguments else "command")
        )
        reason = reason or prompt.reason
        if reason or session.is_resubmission(digest(prompt.text)):
            return [Ignored(reason or "duplicate", record.span)]
        session.heard = True
        answers = self.questions.replies(prompt.text)
        if answers is not None:
            return [self._answer(record, f"{key}.{number}", words) for number, words in enumerate(answers)]
        return [self._turn(record, key, prompt.text, prompt.how or (How.QUEUED if is_steer else How.TYPED))]

    def _answers(self, record: Record, answers: Iterable[tuple[str, str]]) -> list[Event]:
        call = short(record.body.get("call_id"))
        place = record.turn_id or self._session.turn_id or self._session.root
        reason = self._session.not_a_person("", record.turn_id)
        return [
            Ignored(reason, record.span) if reason else self._answer(record, f"{place}.{call}.{name}.{number}", words)
            for number, (name, words) in enumerate(answers)
        ]

    def _answer(self, record: Record, key: str, words: str) -> Event:
        return self._turn(record, key, words, How.ANSWER) if words else Ignored("picked-answer", record.span)

    def _turn(self, record: Record, key: str, text: str, how: How) -> Turn:
        session = self._session
        return Turn(f"codex:{key}", "codex", session.thread, text, record.at, how, record.span, session.cwd or None)

    def _key(self, turn_id: str, mark: str) -> str:
        """Name a prompt without a native id so that a copy in a forked file gets the same name."""
        session = self._session
        return f"{turn_id}.{session.prompts}.{mark}" if turn_id else f"{session.root}.{session.order}.{mark}"


def _say_the_same(response: str, mirror: str) -> bool:
    """Whether a response item and the mirror behind it carry one prompt: one of them may name attachments, too."""
    one, other = fold(response), fold(mirror)
    return other != "" and (one in other or other in one)
