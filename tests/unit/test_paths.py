from __future__ import annotations

import os
from pathlib import Path

import pytest

from skilld.errors import SkilldError
from skilld.paths import Places, check_private, places, private_dir


def test_everything_is_below_home_by_default(home: Path) -> None:
    found = places()
    assert found.state == home / ".local/state/skilld"
    assert found.settings_file == home / ".config/skilld/config.toml"
    assert found.data == home / ".local/share/skilld"
    assert found.database == home / ".local/state/skilld/skilld.db"


def test_xdg_variables_move_it_unless_relative(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", "relative")
    assert places().database == tmp_path / "state/skilld/skilld.db"
    assert places().config == home / ".config/skilld"


def test_a_private_folder_is_private_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        made = private_dir(tmp_path / "a/b")
    finally:
        os.umask(before)
    assert made.stat().st_mode & 0o777 == 0o700
    assert private_dir(made) == made


def test_a_folder_open_to_other_users_is_refused_with_a_remedy(tmp_path: Path) -> None:
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o750)
    with pytest.raises(SkilldError) as error:
        private_dir(tmp_path / "open")
    assert error.value.remedy == f"chmod 700 {tmp_path / 'open'}"


def test_a_file_in_the_way_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(SkilldError, match="File exists"):
        private_dir(tmp_path / "file")
    with pytest.raises(SkilldError, match="Not a directory"):
        private_dir(tmp_path / "file/below")


def test_files_readable_by_others_are_refused_except_neighbouring_settings_on_macos(tmp_path: Path) -> None:
    here = private_dir(tmp_path / "Application Support/skilld")
    where = Places(here, here, here)
    where.settings_file.touch()
    where.settings_file.chmod(0o644)
    check_private(where)
    where.database.touch()
    where.database.chmod(0o644)
    with pytest.raises(SkilldError) as error:
        check_private(where)
    assert error.value.remedy == f"chmod go= '{where.database}'"
