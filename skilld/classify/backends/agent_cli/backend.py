"""The person's own agent as a back-end: runs its command line without a terminal, with its existing login.

Requests and replies are those of any other model; this module turns a request into one run of a client, and its output
into the reply. Imports no model library.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from skilld.classify import prompt
from skilld.classify.backends import Spec, UnavailableError
from skilld.classify.backends.agent_cli.base import Client, ClientAnswer, Question, Workspace, make_workspace
from skilld.classify.backends.agent_cli.clients import parse_model
from skilld.classify.backends.agent_cli.limits import seconds_until_reset
from skilld.classify.backends.agent_cli.own_questions import is_own_question, new_mark
from skilld.classify.backends.agent_cli.process import ExitResult, RunResult, run
from skilld.classify.backends.completion import counted_tokens
from skilld.classify.backends.model import Model
from skilld.classify.json_answer import BadReplyError, TooLongError
from skilld.errors import RetryError, SkilldError, cause_of
from skilld.files import find_program
from skilld.redact import KEY_BYTES, RedactionError, Redactor
from skilld.text import safe_text, truncate
from skilld.types import Usage

# Converts a client's messages to errors with a cause and a remedy. They may contain the question, a key or escape
# sequences; of an unknown message only one line is shown, cleaned by `last_line`.

# A number in a JavaScript stack trace is no status: a status has a label, or begins the text.
_STATUS = re.compile(r"(?:\A|\b(?:status|code|error|http)\b\W{0,4})([45]\d\d)\b", re.IGNORECASE)
_LIMIT_REACHED, _TOO_LONG = 429, 413
_STATUS_PATTERNS = (
    (
        _LIMIT_REACHED,
        r"rate.?limit|usage limit|(?:hit|reached|exceeded) your|quota|too many requests|overloaded|high demand",
    ),
    (402, r"credit balance|billing|payment|insufficient.funds"),
    (401, r"log(?:ged)? ?in\b|/login|auth(?:enticat\w+|orized| method)|api.key|token (?:is |has )?expired"),
    (_TOO_LONG, r"too (?:long|large)|context (?:window|length)|maximum.{0,20}tokens|token maximum"),
    (404, r"\bmodel\b.{0,80}(?:not (?:found|exist|supported|available)|does not exist|unknown|invalid)|unknown model"),
    (400, r"(?:unknown|unexpected|unrecognized|invalid) (?:option|argument|flag)"),
)
_PERMANENT_STATUSES = range(400, 429)
_NO_LOGIN = "it is not logged in, or its key was rejected", "{login}, then: skilld retry"
# The cause and the remedy of faults that stay until somebody changes something; of other permanent ones the last.
_SET_UP_FAULTS = {
    401: _NO_LOGIN,
    402: ("its provider requires payment", "Check your billing with the provider, then: skilld retry"),
    403: _NO_LOGIN,
    404: (
        "the model does not exist, or you do not have access to it",
        "Choose another model: skilld config set model cli:{program}:MODEL",
    ),
    400: (
        "this version does not support skilld's request",
        "Update {program} or skilld, or choose another model: skilld setup",
    ),
}
_CONNECTION_ERROR = re.compile(
    r"unable to connect|FailedToOpenSocket|ECONN|ENOTFOUND|EAI_AGAIN|fetch failed|connection (?:error|refused)"
    r"|failed to connect|error sending request|getaddrinfo|self.signed certificate|certificate verif",
    re.IGNORECASE,
)
_UNINFORMATIVE = re.compile(r"\W*\Z|at\s|[\[{]")
_ESCAPES = re.compile(r"\x1b\[[\d;?]*[A-Za-z]")
_MAX_SHOWN, _MIN_ECHO = 160, 8  # characters


class SetUpError(SkilldError):
    """A client cannot answer any question until somebody changes something: no login, no program, no credit."""

    def __init__(self, client: Client, cause: str, remedy: str) -> None:
        super().__init__(_title(client), cause, remedy)


def missing_program_error(client: Client) -> SkilldError:
    """Return the error for a program that no absolute folder of PATH holds."""
    return SetUpError(
        client,
        f"{client.program} is not on skilld's PATH (relative entries are ignored)",
        f"Install it, or start skilld from a shell that has {client.program} on its PATH, then: skilld retry",
    )


def start_error(client: Client, error: OSError) -> SkilldError:
    """Return the error for a program that cannot be started, or a workspace that cannot be made."""
    return SetUpError(client, cause_of(error), f"Check that it runs: {client.program} --version")


def timeout_error(client: Client, answer: ClientAnswer, seconds: float) -> SkilldError:
    """Return the error for a client that was stopped because it did not answer; `answer` is its output so far."""
    what = answer.status or _find_status(answer.trouble)
    if what is not None:
        return failure_error(client, answer.trouble, what, 0)
    return RetryError(_title(client), f"it did not answer within {seconds:.0f} seconds and was stopped")


def failure_error(client: Client, said: str, status: int | None, code: int, asked: str = "") -> SkilldError:
    """Return the error for a client that exited with `code`, the message `said` and maybe an HTTP `status`.

    A temporary or unknown failure is a RetryError. `asked` is the client's whole input.
    """
    what = status or _find_status(said)
    if what is None:
        return _unknown_failure(client, code, said, asked)
    if what == _LIMIT_REACHED:
        after = seconds_until_reset(said, time.time())
        return UnavailableError(_title(client), "it has reached its usage limit", after=after, limit=True)
    if what == _TOO_LONG:
        return SkilldError(_title(client), "the prompt or the answer was too long for the model")
    if what in _PERMANENT_STATUSES:
        cause, remedy = _SET_UP_FAULTS.get(what, _SET_UP_FAULTS[400])
        return SetUpError(client, cause, remedy.format(login=client.login, program=client.program))
    return RetryError(_title(client), "its provider is having problems")


def _unknown_failure(client: Client, code: int, said: str, asked: str) -> RetryError:
    shown = f" and printed “{line}”" if (line := last_line(said, asked)) else ""
    if not _CONNECTION_ERROR.search(said):
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
    """Return the last informative line, redacted: not from the question, no JSON, no stack trace."""
    given = {one.strip() for one in asked.splitlines()}
    for line in map(str.strip, reversed(_ESCAPES.sub("", said).splitlines())):
        echoes = any(line in one or (len(one) > _MIN_ECHO and one in line) for one in given)
        if not (_UNINFORMATIVE.match(line) or echoes or is_own_question(line, None)):
            with suppress(RedactionError):
                return truncate(safe_text(Redactor(os.urandom(KEY_BYTES)).redact(line)), _MAX_SHOWN)
    return ""


def _find_status(said: str) -> int | None:
    if called := _STATUS.search(said):
        return int(called[1])
    return next((status for status, pattern in _STATUS_PATTERNS if re.search(pattern, said, re.IGNORECASE)), None)


def _title(client: Client) -> str:
    return f"Could not ask {client.title}"


_KEPT_VARIABLES = ("PATH", "HOME", "USER", "LOGNAME", "LANG", "LANGUAGE", "LC_*", "TZ", "XDG_*")
_NETWORK_VARIABLES = ("SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "*_PROXY", "*_proxy")
_OWN_VARIABLES: Mapping[str, str] = {"TERM": "dumb", "NO_COLOR": "1", "SKILLD_CHILD": "1"}


class AgentCli(Model):
    """A client's command line instead of a litellm model, with the same requests and replies."""

    def __init__(self, spec: Spec) -> None:
        super().__init__(spec)
        self._client, self._wanted = parse_model(spec.model)

    def _ask(self, request: prompt.Prompt, form: Mapping[str, Any] | None) -> str:
        del form  # the flags for it differ by client and version; the prompt describes the form
        try:
            return self._ask_client(request)
        except UnavailableError as error:
            error.usage = self.usage
            raise
        except SetUpError as error:
            if not self._spec.or_offline:
                raise
            away = UnavailableError(error.title, error.cause, error.remedy)
            away.usage = self.usage
            raise away from error

    def _ask_client(self, request: prompt.Prompt) -> str:
        client = self._client
        program = find_program(client.program, os.environ)
        if program is None:
            raise missing_program_error(client)
        asked = len(request.system) + len(request.user)
        with self._paid_call(Usage(1, counted_tokens(0, 0, asked, 0)[0])) as call:
            done = self._run(program, request)
            if done.ended is ExitResult.OVER_SIZE:
                raise TooLongError
            answer = client.read(done.output)
            used = answer.usage
            if answer.text:
                counted = counted_tokens(used.tokens_in, used.tokens_out, asked, len(answer.text))
                used = replace(used, tokens_in=counted[0], tokens_out=counted[1])
            call.used += used
        if done.ended is ExitResult.OVER_TIME:
            raise timeout_error(client, answer, self._spec.seconds)
        if answer.trouble or done.status:
            said = answer.trouble or done.complaint.strip() or done.output.decode("utf-8", "replace")
            raise failure_error(client, said, answer.status, done.status, f"{request.system}\n{request.user}")
        if not answer.text.strip():
            raise BadReplyError(
                "it is empty" if answer.usage.tokens_out else f"it is not valid output from {client.title}"
            )
        return answer.text

    def _run(self, program: str, request: prompt.Prompt) -> RunResult:
        client = self._client
        home = Path(os.environ.get("HOME") or Path.home())
        # The mark comes last, so that a provider can cache the prompt.
        text = f"{request.user}\n\n{new_mark()}\n"
        try:
            with make_workspace(home, os.environ) as made:
                question = Question(request.system, text, self._wanted, made, home, dict(os.environ))
                command = client.command(question)
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
            raise start_error(client, error) from error


def _environment(client: Client, made: Workspace) -> dict[str, str]:
    patterns = _KEPT_VARIABLES + _NETWORK_VARIABLES + client.variables
    kept = {name: value for name, value in os.environ.items() if any(fnmatchcase(name, part) for part in patterns)}
    return {**kept, **_OWN_VARIABLES, "TMPDIR": str(made.temporary)}
