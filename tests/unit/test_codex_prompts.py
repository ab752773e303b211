"""The wrappers of Codex's clients around what a person typed, and the texts that nobody typed."""

from __future__ import annotations

import pytest

from skilld.agents.codex.user_messages import Prompt, injected_kind, is_wrapped, read_prompt
from skilld.types import How

IDE = "# Context from my IDE setup:\n\n## Active file: a.py\n\n## Open tabs:\n- a.py: a.py\n\n"
TEMPLATE = (
    "## User Input\n\n```text\n{}\n```\n\nYou **MUST** consider the user input before proceeding.\n\n## Outline\n"
)


@pytest.mark.parametrize(
    ("text", "typed"),
    [
        ("use tabs", "use tabs"),
        ("  use tabs\n", "use tabs"),
        ("first\n\n  second", "first\n\n  second"),
        (IDE + "## My request for Codex:\nuse tabs\n", "use tabs"),
        (IDE + "## My request for Codex: use tabs", "use tabs"),
        ("# Files mentioned by the user:\n\n## a.png: /tmp/a.png\n\n## My request:\nuse tabs", "use tabs"),
        (
            "# Diff comments:\n\n## Comment 1\nComment:\nrename it\n\n## My request for Codex:\n\nall of them",
            "all of them",
        ),
        (IDE + "```\n## My request for Codex:\nold\n```\n\n## My request for Codex:\nnew", "new"),
        ("the heading ## My request for Codex: is odd", "the heading ## My request for Codex: is odd"),
        ("[$menu](/w/.agents/skills/menu/SKILL.md) without prices", "$menu without prices"),
        ("[$gh:yeet](skill:///h/.codex/x/yeet/SKILL.md) now", "$gh:yeet now"),
        ("see [the rules]($home/SKILL.md)", "see [the rules]($home/SKILL.md)"),
        ("# AGENTS.md instructions are too long, cut them", "# AGENTS.md instructions are too long, cut them"),
        ("<skill> tags look odd here", "<skill> tags look odd here"),
        (
            "Review the code changes against the base branch main",
            "Review the code changes against the base branch main",
        ),
        ("Implement the plan.", "Implement the plan."),
        ("Automation: do it nightly", "Automation: do it nightly"),
        ("explain ## User Input\n\n```text\nx\n```", "explain ## User Input\n\n```text\nx\n```"),
    ],
)
def test_the_typed_words_remain(text: str, typed: str) -> None:
    assert read_prompt(text) == Prompt(typed)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "empty"),
        (" \n", "empty"),
        ("<environment_context>\n  <cwd>/w</cwd>\n</environment_context>", "injected"),
        ("\n<ENVIRONMENT_CONTEXT>x", "injected"),
        ("# AGENTS.md instructions for /w\n\n<INSTRUCTIONS>\nUse tabs.\n</INSTRUCTIONS>", "injected"),
        ("<INSTRUCTIONS>\nx", "injected"),
        ("<user_instructions>\n\nx", "injected"),
        ("<recommended_plugins>\n- x\n</recommended_plugins>", "injected"),
        ('<codex_internal_context source="goal">\nContinue\n</codex_internal_context>', "injected"),
        ("<goal_context>\nx", "injected"),
        ("<external_time>12:00</external_time>", "injected"),
        ("<user_action>\n  <context>User initiated a review task.", "review"),
        ("<turn_aborted>\nThe user interrupted", "aborted"),
        ("<subagent_notification>\n{}", "notification"),
        ("<user_shell_command>\n<command>ls</command>", "shell"),
        ('<hook_prompt hook_run_id="1">do it</hook_prompt>', "hook"),
        ("<skill>\n<name>menu</name>\n<path>/w/SKILL.md</path>", "skill-body"),
        (IDE, "injected"),
        (IDE + "## My request for Codex:\n", "injected"),
        (IDE + "## My request for Codex:\nPLEASE IMPLEMENT THIS PLAN:\n1. x", "plan"),
        ("PLEASE IMPLEMENT THIS PLAN:\n# Title", "plan"),
        ("A previous agent produced the plan below to accomplish the user's task. Implement the plan in a", "plan"),
        ("## Code review guidelines:\n- x", "review"),
        ("Review the current code changes (staged, unstaged, and untracked files) and provide prioritized", "review"),
        ("Review the code changes against the base branch 'main'. Start by finding the merge diff between", "review"),
        ("Review the code changes introduced by commit a1b2. Provide prioritized, actionable findings.", "review"),
        ("Generate a file named AGENTS.md that serves as a contributor guide for this repository.\nYour", "command"),
        ("Automation: Nightly\nAutomation ID: nightly\nLast run: never\n\nCheck the links", "automation"),
        (TEMPLATE.format(""), "command"),
        ("\n" + TEMPLATE.format("  "), "command"),
    ],
)
def test_what_nobody_typed_has_a_reason(text: str, reason: str) -> None:
    assert read_prompt(text) == Prompt("", reason=reason)


@pytest.mark.parametrize("words", ["only for the shop", "two\nlines", "a ```fence``` inside"])
def test_a_command_template_holds_the_typed_arguments(words: str) -> None:
    assert read_prompt(TEMPLATE.format(words)) == Prompt(words, How.COMMAND)


def test_accepting_a_plan_from_the_menu_is_no_turn() -> None:
    assert read_prompt("Implement the plan.", leaves_plan_mode=True) == Prompt("", reason="plan")
    assert read_prompt("Implement the plan. And add tests", leaves_plan_mode=True) == Prompt(
        "Implement the plan. And add tests"
    )


@pytest.mark.parametrize(
    ("kinds", "reason"),
    [
        (["user.text"], ""),
        (["user.text", "user.image"], ""),
        (["environments.environment_context"], "injected"),
        (["agents_md.instructions", "environments.environment_context"], "injected"),
        (["user.text", "unknown"], "injected"),
        (["generic.turn_aborted"], "aborted"),
        (["shell.user_command"], "shell"),
        (["skills.selected_skill_instructions"], "skill-body"),
        (["multi_agent.subagent_notification"], "notification"),
        ([""], "injected"),
    ],
)
def test_every_kind_of_a_message_counts(kinds: list[str], reason: str) -> None:
    assert injected_kind(kinds) == reason


@pytest.mark.parametrize(
    ("text", "wrapped"),
    [
        ("<note>\nx\n</note>\n", True),
        ('<note id="1">x</note>', True),
        ("<b>bold</b> move", False),
        ("a <b>bold</b>", False),
        ("<note>x</other>", False),
    ],
)
def test_a_text_in_one_tag_is_wrapped(text: str, wrapped: bool) -> None:  # noqa: FBT001 - a table's column
    assert is_wrapped(text) is wrapped
