"""Bad input to every command: an exit code and a clear message, no crash, nothing unescaped."""

from __future__ import annotations

import argparse
import io
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from skilld.__main__ import main
from skilld.cli import proposals, why
from skilld.cli.arguments import parse_days
from skilld.cli.common import store
from skilld.clock import rfc3339
from skilld.store.learnings import Learning
from skilld.store.meta import DAEMON, LAST_ERROR, NOTICE_ERROR, SNOOZED_UNTIL
from skilld.types import Evidence, Kind, Op, Operation, Proposal, State, Update
from support.claude_lines import prompt_line, write_transcript
from support.program import Program
from support.proposals import make_proposal
from support.rows import for_each

NASTY = "\x1b]0;owned\x07\x9b31m\u202e\n--- a/x"
RAW = ("\x1b", "\x07", "\x9b", "\u202e")


def _run(*arguments: str) -> int:
    try:
        return main(arguments)
    except SystemExit as end:  # argparse's own way out
        return int(str(end.code))


def _proposal(text: str = "Say b") -> Proposal:
    return make_proposal(
        skill=text,
        path="/nowhere/SKILL.md",
        operations=(Operation(Op.INSERT_AFTER, "- a", text),),
        summary=text,
        reason=text,
        evidence=(Evidence("t", text),),
        session_id=text,
        model=text,
        note=text,
        flags=(text,),
    )


