"""The programs of coding agents, and the variables that they set for commands: one line per agent. Pure.

The agents whose transcripts skilld follows come first, then others. `names` are names of programs as `ps` shows them,
also with a platform suffix (`codex-x86_64-unknown-linux-musl`); `packages` are parts of the path of a program, or of
the script that an interpreter runs; `marks` are variables that are set for commands of the agent and not in a person's
own shell (checked 2026-11 in each client's documentation or source; AGENT and AI_AGENT:
https://github.com/agentsmd/agents.md/issues/136). An editor's built-in agent runs its commands in the editor's terminal
like the person: only its marks identify it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from skilld.caller.tree import Process, same_name
from skilld.values import value_class

_FALSE_VALUES = frozenset({"", "0", "false"})
_PLATFORM_SUFFIX = (
    r"(?:[-_.](?:x86_64|x64|amd64|aarch64|arm64|linux|darwin|macos|win32|musl|unknown|gnu|apple|baseline)\b.*)?"
)


@value_class
class AgentProgram:
    """How one agent is recognized among processes. Names and packages are in lower case."""

    title: str
    names: tuple[str, ...]
    packages: tuple[str, ...] = ()
    marks: tuple[str, ...] = ()


PROGRAMS: tuple[AgentProgram, ...] = (
    AgentProgram(
        "Claude Code",
        ("claude", "claude-code", "claude.exe"),
        ("@anthropic-ai/claude-", "anthropic.claude-code", "/claude/versions/", "claude_agent_sdk"),
        ("CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT"),
    ),
    AgentProgram(
        "Codex",
        ("codex", "codex-cli", "codex-exec", "codex-tui", "codex-linux-sandbox", "codex-app-server"),
        ("@openai/codex", "openai.chatgpt"),
        ("CODEX_CI", "CODEX_SANDBOX", "CODEX_SANDBOX_NETWORK_DISABLED", "CODEX_THREAD_ID"),
    ),
    AgentProgram("opencode", ("opencode",), ("node_modules/opencode-",), ("OPENCODE", "OPENCODE_CLIENT")),
    AgentProgram("Gemini CLI", ("gemini", "gemini-cli"), ("@google/gemini-cli",), ("GEMINI_CLI",)),
    AgentProgram("Copilot CLI", ("copilot", "copilot-agent"), ("@github/copilot",), ("COPILOT_CLI",)),
    AgentProgram("Pi", ("pi", "pi-coding-agent"), ("/pi-coding-agent",), ("PI_CODING_AGENT",)),
    AgentProgram("Qwen Code", ("qwen", "qwen-code"), ("@qwen-code/",), ("QWEN_CODE",)),
    AgentProgram("Cursor", ("cursor-agent",), ("/cursor-agent/versions/",), ("CURSOR_AGENT",)),
    AgentProgram("TraeX", ("traex", "trae-cli", "trae-agent"), ("/site-packages/trae_agent/",)),
    AgentProgram("Kilo Code", ("kilo", "kilocode"), ("@kilocode/cli", "kilocode.kilo-code")),
    AgentProgram(
        "Cline",
        ("cline", "cline-core"),
        ("node_modules/cline/", "@cline/cli", "saoudrizwan.claude-dev"),
        ("CLINE_ACTIVE",),
    ),
    AgentProgram("Droid", ("droid",), ("@factory/cli", "node_modules/droid/")),
    AgentProgram("Continue", ("cn",), ("@continuedev/cli",)),
    AgentProgram("Kimi Code", ("kimi", "kimi-cli"), ("@moonshot-ai/kimi-code", "/site-packages/kimi_cli/")),
    AgentProgram("Grok Build", ("grok", "grok-cli", "grok-native"), ("@xai-official/grok", "@vibe-kit/grok-cli")),
    AgentProgram("Mistral Vibe", ("vibe", "vibe-acp", "mistral-vibe"), ("/site-packages/vibe/",)),
    AgentProgram("Letta Code", ("letta", "letta-code"), ("@letta-ai/letta-code",)),
    AgentProgram("Aider", ("aider",), ("/site-packages/aider/",)),
    AgentProgram("OpenHands", ("openhands",), ("/site-packages/openhands/",)),
    AgentProgram("Kiro", ("q", "qchat", "kiro-cli", "kiro-cli-chat")),
    AgentProgram("Goose", ("goose", "goosed"), (), ("GOOSE_TERMINAL",)),
    AgentProgram("Antigravity", ("agy",)),
    AgentProgram("Amp", ("amp",), ("@sourcegraph/amp",)),
    AgentProgram("Auggie", ("auggie",), ("@augmentcode/auggie",), ("AUGMENT_AGENT",)),
    AgentProgram("Codebuff", ("codebuff",), ("node_modules/codebuff/",)),
    AgentProgram("Crush", ("crush",), ("@charmland/crush",)),
    AgentProgram("Devin", ("devin",)),
    AgentProgram("Forge", ("forge", "forgecode"), ("node_modules/forgecode/",)),
    AgentProgram("gptme", ("gptme",), ("/site-packages/gptme/",)),
    AgentProgram("Hermes", ("hermes", "hermes-agent")),
    AgentProgram("iFlow", ("iflow",), ("@iflow-ai/",)),
    AgentProgram("Jules", ("jules",), ("@google/jules",)),
    AgentProgram("LLxprt", ("llxprt", "llxprt-code"), ("@vybestack/llxprt-code",)),
    AgentProgram("nanocoder", ("nanocoder",), ("@motesoftware/nanocoder",)),
    AgentProgram("Open Interpreter", ("interpreter", "open-interpreter"), ("/site-packages/interpreter/",)),
    AgentProgram("OpenClaw", ("openclaw", "clawdbot"), ("node_modules/openclaw/", "node_modules/clawdbot/")),
    AgentProgram("Plandex", ("plandex", "pdx")),
    AgentProgram("Roo Code", ("roo", "roo-code"), ("rooveterinaryinc.roo-cline",)),
    AgentProgram("Rovo Dev", ("rovodev", "acli")),
    AgentProgram("a coding agent", (), (), ("AGENT", "AI_AGENT")),
)

_TITLES = {name: program.title for program in PROGRAMS for name in program.names}
AGENT_VARIABLES = frozenset(mark for program in PROGRAMS for mark in program.marks)


def program_names(title: str) -> tuple[str, ...]:
    """Return the program names of the agent with this title; none if unknown."""
    return next((known.names for known in PROGRAMS if known.title == title), ())


@cache
def _name_pattern() -> re.Pattern[str]:
    longest_first = sorted(_TITLES, key=len, reverse=True)
    return re.compile(f"({'|'.join(map(re.escape, longest_first))}){_PLATFORM_SUFFIX}")


def agent_title(process: Process) -> str:
    """Return the title of the agent that a process is, "" if it is none."""
    for name in sorted(process.names):
        if found := _name_pattern().fullmatch(name):
            return _TITLES[found[1]]
    comm = process.comm.lower()
    if cut := next((name for name in _TITLES if name != comm and same_name(name, comm)), ""):
        return _TITLES[cut]
    paths = "\n".join([process.exe, *process.argv[:1], *process.scripts]).lower() + "/"
    return next((program.title for program in PROGRAMS if any(part in paths for part in program.packages)), "")


def agent_mark(environment: Mapping[str, str]) -> str:
    """Return the first set variable by which an agent marks its commands, "" if none is set."""
    is_set = (name for name in sorted(AGENT_VARIABLES) if environment.get(name, "").lower() not in _FALSE_VALUES)
    return next(is_set, "")
