"""The status line in other programs' settings: added on request, removed with every other byte intact."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from skilld.cli import statusline_setup, uninstall
from skilld.cli.parser import build_parser
from skilld.errors import SkilldError
from skilld.exchange import foreign_settings
from support.rows import for_each

JSON = {
    "usual": '{\n  "model": "opus",\n  "hooks": {"Stop": []}\n}\n',
    "tabs and no end": '{\n\t"model": "opus"\n}',
    "Windows lines": '{\r\n  "model": "opus"\r\n}\r\n',
    "one line": '{"model":"opus","env":{"statusLine":"x"}}',
    "odd blanks": ' \n{ "a" :\t1 ,\n\n"b":[ 1,2 ]  }  \n\n',
    "empty": "{}",
    "empty with blanks": "{\n\n}\n",
    "escapes": '{"a\\"}": "}\\u00e9,{", "ö": -1.5e3}',
    "twice the same key": '{"a": 1, "a": 2}',
}
OURS = ("statusLine", {"type": "command", "command": "skilld statusline", "refreshInterval": 10})


@for_each("text", JSON.values())
def test_json_gains_one_member_and_is_restored_afterwards(text: str) -> None:
    with_ours = foreign_settings.put_member(text, *OURS)
    assert json.loads(with_ours) == {**json.loads(text), OURS[0]: OURS[1]}
    assert foreign_settings.remove_member(with_ours, *OURS) == text


def test_a_file_rewritten_by_the_program_loses_only_our_part() -> None:
    kept = {"model": "opus", "theme": "dark"}
    for members in (
        {OURS[0]: OURS[1], **kept},
        {**kept, OURS[0]: OURS[1]},
        {"model": "opus", OURS[0]: OURS[1], **kept},
    ):
        left = foreign_settings.remove_member(json.dumps(members, indent=2), *OURS)
        assert left == json.dumps({key: value for key, value in members.items() if key != OURS[0]}, indent=2)


@for_each("text", ['{"statusLine": {"type": "command", "command": "mine"}}', "{} // mine", "[]", "", "{"])
def test_a_file_with_another_status_line_or_format_is_left_alone(text: str) -> None:
    with pytest.raises(SkilldError, match="left unchanged"):
        foreign_settings.put_member(text, *OURS)


@for_each("text", [None, "", "a\n", "a\n\n", "a", "a\r\n", "\n"])
def test_a_block_of_lines_is_removed_as_it_was_added(text: str | None) -> None:
    with_ours = foreign_settings.put_block(text, "ours\n")
    assert with_ours.startswith(text or "")
    assert "\nours\n" in with_ours
    assert foreign_settings.remove_block(with_ours) == (text or "")
    with pytest.raises(SkilldError, match="left unchanged"):
        foreign_settings.put_block(with_ours, "ours\n")


def test_text_added_after_the_block_stays() -> None:
    assert foreign_settings.remove_block(foreign_settings.put_block("a", "ours\n") + "b\n") == "a\nb\n"


def setup(*arguments: str) -> int:
    given = build_parser("setup").parse_args(["setup", *arguments])
    return int(given.run(given))


FILES = {"claude-code": ".claude/settings.json", "tmux": ".tmux.conf", "starship": ".config/starship.toml"}


@pytest.mark.parametrize("uninstalled", [False, True])
@pytest.mark.parametrize("linked", [False, True])
@pytest.mark.parametrize("place", FILES)
def test_setup_adds_and_removes_it(place: str, home: Path, linked: bool, uninstalled: bool) -> None:  # noqa: FBT001
    file = real = home / FILES[place]
    file.parent.mkdir(parents=True, exist_ok=True)
    before = b'{\n  "model": "opus"\n}' if place == "claude-code" else b"# caf\xe9\nset = 1"
    if linked:
        real = home / "dotfiles"
        file.symlink_to(real)
    real.write_bytes(before)
    real.chmod(0o600)
    assert setup("--statusline", place) == 0
    assert b"skilld statusline" in real.read_bytes()
    once = real.read_bytes()
    assert setup("--statusline", place) == 0
    assert real.read_bytes() == once
    if uninstalled:
        ours, troubles = uninstall.status_line_removals()
        assert [one.what for one in ours] == [str(real)]
        assert troubles == []
        ours[0].remove()
    else:
        assert setup("--statusline", "none") == 0
    assert real.read_bytes() == before
    assert file.is_symlink() is linked
    assert real.stat().st_mode & 0o777 == 0o600
    assert uninstall.status_line_removals() == ([], [])


@pytest.mark.parametrize("place", FILES)
def test_a_file_holding_only_our_part_is_deleted(place: str, home: Path) -> None:
    assert setup("--statusline", place) == 0
    assert (home / FILES[place]).is_file()
    assert setup("--statusline", "none") == 0
    assert not (home / FILES[place]).exists()


def test_the_persons_own_status_line_stays(home: Path) -> None:
    file = home / FILES["claude-code"]
    file.parent.mkdir()
    file.write_text('{"statusLine": {"type": "command", "command": "mine"}}')
    with pytest.raises(SkilldError) as error:
        setup("--statusline", "claude-code")
    assert "also run skilld statusline" in (error.value.remedy or "")
    assert "mine" in file.read_text()
    assert statusline_setup.removals() == []


def test_a_file_changed_meanwhile_is_left_alone(home: Path) -> None:
    (home / FILES["tmux"]).write_text("a\n")
    assert setup("--statusline", "tmux") == 0
    (planned,) = statusline_setup.removals()
    os.truncate(home / FILES["tmux"], 1)
    with pytest.raises(SkilldError, match="changed by another program"):
        planned.write()
