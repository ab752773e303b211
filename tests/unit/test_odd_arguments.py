"""Arguments that are empty, unknown or too long: each is named in an error, and none is silently ignored."""

from __future__ import annotations

from pathlib import Path

import pytest

from skilld.__main__ import main
from skilld.cli.common import store
from skilld.store.learnings import Learning
from skilld.text import shorten_arguments
from support.rows import for_each

LONG = "x" * 100_000


def _run(*arguments: str) -> int:
    try:
        return main(arguments)
    except SystemExit as end:  # argparse's own way out
        return int(str(end.code))


@for_each(
    ("given", "code", "said"),
    [
        (["config", "show", ""], 2, "No such setting"),
        (["config", "show", "", "--json"], 2, "No such setting"),
        (["context", "--agent", ""], 2, "No such agent"),
        (["trim", "", "--dry-run"], 1, "No such file, folder or skill"),
        (["trim", "/dev/null", "--dry-run"], 1, "Not a skill or instruction file: /dev/null"),
        (["trim", "/etc/passwd", "--dry-run"], 1, "Not a skill or instruction file: /etc/passwd"),
        (["learnings", "--to", "x"], 2, "--to needs propose"),
        (["learnings", "--forget", ""], 1, "No such learning"),
        (["learnings", "--project", "/nosuch"], 1, "No such folder: /nosuch"),
        (["learnings", "--project", "/nosuch", "--json"], 1, "No such folder: /nosuch"),
        (["skills", "profile", "--project", "/nosuch"], 1, "No such folder: /nosuch"),
        (["skills", "list", "--type", "bogus"], 2, "Use domain-knowledge, mcp-tool, prompt-template, skill, workflow."),
        (["skills", "list", "--type", ""], 2, "No such kind of skill"),
        (["skills", "list", "--limit", "9" * 30], 2, "greater than 0 and at most 999999999"),
        (["effect", "nosuch"], 1, "No such rule, skill or file: nosuch"),
        (["why", ""], 2, "Which line? no file and no words given"),
        (["why", "nosuch.md"], 2, "No such file: nosuch.md"),
        (["why", "{file}:-1"], 2, "-1 is not a line number"),
        (["why", "{file}:abc"], 2, "abc is not a line number"),
        (["why", "{file}:"], 2, "nothing is not a line number"),
        (["why", "{file}: keep it short"], 2, "contains all of these words"),
        (["why", "/dev/null"], 2, "/dev/null is not a file"),
    ],
)
def test_an_argument_that_means_nothing_is_an_error(
    given: list[str], code: int, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "CLAUDE.md"
    file.write_text("- Be brief.\n")
    assert _run(*(one.format(file=file) for one in given)) == code
    captured = capsys.readouterr()
    assert said in " ".join(captured.err.split())
    assert captured.out == ""


def test_what_was_said_in_a_folder_that_is_gone_can_still_be_listed(capsys: pytest.CaptureFixture[str]) -> None:
    store().learnings.add(
        Learning(
            *("0123abcd", "t", "say b", "Say b", "rule", "codex", "s1", "/gone", None, "no file", 0.9),
            created_at="2026-11-01T00:00:00Z",
        )
    )
    assert _run("learnings", "--project", "/gone") == 0
    assert "Say b" in capsys.readouterr().out


@for_each(
    "given",
    [
        ["show", LONG],
        ["why", LONG],
        ["effect", LONG],
        ["skills", "show", LONG],
        ["skills", "list", f"--sort={LONG}"],
        ["config", "get", f"{LONG}\n"],
        ["completion", LONG],
        [LONG],
        ["status", LONG],
    ],
)
def test_a_long_argument_is_cut_in_the_error(given: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert _run(*given) in {1, 2}
    assert len(capsys.readouterr().err) < 1_500


def test_only_long_arguments_are_cut() -> None:
    short, long = "a" * 200, "b" * 201
    cut = shorten_arguments(f"{short} {long} {'c' * 500}", [short, long])
    assert cut.startswith(f"{short} bbb")
    assert " … b" in cut
    assert cut.endswith(f"b {'c' * 500}")


@for_each(
    ("given", "near"),
    [
        (["pause", "-1h"], ""),
        (["bogus"], ""),
        (["--json"], ""),
        (["stauts"], "status"),
        (["status", "--chek"], "--check"),
        (["skills", "lsit"], "list"),
        (["config", "ste"], "set"),
    ],
)
def test_only_what_is_near_is_suggested(given: list[str], near: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert _run(*given) == 2
    said = capsys.readouterr().err
    assert f"Did you mean {near}?" in said if near else "Did you mean" not in said
