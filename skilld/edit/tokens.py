"""Finds the concrete things that an instruction can name: URLs, hosts, paths, commands, packages.

Names are returned as written. Decides by form only, by RFC 3986 and the conventions of shells; nothing is looked up.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from skilld.text import word_set

_EXTENSIONS = (
    "bash bat c cc cfg class conf cpp crt cs css csv dat db dll dmg doc docx dylib env exe gif go gz h hpp html"
    " ini ipynb jar java jpg jpeg js json jsonl jsx key kt lock log lua md mdc mdx mjs p12 patch pdf pem php pkg"
    " pl plist png pptx ps1 py pyc rb rpm rs scss sh so sql sqlite sum svg swift tar tf tgz toml ts tsx txt vue"
    " wasm xls xlsx xml yaml yml zip zsh"
).replace(" ", "|")
_TOP_LEVEL = (
    "ai app biz br ca ch click cloud cn co com cz de dev edu es eu fr gov in info internal invalid io it jp kr"
    " link live local me mil name net nl onion online org pw ru site space store tech test to top tv tk uk us win"
    " work xyz"
).replace(" ", "|")
FILE_ENDING = re.compile(rf"\.(?:{_EXTENSIONS})$", re.IGNORECASE)
URL = re.compile(r"\b[a-z][a-z0-9+.-]{1,20}://[^\s`<>\"')\]}]+", re.IGNORECASE)
HOST = re.compile(
    rf"(?<![\w.@/-])(?:[\w.+-]+@)?(?:[\w-]+\.)+(?:{_TOP_LEVEL})\b(?![\w-]|\.\w)(?::\d+)?(?:/[^\s`<>\"')\]}}]*)?"
    r"|(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?![\w.])(?::\d+)?",
    re.IGNORECASE,
)
_PATH = re.compile(
    r"(?<![\w:/.@~\\-])(?:/[\w-]+(?::[\w-]+)+"  # the slash command of a plugin: "/skill:review"
    r"|(?:~?/|\.{1,2}/|[A-Za-z]:\\)?(?:[\w.@+-]+|\*{1,2}|\$\w+|\{\w+\}|<[\w-]+>)(?:[/\\](?:[\w.@+:-]+"
    r"|\*{1,2}[\w.*-]*|\$\w+|\{\w+\}|<[\w-]+>))*[/\\]?)"
)
_TECHNOLOGY = re.compile(r"[A-Z][A-Za-z]+\.js")
_INSTALLED = re.compile(
    r"\b(?:install|add|import|depend on|require|use)\s+(?:the\s+)?[`'\"]?(@?[\w./-]+)[`'\"]?\s+(?:npm |pypi |python "
    r"|node |vs ?code )?(?:package|library|module|plugin|extension|crate|gem|dependency)\b",
    re.IGNORECASE,
)
_VERSIONED = re.compile(r"(?<![\w/])(@[\w-]+/\w[\w.-]*\w|(?<![\w.-])[\w.-]{1,100}(?:==|~=|@\^?)\d[\w.]*)")

COMMANDS = word_set(
    "act age ansible ansible-playbook apk apt apt-get aws az awk base64 bash bat bazel brew bun bunx bundle cargo"
    " cat cd chmod chown clang cmake composer conda cp crontab curl dd deno docker docker-compose dotnet du echo"
    " eslint ffmpeg find flutter fly gcc gcloud gem gh git glab go gpg gradle grep gunzip gzip helm heroku hg jq"
    " just kill killall kubectl launchctl ln ls lsof make mkdir mkfs mount mv mvn mypy mysql nc netlify nmap node"
    " nohup npm npx nslookup nvm openssl osascript pbcopy pbpaste perl php pip pip3 pipenv pipx pkill pnpm podman"
    " poetry powershell pre-commit prettier printenv ps psql pwsh pytest python python3 rails rake redis-cli rg"
    " rm rmdir rsync ruby ruff rustup scp screencapture sed sftp sh shutdown sort source sqlite3 ssh ssh-keygen"
    " ssh-add sudo svn systemctl tail tar tee telnet terraform tmux touch tox tsc uv uvx vault vercel vim wget"
    " xargs xclip yarn zip zsh"
)
_SHELL_SIGN = re.compile(r"(?:^|\s)--?[A-Za-z][\w-]*|\|\||&&|[|;<>]|\$\(|^\$\s|^\./")
PROMPT = re.compile(r"^\s*(?:[$>#]\s+)?")
_FLAG = re.compile(r"(?<![\w-])--?[A-Za-z][\w-]*")
_RUN_PATTERN = re.compile(r"\b(?:run|runs|running|execute|executing|invoke|call|type|use)\s+([\w.-]+)", re.IGNORECASE)
_EDGES = "`'\"()[]{},;:!?*"
_AMBIGUOUS_COMMANDS = frozenset(
    {"act", "age", "bat", "cat", "code", "composer", "cut", "du", "find", "fly", "go", "helm", "just", "kill", "make"}
    | {"mount", "node", "ps", "python", "rake", "ruby", "source", "sort", "tail", "tee", "touch", "vault", "zip"}
)


def find_addresses(text: str) -> Iterator[str]:
    """Yield URLs, hosts, e-mail and IP addresses. A bare name counts as a host by its top-level domain."""
    rest = URL.sub(lambda match: " " * len(match[0]), text)
    for match in (*URL.finditer(text), *HOST.finditer(rest)):
        yield match[0].rstrip(".,;:!?*_")


def find_paths(text: str, *, code: bool) -> Iterator[str]:
    """Yield file paths and file names. In prose, a bare `this/that` is not a path: it may be a choice of words."""
    for match in _PATH.finditer(URL.sub(" ", text)):
        path = match[0].rstrip(".,:")
        slashes = len(re.findall(r"[/\\]", path))
        ending = FILE_ENDING.search(path)
        name = ending is not None and ending.start() > 0 and not _TECHNOLOGY.fullmatch(path)
        rooted = re.match(r"~?/\w|\.{1,2}/|[A-Za-z]:\\", path) is not None
        if name or rooted or path.startswith(".env") or (slashes and (code or slashes > 1 or path.endswith("/"))):
            yield path


def is_command(text: str) -> bool:
    """Whether a piece of code looks like a shell command."""
    words = PROMPT.sub("", text).split()
    while words and ("=" in words[0] or words[0] == "sudo"):
        words = words[1:]
    return bool(words) and (words[0] in COMMANDS or (len(words) > 1 and _SHELL_SIGN.search(text) is not None))


def find_prose_commands(text: str) -> Iterator[str]:
    """Yield flags and well-known programs that a sentence tells to run without marking them as code."""
    for match in _FLAG.finditer(text):
        yield match[0]
    for match in _RUN_PATTERN.finditer(text):
        if match[1] in COMMANDS - _AMBIGUOUS_COMMANDS:
            yield match[1]


def find_packages(text: str) -> Iterator[str]:
    """Yield names of packages: scoped, with a version, or called a package by the sentence."""
    for pattern in (_INSTALLED, _VERSIONED):
        for match in pattern.finditer(text):
            yield match[1]


def bare_words(texts: Iterable[str]) -> set[str]:
    """Return the blank-separated words of the texts in lower case, without quotes and final punctuation."""
    return {
        word
        for text in texts
        for word in (part.lstrip(_EDGES).rstrip(_EDGES + ".") for part in text.casefold().split())
        if word
    }


# A sentence can forbid what it names: "never force-push" is a guard, "never forget to force-push" is not. English, and
# "nie" in German; two negations cancel each other.

_BOUNDARY = re.compile(
    r"[.!?;:\n—–]\s|,\s|\b(?:but|then|and (?:then|always|just)|so that|unless|und|aber|sondern)\b", re.IGNORECASE
)
_NEGATION = re.compile(
    r"\b(?:never|nie|niemals|(?:do|does|must|should|may|can|shall|will|is|are)\s+not|don['’]?t|doesn['’]?t|mustn['’]?t"
    r"|shouldn['’]?t|can(?:not|['’]t)|won['’]?t|not|no|avoid(?:ing)?|forbid(?:den|s)?|prohibit(?:ed|s)?|ban(?:ned|s)?"
    r"|refuse|reject|block|stop|without|instead of|rather than|against)\b",
    re.IGNORECASE,
)
# Before these words a negation is part of an order, not of a ban.
_ORDER_AFTER_NEGATION = re.compile(
    r"\s*(?:ever\s+)?(?:to\s+)?(?:forget|fail|hesitat|skip|omit|neglect|miss|worr|bother|wait|ask|tell|mention|inform"
    r"|notify|only|just|need|matter|problem|permission|approval|confirm|prompt|delay|question|notice|exception"
    r"|vergess|vergiss|versäum|zögern|warten|fragen|nachfragen|nur|erst)",
    re.IGNORECASE,
)
# "Force-push never to a shared branch", "force-push ist verboten": right after the word, with nothing else to do.
_FORBIDDEN_AFTER = re.compile(
    r"[ \t]{1,3}(?:(?:never|nie|niemals)(?:[ \t]{1,3}(?:to|auf)\b|(?=[ \t]{0,3}(?:[.!]|$)))"
    r"|(?:is|ist)[ \t]{1,3}(?:forbidden|prohibited|verboten|tabu)\b)",
    re.IGNORECASE | re.MULTILINE,
)
# "Ask me before you delete a file" is a guard as well.
_CONSENT = re.compile(
    r"\b(?:ask|confirm|check\s+(?=with))"
    r"(?:\s*(?:with\s+|for\s+)?(?:me|us|the user|first|permission|approval|confirmation)){0,2}\s+before\s+(?:you\s+)?$",
    re.IGNORECASE,
)
_NEGATION_REACH = 80  # characters before a word that are searched for its negation


def is_forbidden_behind(text: str, end: int) -> bool:
    """Whether a ban of what ends at this position follows it directly."""
    return _FORBIDDEN_AFTER.match(text, end) is not None


def is_forbidden(text: str, at: int) -> bool:
    """Whether the clause up to position `at` of the text negates what follows, or makes it wait for the person."""
    before = text[max(0, at - _NEGATION_REACH) : at]
    boundaries = list(_BOUNDARY.finditer(before))
    clause = before[boundaries[-1].end() :] if boundaries else before
    count = sum(1 for match in _NEGATION.finditer(clause) if not _ORDER_AFTER_NEGATION.match(clause, match.end()))
    return count % 2 == 1 or (_CONSENT.search(clause) is not None and not _NEGATION.search(clause))
