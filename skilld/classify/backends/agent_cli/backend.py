"""The person's own agent as a back-end: runs its command line without a terminal, with its existing login.

The requests and the reading of replies are those of any other model; this module turns a request into one run of a
client, and what it printed into the reply. Imports no model library.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Mapping
from contextlib import suppress
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from skilld.classify import prompt
from skilld.classify.backends import AwayError, Spec
from skilld.classify.backends.agent_cli.base import Answer, Client, Question, Room, room
from skilld.classify.backends.agent_cli.child import ExitResult, Run, run
from skilld.classify.backends.agent_cli.clients import chosen, find
from skilld.classify.backends.agent_cli.limits import resets_in
from skilld.classify.backends.agent_cli.own import is_own, new_mark
from skilld.classify.backends.model import Model
from skilld.classify.json_answer import BadReplyError, TooLongError
from skilld.errors import RetryError, SkilldError, cause_of
from skilld.redact import KEY_BYTES, RedactionError, Redactor
from skilld.text import cut, safe_text
from skilld.types import Usage

# What a client says when it cannot answer, to errors with a cause and a remedy of ours.
#
# Its own words may hold the question, a key or escape sequences: of those that are not understood one line is shown,
# made harmless by `last_line`.

# A number in a page of JavaScript's stack is no status: it is called one, or begins the text.
_STATUS = re.compile(r"(?:\A|\b(?:status|code|error|http)\b\W{0,4})([45]\d\d)\b", re.IGNORECASE)
_BY_WORDS = (
    (429, r"rate.?limit|usage limit|(?:hit|reached|exceeded) your|quota|too many requests|overloaded|high demand"),
    (402, r"credit balance|billing|payment|insufficient.funds"),
    (401, r"log(?:ged)? ?in\b|/login|auth(?:enticat\w+|orized| method)|api.key|token (?:is |has )?expired"),
    (413, r"too (?:long|large)|context (?:window|length)|maximum.{0,20}tokens|token maximum"),
    (404, r"\bmodel\b.{0,80}(?:not (?:found|exist|supported|available)|does not exist|unknown|invalid)|unknown model"),
    (400, r"(?:unknown|unexpected|unrecognized|invalid) (?:option|argument|flag)"),
)
_PERMANENT = range(400, 429)
_NOT_REACHED = re.compile(
    r"unable to connect|FailedToOpenSocket|ECONN|ENOTFOUND|EAI_AGAIN|fetch failed|connection (?:error|refused)"
    r"|failed to connect|error sending request|getaddrinfo|self.signed certificate|certificate verif",
    re.IGNORECASE,
)
_TELLS_NOTHING = re.compile(r"\W*\Z|at\s|[\[{]")
_ESCAPES = re.compile(r"\x1b\[[\d;?]*[A-Za-z]")
_MAX_SHOWN, _SHORT = 160, 8  # characters


class SetUpError(SkilldError):
    """A client that cannot answer any question until somebody changes something: no login, no program, no credit."""


def missing(client: Client) -> SkilldError:
    """Return the error for a program that no absolute folder of PATH holds."""
    return _error(
        client,
        f"{client.program} is not on skilld's PATH (relative entries are ignored)",
        f"Install it, or start skilld from a shell that has {client.program} on its PATH, then: skilld retry",
    )


def unstartable(client: Client, error: OSError) -> SkilldError:
    """Return the error for a program, or a room for it, that the system refuses."""
    return _error(client, cause_of(error), f"Check that it runs: {client.program} --version")


def over_time(client: Client, answer: Answer, seconds: float) -> SkilldError:
    """Return the error for a client that was ended because it did not answer; `answer` is what it had said by then."""
    what = answer.status or _status_in(answer.trouble)
    if what is not None:
        return failed(client, answer.trouble, what, 0)
    return RetryError(_title(client), f"it did not answer within {seconds:.0f} seconds and was stopped")


def failed(client: Client, said: str, status: int | None, code: int, asked: str = "") -> SkilldError:
    """Return the error for a client that ended with exit code `code` and said `said`, behind it an HTTP `status`.

    What may pass, and what is not understood, is a RetryError. `asked` is all that the client was given.
    """
    what = status or _status_in(said)
    if what in {401, 403}:
        return _error(client, "it is not logged in, or its key was rejected", f"{client.login}, then: skilld retry")
    if what == 402:  # noqa: PLR2004 - HTTP: payment required
        return _error(
            client, "its provider requires payment", "Check your billing with the provider, then: skilld retry"
        )
    if what == 404:  # noqa: PLR2004 - HTTP: not found
        remedy = f"Choose another model: skilld config set model cli:{client.program}:MODEL"
        return _error(client, "the model does not exist, or you do not have access to it", remedy)
    if what == 413:  # noqa: PLR2004 - HTTP: content too large
        return SkilldError(_title(client), "the prompt or the answer was too long for the model")
    if what in _PERMANENT:
        remedy = f"Update {client.program}, or choose another model: skilld setup"
        return _error(client, "this version does not support skilld's request", remedy)
    if what is None:
        return _without_status(client, code, said, asked)
    if what == 429:  # noqa: PLR2004 - HTTP: too many requests
        return AwayError(
            _title(client), "it has reached its usage limit", after=resets_in(said, time.time()), limit=True
        )
    return RetryError(_title(client), "its provider is having problems")


def _without_status(client: Client, code: int, said: str, asked: str) -> RetryError:
    shown = f" and printed “{line}”" if (line := last_line(said, asked)) else ""
    if not _NOT_REACHED.search(said):
        return RetryError(
            _title(client), f"it exited without an answer (exit code {code}){shown}; this may be temporary"
        )
    where = client.address(os.environ) or "its provider"
    remedy = (
        f"Try {client.program} in a shell. If it works there, start skilld from that shell, or give the service that "
        "shell's environment variables: skilld service install --environment keep"
    )
    return RetryError(_title(client), f"it could not reach {where}{shown}", remedy)


def last_line(said: str, asked: str) -> str:
    """Return the last line that tells something: none of the question, no JSON, no stack; without its secrets."""
    given = {one.strip() for one in asked.splitlines()}
    for line in map(str.strip, reversed(_ESCAPES.sub("", said).splitlines())):
        echoes = any(line in one or (len(one) > _SHORT and one in line) for one in given)
        if not (_TELLS_NOTHING.match(line) or echoes or is_own(line, None)):
            with suppress(RedactionError):
                return cut(safe_text(Redactor(os.urandom(KEY_BYTES)).redact(line)), _MAX_SHOWN)
    return ""


def _status_in(said: str) -> int | None:
    if called := _STATUS.search(said):
        return int(called[1])
    return next((status for status, pattern in _BY_WORDS if re.search(pattern, said, re.IGNORECASE)), None)


def _error(client: Client, cause: str, remedy: str = "") -> SkilldError:
    return SetUpError(_title(client), cause, remedy)


def _title(client: Client) -> str:
    return f"Could not ask {client.title}"


_KEPT = ("PATH", "HOME", "USER", "LOGNAME", "LANG", "LANGUAGE", "LC_*", "TZ", "XDG_*")
_KEPT_FOR_NETWORK = ("SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "*_PROXY", "*_proxy")
_OURS: Mapping[str, str] = {"TERM": "dumb", "NO_COLOR": "1", "SKILLD_CHILD": "1"}


class AgentCli(Model):
    """A client's command line in place of a litellm model: the same requests, the same reading of replies."""

    def __init__(self, spec: Spec) -> None:
        super().__init__(spec)
        self._client, self._wanted = chosen(spec.model)

    def _ask(self, request: prompt.Prompt, form: Mapping[str, Any] | None) -> str:
        del form  # their flags for it differ by client and version; the prompt says it
        try:
            return self._asked(request)
        except AwayError as error:
            error.usage = self.usage
            raise
        except SetUpError as error:
            if not self._spec.or_offline:
                raise
            away = AwayError(error.title, error.cause, error.remedy)
            away.usage = self.usage
            raise away from error

    def _asked(self, request: prompt.Prompt) -> str:
        client = self._client
        done = self._run(request)
        if done.ended is ExitResult.OVER_SIZE:
            raise TooLongError
        answer = client.read(done.output)
        self.usage += answer.usage
        if done.ended is ExitResult.OVER_TIME:
            raise over_time(client, answer, self._spec.seconds)
        if answer.trouble or done.status:
            said = answer.trouble or done.complaint.strip() or done.output.decode("utf-8", "replace")
            raise failed(client, said, answer.status, done.status, f"{request.system}\n{request.user}")
        if not answer.text.strip():
            raise BadReplyError(
                "it is empty" if answer.usage.tokens_out else f"it is not valid output from {client.title}"
            )
        return answer.text

    def _run(self, request: prompt.Prompt) -> Run:
        client = self._client
        program = find(client.program, os.environ)
        if program is None:
            raise missing(client)
        home = Path(os.environ.get("HOME") or Path.home())
        # The mark stands last, so that a provider's prompt cache still serves.
        text = f"{request.user}\n\n{new_mark()}\n"
        try:
            with room(home, os.environ) as made:
                question = Question(request.system, text, self._wanted, made, home, dict(os.environ))
                command = client.command(question)
                self.usage += Usage(calls=1)
                return run(
                    [program, *command.arguments],
                    text,
                    folder=made.folder,
                    cwd=made.work,
                    environment={**_environment(client, made), **command.variables},
                    seconds=self._spec.seconds,
                    noise=client.noise,
                )
        except OSError as error:
            raise unstartable(client, error) from error


def _environment(client: Client, made: Room) -> dict[str, str]:
    patterns = _KEPT + _KEPT_FOR_NETWORK + client.variables
    kept = {name: value for name, value in os.environ.items() if any(fnmatchcase(name, part) for part in patterns)}
    return {**kept, **_OURS, "TMPDIR": str(made.temporary)}
