"""What is shown, logged, committed or put into a notice can be read, and does nothing: T-23, T-25, T-38."""

from __future__ import annotations

import argparse
import json
import re
import shlex
import subprocess
import sys
from pathlib import Path
from unicodedata import category

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skilld import logs
from skilld.cli.parser import build_parser
from skilld.notify import desktop
from skilld.notify.notice import about_applied, about_budget, about_failure, about_proposals
from support.live_project import SKILL_TEXT, Project
from support.program import Program
from support.session import LASTING, Session

# A title, a clipboard (OSC 52), a link (OSC 8), cursor moves, a device string, C1 controls, bidirectional overrides,
# tags, markup of a terminal library.
HOSTILE = (
    "\x1b]0;owned\x07\x1b]52;c;b3duZWQ=\x07\x1b]8;;https://evil.example\x1b\\x\x1b]8;;\x1b\\"
    "\x1b[2J\x1b[1A\x1bP+q\x1b\\\x9b31m\x9d0;t\x9c\u202e\u2066\u200b\U000e0041[link=x]y[/link]\r\x08\x7f"
)
IN_A_NAME = HOSTILE.replace("/", "|")


def raw(text: str) -> list[str]:
    """Return the characters of a terminal's output that it would obey or hide; a wide blank is a blank."""
    return sorted({char for char in text if char != "\n" and not char.isprintable() and category(char) != "Zs"})


ON_A_TERMINAL = (sys.executable, "-c", "import pty, sys; sys.exit(pty.spawn(sys.argv[1:]))")


def names_of_verbs() -> set[str]:
    return _choices(build_parser())


def names_of_actions() -> set[str]:
    return _choices(build_parser("skills"), "skills")


def _choices(parser: argparse.ArgumentParser, *way: str) -> set[str]:
    (found,) = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    return _choices(found.choices[way[0]], *way[1:]) if way else set(found.choices)


def library(hostile: Project, folder: Path) -> list[list[str]]:
    """Actions of the library on a skill, a file and names that are all hostile; each of them only shows."""
    name, at = str(hostile.skill_path.parent), ["--project", str(hostile.root)]
    document = folder / "skill.yaml"
    document.write_text('name: "hostile-one"\ndescription: "x \\e]0;owned\\a"\nprompt: "y \\e[2J"\n', encoding="utf-8")
    on_it = [[verb, name] for verb in ("show", "history", "diff", "disable", "enable")]
    return [
        ["list"],
        ["list", *at],
        ["list", "--search", HOSTILE],
        *on_it,
        *([verb, IN_A_NAME] for verb in ("show", "archive", "restore", "delete", "import", "use", "export")),
        ["test", name, "--session", IN_A_NAME],
        ["eval", name, "--dry-run"],
        ["eval", name, "--case", IN_A_NAME],
        ["eval", name, "--with", IN_A_NAME],
        ["eval", name],
        ["profile", *at],
        ["export", name],
        ["import", str(document)],
        ["share", name, "--to", IN_A_NAME, "--dry-run"],
    ]


