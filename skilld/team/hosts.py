"""Talks to a repository's host through the person's program for it: `gh` for GitHub, `glab` for GitLab.

Only their `api` command is used, which calls the host's documented REST API with its own login, so that no token is
seen here. The part for `glab` is based on its documentation and was not tried against a GitLab.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from skilld.errors import SkilldError
from skilld.files import find_program
from skilld.team.programs import run_program
from skilld.text import truncate
from skilld.values import value_class

_ADDRESS_PATTERN = re.compile(
    r"(?:(?:https?|ssh|git)://(?:[^@/]*@)?([\w.-]+)(?::\d+)?/|(?:[^@/:]+@)?([\w.-]+):(?!/))([\w./~+-]+?)(?:\.git)?/?"
)
_LOGIN_PATTERN = re.compile(r"auth login|not logged in|401|GH_TOKEN|unauthorized|authentication", re.IGNORECASE)
_GITLAB_STATES = {"closed": "closed", "merged": "merged", "locked": "closed"}


class HostUnavailableError(SkilldError):
    """The host cannot be queried: there is no program for it, or no login."""


@value_class
class PullRequest:
    """A pull or merge request: its state is open, closed or merged, `head` its newest commit."""

    number: int
    url: str
    state: str
    head: str


@value_class
class HostedRepo:
    """Where a repository is hosted; `kind` is `github`, `gitlab` or empty."""

    kind: str
    hostname: str
    path: str

    def link(self, branch: str, base: str) -> str:
        """Return the page for opening a pull request by hand; empty if unknown."""
        web = f"https://{self.hostname}/{self.path}"
        if self.kind == "github":
            return f"{web}/compare/{quote(base)}...{quote(branch)}?expand=1"
        if self.kind == "gitlab":
            asked = {"merge_request[source_branch]": branch, "merge_request[target_branch]": base}
            return f"{web}/-/merge_requests/new?{urlencode(asked)}"
        return ""


def parse_address(address: str) -> HostedRepo:
    """Return where the repository at an address is hosted, judging by the address alone."""
    found = _ADDRESS_PATTERN.fullmatch(address)
    if found is None:
        return HostedRepo("", "", "")
    hostname, path = (found[1] or found[2]).lower(), found[3].strip("/")
    kind = next((kind for kind in ("github", "gitlab") if kind in hostname), "")
    return HostedRepo(kind, hostname, path)


class Host:
    """One repository on its host. Raises HostUnavailableError if it cannot be queried, SkilldError if it refuses."""

    def __init__(self, place: HostedRepo, environment: Mapping[str, str], folder: Path) -> None:
        self.place = place
        self._environment = environment
        self._folder = folder
        self._name = {"github": "gh", "gitlab": "glab"}.get(place.kind, "")
        self._program = find_program(self._name, environment) or ""

    @property
    def _is_github(self) -> bool:
        return self.place.kind == "github"

    @property
    def _pulls(self) -> str:
        if self._is_github:
            return f"repos/{self.place.path}/pulls"
        return f"projects/{quote(self.place.path, safe='')}/merge_requests"

    def pulls(self, branch: str) -> list[PullRequest]:
        """Return all pull requests ever made from a branch, the newest first."""
        if self._is_github:
            owner = self.place.path.partition("/")[0]
            asked = urlencode({"head": f"{owner}:{branch}", "state": "all", "sort": "created", "direction": "desc"})
        else:
            asked = urlencode({"source_branch": branch, "order_by": "created_at", "sort": "desc"})
        rows = self.get(f"{self._pulls}?{asked}")
        return [self._pull(row) for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []

    def open(self, branch: str, base: str, title: str, body: str) -> PullRequest:
        """Open a pull request."""
        if self._is_github:
            given = {"title": title, "body": body, "head": branch, "base": base}
        else:
            given = {"title": title, "description": body, "source_branch": branch, "target_branch": base}
        return self._pull(self._send("POST", self._pulls, given))

    def update(self, number: int, body: str) -> PullRequest:
        """Change the text of a pull request."""
        if self._is_github:
            return self._pull(self._send("PATCH", f"{self._pulls}/{number}", {"body": body}))
        return self._pull(self._send("PUT", f"{self._pulls}/{number}", {"description": body}))

    def get(self, path: str) -> Any:  # noqa: ANN401 - whatever the host answers
        """Return the host's response."""
        return self._call("--method", "GET", path)

    def _send(self, method: str, path: str, given: Mapping[str, str]) -> Any:  # noqa: ANN401 - as above
        more = () if self._is_github else ("--header", "Content-Type: application/json")
        return self._call("--method", method, *more, "--input", "-", path, stdin=json.dumps(given).encode())

    def _call(self, *arguments: str, stdin: bytes = b"") -> Any:  # noqa: ANN401 - as above
        if not self._name:
            raise HostUnavailableError(
                "Cannot query the Git host",
                f"skilld does not know which program to use for {self.place.hostname or 'this remote'}",
            )
        if not self._program:
            raise HostUnavailableError("Cannot query the Git host", f"{self._name} is not on PATH")
        command = ["api", "--hostname", self.place.hostname, *arguments]
        answer = run_program(self._program, command, self._environment, self._folder, stdin=stdin)
        if answer.status != 0 and _LOGIN_PATTERN.search(answer.err):
            raise HostUnavailableError(
                "Cannot query the Git host", f"{self._name} is not logged in to {self.place.hostname}"
            )
        if answer.status != 0:
            raise SkilldError(f"{self._name} failed", truncate(answer.err, 300))
        try:
            return json.loads(answer.out)
        except (ValueError, RecursionError):
            raise SkilldError(f"{self._name} failed", "its response is not JSON") from None

    def _pull(self, row: Any) -> PullRequest:  # noqa: ANN401 - as above
        try:
            if self._is_github:
                state = "merged" if row.get("merged_at") else str(row["state"])
                return PullRequest(int(row["number"]), str(row["html_url"]), state, str(row["head"]["sha"]))
            state = _GITLAB_STATES.get(row["state"], "open")
            return PullRequest(int(row["iid"]), str(row["web_url"]), state, str(row["sha"] or ""))
        except (AttributeError, KeyError, TypeError, ValueError):
            raise SkilldError(f"{self._name} failed", "its response is not in the documented format") from None
