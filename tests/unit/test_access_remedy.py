"""What a person is told to do about a file with a wrong owner or mode."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from skilld.errors import SkilldError
from skilld.files import access_remedy
from skilld.paths import private_dir
from skilld.settings import read_file

AS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
NOBODY = 65534


def test_a_file_of_mine_only_needs_another_mode(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text("")
    file.chmod(0o666)
    assert access_remedy(file, "600") == f"chmod 600 {file}"
    with pytest.raises(SkilldError) as error:
        read_file(file)
    assert error.value.remedy == f"chmod 600 {file}"


@AS_ROOT
@pytest.mark.parametrize(("owner", "name"), [(NOBODY, "nobody"), (12345, "user 12345")])
def test_root_takes_nothing_over_from_its_owner(tmp_path: Path, owner: int, name: str) -> None:
    file, folder = tmp_path / "config.toml", tmp_path / "state"
    file.write_text("")
    folder.mkdir(0o700)
    for path in (file, folder):
        os.chown(path, owner, owner)
    for refused in (lambda: read_file(file), lambda: private_dir(folder)):
        with pytest.raises(SkilldError) as error:
            refused()
        assert error.value.remedy == f"Run it as {name}, not as root."


@AS_ROOT
def test_another_users_file_is_taken_over_by_a_person(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: NOBODY)  # a stranger's file, as a person without rights sees it
    assert access_remedy(tmp_path, "700") == f'sudo chown "$USER" {tmp_path} && chmod 700 {tmp_path}'
    assert access_remedy(tmp_path, "") == f'sudo chown "$USER" {tmp_path}'
