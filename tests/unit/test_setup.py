"""Issue 18, 4: leaving `skilld setup` at any question keeps earlier decisions, and the backfill runs."""

from __future__ import annotations

import argparse
import io
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from skilld.__main__ import main
from skilld.caller.judge import Doubt, DoubtKind
from skilld.cli import common, first_steps, permissions, run, service, terminal, uninstall
from skilld.cli.parser import build_parser
from skilld.errors import Exit
from skilld.health import judge_facts
from skilld.health.values import Model, Trouble
from skilld.mining.sessions import Transcript
from skilld.protocol import BatchJob
from skilld.service.values import ServiceState
from skilld.settings import Settings
from skilld.store.batches import StoredBatch
from skilld.types import ClosedBy
from support.proposals import make_proposal
from support.rows import for_each


class Manager:
    """A service manager that remembers what it was asked."""

    def __init__(self) -> None:
        self.requests: list[str] = []
        self.running = False

    def state(self) -> ServiceState:
        return ServiceState("systemd", Path("/unit"), installed=self.running, running=self.running)

    def start(self) -> None:
        self.requests.append("start")

    def stop(self) -> None:
        self.requests.append("stop")

    def look_back(self, given: argparse.Namespace, *, brief: bool) -> int:
        """Stand in for `skilld run`."""
        assert brief
        self.requests.append(f"look back {given.backfill:g}" if given.backfill else "go on")
        return 0


