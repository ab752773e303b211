"""Lint family T-16 and its kin: paths that leave their folder, package names that imitate, text that orders nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator

from skilld.edit.change import Change
from skilld.edit.findings import Finding, flag, refuse

_CLIMB = re.compile(r"(?:\.\.[/\\]){2,}\S*|(?<![\w.-])[\w.-]++[/\\]\.\.[/\\]\S*")
_HIDDEN_CLIMB = re.compile(r"(?:%2e){2}(?:%2f|%5c|[/\\])|\.\.(?:%2f|%5c)|%252e|\.{2}\u2215|\uff0e{2}", re.IGNORECASE)
_GIT = re.compile(r"(?<!\w)(?:\.git[/\\](?:hooks|config|info|modules)\b|git~1\b)\S*", re.IGNORECASE)
_ALIAS = re.compile(r"(?<!\w)/proc/(?:self|\d+)/\S*|/dev/(?:tcp|udp|mem|sd[a-z]|nvme)\S*|\\\\[.?]\\\S*", re.IGNORECASE)
_MACHINE = re.compile(r"(?<![\w/])(?:/home/|/Users/|[A-Z]:\\Users\\)[\w.-]+\S*")
_WORD = re.compile(r"[^\W\d_]{2,}")
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]{4,}")
_TAKEN = re.compile(
    r"\b(?:install|add|import|use|using|prefer|require|depend on|switch to|pip3? install|npm i(?:nstall)?|uv add"
    r"|cargo add)\s+(?:the\s+)?[`'\"]?([a-z][a-z0-9_.-]{3,})[`'\"]?",
    re.IGNORECASE,
)
_LONG_NAME = re.compile(r"(?<![\w/.-])[a-z][a-z0-9_-]{6,}(?![\w/-])")
_POPULAR = frozenset(
    re.findall(
        r"\S+",
        "aiohttp angular anthropic ansible asyncpg axios babel beautifulsoup4 black boto3 botocore bootstrap celery"
        " certifi chalk click colorama commander cross-env cryptography dataclasses date-fns debug django docker"
        " dotenv eslint express fastapi flask gunicorn httpx jinja2 jquery jsonschema kubernetes lodash matplotlib"
        " moment mongoose mypy next node-fetch numpy openai opencv-python pandas paramiko pillow playwright pnpm"
        " poetry prettier prisma protobuf psycopg2 pydantic pyjwt pytest python-dateutil pytorch pyyaml react redis"
        " requests rollup ruff scikit-learn scipy selenium serde setuptools sqlalchemy tailwindcss tensorflow tokio"
        " torch transformers typescript urllib3 uvicorn vite vitest webpack websockets yarn",
    )
)


_PATHS = (
    (_CLIMB, "path-traversal", "It adds a path that leaves its folder"),
    (_GIT, "git-internals", "It names git's own files, which can run commands"),
    (_ALIAS, "path-alias", "It names a path that stands for another one or for a device"),
    (_MACHINE, "machine-path", "It names a path of one person's machine"),
)


def check(change: Change) -> Iterator[Finding]:
    """Flag paths that climb, alias or bind to one machine, and doubtful names; refuse what hides a climb."""
    for match in change.matches(_HIDDEN_CLIMB):
        yield refuse("path-traversal", "It adds a path that hides where it climbs", match[0])
    for pattern, rule, sentence in _PATHS:
        for match in change.matches(pattern):
            yield flag(rule, sentence, match[0])
    names = [match[1] for match in change.matches(_TAKEN)] + [match[0] for match in change.matches(_LONG_NAME)]
    for name in names:
        if _imitates(name.casefold().rstrip(".")):
            yield flag("imitated-name", "It is one slip away from the name of a well-known package", name)
    one_word = len(_WORD.findall(change.text)) <= 1
    if change.added and one_word and not _UNSPACED.search(change.text):
        yield flag("no-instruction", "It adds something that is no instruction", change.text)


def _imitates(name: str) -> bool:
    return name not in _POPULAR and any(_one_slip(name, known) for known in _POPULAR)


def _one_slip(name: str, known: str) -> bool:
    """Whether one letter left out, put in, replaced or swapped with its neighbour turns one name into the other."""
    if abs(len(name) - len(known)) > 1 or name in {known + "s", known[:-1]}:
        return False
    head = next((i for i, (a, b) in enumerate(zip(name, known, strict=False)) if a != b), min(len(name), len(known)))
    rest, wanted = name[head:], known[head:]
    swapped = rest[:2] == wanted[:2][::-1] and rest[2:] == wanted[2:]
    return swapped or rest[1:] == wanted[1:] or rest[1:] == wanted or rest == wanted[1:]
