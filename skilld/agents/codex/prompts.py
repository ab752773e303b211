"""Finds what a person typed in the text of a Codex prompt, and tells why a text is not a person's.

A message as logged in; the typed words, or the reason why there are none, out. The wrappers are those of the Codex
clients (format page section 2; openai/codex: core/src/context, core/src/review_prompts.rs, tui/src/chatwidget). Knows
nothing of records or of who sent a message.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from skilld.agents.wrapped import Wrappers, last
from skilld.types import How


@dataclass(frozen=True, slots=True)
class Prompt:
    """The words of a prompt, or "" and the `reason` why nobody typed any. `how` is None for an ordinary prompt."""

    text: str
    how: How | None = None
    reason: str = ""


# Lower case; matched at the start of the text, as Codex itself does. What stands in angle brackets may have attributes.
_INJECTED: tuple[tuple[str, str], ...] = (
    ("<environment_context", "injected"),
    ("<user_instructions>", "injected"),
    ("<instructions>", "injected"),
    ("<recommended_plugins>", "injected"),
    ("<codex_internal_context", "injected"),
    ("<goal_context>", "injected"),
    ("<extension_context>", "injected"),
    ("<app-context>", "injected"),
    ("<permissions instructions>", "injected"),
    ("<skills_instructions>", "injected"),
    ("<plugins_instructions>", "injected"),
    ("<apps_instructions>", "injected"),
    ("<collaboration_mode>", "injected"),
    ("<multi_agent_mode>", "injected"),
    ("<model_switch>", "injected"),
    ("<personality_spec>", "injected"),
    ("<token_budget>", "injected"),
    ("<user_action>\n", "review"),
    ("<turn_aborted>", "aborted"),
    ("<subagent_notification>", "notification"),
    ("<user_shell_command>", "shell"),
    ("<hook_prompt", "hook"),
    ("<heartbeat>", "automation"),
    ("<skill>\n<name>", "skill-body"),
)
_AGENTS_MD = re.compile(r"# AGENTS\.md instructions\b.*?<INSTRUCTIONS>", re.DOTALL)
_EXTERNAL = re.compile(r"<external_([\w-]+)>.*</external_\1>\s*\Z", re.DOTALL)
_WRAPPED = re.compile(r"<([A-Za-z][\w-]*)(?:\s[^>]*)?>.*</\1>\s*\Z", re.DOTALL)

# Kinds of content items, by what they start with, where the log names them.
_KINDS = {
    "generic.turn_aborted": "aborted",
    "shell.": "shell",
    "skills.": "skill-body",
    "multi_agent.": "notification",
}

# A client puts its context before the request. The last heading counts: a selection may quote an earlier one.
_REQUEST = r"^## My request(?: for Codex)?:[ \t]*"
_HEADING = re.compile(_REQUEST, re.MULTILINE)
WRAPPERS = Wrappers(
    opens=r"# (?:Context from my IDE setup|Files mentioned by the user|Diff comments|Review findings|In app browser):"
    r"|## Prior conversation with Codex:",
    closes=_REQUEST,
    behind=False,
)

# Texts the client submits for a click or a bare command.
_CANNED: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"PLEASE IMPLEMENT THIS PLAN:"), "plan"),
    (re.compile(r"A previous agent produced the plan below to accomplish the user's task\. Implement"), "plan"),
    (re.compile(r"## Code review guidelines:"), "review"),
    (re.compile(r"Review the current code changes \(staged, unstaged, and untracked files\) and provide"), "review"),
    (re.compile(r"Review the code changes against the base branch '.*'\. Start by finding the merge diff"), "review"),
    (re.compile(r"Review the code changes introduced by commit \w++.*Provide prioritized, actionable find"), "review"),
    (re.compile(r"Generate a file named AGENTS\.md that serves as a contributor guide for this repo"), "command"),
    (re.compile(r"Automation: .*\nAutomation ID: "), "automation"),
)
_PLAN_PICKED = re.compile(r"Implement the plan\.(?: If this thread has no active goal.*)?\Z")

# A prompt command's template, with the typed arguments in its place.
_TEMPLATE = re.compile(r"(?:\A|\n)## User Input\n\n```text\n")
_TEMPLATE_END = "```\n\nYou **MUST** consider"
# A mention chosen from a list is logged as a link to the file.
_MENTION = re.compile(r"\[(\$[\w:.-]+)\]\([^()\n]*SKILL\.md\)")


def read_prompt(text: str, *, leaves_plan_mode: bool = False) -> Prompt:
    """Return what was typed in a message sent to the main thread, white space at both ends aside.

    `leaves_plan_mode` says that the turn is the first outside plan mode, where "Implement the plan." is a menu item.
    """
    request = _request(text)
    reason = injected(text) or injected(request) or _canned(request)
    if not reason and leaves_plan_mode and _PLAN_PICKED.match(request):
        reason = "plan"
    if not reason and not request:
        reason = "injected" if text.strip() else "empty"
    if reason:
        return Prompt("", reason=reason)
    if (template := _TEMPLATE.search(request)) and _TEMPLATE_END in request[template.end() :]:
        words = _arguments(request, template.end())
        return Prompt(words, How.COMMAND) if words else Prompt("", reason="command")
    return Prompt(_MENTION.sub(r"\1", request))


def injected(text: str) -> str:
    """Return why a text is the client's own context, or "" if it does not look like that."""
    start = text.lstrip()
    head = start[:64].lower()
    for prefix, reason in _INJECTED:
        if head.startswith(prefix):
            return reason
    return "injected" if _AGENTS_MD.match(start) or _EXTERNAL.match(start) else ""


def injected_kind(kinds: Sequence[str]) -> str:
    """Return why a message with these content item kinds is not a person's, or "" if it is: every kind counts."""
    for kind in kinds:
        if not kind.startswith("user."):
            return next((reason for start, reason in _KINDS.items() if kind.startswith(start)), "injected")
    return ""


def own_words(texts: Sequence[str]) -> list[str]:
    """Return the texts of one message without marks of images, and without context where that is a text of its own."""
    words = [text for text in texts if not text.lstrip().startswith(("<image", "</image", "<local_image"))]
    return [text for text in words if not WRAPPERS.begin(text)] or words


def is_wrapped(text: str) -> bool:
    """Whether the whole text stands in one tag: then an item without any sign of a person is taken for context."""
    return _WRAPPED.match(text.lstrip()) is not None


def _request(text: str) -> str:
    heading = last(_HEADING, text)  # context of a kind that is not known yet has one, too
    return text[heading.end() :].strip() if heading else WRAPPERS.typed(text).strip()


def _arguments(request: str, start: int) -> str:
    """Return the arguments in a template; "" where it marks more than one place for them, and one may be its own."""
    marked = len(_TEMPLATE.findall(request)), request.count(_TEMPLATE_END)
    return request[start : request.index(_TEMPLATE_END, start)].strip() if marked == (1, 1) else ""


def _canned(text: str) -> str:
    return next((reason for pattern, reason in _CANNED if pattern.match(text)), "")