@pytest.fixture(autouse=True)
def quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no Ollama of this machine be asked."""
    monkeypatch.setenv("SKILLD_MODEL", "offline")
    monkeypatch.setattr(sys, "stdin", io.StringIO())


def test_a_kind_offered_once_finds_nothing_and_is_not_offered_again(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert home
    assert _run("mine", "--kind", "prompt", "--dry-run", "--json") == 0
    assert json.loads(capsys.readouterr().out)["candidates"] == []
    assert _run("mine", "--help") == 0
    assert "{workflow,domain,mcp}" in capsys.readouterr().out


@pytest.mark.parametrize("group", ["skills", "machines", "team", "config"])
def test_the_help_of_a_group_lists_its_actions_and_no_nothing(group: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert _run(group, "--help") == 0
    assert "None" not in capsys.readouterr().out


@for_each(("given", "meant"), [("7", 7), ("0.5", 0.5), ("7d", 7), ("36h", 1.5), ("2w", 14), ("36500w", 36500)])
def test_backfill_takes_days_or_a_time(given: str, meant: float) -> None:
    assert parse_days(given) == meant


@for_each("given", ["2x", "w", "-3", "0", "36500d3"])
def test_a_time_to_look_back_that_is_wrong_names_the_forms(given: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match="in days, or like 36h or 2w"):
        parse_days(given)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["show", "0000"], 1),
        (["show", ""], 1),
        (["show", "\udcff\udcfe"], 1),  # bytes that are no UTF-8, as Python hands them over
        (["show", "%"], 1),
        (["show", "' OR 1=1 --"], 1),
        (["accept", "0000"], 1),
        (["accept"], 2),
        (["accept", "0000", "--all"], 2),
        (["reject"], 2),
        (["reject", "0000", "--why", "\udcff"], 1),
        (["revert", "0000"], 1),
        (["proposals", "--state", "opne"], 2),
        (["proposals", "--state", ""], 2),
        (["learnings", "--forget", "0000"], 1),
        (["learnings", "--forget", "\udcff"], 1),
        (["mine", "--kind", "prmpt", "--dry-run"], 2),
        (["pause", "soon"], 2),
        (["pause", "-5m"], 2),
        (["pause", "0h"], 2),
        (["suggest", "--project", "/nowhere"], 1),
        (["pause", "99999999999d"], 2),
        (["pause", "9" * 400 + "d"], 2),
        (["pause", "٣m"], 2),
        (["run", "--backfill", "nan"], 2),
        (["mine", "--min-cost", "nan", "--dry-run"], 2),
        (["record", "fixed it", "--seconds", "-1"], 2),
        (["logs", "--lines", "-3"], 2),
        (["inspect", "/nowhere"], 1),
        (["inspect", "/"], 1),
        (["inspect", "a\0b"], 1),
        (["inspect", __file__], 1),
        (["inspect", __file__, "--agent", "opencode"], 1),
        (["why", "\udcff\udcfe"], 2),
        (["skills", "show", "\udcff"], 1),
        (["skills", "show", "a\0b"], 1),
        (["skills", "history", NASTY], 1),
        (["skills", "diff", "/"], 1),
        (["skills", "use", "--var", "x", ""], 1),
        (["skills", "test", "notes"], 2),
        (["skills", "enable"], 2),
        (["skills", "disable", "notes", "--all"], 2),
        (["skills", "delete", "notes"], 1),
    ],
)
def test_bad_input_is_reported_with_its_exit_code(
    arguments: list[str], code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _run(*arguments) == code
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.strip()
    assert "Traceback" not in captured.err
    assert "Internal error" not in captured.err
    assert "invalid _" not in captured.err  # argparse's word for a type, ours for a function


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["mine", "--since", "100000"], "--since: must be a number greater than 0 and at most 36500"),
        (["run", "--backfill", "2y"], "--backfill: must be a number greater than 0 and at most 36500"),
        (["mine", "--limit", "0"], "--limit: must be a whole number greater than 0"),
        (["mine", "--min-cost", "$1"], "--min-cost: must be a number of at least 0"),
        (["pause", "36501d"], "Too long: 36501d is more than a hundred years"),
    ],
)
def test_u3_a_number_out_of_bounds_is_reported_with_the_bounds(
    given: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _run(*given) == 2
    assert said in capsys.readouterr().err


@for_each(("given", "hours"), [("1h30m", 1.5), ("1w", 168), ("2w1d", 360), ("1.5h", 1.5)])
def test_a_duration_may_be_a_sum_and_use_weeks(given: str, hours: float) -> None:
    before = time.time()
    assert _run("snooze", given) == 0
    assert float(store().meta.get(SNOOZED_UNTIL) or 0) - before == pytest.approx(hours * 3600, abs=60)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["statsu"], "skilld: 'statsu' is not a skilld command. Did you mean status? See: skilld --help"),
        (["undo"], "skilld: 'undo' is not a skilld command. Did you mean revert or restore? See: skilld --help"),
        (["frobnicate"], "skilld: 'frobnicate' is not a skilld command. See: skilld --help"),
        (
            ["skills", "lst"],
            "skilld: 'lst' is not a skilld skills command. Did you mean list? See: skilld skills --help",
        ),
        ([], "All commands: skilld --help"),
        (["skills"], "show this help message"),
    ],
)
def test_an_unknown_command_suggests_the_help(given: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert _run(*given) == 2
    captured = capsys.readouterr()
    assert said in captured.err
    assert "Traceback" not in captured.err
    assert captured.out == ""


def test_a_file_without_an_adapter_is_reported_as_such(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "session.db"
    path.write_bytes(b"SQLite format 3\x00" + bytes(100))
    assert _run("inspect", str(path)) == 1
    assert f"Not a transcript: skilld does not recognize {path}" in capsys.readouterr().err
    assert _run("inspect", str(path), "--agent", "nobody") == 2
    assert "No such agent: nobody; known agents: claude-code, codex," in capsys.readouterr().err
    path.write_bytes(b"")
    assert _run("inspect", str(path), "--agent", "codex") == 0
    assert "codex session with no ID in an unknown folder\n" in capsys.readouterr().out


def test_a_removed_current_folder_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    tmp_path.rmdir()
    assert _run("context") == 1
    assert "The current folder no longer exists" in capsys.readouterr().err


def test_what_is_no_transcript_file_is_not_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("gone")
    none, special = "No such file", "it is not a regular file"
    for name, words in {
        "fifo": special,
        "/dev/null": special,
        "folder": "a folder",
        "link": none,
        "gone": none,
    }.items():
        assert _run("inspect", str(tmp_path / name)) == 1
        assert words in capsys.readouterr().err


def test_a_line_outside_every_repository_came_from_no_proposal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "passwd").write_text("root\n", encoding="utf-8")
    assert _run("why", f"{tmp_path}/passwd:1") == 1
    assert "No proposal added this line" in capsys.readouterr().err


def test_a_line_is_traced_to_its_own_quote_in_a_larger_proposal(capsys: pytest.CaptureFixture[str]) -> None:
    rules = {"Run the linter.": "always lint", "Use named exports.": "never default exports"}
    updates = [Update(1, "", change, "", Kind.PREFERENCE, 1, quote) for change, quote in rules.items()]
    several = make_proposal(updates=tuple(updates), evidence=tuple(Evidence("t", quote) for quote in rules.values()))
    why._print_why(store(), Path("CLAUDE.md"), several, "- Use named exports.")
    output = capsys.readouterr().out
    assert "  Use named exports.\n  you: “never default exports”\n  in the same proposal: Run the linter.\n" in output
    assert "always lint" not in output


def test_steps_of_one_proposal_are_told_apart_and_a_file_is_not_said_to_have_run(
    capsys: pytest.CaptureFixture[str],
) -> None:
    done = {"git bisect reset": "git bisect reset", "Read the model": "shop/models.py", "Always lint.": "", "Stop": ""}
    steps = [Update(1, "", text, "observed in 2 sessions: a, b", Kind.ADD_STEP, 0, ran) for text, ran in done.items()]
    several = make_proposal(updates=tuple(steps))
    why._print_why(store(), Path("SKILL.md"), several, "1. Read the model.")
    output = capsys.readouterr().out
    assert "  the agent ran or opened: shop/models.py\n" in output
    assert "  in the same proposal: git bisect reset; Always lint; Stop\n" in output
    why._print_why(store(), Path("SKILL.md"), several, "2. Run `git bisect reset`.")
    assert "  the agent ran: git bisect reset\n" in capsys.readouterr().out


def test_an_ambiguous_id_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    from dataclasses import replace

    opened = store()
    opened.proposals.add(_proposal())
    opened.proposals.add(replace(_proposal(), id="0123abff"))
    assert _run("show", "0123") == 1
    assert "0123 matches 2 proposals" in capsys.readouterr().err
    assert _run("show", "0123abcd") == 0


def test_nothing_from_outside_reaches_the_terminal_unescaped(capsys: pytest.CaptureFixture[str]) -> None:
    opened = store()
    opened.proposals.add(_proposal(NASTY))
    opened.learnings.add(
        Learning(
            "l1", "t", NASTY, NASTY, "fact", "claude-code", NASTY, NASTY, NASTY, NASTY, 0.5, "2026-03-02T09:00:00Z"
        )
    )
    opened.meta.set(LAST_ERROR, {"at": rfc3339(time.time()), "batch": "b", "message": NASTY})
    opened.meta.set(DAEMON, {"unreadable": {f"/x/{NASTY}.jsonl": NASTY}})
    for arguments in (["proposals"], ["show", "0123"], ["learnings"], ["status"], ["cost"]):
        assert _run(*arguments) == 0
        output = capsys.readouterr().out
        assert not [char for char in RAW if char in output], arguments
        assert _run(*arguments, "--json") == 0
        output = capsys.readouterr().out
        assert output.isascii(), arguments
        json.loads(output)


@pytest.mark.parametrize(("days", "times"), [(6, 1), (8, 0)])
def test_status_shows_an_error_for_a_week(days: int, times: int, capsys: pytest.CaptureFixture[str]) -> None:
    error = {"at": rfc3339(time.time() - days * 86400), "batch": "b", "message": "no network"}
    store().meta.set(LAST_ERROR, error)
    assert _run("status") == 0
    assert capsys.readouterr().out.count("no network") == times
    assert _run("status", "--json") == 0
    assert json.loads(capsys.readouterr().out)["last_error"] == error


def test_everything_about_notices_is_on_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    opened = store()
    opened.meta.set(NOTICE_ERROR, "no notification service")
    opened.meta.set(SNOOZED_UNTIL, 4102444800.0)
    assert _run("status") == 0
    told = [line for line in capsys.readouterr().out.splitlines() if line.startswith("notices")]
    snoozed = "off until 2100-01-01 00:00 (turn on: skilld snooze off)"
    assert told == [f"notices   no notification service; {snoozed}"]


def test_transcript_content_is_shown_escaped(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_transcript(tmp_path / "projects/-p/s.jsonl", prompt_line("t1", NASTY, session=NASTY, cwd=NASTY))
    assert _run("inspect", str(path)) == 0
    output = capsys.readouterr().out
    assert "owned" in output
    assert not [char for char in RAW if char in output]
    assert _run("inspect", str(path), "--json") == 0
    assert json.loads(capsys.readouterr().out)["turns"][0]["text"] == NASTY


def test_status_without_a_daemon_exits_0_and_has_the_promised_keys(capsys: pytest.CaptureFixture[str]) -> None:
    assert _run("status", "--json") == 0
    document = json.loads(capsys.readouterr().out)
    promised = "running paused backend agents batches proposals spend_today last_error"
    assert set(promised.split()) <= document.keys()
    assert document["running"] is False
    assert document["backend"]["name"] == "offline"
    assert document["agents"]["claude-code"] == {
        "files": 0,
        "turns": 0,
        "malformed": 0,
        "overlong": 0,
        "last_event_at": None,
        "gone": None,
    }
    assert document["batches"] == {"pending": 0, "done": 0, "parked": 0}
    assert document["spend_today"] == {"calls": 0, "tokens": 0, "usd": 0, "tests": 0}


def test_status_says_what_to_type_for_open_proposals(capsys: pytest.CaptureFixture[str]) -> None:
    opened = store()
    assert _run("status") == 0
    assert "0 open, " in capsys.readouterr().out
    opened.proposals.add(_proposal())
    assert _run("status") == 0
    assert "1 open (skilld review), " in capsys.readouterr().out


def test_the_list_prints_three_warnings_and_counts_the_others(capsys: pytest.CaptureFixture[str]) -> None:
    store().proposals.add(make_proposal(flags=("One.", "Two.", "Three.", "Four.")))
    assert _run("proposals") == 0
    output = capsys.readouterr().out
    assert "/p\n    ! One.\n    ! Two.\n    ! Three.\n    ! 1 more: skilld show 0123abcd\n" in output


def test_a_pause_lasts_until_it_ends(capsys: pytest.CaptureFixture[str]) -> None:
    assert _run("pause", "1.5h") == 0
    assert _run("status", "--json") == 0
    assert _run("resume") == 0
    assert _run("pause") == 0
    assert _run("status") == 0
    output = capsys.readouterr().out
    assert '"paused": true' in output
    assert "paused until you resume" in output


@pytest.mark.parametrize(
    ("verb", "to", "code", "said"),
    [
        ("status", "| true; exit ${PIPESTATUS[0]}", 0, ""),
        ("status", ">&-", 0, ""),
        pytest.param(
            *("--help", ">/dev/full", 1, "No space left on device"),
            marks=pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a device that is full"),
        ),
    ],
)
def test_a_closed_output_is_no_bug(home: Path, verb: str, to: str, code: int, said: str) -> None:
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), "PYTHONPATH": os.pathsep.join(sys.path)}
    command = ["bash", "-c", f'"$0" -m skilld {verb} {to}', sys.executable]
    result = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert result.returncode == code
    assert said in result.stderr
    assert "Exception ignored" not in result.stderr
    assert bool(result.stderr) == bool(said)


@pytest.mark.parametrize("verb", ["accept --all", "proposals --state all", "why x:1", "revert 0123abcd", "skills list"])
def test_without_git_no_command_crashes(home: Path, verb: str) -> None:
    store().proposals.add(_proposal())
    result = Program(home, {"PATH": "/nowhere"}).run(*verb.split())
    assert result.returncode in {0, 1, 2, 5}, result.stderr
    assert "Internal error" not in result.stderr


def test_a_terminal_without_the_characters_gets_escapes(home: Path) -> None:
    store().proposals.add(_proposal("naïve"))
    result = subprocess.run(
        [sys.executable, "-m", "skilld", "proposals"],
        env={
            **os.environ,
            "PYTHONIOENCODING": "ascii",
            "HOME": str(home),
            "PYTHONPATH": str(Path(__file__).parents[2]),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert (result.returncode, result.stderr) == (0, "")
    assert r"na\xefve" in result.stdout


def _learning(name: str, change: str) -> Learning:
    return Learning(
        name, name, change, change, "fact", "pi", "s1", "/shop", None, "said once", 0.5, "2026-03-02T09:00:00Z"
    )


def test_a_learning_is_found_by_the_start_of_its_id_and_shown_with_its_project(
    capsys: pytest.CaptureFixture[str],
) -> None:
    opened = store()
    opened.learnings.add(_learning("7c01aa", "Use pnpm."))
    opened.learnings.add(_learning("7d02bb", "Tag the image."))
    assert _run("learnings") == 0
    assert "    said in 1 session in /shop; not proposed: said once\n" in capsys.readouterr().out
    assert _run("learnings", "--forget", "7") == 1
    assert "Ambiguous ID: 7 matches 2 learnings" in capsys.readouterr().err
    assert _run("learnings", "--forget", "7c") == 0
    assert [learning.id for learning in opened.learnings.all()] == ["7d02bb"]


def test_a_long_command_does_not_hide_the_others_help(capsys: pytest.CaptureFixture[str]) -> None:
    long = "skilld git --root /home/sam/.claude cherry-pick 0123456789"
    proposals._print_commands([("skilld accept 0123abcd", "write it"), (long, "the same, with git")])
    assert capsys.readouterr().out == (
        f"  skilld accept 0123abcd  write it\n  {long}\n                          the same, with git\n"
    )


def test_a_line_is_found_by_its_words(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "CLAUDE.md"
    file.write_text("- Use pnpm here.\n- Use pnpm for scripts.\n- Use pnpm to lint, mine.\n")
    operation = Operation(Op.INSERT_AFTER, "- a", "- Use pnpm here.\n- Use pnpm for scripts.")
    store().proposals.add(make_proposal(state=State.ACCEPTED, path=str(file), operations=(operation,)))
    assert _run("why", "use pnpm") == 0
    output = capsys.readouterr().out
    assert output.splitlines()[:2] == [f"{file}:1  - Use pnpm here.", f"{file}:2  - Use pnpm for scripts."]
    assert _run("why", "use yarn") == 2
    assert "no line added by a proposal contains all of these words: use yarn" in capsys.readouterr().err


def test_a_line_is_found_by_words_that_any_rule_may_have(tmp_path: Path) -> None:
    file = tmp_path / "CLAUDE.md"
    text = (
        "- Nunca más uses any.\n- Use pnpm here.\n- Uses of any are logged.\n- Titel auf Deutsch, nie auf Englisch.\n"
    )
    file.write_text(text)
    operation = Operation(Op.INSERT_AFTER, "- a", text)
    store().proposals.add(make_proposal(state=State.ACCEPTED, path=str(file), operations=(operation,)))
    asked = ("Nunca más uses", "nie auf", "the pnpm", "uses")
    found = {words: [line for _, line, _ in why._find_lines(store(), words)] for words in asked}
    assert found == {"Nunca más uses": [1], "nie auf": [4], "the pnpm": [2], "uses": [1, 2, 3]}


@for_each(
    ("batch", "verb"),
    [
        ("import-1", "skills import"),
        ("reviews-1", "mine --reviews"),
        ("trim-1-0", "trim"),
        ("evals-1", "skills eval"),
        ("0a1b-0", "consolidate"),
    ],
)
def test_a_proposal_that_nobody_asked_for_names_the_verb_that_made_it(batch: str, verb: str) -> None:
    assert proposals.describe_origin(make_proposal(evidence=(), session_id="", batch_id=batch)) == f"skilld {verb}"
