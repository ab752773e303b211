"""Talks to a repository's host through the program the person has for it: `gh` for GitHub, `glab` for GitLab.

Both are asked by their `api` command alone, which speaks the host's documented REST API with the login that they hold;
no token is seen here. What only `glab` does is written from its documentation and was not tried against a GitLab.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from skilld.errors import SkilldError
from skilld.team.programs import ask, find
from skilld.text import cut

_ADDRESS = re.compile(
    r"(?:(?:https?|ssh|git)://(?:[^@/]*@)?([\w.-]+)(?::\d+)?/|(?:[^@/:]+@)?([\w.-]+):(?!/))([\w./~+-]+?)(?:\.git)?/?"
)
_LOGIN = re.compile(r"auth login|not logged in|401|GH_TOKEN|unauthorized|authentication", re.IGNORECASE)
_CLOSED = {"closed": "closed", "merged": "merged", "locked": "closed"}


class AwayError(SkilldError):
    """The host cannot be asked: no program for it, or no login."""


@dataclass(frozen=True, slots=True)
class Pull:
    """A pull request, or merge request: its state is open, closed or merged, `head` the commit it was last of."""

    number: int
    url: str
    state: str
    head: str


@dataclass(frozen=True, slots=True)
class Place:
    """Where a repository is hosted: `github`, `gitlab` or nothing that is known."""

    kind: str
    hostname: str
    path: str

    def link(self, branch: str, base: str) -> str:
        """Return the page on which a pull request is opened by hand; empty where that is not known."""
        web = f"https://{self.hostname}/{self.path}"
        if self.kind == "github":
            return f"{web}/compare/{quote(base)}...{quote(branch)}?expand=1"
        if self.kind == "gitlab":
            asked = {"merge_request[source_branch]": branch, "merge_request[target_branch]": base}
            return f"{web}/-/merge_requests/new?{urlencode(asked)}"
        return ""


def place_of(address: str) -> Place:
    """Return where an address of a remote leads, told by its name alone."""
    found = _ADDRESS.fullmatch(address)
    if found is None:
        return Place("", "", "")
    hostname, path = (found[1] or found[2]).lower(), found[3].strip("/")
    kind = next((kind for kind in ("github", "gitlab") if kind in hostname), "")
    return Place(kind, hostname, path)


class Host:
    """One repository on its host. Calls raise AwayError where it cannot be asked, SkilldError where it refuses."""

    def __init__(self, place: Place, environment: Mapping[str, str], folder: Path) -> None:
        self.place = place
        self._environment = environment
        self._folder = folder
        self._name = {"github": "gh", "gitlab": "glab"}.get(place.kind, "")
        self._program = find(self._name, environment) if self._name else ""

    @property
    def _is_github(self) -> bool:
        return self.place.kind == "github"

    @property
    def _pulls(self) -> str:
        if self._is_github:
            return f"repos/{self.place.path}/pulls"
        return f"projects/{quote(self.place.path, safe='')}/merge_requests"

    def pulls(self, branch: str) -> list[Pull]:
        """Return the pull requests that were ever made of a branch, the newest first."""
        if self._is_github:
            owner = self.place.path.partition("/")[0]
            asked = urlencode({"head": f"{owner}:{branch}", "state": "all", "sort": "created", "direction": "desc"})
        else:
            asked = urlencode({"source_branch": branch, "order_by": "created_at", "sort": "desc"})
        rows = self.get(f"{self._pulls}?{asked}")
        return [self._pull(row) for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []

    def open(self, branch: str, base: str, title: str, body: str) -> Pull:
        """Open a pull request."""
        if self._is_github:
            given = {"title": title, "body": body, "head": branch, "base": base}
        else:
            given = {"title": title, "description": body, "source_branch": branch, "target_branch": base}
        return self._pull(self._send("POST", self._pulls, given))

    def update(self, number: int, body: str) -> Pull:
        """Give a pull request another text."""
        if self._is_github:
            return self._pull(self._send("PATCH", f"{self._pulls}/{number}", {"body": body}))
        return self._pull(self._send("PUT", f"{self._pulls}/{number}", {"description": body}))

    def get(self, path: str) -> Any:  # noqa: ANN401 - whatever the host answers
        """Return what the host answers to a question."""
        return self._ask("--method", "GET", path)

    def _send(self, method: str, path: str, given: Mapping[str, str]) -> Any:  # noqa: ANN401 - as above
        more = () if self._is_github else ("--header", "Content-Type: application/json")
        return self._ask("--method", method, *more, "--input", "-", path, stdin=json.dumps(given).encode())

    def _ask(self, *arguments: str, stdin: bytes = b"") -> Any:  # noqa: ANN401 - as above
        if not self._name:
            raise AwayError(
                "Cannot query the Git host",
                f"skilld does not know which program to use for {self.place.hostname or 'this remote'}",
            )
        if not self._program:
            raise AwayError("Cannot query the Git host", f"{self._name} is not on PATH")
        command = ["api", "--hostname", self.place.hostname, *arguments]
        answer = ask(self._program, command, self._environment, self._folder, stdin=stdin)
        if answer.status != 0 and _LOGIN.search(answer.err):
            raise AwayError("Cannot query the Git host", f"{self._name} is not logged in to {self.place.hostname}")
        if answer.status != 0:
            raise SkilldError(f"{self._name} failed", cut(answer.err, 300))
        try:
            return json.loads(answer.out)
        except (ValueError, RecursionError):
            raise SkilldError(f"{self._name} failed", "its response is not JSON") from None

    def _pull(self, row: Any) -> Pull:  # noqa: ANN401 - as above
        try:
            if self._is_github:
                state = "merged" if row.get("merged_at") else str(row["state"])
                return Pull(int(row["number"]), str(row["html_url"]), state, str(row["head"]["sha"]))
            state = _CLOSED.get(row["state"], "open")
            return Pull(int(row["iid"]), str(row["web_url"]), state, str(row["sha"] or ""))
        except (AttributeError, KeyError, TypeError, ValueError):
            raise SkilldError(f"{self._name} failed", "its response is not in the documented format") from None