def test_t23_no_command_prints_terminal_escapes(home: Path, tmp_path: Path, project: Project, program: Program) -> None:
    hostile = Project(tmp_path / f"project{IN_A_NAME}", home, ".claude/skills")
    for place in (project, hostile):
        described = SKILL_TEXT.replace("description: ", f"description: {HOSTILE.replace(chr(13), '')} ")
        place.skill_path.write_text(described + f"- Keep {HOSTILE} as it is.\n", newline="")
        place.git("commit", "--quiet", "--all", "--message", f"Say {HOSTILE}")
    sessions = [
        Session(home, place, f"s{number}{IN_A_NAME}") for number, place in enumerate((project, hostile, project))
    ]
    for session in sessions[:2]:
        session.use_skill()
    for session, what in zip(sessions, ("hostnames", "hostnames", "customers"), strict=True):
        session.type(f"hello {HOSTILE}", LASTING, f"Never mention {what} again. {HOSTILE}", "thanks", "go on")
    shown = {"run": program.run("run", "--once")}
    proposals = {one["repo"]: one["id"] for one in program.json("proposals")}
    assert proposals.keys() == {str(project.root), str(hostile.root)}
    assert len(program.json("learnings")) >= 2
    inspected = f"inspect {sessions[0].path}"
    verbs = [
        *(
            ["proposals"],
            ["proposals", "--state", "all"],
            *(["show", one] for one in proposals.values()),
            ["learnings"],
            ["status"],
            ["statusline"],
            ["statusline", "--agent", IN_A_NAME],
            ["cost"],
        ),
        *(["inspect", str(sessions[0].path)], ["inspect", str(tmp_path / IN_A_NAME)], ["config", "show"]),
        *(
            ["why", f"{project.skill_path}:18"],
            ["why", f"{IN_A_NAME}:1"],
            ["completion", IN_A_NAME],
            ["show", IN_A_NAME],
            ["learnings", "--forget", IN_A_NAME],
        ),
        *(
            ["accept", IN_A_NAME],
            ["reject", IN_A_NAME, "--why", HOSTILE],
            ["revert", IN_A_NAME],
            ["restore", IN_A_NAME],
            ["proposals", "--state", IN_A_NAME],
        ),
        *(["config", "set", IN_A_NAME, "x"], ["config", "set", "model", HOSTILE], ["pause", IN_A_NAME], [IN_A_NAME]),
        *(
            ["review", "--plain"],
            ["review", IN_A_NAME],
            ["eval", "turns", "--data", IN_A_NAME],
            ["doctor"],
            ["mine"],
            ["mine", str(sessions[0].path)],
            ["mine", IN_A_NAME],
            ["resume"],
            ["chat", IN_A_NAME],
            ["demo", IN_A_NAME],
            ["logs"],
            ["context", "--project", str(hostile.root)],
            ["effect"],
            ["effect", IN_A_NAME],
            ["report", "--words"],
            ["report", "--html", str(tmp_path / IN_A_NAME)],
            ["setup", IN_A_NAME],
            ["suggest", "--project", str(hostile.root)],
            ["suggest", "--hook", IN_A_NAME],
            ["recommend", HOSTILE, "--project", str(hostile.root)],
            ["recommend", "hostnames and release notes"],
            ["learnings", "--search", f"hostnames {HOSTILE}"],
            ["record", f"fix {HOSTILE}", "--qa-passed", "--result", f"Use {HOSTILE}.", "--tool", HOSTILE],
            ["record", "--stats"],
            ["feedback", HOSTILE, "--helpful", "--note", HOSTILE],
            ["sync", "--dry-run", "--all", "--project", str(hostile.root)],
            ["sync", "--dry-run", "--all", "--project", IN_A_NAME],
            ["unsync", "--dry-run", "--project", str(hostile.root)],
            ["mcp", "--config", IN_A_NAME],
            ["snooze", IN_A_NAME],
            ["retry"],
            ["uninstall", "--dry-run"],
            ["service", IN_A_NAME],
            ["service", "status"],
            ["git", IN_A_NAME],
            *([verb, one] for one in proposals.values() for verb in ("accept", "revert")),
        ),
        *(["consolidate", "--dry-run", "--project", str(hostile.root)], ["consolidate", IN_A_NAME]),
        *(["team", verb, "--repo", str(hostile.root)] for verb in ("status", "sync", "pr", "leave")),
        *(["team", "join", *rest, "--repo", str(hostile.root)] for rest in ([], ["--remote", IN_A_NAME])),
        *(["machines", *rest] for rest in (["status"], ["sync"], ["join", IN_A_NAME], ["leave"])),
        *(["trim", *rest, "--project", str(hostile.root)] for rest in (["--dry-run"], [], [IN_A_NAME])),
        *(["skills", *rest] for rest in library(hostile, tmp_path)),
    ]
    assert names_of_actions() <= {verb[1] for verb in verbs if verb[0] == "skills"}, "the same for its actions"
    assert names_of_verbs() <= {"run", *(verb[0] for verb in verbs)}, "a verb is new; give it something hostile here"
    for verb in verbs:
        shown[" ".join(verb)] = program.run(*verb)
    terminal = Program(home)
    terminal.before = ON_A_TERMINAL  # into a pipe it gives the skill's text byte for byte
    used = terminal.run("skills", "use", str(hostile.skill_path.parent)).stdout.replace("\r\n", "\n")
    assert "Keep \\x1b]0;owned" in used
    assert raw(used) == []
    assert {
        name: raw(done.stdout + done.stderr) for name, done in shown.items() if raw(done.stdout + done.stderr)
    } == {}
    assert [name for name, done in shown.items() if done.returncode == 3] == []
    for one in proposals.values():
        assert "Keep \\x1b]0;owned" in shown[f"show {one}"].stdout
    assert "Keep \\x1b]0;owned" in shown["review --plain"].stdout
    assert "hello \\x1b]0;owned" in shown[inspected].stdout
    assert [shown[f"accept {one}"].returncode for one in proposals.values()] == [0, 0]


