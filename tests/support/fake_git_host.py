"""A stand-in for a git host's REST API: pull requests in a file, requested on loopback by the real gh, or by a stub.

The stub records its arguments and answers as `gh api` or `glab api` would; it does not show how the real programs treat
a host that is not on this machine.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

HEAD = "commit-of-the-branch"  # a stand-in of the tip: the test sets the true one in the file


def answer_request(state: Path, method: str, path: str, body: bytes) -> tuple[int, Any]:
    """Return the status and what is answered; pull requests are kept in the file `state`."""
    empty: dict[str, Any] = {"pulls": [], "head": HEAD, "asked": []}
    kept = json.loads(state.read_text()) if state.exists() else empty
    asked = urlsplit(path)
    kept["asked"].append(f"{method} {path}")
    document = json.loads(body or b"{}")
    found: Any = list(reversed(kept["pulls"]))
    status = 200
    if method == "POST":
        found = {
            "number": len(kept["pulls"]) + 1,
            "html_url": f"https://host.example/pull/{len(kept['pulls']) + 1}",
            "state": "open",
            "merged_at": None,
            "head": {"sha": kept["head"], "ref": document.get("head", document.get("source_branch"))},
            "body": document.get("body", document.get("description")),
            "base": document.get("base", document.get("target_branch")),
        }
        found |= {"iid": found["number"], "web_url": found["html_url"], "sha": kept["head"]}
        kept["pulls"].append(found)
        status = 201
    elif method in {"PATCH", "PUT"}:
        found = kept["pulls"][int(asked.path.rpartition("/")[2]) - 1]
        found["body"] = document.get("body", document.get("description"))
    elif not re.search(r"/(?:pulls|merge_requests)(?:/\d+)?$", asked.path):
        status, found = comments_page(
            kept, asked.path, {name: values[0] for name, values in parse_qs(asked.query).items()}
        )
    state.write_text(json.dumps(kept))
    return status, found


def comments_page(kept: dict[str, Any], path: str, query: dict[str, str]) -> tuple[int, Any]:
    """Return what is told of comments: a page of those of one kind, sorted and cut as the host does it."""
    if path.endswith("/rate_limit"):
        return 200, {"resources": {"core": {"reset": 1_900_000_000}}}
    if path.endswith("user"):
        return 200, {"login": kept.get("me", ""), "username": kept.get("me", "")}
    if kept.get("left", 1) == 0:
        return 403, {"message": "API rate limit exceeded for user ID 1."}
    kept["left"] = kept.get("left", 0) - 1
    if path.endswith("/comments"):
        kind = path.split("/")[-2]
        rows = [
            row for row in kept.get("comments", []) if row["stream"] == kind and row["updated_at"] >= query["since"]
        ]
        rows.sort(key=lambda row: (row["updated_at"], row["id"]))
    else:
        rows = kept.get(path.rpartition("/")[2] if path.endswith("/events") else "members", [])
    most, page = int(query["per_page"]), int(query["page"])
    return 200, rows[(page - 1) * most : page * most]


@contextmanager
def serve(state: Path) -> Iterator[int]:
    """Answer on a port of loopback while the context lasts, as a proxy: gh asks http://api.github.localhost."""
    import threading
    from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer  # half of the stub's time, which needs none

    class Handler(BaseHTTPRequestHandler):
        def _do(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            if self.headers.get("Transfer-Encoding") == "chunked":  # what gh reads from its standard input
                while size := int(self.rfile.readline(), 16):
                    body += self.rfile.read(size)
                    self.rfile.readline()
                self.rfile.readline()
            parts = urlsplit(self.path)
            path = f"{parts.path}?{parts.query}" if parts.query else parts.path
            if "authorization" not in {name.lower() for name in self.headers}:
                status, found = 401, {"message": "Bad credentials"}
            else:
                status, found = answer_request(state, self.command, path, body)
            data = json.dumps(found).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json; charset=utf-8")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_POST = do_PATCH = _do  # noqa: N815 - http.server calls them so

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()


def install_stub(folder: Path, name: str, state: Path) -> Path:
    """Put a program called `name` that answers from `state` into a folder, and return that. No token: no login."""
    folder.mkdir(exist_ok=True)
    program = folder / name
    program.write_text(
        f"#!{sys.executable} -IS\nimport sys\nsys.path.insert(0, {str(Path(__file__).parent)!r})\n"
        f"from fake_git_host import main\nmain({str(state)!r})\n"
    )
    program.chmod(0o755)
    return folder


def main(state: str) -> None:
    """Be gh or glab."""
    import os

    given = sys.argv[1:]
    file = Path(state)
    with file.with_suffix(".calls").open("a") as calls:
        calls.write(json.dumps([Path(sys.argv[0]).name, *given]) + "\n")
    if not os.environ.get("GH_TOKEN"):
        sys.stderr.write("To get started with GitHub CLI, please run:  gh auth login\n")
        sys.exit(4)
    method = given[given.index("--method") + 1]
    body = sys.stdin.buffer.read() if "--input" in given else b""
    status, found = answer_request(file, method, given[-1], body)
    if status >= 400:
        sys.stderr.write(f"{Path(sys.argv[0]).name}: {found['message']} (HTTP {status})\n")
        sys.exit(1)
    sys.stdout.write(json.dumps(found))