class Typing(io.StringIO):
    """Somebody at a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def manager(home: Path, monkeypatch: pytest.MonkeyPatch) -> Manager:
    """Return the service manager of a machine with one session and nothing decided."""
    assert home
    manager = Manager()
    monkeypatch.delenv("SKILLD_MODEL", raising=False)
    monkeypatch.setattr(service, "service_manager", lambda: manager)
    monkeypatch.setattr(service, "install_service", lambda *_: manager.requests.append("install"))
    monkeypatch.setattr(common, "past_transcripts", lambda _: [Transcript("claude-code", Path("/s.jsonl"), 0.0)])
    monkeypatch.setattr(run, "run", manager.look_back)
    monkeypatch.setattr(sys, "stdin", Typing())
    return manager


def _setup(monkeypatch: pytest.MonkeyPatch, *answers: str | type[BaseException] | None, given: str = "") -> int:
    left: Iterator[str | type[BaseException] | None] = iter(answers)

    def ask(question: str) -> str | None:
        assert question
        answer = next(left)
        if isinstance(answer, type):
            raise answer
        return answer

    monkeypatch.setattr(terminal, "ask", ask)
    arguments = build_parser("setup").parse_args(["setup", *given.split()])
    return int(arguments.run(arguments))


STOP = KeyboardInterrupt
Left = tuple[tuple[str | type[BaseException], ...], str, str, list[str]]
EVERY: list[Left] = [
    ((STOP,), "Stopped. Nothing was changed.", "who judges, the service, looking back", []),
    (("offline", STOP), "Stopped. Done so far: the judge is offline.", "the service, looking back", []),
    (
        ("offline", "y", STOP),
        "Stopped. Done so far: the judge is offline; the service is installed.",
        "looking back",
        ["install"],
    ),
]


@pytest.mark.parametrize("left", EVERY)
def test_an_interrupt_at_a_question_keeps_earlier_decisions_and_says_so(
    manager: Manager, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], left: Left
) -> None:
    answers, kept, undecided, asked = left
    assert _setup(monkeypatch, *answers) == Exit.INTERRUPTED
    output = capsys.readouterr().out
    assert kept in output
    assert f"Still to decide: {undecided}. To continue: skilld setup" in output
    assert manager.requests == asked
    assert Path.home().joinpath(".config/skilld/config.toml").exists() is (len(answers) > 1)


def test_end_of_input_leaves_setup_and_means_no(
    manager: Manager, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _setup(monkeypatch, None) == Exit.FAILURE
    assert "No choice made. To choose later: skilld setup" in capsys.readouterr().out
    assert _setup(monkeypatch, "", None, None) == Exit.OK
    assert "To do it later: skilld run --once --backfill 7" in capsys.readouterr().out
    assert manager.requests == []


def test_a_judge_that_cannot_answer_is_reported_and_another_can_be_chosen(
    manager: Manager, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = Path.home() / ".config/skilld/config.toml"
    asked = []

    def model(given: Settings, *_: object, ask: bool) -> Model:
        asked.append((given.model, ask))
        return Model(given.model, "", answer=Trouble("no login", "Log in."))

    monkeypatch.setattr(judge_facts, "model_facts", model)
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    monkeypatch.setenv("PATH", "/nowhere")
    assert _setup(monkeypatch, "a", "", "n", "n") == Exit.OK
    assert "The model cannot answer yet: no login" in capsys.readouterr().out
    assert 'model = "openai/gpt-5-mini"' in settings.read_text(), "Enter keeps it: nothing is blocked"
    assert _setup(monkeypatch, "a", "offline", "n", "n") == Exit.OK
    assert 'model = "offline"' in settings.read_text()
    assert asked == [("openai/gpt-5-mini", True)] * 2
    assert manager.requests == []


def test_enter_keeps_an_agent_that_is_gone_only_after_saying_so(
    manager: Manager, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = Path.home() / ".config/skilld/config.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text('model = "agent"\n')
    monkeypatch.setenv("PATH", "/nowhere")
    assert _setup(monkeypatch, "", "", "n", "n") == Exit.OK
    output = " ".join(capsys.readouterr().out.split())
    assert "The agent cannot answer yet: judged without a model, because none of these is on PATH: claude" in output
    assert "saved in " in output
    assert "It cannot answer yet; skilld will try again. To test it: skilld doctor --ask" in output
    assert _setup(monkeypatch, "", "a", "n", "n") == Exit.OK
    assert 'model = "offline"' in settings.read_text()
    assert "It cannot answer yet" not in capsys.readouterr().out
    assert manager.requests == []


def test_a_second_setup_shows_what_is_set_and_offers_only_unjudged_days(
    manager: Manager, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with closing(common.store()) as store:
        for number in range(7):
            store.proposals.add(make_proposal(id=f"0123abc{number}"))
        store.transcripts.add_file("claude-code", "/s.jsonl", Path.home().stat(), baseline=0)
        store.transcripts.add_file("claude-code", "/before.jsonl", Path.home().stat(), baseline=1)
    assert _setup(monkeypatch, "offline", "n") == Exit.OK
    output = capsys.readouterr().out
    assert "The last 7 days: 1 session file, already judged; to search them again: skilld mine." in output
    assert "and 2 more: skilld proposals\n7 open proposals. To review: skilld review" in output
    both = [Transcript("claude-code", Path(path), 0.0) for path in ("/s.jsonl", "/before.jsonl")]
    monkeypatch.setattr(common, "past_transcripts", lambda _: both)
    assert _setup(monkeypatch, "n", "n", "n") == Exit.OK
    output = capsys.readouterr().out
    assert "Unchanged: offline." in output
    assert "The last 7 days: 2 session files, 1 of them not judged yet." in output
    assert manager.requests == []


def test_a_look_back_that_was_interrupted_continues(
    manager: Manager, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """All files had been read and their batches closed; two of them could be judged before the Ctrl-C."""
    with closing(common.store()) as store:
        store.transcripts.add_file("claude-code", "/s.jsonl", Path.home().stat(), baseline=0)
        for number in range(1200):
            store.batches.add(
                StoredBatch(f"b{number}", "claude-code", "s", ClosedBy.IDLE, "pending", BatchJob(), 0, "2026-01-01"),
                (),
                outcome="nothing" if number < 2 else None,
            )
        store.batches.start("b2")
        store.batches.postpone("b3", 4e9, "the judge is away")
    assert _setup(monkeypatch, given="offline --service no --look-back 7") == Exit.OK
    output = " ".join(capsys.readouterr().out.split())
    assert (
        "The last 7 days: 1 session file; 1,197 batches of messages are waiting to be judged. Judging them now"
        in output
    )
    assert manager.requests == ["go on"], "nothing has to be read again"
    manager.running = True
    monkeypatch.setattr(common, "daemon_pid", lambda: "7")
    assert _setup(monkeypatch, given="offline --service no --look-back 7") == Exit.OK
    output = " ".join(capsys.readouterr().out.split())
    assert "1 session file, already read; 1,197 batches of messages are waiting to be judged." in output
    assert manager.requests == ["go on"], "the service judges them"


def test_without_anything_read_one_next_step_is_named(
    manager: Manager, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    common.store().close()
    monkeypatch.setattr(common, "past_transcripts", lambda _: [])
    assert _setup(monkeypatch, "offline", "n") == Exit.OK
    output = capsys.readouterr().out
    assert "No agent was used here in the last 7 days, so there are no past sessions to read." in output
    assert "\n\nNo proposals yet: no sessions were read.\nNext, start skilld: " in output
    assert "--backfill" not in output
    assert manager.requests == []


def test_the_service_stops_for_the_backfill_and_starts_again(manager: Manager, monkeypatch: pytest.MonkeyPatch) -> None:
    manager.running = True
    assert _setup(monkeypatch, given="offline --service yes --look-back 3") == Exit.OK
    assert manager.requests == ["stop", "look back 3", "start"]

    def interrupted(_: object, *, brief: bool) -> int:
        del brief
        raise KeyboardInterrupt

    monkeypatch.setattr(run, "run", interrupted)
    manager.requests.clear()
    assert _setup(monkeypatch, given="offline --service yes --look-back 3") == Exit.INTERRUPTED
    assert manager.requests == ["stop", "start"]


@for_each("days", ["-1", "nan", "week"])
def test_a_number_of_days_is_parsed(days: str) -> None:
    with pytest.raises(SystemExit):
        build_parser("setup").parse_args(["setup", "--look-back", days])


def test_a_next_step_gives_the_full_path_if_path_lacks_the_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for folder in ("a b", "listed"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "skilld").touch(0o755)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "a b" / "python"))
    for path, name in (("/none", f"'{tmp_path}/a b/skilld'"), (f"{tmp_path}/listed", "skilld")):
        monkeypatch.setenv("PATH", path)
        common.print_path_hint()
        assert common.command_name() == name
        assert (f"alias skilld={name}\n" in capsys.readouterr().out) == (name != "skilld")


def test_a_link_on_path_is_offered_once_and_removed_by_uninstall(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    program = home / "venv/bin/skilld"
    program.parent.mkdir(parents=True)
    program.touch(0o755)
    monkeypatch.setattr(sys, "executable", str(program.with_name("python")))
    monkeypatch.setenv("PATH", f"/none:{home}/.local/bin")
    link = home / ".local/bin/skilld"
    for answer, made in (("n", False), ("", True)):
        monkeypatch.setattr(terminal, "ask", lambda _, answer=answer: answer)
        first_steps.offer_link()
        assert link.is_symlink() is made
        common.print_path_hint()
        told = f"  mkdir -p ~/.local/bin && ln -s {program} ~/.local/bin/\n"
        output = capsys.readouterr().out
        assert ("Created the link ~/.local/bin/skilld.\n" in output) is made
        assert (told in output) is not made, "a lasting way, and none where there is one"
    monkeypatch.setattr(terminal, "ask", None)  # it asks no more
    first_steps.offer_link()
    (removal,) = uninstall._link_removals()
    removal.remove()
    assert not link.is_symlink()


def test_instructions_of_subfolders_are_not_reported_as_loaded_here(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    below = home / "shop" / "demo"
    below.mkdir(parents=True)
    (home / "shop" / ".git").mkdir()
    (home / ".claude").mkdir()
    for folder in (below, below.parent):
        (folder / "CLAUDE.md").write_text("- Be brief.\n")
    monkeypatch.chdir(below.parent)
    assert set(first_steps._instruction_files()) == {"~/shop/CLAUDE.md, about 3 tokens"}


def test_setup_says_that_no_agent_is_known(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """And not that no file is there, which nobody looked for."""
    from skilld.cli.first_steps import print_findings

    (tmp_path / "CLAUDE.md").write_text("- Be brief.\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("PATH", str(tmp_path))
    print_findings()
    assert "instructions  no agent has been used here yet" in capsys.readouterr().out


def test_only_who_may_answer_beforehand_is_told_to(
    manager: Manager, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    monkeypatch.setattr(permissions, "person_doubt", lambda: None)
    assert main(["setup"]) == 2
    assert "To answer them beforehand: skilld setup " in capsys.readouterr().err
    monkeypatch.setattr(permissions, "person_doubt", lambda: Doubt(DoubtKind.NO_TERMINAL, "not in a terminal"))
    assert main(["setup"]) == 2
    said = capsys.readouterr().err
    assert said == "skilld: setup needs a terminal to ask its questions. Run it in a terminal: skilld setup\n"
    assert manager.requests == []
