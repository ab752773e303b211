"""The person's own agent as a back-end: its command line is asked without a terminal, with the login it has.

The requests and the reading of replies are those of any other model; this module turns a request into one run of a
client, and what it printed into the reply. Imports no model library.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from skilld.classify import prompt
from skilld.classify.answer import BadReplyError, TooLongError
from skilld.classify.backends import Spec
from skilld.classify.backends.agent_cli import trouble
from skilld.classify.backends.agent_cli.base import Client, Question
from skilld.classify.backends.agent_cli.child import Ended, Run, run
from skilld.classify.backends.agent_cli.clients import chosen, find
from skilld.classify.backends.agent_cli.own import new_mark
from skilld.classify.backends.agent_cli.room import Room, room
from skilld.classify.backends.model import Model
from skilld.types import Usage

_KEPT = ("PATH", "HOME", "USER", "LOGNAME", "LANG", "LANGUAGE", "LC_*", "TZ", "XDG_*")
_KEPT_FOR_NETWORK = ("SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "*_PROXY", "*_proxy")
_OURS: Mapping[str, str] = {"TERM": "dumb", "NO_COLOR": "1", "SKILLD_CHILD": "1"}


class AgentCli(Model):
    """A client's command line in place of a litellm model: the same requests, the same reading of replies."""

    def __init__(self, spec: Spec) -> None:
        super().__init__(spec)
        self._client, self._wanted = chosen(spec.model)

    def _ask(self, request: prompt.Prompt, form: Mapping[str, Any]) -> str:
        del form  # their flags for it differ by client and version; the prompt says it
        client = self._client
        done = self._run(request)
        if done.ended is Ended.OVER_SIZE:
            raise TooLongError
        answer = client.read(done.output)
        self.usage += answer.usage
        if done.ended is Ended.OVER_TIME:
            raise trouble.over_time(client, answer, self._spec.seconds)
        if answer.trouble or done.status:
            raise trouble.failed(client, answer.trouble or done.complaint, answer.status, done.status)
        if not answer.text.strip():
            raise BadReplyError("it is empty" if answer.usage.tokens_out else f"it is not what {client.title} prints")
        return answer.text

    def _run(self, request: prompt.Prompt) -> Run:
        client = self._client
        program = find(client.program, os.environ)
        if program is None:
            raise trouble.missing(client)
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
            raise trouble.unstartable(client, error) from error


def _environment(client: Client, made: Room) -> dict[str, str]:
    patterns = _KEPT + _KEPT_FOR_NETWORK + client.variables
    kept = {name: value for name, value in os.environ.items() if any(fnmatchcase(name, part) for part in patterns)}
    return {**kept, **_OURS, "TMPDIR": str(made.temporary)}
