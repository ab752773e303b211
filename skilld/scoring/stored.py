"""Stored answers as a back-end: a person or a model answers in files, which are looked up by the request.

Requests without an answer are written to a folder below. Nothing is sent to anyone.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from skilld.classify import prompt
from skilld.classify.backends import Spec
from skilld.classify.backends.model import Model
from skilld.errors import SkilldError
from skilld.types import Usage

_ASKED_FOLDER = "asked"
_CHARACTERS_PER_TOKEN = 4
# The parts that differ between runs: the mark of the messages, and the keyed part of a placeholder.
_RANDOM_PARTS = re.compile(r'(?<=mark=")[0-9a-f]{12}(?=")|(?<=:)[0-9a-f]{8}(?=\])')


class NoAnswerError(Exception):
    """A request has no answer yet. No SkilldError, so that it is not handled as a bad answer of the model."""


class StoredAnswers:
    """The answers in the JSON lines of a folder, each `{"key", "answer"}`; an answer is text or the JSON itself.

    Raises SkilldError if the folder or a line cannot be read.
    """

    def __init__(self, folder: Path) -> None:
        self._asked = folder / _ASKED_FOLDER
        self._answers: dict[str, str] = {}
        try:
            self._asked.mkdir(parents=True, exist_ok=True)
            for path in sorted(folder.glob("*.jsonl")):
                for line in filter(str.strip, path.read_text("utf-8").split("\n")):
                    row = json.loads(line)
                    answer = row["answer"]
                    self._answers[row["key"]] = answer if isinstance(answer, str) else json.dumps(answer)
        except (OSError, ValueError, TypeError, KeyError) as error:
            raise SkilldError(f"Cannot read the answers in {folder}", str(error), "Fix or remove the file.") from error

    def answer(self, request: prompt.Prompt) -> str:
        """Return the answer to a request. If there is none, write the request to a file and raise NoAnswerError."""
        system, user = (
            _RANDOM_PARTS.sub(lambda drawn: "0" * len(drawn[0]), text) for text in (request.system, request.user)
        )
        key = hashlib.sha256(f"{system}\0{user}".encode()).hexdigest()[:16]
        path = self._asked / f"{key}.json"
        if key in self._answers:
            path.unlink(missing_ok=True)
            return self._answers[key]
        row = {"key": key, "system": system, "user": user}
        path.write_text(json.dumps(row, ensure_ascii=False, indent=1) + "\n", "utf-8")
        raise NoAnswerError(key)


def estimate_usage(request: prompt.Prompt, answer: str) -> Usage:
    """Estimate the usage of one question and its answer, at four characters per token."""
    asked = len(request.system) + len(request.user)
    return Usage(1, asked // _CHARACTERS_PER_TOKEN, len(answer) // _CHARACTERS_PER_TOKEN)


class StoredModel(Model):
    """A model whose answers are looked up; its usage is estimated."""

    def __init__(self, answers: StoredAnswers) -> None:
        super().__init__(Spec("stored"))
        self._stored = answers

    def _ask(self, request: prompt.Prompt, form: Mapping[str, Any] | None) -> str:
        del form
        answer = self._stored.answer(request)
        self.usage += estimate_usage(request, answer)
        return answer
