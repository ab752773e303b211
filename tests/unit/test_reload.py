"""A settings file that is changed under a running daemon: taken over where it makes sense, and always said."""

from __future__ import annotations

from pathlib import Path

import pytest

from skilld.daemon.reload import SettingsFile
from skilld.settings import load_file


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "config.toml"


def test_a_change_is_reported_once(path: Path) -> None:
    file = SettingsFile(path, load_file(path))
    assert file.load_if_changed() is None
    path.write_text("[batch]\nturns = 3\n")
    settings = file.load_if_changed()
    assert settings is not None
    assert settings.batch.turns == 3
    assert (file.load_if_changed(), file.message) == (None, "")
    path.unlink()
    settings = file.load_if_changed()
    assert settings is not None
    assert settings.batch.turns == 5


def test_an_invalid_file_changes_nothing_and_is_reported_until_fixed(path: Path) -> None:
    file = SettingsFile(path, load_file(path))
    path.write_text("[batch]\nturn = 3\n")
    assert file.load_if_changed() is None
    assert "unknown setting batch.turn" in file.message
    path.write_text("[batch]\nturns = 33\n")
    assert file.load_if_changed() is not None
    assert file.message == ""


def test_a_setting_that_needs_a_restart_says_so(path: Path, tmp_path: Path) -> None:
    file = SettingsFile(path, load_file(path))
    path.write_text(f'[roots]\nclaude-code = ["{tmp_path}"]\n[notify]\nenabled = false\n')
    assert file.load_if_changed() is not None
    assert file.message == "changed; roots and notify.enabled take effect only after a restart"


def test_without_a_file_nothing_changes(path: Path) -> None:
    assert SettingsFile(None, load_file(path)).load_if_changed() is None