def test_t38_each_event_is_one_line_of_json_whatever_the_names(home: Path, tmp_path: Path, program: Program) -> None:
    project = Project(tmp_path / f"p\n{IN_A_NAME}", home, ".claude/skills")
    session = Session(home, project, f'a"}}\n{{"event":"forged"}}\n{IN_A_NAME}')
    session.use_skill()
    session.type("hello", LASTING, "ok", "thanks", "go on")
    session.path.with_name(f"b\n{IN_A_NAME}.jsonl").symlink_to("/nowhere")
    assert program.run("run", "--once").returncode == 0
    lines = (home / ".local/state/skilld/skilld.log").read_text().split("\n")
    assert lines.pop() == ""
    events = [json.loads(line) for line in lines]
    assert {"batch closed", "batch done"} <= {event["event"] for event in events}
    assert "forged" not in {event["event"] for event in events}
    assert raw("".join(lines)) == []
    assert set().union(*events) <= logs.FIELDS


@given(names=st.lists(st.text(max_size=40), max_size=4), text=st.text(max_size=80))
def test_t38_any_value_stays_on_its_line(tmp_path_factory: pytest.TempPathFactory, names: list[str], text: str) -> None:
    import structlog

    path = tmp_path_factory.mktemp("log") / "skilld.log"
    logs.set_up(path, terminal=False)
    structlog.get_logger().info("event", session=text, agents=names, agent=HOSTILE, words="never logged")
    (line, rest) = path.read_text().split("\n")
    assert rest == ""
    assert json.loads(line).keys() == {"event", "level", "timestamp", "session", "agents", "agent"}
    assert raw(line) == []


@given(names=st.lists(st.text(max_size=90) | st.just(f"<a href='x'>{HOSTILE}</a>&amp;"), min_size=1, max_size=5))
def test_t25_a_notice_is_plain_text_of_bounded_length(names: list[str]) -> None:
    for body in (about_proposals(names), about_applied([(name, "0123abcd") for name in names])):
        assert raw(body) == []
        assert "<" not in body
        assert ">" not in body
        assert set(re.findall(r"&[^;]{0,5};?", body)) <= {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"}
        assert not set("\"'") & set(body)
        assert len(body) <= 120 + len(names) * 64 * len("&quot;")
    assert raw(about_budget("60 of 60 model calls used")) == []
    assert raw(about_failure("accept", HOSTILE)) == []


def test_t25_the_text_of_a_notice_is_an_argument_and_never_part_of_a_script() -> None:
    evil = f'"; do shell script "touch /tmp/owned" {HOSTILE}'
    ours, theirs = (desktop.terminal_command([one], {}, "darwin") or [] for one in (evil, "x"))
    assert shlex.split(ours[-1]) == [evil]
    assert ours[:-1] == theirs[:-1]
    assert ours[-2] == "--"


def test_t25_only_one_module_starts_programs() -> None:
    """On Linux a notice is a call over the session bus: no name of a skill is ever an argument of a program."""
    root = Path(__file__).parents[2] / "skilld/notify"
    words = "subprocess|os\\.system|os\\.exec|os\\.spawn|create_subprocess|notify-send"
    result = subprocess.run(
        ["grep", "-rlE", words, str(root), "--include=*.py"], capture_output=True, text=True, check=False
    )
    assert sorted(Path(line).name for line in result.stdout.splitlines()) == ["desktop.py"]
