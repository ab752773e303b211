"""The completions of each argument without a shell; tests/e2e/test_completion.py uses real shells."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest

from skilld import paths
from skilld.__main__ import main
from skilld.cli import completion
from skilld.cli.commands import SHELLS
from skilld.cli.parser import build_parser
from skilld.paths import private_dir
from skilld.settings import setting_choices, setting_keys
from skilld.store import Store
from skilld.types import State
from support.proposals import COMMIT_FIELDS, make_proposal


def _completers() -> dict[tuple[str, str], object]:
    found: dict[tuple[str, str], object] = {}

    def walk(parser: argparse.ArgumentParser) -> None:
        for action in parser._actions:
            if isinstance(action, argparse._SubParsersAction):
                for below in action.choices.values():
                    walk(below)
            elif hasattr(action, "completer"):
                found[parser.prog.removeprefix("skilld "), str(action.metavar)] = action.completer

    parser = build_parser()
    completion._attach_completers(parser)
    walk(parser)
    return found


COMPLETERS = _completers()


def _complete(place: str, metavar: str, **given: str) -> list[str]:
    completer = COMPLETERS[place, metavar]
    assert callable(completer)
    return list(completer(prefix="", parsed_args=argparse.Namespace(**given)))


@pytest.fixture
def proposals(home: Path) -> dict[State, str]:
    del home
    private_dir(paths.places().database.parent)
    store = Store.open(paths.places().database)
    made = {}
    for number, state in enumerate(State):
        proposal = make_proposal(**COMMIT_FIELDS, id=f"{number:08x}", state=state)
        store.proposals.add(proposal)
        made[state] = proposal.id
    store.close()
    return made


def test_only_ids_the_command_can_act_on_are_offered(proposals: dict[State, str]) -> None:
    for verb in ("accept", "reject", "review"):
        assert _complete(verb, "ID") == [proposals[State.OPEN]]
    assert _complete("revert", "ID") == [proposals[State.ACCEPTED]]
    restorable = [proposals[state] for state in (State.DROPPED, State.REJECTED, State.STALE)]
    assert sorted(_complete("restore", "ID")) == sorted(restorable)
    assert sorted(_complete("show", "ID")) == sorted(proposals.values())


@pytest.mark.usefixtures("home")
def test_without_proposals_nothing_is_offered_and_no_database_is_created() -> None:
    assert _complete("accept", "ID") == _complete("learnings", "ID") == []
    assert not paths.places().database.exists()


@pytest.mark.usefixtures("home")
def test_settings_and_their_values_complete() -> None:
    assert _complete("config set", "KEY") == list(setting_keys())
    assert _complete("config set", "VALUE", key="apply") == ["stage", "auto"]
    assert _complete("config set", "VALUE", key="notify.enabled") == ["true", "false"]
    assert "skill" in _complete("config set", "VALUE", key="targets")
    assert "agent" in _complete("config set", "VALUE", key="model")
    assert all(isinstance(setting_choices(key), list) for key in [*setting_keys(), "no.such", "no"])


def test_a_failing_completer_offers_nothing(home: Path) -> None:
    folder = home / ".config/skilld"
    folder.mkdir(parents=True)
    (folder / "config.toml").write_text("not toml")
    assert _complete("skills show", "NAME") == []


def test_every_skill_or_proposal_argument_completes() -> None:
    named = {(place, metavar) for place, metavar in COMPLETERS if metavar in {"ID", "NAME", "SKILL"}}
    assert {(f"skills {verb}", "NAME") for verb in ("show", "test", "eval", "archive", "delete")} <= named
    assert {("sync", "SKILL"), ("feedback", "SKILL")} <= named


def test_nothing_is_offered_that_the_command_refuses() -> None:
    assert ("sync", "AGENT") not in COMPLETERS, "its choices are fewer than all agents"
    assert _complete("suggest", "AGENT") == ["claude-code", "gemini-cli"]
    assert _complete("proposals", "STATE")[-1] == "all"


@pytest.mark.parametrize("shell", SHELLS)
def test_each_shell_has_its_script(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", shell]) == 0
    assert "skilld" in capsys.readouterr().out
