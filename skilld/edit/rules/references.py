"""Lint families T-11, T-16 and provenance: links, names and paths that load something, deceive, or were never typed."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator
from ipaddress import ip_address
from urllib.parse import urlsplit

from skilld.edit.change import Change, Finding, flag, refuse
from skilld.edit.tokens import (
    PROMPT,
    URL,
    bare_words,
    find_addresses,
    find_packages,
    find_paths,
    find_prose_commands,
    is_command,
)
from skilld.text import fold_case, word_set
from skilld.words import space_scripts

# Lint family T-11: links, images and web addresses that load, run, deceive or carry something away.

_IMAGE = re.compile(r"!\[[^\]\n]*\](?:\(\s*<?(?P<to>[^)\s>]*)|\[)")
_LINK = re.compile(r"\]\(\s*<?(?P<to>[^)>]*)|<(?P<auto>[a-z][a-z0-9+.-]*:[^>\s]*)>", re.IGNORECASE)
_ACTIVE_SCHEME = re.compile(r"(?:javascript|vbscript|data|file|blob)\s*:", re.IGNORECASE)
_ACTIVE_TEXT = re.compile(r"\b(?:java|vb)script:(?=\S)|\bdata:\w+/[\w.+-]+[;,]", re.IGNORECASE)
_LOGIN_URL = re.compile(r"https?://(?P<user>[^\s/@]+)@(?P<host>[^\s/:?#`\"')>]+)", re.IGNORECASE)
_PLACEHOLDER = re.compile(r"[\[{<][A-Za-z_.-]{2,}+[\]}>]|\$[({]?\w|%s\b|%7B|%5B", re.IGNORECASE)
_MAX_PLACEHOLDER_TAIL = 40  # characters after an address in which a placeholder may end
_WHITE_SPACE = re.compile(r"[\s\x00-\x1f]+")


def check_links(change: Change) -> Iterator[Finding]:
    """Refuse images from elsewhere, links that run code and addresses with a login; name every other new host."""
    for match in change.matches(_IMAGE, change.prose):
        to = match["to"]
        remote = to is None or re.match(r"(?:[a-z][a-z0-9+.-]*:|//)", to, re.IGNORECASE)
        yield (refuse if remote else flag)("image", "It adds an image, which loads when the page is shown", match[0])
    for match in change.matches(_LINK, change.prose):
        to = _WHITE_SPACE.sub("", html.unescape(match["to"] or match["auto"]))
        if _ACTIVE_SCHEME.match(to):
            yield refuse("active-link", "It adds a link that runs code or embeds data", to)
    for match in change.matches(_ACTIVE_TEXT):
        yield flag("active-link", "It adds a URL that runs code or embeds data", match[0])
    for match in change.matches(_LOGIN_URL):
        make = flag if _is_local(match["host"]) else refuse
        yield make("login-in-address", "It adds a URL that contains a login, which disguises the real host", match[0])
    for match in change.matches(URL):
        whole = change.text[match.start() : match.end() + _MAX_PLACEHOLDER_TAIL].split()[0]
        if _PLACEHOLDER.search(whole):
            yield flag("address-with-blank", "It adds a URL that contains a placeholder", whole)
    yield from _check_hosts(change)


def _check_hosts(change: Change) -> Iterator[Finding]:
    old = fold_case(change.old_text)
    hosts: dict[str, None] = {}
    for address in find_addresses(change.text):
        host = _host(address)
        if host and not _is_local(host) and host not in old:
            hosts[host] = None
    for host in hosts:
        yield flag("address", "It contains a network address", _show_host(host))


def _host(address: str) -> str:
    """Return the host of a URL, e-mail or bare address in lower case; empty if there is none."""
    try:
        return urlsplit(address if "://" in address else f"//{address}").hostname or ""
    except ValueError:
        return address.casefold()


def _is_local(host: str) -> bool:
    if host == "localhost" or host.endswith((".localhost", ".local", ".internal")):
        return True
    try:
        return ip_address(host).is_private
    except ValueError:
        return False


def _show_host(host: str) -> str:
    """Return the host with its network name, which reveals letters of other scripts (RFC 3492)."""
    if host.isascii():
        return host
    labels = (one if one.isascii() else "xn--" + one.encode("punycode").decode("ascii") for one in host.split("."))
    return f"{host} ({'.'.join(labels)})"


# Lint family T-16 and related ones: paths that leave their folder, imitated package names, text without an order.

_CLIMB = re.compile(r"(?:\.\.[/\\]){2,}\S*|(?<![\w.-])[\w.-]++[/\\]\.\.[/\\]\S*")
_HIDDEN_CLIMB = re.compile(r"(?:%2e){2}(?:%2f|%5c|[/\\])|\.\.(?:%2f|%5c)|%252e|\.{2}\u2215|\uff0e{2}", re.IGNORECASE)
_GIT = re.compile(r"(?<!\w)(?:\.git[/\\](?:hooks|config|info|modules)\b|git~1\b)\S*", re.IGNORECASE)
_ALIAS = re.compile(r"(?<!\w)/proc/(?:self|\d+)/\S*|/dev/(?:tcp|udp|mem|sd[a-z]|nvme)\S*|\\\\[.?]\\\S*", re.IGNORECASE)
_HOME_PATH = re.compile(r"(?<![\w/])(?:/home/|/Users/|[A-Z]:\\Users\\)[\w.-]+\S*")
_WORD = re.compile(r"[^\W\d_]{2,}")
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]{4,}")
_PACKAGE_MENTION = re.compile(
    r"\b(?:install|add|import|use|using|prefer|require|depend on|switch to|pip3? install|npm i(?:nstall)?|uv add"
    r"|cargo add)\s+(?:-{1,2}[\w-]+\s+)?(?:the\s+)?[`'\"]?([a-z][a-z0-9_.-]{3,})[`'\"]?",
    re.IGNORECASE,
)
_IN_CODE = re.compile(r"`[^`\n]{4,200}`")
_LONG_NAME = re.compile(r"(?<![\w/.-])[a-z][a-z0-9_-]{6,}(?![\w/-])")
# Words and names that happen to be one letter away from a package: "use text labels", "add it to the openapi file".
_NO_IMITATION = word_set(
    "axis best blank block clock flash flick http https label lite locker nest openapi preact reach serve site slack"
    " slick text tokyo touch vote warn willow yard"
)
_POPULAR = word_set(
    "aiohttp angular anthropic ansible asyncpg axios babel beautifulsoup4 black boto3 botocore bootstrap celery"
    " certifi chalk click colorama commander cross-env cryptography dataclasses date-fns debug django docker"
    " dotenv eslint express fastapi flask gunicorn httpx jinja2 jquery jsonschema kubernetes lodash matplotlib"
    " moment mongoose mypy next node-fetch numpy openai opencv-python pandas paramiko pillow playwright pnpm"
    " poetry prettier prisma protobuf psycopg2 pydantic pyjwt pytest python-dateutil pytorch pyyaml react redis"
    " requests rollup ruff scikit-learn scipy selenium serde setuptools sqlalchemy tailwindcss tensorflow tokio"
    " torch transformers typescript urllib3 uvicorn vite vitest webpack websockets yarn"
)


_PATHS = (
    (_CLIMB, "path-traversal", "It adds a path that leads out of its folder"),
    (_GIT, "git-internals", "It refers to git's internal files, which can run commands"),
    (_ALIAS, "path-alias", "It adds a path that is an alias for another path or a device"),
    (_HOME_PATH, "machine-path", "It adds a path that exists only on one person's machine"),
)


def check_names(change: Change) -> Iterator[Finding]:
    """Flag paths that leave their folder, alias another path or exist on one machine only, and imitated names.

    Paths that hide where they lead are refused.
    """
    for match in change.matches(_HIDDEN_CLIMB):
        yield refuse("path-traversal", "It adds a path that hides where it leads", match[0])
    for pattern, rule, sentence in _PATHS:
        for match in change.matches(pattern):
            yield flag(rule, sentence, match[0])
    names = [match[1] for match in change.matches(_PACKAGE_MENTION)]
    names += [name for span in change.matches(_IN_CODE) for name in _LONG_NAME.findall(span[0])]
    for name in names:
        if _imitates(name.casefold().rstrip(".")):
            yield flag("imitated-name", "It names a package that is one typo away from a well-known one", name)
    one_word = len(_WORD.findall(change.text)) <= 1
    if change.added and one_word and not _UNSPACED.search(change.text):
        yield flag("no-instruction", "It adds something that is not an instruction", change.text)


def _imitates(name: str) -> bool:
    return name not in _POPULAR | _NO_IMITATION and any(_is_one_typo_apart(name, known) for known in _POPULAR)


def _is_one_typo_apart(name: str, known: str) -> bool:
    """Whether one letter omitted, added, replaced or swapped with its neighbour turns one name into the other."""
    if abs(len(name) - len(known)) > 1 or name in {known + "s", known[:-1]}:
        return False
    head = next((i for i, (a, b) in enumerate(zip(name, known, strict=False)) if a != b), min(len(name), len(known)))
    rest, wanted = name[head:], known[head:]
    swapped = rest[:2] == wanted[:2][::-1] and rest[2:] == wanted[2:]
    return swapped or rest[1:] == wanted[1:] or rest[1:] == wanted or rest == wanted[1:]


# Lint family of provenance: an address, command, path or package that the person did not type and the skill did not
# have. A command whose words are all known, but not in this order, is flagged; one with an unknown word is refused.

_IsKnown = Callable[[str], bool]
_SENTENCES = {
    "address": "It adds an address that is not in your messages",
    "path": "It adds a path that is not in your messages",
    "package": "It adds a package that is not in your messages",
    "command": "It adds a command that is not in your messages",
}


# "config.toml-Datei" names the file, "config.toml-old" another one.
_END_OF_NAME = r"(?![\w@]|-(?!(?:datei|file|ordner|skript|script|bestand)\w{0,3}\b)|[.:]\w)"


def check_evidence(change: Change) -> Iterator[Finding]:
    """Refuse every concrete thing that neither the person's words nor the skill contain."""
    sources = (_comparable(change.evidence), _comparable(change.old_text))

    def known(token: str) -> bool:
        pattern = re.compile(r"(?<![\w-])" + re.escape(_comparable(token)) + _END_OF_NAME)
        return any(pattern.search(source) for source in sources)

    for what, tokens in _concrete_things(change, known):
        for token in tokens:
            if not known(token.rstrip("/\\")):
                yield refuse(f"foreign-{what}", _SENTENCES[what], token)
    seen = bare_words(sources)
    for code in (*(span for span in change.spans if is_command(span)), *change.code):
        yield from _check_code(PROMPT.sub("", code).strip(), known, seen)


def _comparable(text: str) -> str:
    return fold_case(space_scripts(text))  # "strings.xml로", "README.mdに"


def _concrete_things(change: Change, known: _IsKnown) -> Iterator[tuple[str, Iterator[str]]]:
    """Yield the concrete things in the added text by kind, without paths in code that is known as a whole."""
    code = "\n".join((*(span for span in change.spans if not known(span)), *change.code))
    found = (*find_paths(change.prose, code=False), *find_paths(code, code=True))
    yield "address", find_addresses(change.text)
    yield "path", (path for path in found if next(find_addresses(path), None) is None)
    yield "package", find_packages(change.text)
    yield "command", find_prose_commands(change.prose)


def _check_code(code: str, known: _IsKnown, seen: set[str]) -> Iterator[Finding]:
    if not code or known(code):
        return
    if bare_words([code]) - seen:
        yield refuse("foreign-command", "It adds code that is not in your messages", code)
    else:
        yield flag("joined-command", "Its code combines words of yours with words of the file", code)
