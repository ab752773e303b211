"""What an agent did in a session: commands with their outcomes, and changed files. Pure: tool events in, actions out.

A shell call is split into the commands it runs. Actions come from the log, not from the person:
`skilld.mining.procedure` keeps only those that recur, and `unfit_reason` excludes what no skill may repeat.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache

from skilld.agents.tools import READ_TOOLS, SEARCH_TOOLS, SHELL_TOOLS, command_of, named_files, patched_files
from skilld.edit.lint import Finding, lint
from skilld.library.patterns import CHECK_PATTERN
from skilld.mining.written_parts import written_parts
from skilld.types import ToolCall, ToolEvent, ToolOutcome
from skilld.values import value_class

MAX_ACTIONS = 1000  # of one session; later ones are ignored
MAX_COMMAND_LENGTH = 300  # characters: a longer one is a program of its own
_MAX_PATH_LENGTH = 200
_MAX_FILES_PER_CALL = 20  # of one call
_MAX_READS = 1000  # files of one session that were read


@value_class
class Action:
    """One command, or (`edits`, `reads`) one file: `text` is the command or the path, `at` the place in the transcript.

    `alone`: the outcome is this command's own; of several commands in one call it is not known which one failed.
    `read_only`: it changes and tests nothing (`ls`, `git status`). `about`: the headings or names in what was written.
    """

    text: str
    outcome: ToolOutcome
    at: int
    edits: bool = False
    alone: bool = True
    read_only: bool = False
    reads: bool = False
    about: tuple[str, ...] = ()

    @property
    def failed(self) -> bool:
        """Whether the log marks it as failed."""
        return self.outcome is ToolOutcome.FAILED

    @property
    def ran(self) -> bool:
        """Whether it ran, and the log does not mark it as failed, rejected or interrupted."""
        return self.outcome in {ToolOutcome.OK, ToolOutcome.UNKNOWN}


@dataclass(slots=True)
class ActionLog:
    """Collects the actions of one session from its tool events, in order."""

    _calls: dict[str, list[Action]] = field(default_factory=dict)
    _outcomes: dict[str, ToolOutcome] = field(default_factory=dict)
    _seen: int = 0
    _read: int = 0

    def add(self, event: ToolEvent) -> None:
        """Add one event; repeated calls, and calls beyond MAX_ACTIONS, are ignored."""
        if isinstance(event, ToolCall):
            key = event.call_id or f"@{event.span.start}"
            if key not in self._calls and self._seen < MAX_ACTIONS:
                actions = [*_call_actions(event)]
                self._calls[key] = [one for one in actions if not one.reads or self._read < _MAX_READS]
                self._read += sum(one.reads for one in actions)
                self._seen += sum(not one.reads for one in actions)
        elif event.outcome is not ToolOutcome.UNKNOWN and self._outcomes.get(event.call_id) in {None, ToolOutcome.OK}:
            self._outcomes[event.call_id] = event.outcome

    def actions(self, folder: str) -> tuple[Action, ...]:
        """Return the actions, with paths below `folder` relative to it."""
        found = []
        for key, actions in self._calls.items():
            outcome = self._outcomes.get(key, ToolOutcome.UNKNOWN)
            for one in actions:
                text = _relative_to(one.text, folder)
                if text:
                    found.append(replace(one, text=text, outcome=outcome))
        return tuple(found)


def _call_actions(call: ToolCall) -> Iterator[Action]:
    name, at = call.name.lower(), call.span.start
    files = list(dict.fromkeys(patched_files(call)))
    if not files and name in SHELL_TOOLS:
        yield from _shell_actions(command_of(call), at)
        return
    if not files and (called := _mcp_command(call)):
        yield Action(
            called, ToolOutcome.UNKNOWN, at, read_only=bool(_READING_TOOL_PATTERN.search(name.rpartition("__")[2]))
        )
        return
    if name in _DELEGATING_TOOLS:
        kind = str(call.input.get("subagent_type") or "")
        words = [call.name, kind] if _ARGUMENT_PATTERN.fullmatch(kind) else [call.name]
        yield Action(" ".join([*words, _CUT_MARK]), ToolOutcome.UNKNOWN, at, alone=False, read_only=True)
        return
    if not files and name in READ_TOOLS:
        yield from _read_files(named_files(call.input), at)
    elif not files and name not in SEARCH_TOOLS:
        files = list(dict.fromkeys(named_files(call.input))) if _CHANGING_TOOL_PATTERN.search(name) else []
    for path in files[:_MAX_FILES_PER_CALL]:
        if len(path) <= _MAX_PATH_LENGTH:
            yield Action(path, ToolOutcome.UNKNOWN, at, edits=True, about=written_parts(call, path))


def _shell_actions(line: str, at: int) -> Iterator[Action]:
    parts = commands(line)
    if written := _written_file(line):
        yield Action(written, ToolOutcome.UNKNOWN, at, edits=True)
    for text in parts:
        if changed := _changed_in_place(text):
            yield Action(changed, ToolOutcome.UNKNOWN, at, edits=True, alone=len(parts) == 1)
        else:
            yield Action(text, ToolOutcome.UNKNOWN, at, alone=len(parts) == 1, read_only=is_read_only(text))
    for text in beginnings(line, parts):
        yield Action(text, ToolOutcome.UNKNOWN, at, alone=False, read_only=True)
    yield from _read_files((path for text in parts for path in _shown_files(text)), at)


def _read_files(files: Iterable[str], at: int) -> Iterator[Action]:
    for path in list(dict.fromkeys(files))[:_MAX_FILES_PER_CALL]:
        if len(path) <= _MAX_PATH_LENGTH:
            yield Action(path, ToolOutcome.UNKNOWN, at, read_only=True, reads=True)


_SHOWING_PROGRAMS = frozenset({"cat", "head", "tail", "less", "more", "nl", "bat"})
_SHOWN_FILE_PATTERN = re.compile(r"[\w.@-][\w.@/-]*\.\w{1,8}|/[\w.@/-]+\.\w{1,8}")


def _shown_files(text: str) -> Iterator[str]:
    """Yield the files that a command shows, such as `sed -n 1,80p docs/plan.md`."""
    words = tokens(text)
    if words[:1] and (words[0] in _SHOWING_PROGRAMS or words[:2] == ("sed", "-n")) and ">" not in text:
        yield from (word for word in words[1:] if _SHOWN_FILE_PATTERN.fullmatch(word))


_IN_PLACE_FLAG_PATTERN = re.compile(r"-[a-zE]{0,4}i|--in-place\b")
_FOLDER_PATTERN = re.compile(r"cd ([\w.@/-]{1,200}) ?(?:&&|;|\n)")
# `cat > notes.md <<'EOF'`, `cat <<EOF > notes.md`, `tee notes.md <<EOF`: the shell's way to write a file.
_FILE = r"[\"']?([\w.@/][\w.@/-]*)[\"']?"
_WRITING_PATTERN = re.compile(
    rf"(?:cat[ \t]*>{{1,2}}[ \t]*{_FILE}[ \t]*<<|cat[ \t]*<<-?[ \t]*[\"']?\w+[\"']?[ \t]*>{{1,2}}[ \t]*{_FILE}"
    rf"|tee[ \t]+(?:-a[ \t]+)?{_FILE}[ \t]*(?:>[ \t]*/dev/null[ \t]*)?<<)"
)


def _written_file(line: str) -> str:
    """Return the file that a command line writes with its first here-document, "" if it writes none."""
    line = _without_shell(line)
    before, _, rest = line.partition("<<")
    last = re.split(r"&&|;|\n", before)[-1]
    found = _WRITING_PATTERN.match(f"{last.lstrip()}<<{rest[:_MAX_PATH_LENGTH]}") if rest else None
    path = next(filter(None, found.groups()), "") if found else ""
    return _in_folder(line, path) if len(path) <= _MAX_PATH_LENGTH else ""


def _changed_in_place(text: str) -> str:
    """Return the file that a command such as `sed -i` changes, "" if it is another command or changes several."""
    words = tokens(text.rpartition("&& ")[2])
    if words[:1] not in {("sed",), ("perl",)} or not any(_IN_PLACE_FLAG_PATTERN.match(one) for one in words):
        return ""
    files = [one for one in words[1:] if one[0] != "-" and _SHOWN_FILE_PATTERN.fullmatch(one)]
    return _in_folder(text, files[0]) if len(files) == 1 and len(files[0]) <= _MAX_PATH_LENGTH else ""


def _in_folder(line: str, path: str) -> str:
    """Return a path as it is seen from where a command line begins: `cd web && sed -i ... a.ts` changes web/a.ts."""
    folder = _FOLDER_PATTERN.match(line)
    return f"{folder[1].rstrip('/')}/{path}" if folder and path and not path.startswith("/") else path


_DELEGATING_TOOLS = frozenset(
    {"task", "agent", "spawn_agent", "websearch", "web_search", "google_web_search", "webfetch", "web_fetch"}
)
_CHANGING_TOOL_PATTERN = re.compile(r"edit|write|replace|patch|create|insert|update")
_MCP_TOOL_PATTERN = re.compile(r"mcp__[\w-]{1,100}__[\w-]{1,100}")
_READING_TOOL_PATTERN = re.compile(
    r"(?:\A|_)(?:get|list|search|read|find|fetch|query|resolve|view|show|describe|extract)"
)
_ARGUMENT_PATTERN = re.compile(r"[\w@.:#/-]{1,60}")


def _mcp_command(call: ToolCall) -> str:
    """Return a call of an MCP tool as a command: its name and its one-word arguments; "" for other tools."""
    if not _MCP_TOOL_PATTERN.fullmatch(call.name):
        return ""
    given = sorted((key, str(value)) for key, value in call.input.items() if isinstance(value, str | int))
    words = [f"{key}={value}" for key, value in given if _ARGUMENT_PATTERN.fullmatch(f"{value}") and key.isidentifier()]
    return " ".join([call.name, *words])[:MAX_COMMAND_LENGTH]


def is_mcp_call(text: str) -> bool:
    """Whether an action is a call of an MCP tool."""
    return text.startswith("mcp__")


# Splitting a command line into the commands that it runs one after the other.

_SHELL_PATTERN = re.compile(r"(?:/\S{1,64}/)?(?:ba|z|da)?sh\s+-l?i?c\s+")
_TOKEN_PATTERN = re.compile(r"""(?:[^\s"'\\]|\\.|"(?:\\.|[^"\\])*"|'[^']*')+""")
_SHELL_PIECE_PATTERN = re.compile(
    r"""\\.|"(?:\\.|[^"\\])*"|'[^']*'|&&|\|\||[;\n|()]|\$\(|[^\\"'&|;\n$()]+|.""", re.DOTALL
)
_SCRIPT_PATTERN = re.compile(r"<<|(?:^|[\s;])(?:for|while|until|if|case|function)\s|\{\s")
_QUOTED_TEXT_PATTERN = re.compile(r""" (?:"[^"\\$`<]*"|'[^'<]*')(?=[\s;&|]|\Z)""")  # that runs nothing
# Redirections that only silence output; options and final pipeline stages that only filter it.
_SILENCING_PATTERN = re.compile(r"(?:2>&1|[12&]?>[ \t]{0,3}/dev/null|< ?/dev/null|\|\|[ \t]{0,3}(?:true|:))\Z")
_GH_FILTER_PATTERN = re.compile(r""" (?:--jq|-q|--json) (?:"(?:\\.|[^"\\])*"|'[^']*'|[^\s"'-]\S*)""")
_FILTER_PROGRAMS = frozenset({"tail", "head", "cat", "less", "jq", "grep", "rg", "wc", "sort", "uniq", "cut", "awk"})
_WRAPPER_PATTERN = re.compile(
    r"\A(?:time |timeout (?:-\S{1,20} ){0,3}\d{1,6}[smh]? |nice (?:-n ?\d{1,2} )?|command ){1,3}"
)
_READ_ONLY_PROGRAMS = frozenset(
    re.findall(
        r"\S+",
        "ls cat head tail grep egrep rg ag find fd pwd wc which type tree stat file echo printf env printenv less more"
        " du df ps whoami date sleep true test [ sed awk jq diff sort uniq cut column man help history jobs wait clear"
        " nl bat export set unset source . cd pushd popd hostname uname id",
    )
)
_HELP_PATTERN = re.compile(r"\A\S+ (?:\S+-)?help\b|(?:\A|-- )\S+ version\Z| (?:--help|--version|auth status)\Z")
_ASSIGNMENT_PATTERN = re.compile(r"[A-Za-z_]\w*=\$\(.*\)", re.DOTALL)  # for the next command alone
_READ_ONLY_GIT_COMMANDS = frozenset(
    {"status", "diff", "log", "show", "branch", "blame", "remote", "rev-parse", "ls-files", "grep"}
)
_IN_PLACE_PATTERN = re.compile(r"\s-\w*i\b|>")


@lru_cache(maxsize=16384)  # each command is compared with those of many sessions
def tokens(text: str) -> tuple[str, ...]:
    """Split a command into words as a shell would, keeping the quotes."""
    return tuple(_TOKEN_PATTERN.findall(text))


def commands(text: str) -> list[str]:
    """Return the commands that a command line runs one after the other; none if it is a script."""
    text = _CONTINUATION_PATTERN.sub(" ", _without_heredocs(_without_shell(text))).strip()
    if not text or len(text) > 4 * MAX_COMMAND_LENGTH or _SCRIPT_PATTERN.search(_QUOTED_TEXT_PATTERN.sub(" -", text)):
        return []
    found = [_without_wrappers(part) for part in _split(text, {"&&", ";", "\n"}) if not part.lstrip().startswith("#")]
    return [part for part in _with_folder(found) if part and len(part) <= MAX_COMMAND_LENGTH]


def _without_shell(text: str) -> str:
    """Return what `bash -lc "..."` runs."""
    text = text.strip()
    if wrapped := _SHELL_PATTERN.match(text):
        text = text[wrapped.end() :].strip()
        if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'":
            text = text[1:-1]
    return text


_BEGINNING_PATTERN = re.compile(r"(?:[A-Z_]+=\S+ )*((?:\./)?[a-z][\w.-]*(?: [a-z][\w:-]*){1,2})(?= )")
_KEYWORD_PATTERN = re.compile(r"(?:for|while|until|if|case|function|do|then|else|in|done|fi)\b")
_MAX_BEGINNINGS = 4  # of one call


def beginnings(text: str, whole: Collection[str]) -> list[str]:
    """Return how commands begin that are too long to be repeated, such as "gh pr create \u2026", and not in `whole`.

    What follows a here-document or an opening quote may be a text, and is no command.
    """
    own = re.split(r"<<|[\"'`]", _without_shell(text)[: 4 * MAX_COMMAND_LENGTH], maxsplit=1)[0]
    found = [match[1] for part in re.split(r"&&|;|\n", own) if (match := _BEGINNING_PATTERN.match(part.strip() + " "))]
    known = {" ".join(tokens(one.rpartition("&& ")[2])[:2]) for one in whole}
    found = [one for one in found if not (_KEYWORD_PATTERN.match(one) or is_read_only(one))]
    new = (one for one in found if " ".join(tokens(one)[:2]) not in known)
    return [f"{one} {_CUT_MARK}" for one in list(dict.fromkeys(new))[:_MAX_BEGINNINGS]]


_CUT_MARK = "\u2026"


def is_beginning(text: str) -> bool:
    """Whether an action is only the beginning of a command."""
    return text.endswith(f" {_CUT_MARK}")


# A text passed as a here-document: `git commit -m "$(cat <<'EOF' ...)"`.
_HEREDOC_START_PATTERN = re.compile(r"""\"\$\(cat <<-?[ \t]{0,3}['"]?(\w{1,40})['"]?\n""")
_HEREDOC_END_PATTERN = re.compile(r"[ \t]{0,9}\n?[ \t]{0,9}\)\"")
_CONTINUATION_PATTERN = re.compile(r"[ \t]{0,9}\\\n[ \t]{0,9}")
_MAX_HEREDOC_LINE = 60


def _without_heredocs(text: str) -> str:
    """Replace each here-document of a command by its first line."""
    parts, at = [], 0
    while opened := _HEREDOC_START_PATTERN.search(text, at):
        end = text.find(f"\n{opened[1]}", opened.end() - 1)
        closed = _HEREDOC_END_PATTERN.match(text, end + 1 + len(opened[1])) if end >= 0 else None
        if closed is None:
            break
        body = re.sub(r"[\"`$\\]", "", text[opened.end() : max(end, opened.end())]).strip().partition("\n")[0]
        parts += [text[at : opened.start()], f'"{body[:_MAX_HEREDOC_LINE].rstrip()} \u2026"']
        at = closed.end()
    return "".join([*parts, text[at:]])


def _split(text: str, separators: Collection[str]) -> Iterator[str]:
    part, depth = "", 0
    for match in _SHELL_PIECE_PATTERN.finditer(text):
        piece = match[0]
        depth += piece in {"(", "$("}
        depth -= piece == ")"
        if piece in separators and depth <= 0:
            yield part
            part = ""
        else:
            part += piece
    yield part


def _without_wrappers(part: str) -> str:
    stages = [*_split(part, {"|"})]
    while (
        len(stages) > 1
        and (tokens(stages[-1]) or ("",))[0] in _FILTER_PROGRAMS
        and ">" not in _without_silencing(stages[-1])
    ):
        stages.pop()
    plain = _WRAPPER_PATTERN.sub("", _without_silencing("|".join(stages)))
    if not plain.startswith("gh "):
        return plain
    own, mark, inner = plain.partition("$(")  # what another command is given needs its filter
    return _GH_FILTER_PATTERN.sub("", own) + mark + inner


def _without_silencing(part: str) -> str:
    part = part.strip()
    while quiet := _SILENCING_PATTERN.search(part):
        part = part[: quiet.start()].rstrip()
    return part


def _with_folder(parts: list[str]) -> Iterator[str]:
    """Prefix each command with the `cd` before it: a `cd` alone does nothing."""
    folder = ""
    for part in parts:
        if part.startswith("cd "):
            folder = part if part[3:4] in "/~\"'$" or not folder else f"{folder.rstrip('/')}/{part[3:]}"
        else:
            yield f"{folder} && {part}" if folder and part and not is_read_only(part) else part


def is_read_only(text: str) -> bool:
    """Whether a command changes and tests nothing."""
    words = [word for word in tokens(text.rpartition("&& ")[2]) if not re.match(r"[A-Za-z_]\w*=", word)]
    if not words or _HELP_PATTERN.search(text) or _ASSIGNMENT_PATTERN.fullmatch(text):
        return True
    if words[0] == "git":
        words = words[2:] if words[1:2] in (["-C"], ["-c"]) else words
        return next((word for word in words[1:] if not word.startswith("-")), "") in _READ_ONLY_GIT_COMMANDS
    return words[0] in _READ_ONLY_PROGRAMS and not (
        words[0] in {"sed", "echo", "cat", "printf"} and _IN_PLACE_PATTERN.search(text)
    )


_GENERIC_PATTERN = re.compile(
    r"(?:mise\s+exec\s+--\s+)?(?:"
    r"(?:git|hg|jj)\s+(?:-C\s+\S+\s+|-\S+\s+)*(?:add|commit|push|pull|fetch|checkout|switch|stash|restore|reset)\b"
    r"|(?:go|cargo|mise\s+run|deno|dotnet|swift|mix|gradle|\./gradlew|mvn)\s+(?:test|vet|fmt|lint|clippy|build)\b"
    r"|(?:npm|pnpm|yarn|bun|mise|just|task|make|tox|nox|cargo|go|uv|poetry|gradle|\./gradlew|mvn|deno|rake)"
    r"(?:\s+(?:run|exec))?(?:\s+(?:all|tests?|lint|fmt|format|build|check|vet|typecheck|ci|clippy)\S*(?:\s+\S*)?)?\s*\Z"
    r"|(?:npm|pnpm|yarn|bun)\s+(?:ci|i|install)\b|mkdir\b|(?:pip3?|uv|poetry)\s+\S*(?:install|sync)\b"
    r"|(?:(?:uv|poetry)\s+run\s+|python3?\s+-m\s+|npx\s+)?(?:pytest|mypy|ruff|black|tsc|eslint|prettier|jest|vitest)\b"
    r"|(?:gofmt|goimports|rustfmt|clang-format|golangci-lint)\b)"
)


def is_generic(text: str) -> bool:
    """Whether a command belongs to nearly all work in a repository, so it does not identify a task."""
    run = text.rpartition("&& ")[2]
    return any(map(_GENERIC_PATTERN.match, (run, run.partition(" ")[2])))  # the first word may be a wrapper


_WRITERS = {(name,) for name in ("echo", "printf", "cat", "sed", "tee", "cp", "mv", "touch", "mkdir")}


def is_test(text: str) -> bool:
    """Whether a command is a test by its words, and not by what it writes: `echo build=7 >> settings`."""
    return bool(CHECK_PATTERN.search(text)) and tokens(text)[:1] not in _WRITERS


def _relative_to(text: str, folder: str) -> str:
    """Make the paths in a command, or a path, relative to a project's folder."""
    base = folder.rstrip("/")
    if not base.startswith("/"):
        return text
    text = re.sub(rf"(?<![\w./-])cd {{1,4}}([\"']?){re.escape(base)}/?\1 {{1,4}}&& {{1,4}}", "", text)
    text = re.sub(rf"(?<![\w.-]){re.escape(base)}/(?=[\w.-])", "", text)
    text = re.sub(rf"(?<![\w.-]){re.escape(base)}(?![\w./-])", ".", text)
    return re.sub(r"\bgit -C \. ", "git ", text)


# What no skill may repeat of the actions: stricter than the linter is with a person's own words.

PRIVILEGE_PATTERN = re.compile(
    r"(?<![\w./-])(?:sudo|doas|su|pkexec|runas|chmod|chown|chgrp|chattr|setfacl|icacls|setcap|usermod|adduser|useradd"
    r"|groupadd|passwd|visudo|sudoedit|csrutil|spctl|xattr|setenforce|kill|pkill|killall)(?![\w-])"
    r"|--privileged\b|--no-sandbox\b|--allow-root\b|--cap-add\b|\bacls?\b|\bgrant\b",
    re.IGNORECASE,
)
_OWN_SCRIPT_PATTERN = re.compile(r"\A(?:\./)?\w[\w.-]*/[\w./-]+")  # whatever a project calls it: `bin/grant`
_AUTO_ANSWER_PATTERN = re.compile(r"(?:^|[\s;&|])(?:y|yes)\s*\|")
# It is told from the log and runs in its own project; the person sees these flags at the proposal.
_IGNORED_RULES = (
    "foreign-",
    "shell-substitution",
    "joined-command",
    "runs-script",
    "deletes",
    "money",
    "contested-topic",
    "no-instruction",
)


# Commands that only show or fetch something, whatever it is called: `kubectl logs deploy/webhooks`.
_SHOWING_PATTERN = re.compile(
    r"(?:cd \S+ && )?(?:"
    r"(?:kubectl|oc)(?: -\S+(?: [A-Za-z0-9][\w-]*)?)*? (?:get|logs|describe|top|explain|rollout (?:status|history))"
    r"|docker(?:[ -]compose)?(?: -\S+ \S+)*? (?:logs|ps|images|inspect|top|stats|pull)"
    r"|git(?: -C \S+)? (?:fetch|pull|log|show|diff|blame|status|ls-remote)|aws \S+ (?:describe|get|list|ls|tail)[\w-]*"
    r"|(?:gh|glab) \w+ (?:view|list|diff|checks|status|watch)|helm (?:list|status|get|history)|(?:heroku|fly) logs"
    r"|terraform(?: -\S+)? (?:plan|show|output|validate)|journalctl|stern"
    r")(?= |\Z)[^|<>;&`$]*"
)


# Code in quotes is no quotation: `psql -c "select ..."`.
_CODE_ARGUMENT_PATTERN = re.compile(r" (?:-[ce]|--(?:command|eval|execute|query|sql))[ =][\"']")


def line_findings(text: str, typed: str) -> list[Finding]:
    """Return what the linter finds in a text as a line of a skill; `typed` is what the person typed."""
    return lint(b"", f"# Task\n\n- {text}\n".encode("utf-8", "replace"), typed)


@lru_cache(maxsize=4096)
def unfit_reason(text: str) -> str | None:
    """Return why no skill may repeat a command or path from the log, None if one may."""
    if "\n" in text or "`" in text:
        return "it is not a single line of plain text"
    if "[REDACTED:" in text:
        return "it contains a secret"
    if PRIVILEGE_PATTERN.search(_OWN_SCRIPT_PATTERN.sub("", text)) or _AUTO_ANSWER_PATTERN.search(text):
        return "it changes permissions, stops processes or answers prompts for you"
    if _MACHINE_PATH_PATTERN.search(text):
        return "it contains a path specific to this machine"
    ignored = (*_IGNORED_RULES, "sends-data") if _SHOWING_PATTERN.fullmatch(text) else _IGNORED_RULES
    ignored = (*ignored, "quotation") if _CODE_ARGUMENT_PATTERN.search(text) else ignored
    findings = lint(b"", f"# Steps\n\n- Run `{text}`.\n".encode("utf-8", "replace"), "")
    return next((one.sentence for one in findings if not one.rule.startswith(ignored)), None)


# Paths that differ between machines; not `/api/users`.
_MACHINE_PATH_PATTERN = re.compile(
    r"(?<![\w.:/-])(?:~\w*/|\$HOME\b|\$\{HOME\}|/(?:Users|home|root|private|Volumes|tmp|var|opt|mnt|media|srv|usr|etc)(?:/|(?=[\s;&|)\"']|\Z))"
    r"|/[c-h]/(?=\w))"  # a drive, in the bash of Git for Windows
    r"|\b[A-Za-z]:(?:\\|/(?!/))|\bfile:/|%(?:USERPROFILE|APPDATA|LOCALAPPDATA|HOMEPATH)%"
)


def without_private_words(text: str) -> str:
    """Return a command with "\u2026" for its secrets and paths of this machine: `pg_restore -d shop \u2026`.

    It stays as it is, for `unfit_reason` to refuse, if little else is in it or it is more than a plain command.
    """
    words = tokens(text)
    kept = [_without_private_part(word) for word in words]
    plain = [word for word in kept if _CUT_MARK not in word]
    telling = plain[:1] and any(word[0] not in "-\"'" for word in plain[1:])
    return " ".join(kept) if len(plain) < len(words) and telling and not re.search(r"[<>|&;`]|\$\(", text) else text


def _without_private_part(word: str) -> str:
    name, assigns, _ = word.partition("=")
    if not (has_machine_path(word) or "[REDACTED:" in word):
        return word
    return f"{name}={_CUT_MARK}" if assigns and re.fullmatch(r"[\w-]+", name) else _CUT_MARK


def has_machine_path(text: str) -> bool:
    """Whether a text contains a path specific to one machine."""
    return bool(_MACHINE_PATH_PATTERN.search(text))
