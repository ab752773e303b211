"""What a client says when it cannot answer, to errors with a cause and a remedy of ours.

Its own words are looked at and never shown: they may hold the question, a key or escape sequences. Pure.
"""

from __future__ import annotations

import re

from skilld.classify.backends.agent_cli.base import Answer, Client
from skilld.errors import RetryError, SkilldError

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


def missing(client: Client) -> SkilldError:
    """Return the error for a program that no absolute folder of PATH holds."""
    return _error(
        client,
        f"no absolute folder of the PATH that skilld was started with holds {client.program}",
        f"Install it, or start skilld where {client.program} works, then: skilld retry",
    )


def unstartable(client: Client, error: OSError) -> SkilldError:
    """Return the error for a program, or a room for it, that the system refuses."""
    return _error(client, error.strerror or type(error).__name__, f"Try it by hand: {client.program} --version")


def over_time(client: Client, answer: Answer, seconds: float) -> SkilldError:
    """Return the error for a client that was ended because it did not answer; `answer` is what it had said by then."""
    what = answer.status or _status_in(answer.trouble)
    if what is not None:
        return failed(client, answer.trouble, what, 0)
    return RetryError(_title(client), f"it did not answer in {seconds:.0f} seconds and was ended")


def failed(client: Client, said: str, status: int | None, code: int) -> SkilldError:
    """Return the error for a client that ended with exit code `code` and said `said`, behind it an HTTP `status`.

    What may pass, and what is not understood, is a RetryError.
    """
    what = status or _status_in(said)
    if what in {401, 403}:
        return _error(client, "it is not logged in, or its key was refused", f"{client.login}, then: skilld retry")
    if what == 402:  # noqa: PLR2004 - HTTP: payment required
        return _error(client, "its provider wants to be paid first", "Settle it there, then: skilld retry")
    if what == 404:  # noqa: PLR2004 - HTTP: not found
        remedy = f"Name another: skilld config set model cli:{client.program}:MODEL"
        return _error(client, "it knows no such model, or may not use it", remedy)
    if what == 413:  # noqa: PLR2004 - HTTP: content too large
        return _error(client, "the question, or its answer, was too long for its model")
    if what in _PERMANENT:
        remedy = f"Get a newer {client.program}, or: skilld config set model auto"
        return _error(client, "this version of it does not accept the question", remedy)
    if what is None:
        return RetryError(_title(client), f"it ended without an answer (exit {code}); it may answer later")
    limited = what == 429  # noqa: PLR2004 - HTTP: too many requests
    return RetryError(_title(client), "its limit is reached for now" if limited else "its provider is in trouble")


def _status_in(said: str) -> int | None:
    if called := _STATUS.search(said):
        return int(called[1])
    return next((status for status, pattern in _BY_WORDS if re.search(pattern, said, re.IGNORECASE)), None)


def _error(client: Client, cause: str, remedy: str = "") -> SkilldError:
    return SkilldError(_title(client), cause, remedy)


def _title(client: Client) -> str:
    return f"{client.title} could not be asked"
