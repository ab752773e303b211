"""Tells the answers a person typed to the agent's questions from those only picked.

Calls of the question tools and their outputs in, free answers out. Takes answers from the built-in tools only: the
call must have been seen, since any command may print an answer's JSON. Keeps hashes, no words.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any

from skilld.intake.agents.fields import mapping, objects, short, string
from skilld.intake.agents.picked import labels_of, plain

_TOOLS = frozenset({"request_user_input", "request_user_input_async"})
_KEPT = 256  # calls, labels and secret questions remembered, each
_NOTE = "user_note: "
_NONE_OF_THEM = "None of the above"  # the terminal's own last option
_REPLY, _REPLY_END = "<send_user_message_question_reply>", "</send_user_message_question_reply>"


def digest(*parts: str) -> str:
    """Return a short hash of some strings: what the state keeps instead of words."""
    return hashlib.sha256("\0".join(parts).encode("utf-8", "replace")).hexdigest()[:16]


class Questions:
    """What the agent asked, so that its own words are never taken for the person's."""

    def __init__(self, state: Mapping[str, Any]) -> None:
        """Resume from a checkpoint's state; an empty one is a fresh start."""
        self._calls = _hashes(state.get("calls"))
        self._labels = _hashes(state.get("labels"))
        self._secret = _hashes(state.get("secret"))
        self._imitated = bool(state.get("imitated"))  # code of the agent's has the mark of a note in it

    def state(self) -> dict[str, list[Any]]:
        """Return the state for a checkpoint."""
        hashes = {"calls": list(self._calls), "labels": list(self._labels), "secret": list(self._secret)}
        return {**hashes, "imitated": [True] if self._imitated else []}

    def ask(self, call: Mapping[str, Any]) -> None:
        """Note a tool call if it is a question. A namespace names an MCP server: not built in."""
        if _NOTE.strip() in string(call.get("input")):
            self._imitated = True
        if string(call.get("name")) not in _TOOLS or call.get("namespace"):
            return
        call_id = short(call.get("call_id"))
        _keep(self._calls, digest(call_id))
        try:
            questions = objects(mapping(json.loads(string(call.get("arguments")))).get("questions"))
        except (ValueError, RecursionError):
            return
        self.offer(questions, call_id)

    def offer(self, questions: list[Mapping[str, Any]], call_id: str = "") -> None:
        """Note the options of questions: those of a call, or those that an agent's message carries."""
        for question in questions:
            names = [call_id + "\0" + string(question.get("id"))] if call_id else []
            names += [plain(string(question.get(key))) for key in ("question", "title") if question.get(key)]
            if question.get("isSecret") is True or question.get("is_secret") is True:
                _keep(self._secret, digest(names[0] if names else ""))
            for label in labels_of([question]):
                for name in names:
                    _keep(self._labels, digest(name, plain(label)))

    def answers(self, output: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        """Yield (question id, words) of the output of a question call; words are "" where an option was picked."""
        call_id = short(output.get("call_id"))
        if digest(call_id) not in self._calls:
            return
        try:
            found = output.get("output")
            found = json.loads(found) if isinstance(found, str) else found
        except (ValueError, RecursionError):
            return
        for key, answer in mapping(mapping(found).get("answers")).items():
            name = call_id + "\0" + string(key)
            if digest(name) in self._secret:
                continue
            given = mapping(answer).get("answers")
            for words in given if isinstance(given, list) else []:
                yield short(key), self._typed(name, string(words))

    def verified(self, record: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        """Yield the notes of a verified_answer whose call the log does not show (it ran inside code).

        Its options are unknown, so only what is marked as a note is the person's, unless an option may hold that mark.
        """
        if digest(short(record.get("call_id"))) in self._calls:
            return
        for number, question in enumerate(objects(record.get("questions"))):
            _, mark, words = ("\n" + string(question.get("answer"))).partition("\n" + _NOTE)
            yield str(number), words.strip() if mark and not self._imitated else ""

    def replies(self, text: str) -> list[str] | None:
        """Return the answers of a reply envelope, "" for a picked one, or None if the text is no such envelope."""
        envelope = text.strip()
        if not envelope.startswith(_REPLY):
            return None
        try:
            rows = objects(json.loads(envelope.removeprefix(_REPLY).removesuffix(_REPLY_END)))
        except (ValueError, RecursionError):
            return []
        return [self._typed(plain(string(row.get("question"))), string(row.get("answer"))) for row in rows]

    def _typed(self, question: str, answer: str) -> str:
        label = plain(answer)
        if label == plain(_NONE_OF_THEM) or digest(question, label) in self._labels:
            return ""
        return answer.removeprefix(_NOTE).strip()


def _hashes(value: object) -> dict[str, None]:
    return {short(element): None for element in value[-_KEPT:]} if isinstance(value, list) else {}


def _keep(hashes: dict[str, None], value: str) -> None:
    hashes.pop(value, None)
    hashes[value] = None
    while len(hashes) > _KEPT:
        del hashes[next(iter(hashes))]
