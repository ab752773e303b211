"""What a person is told to do about a file with a wrong owner or mode."""

from __future__ import annotations

import errno
import os
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest

from skilld.cli import common
from skilld.errors import SkilldError
from skilld.files import access_remedy, shell_quoted
from skilld.paths import places, private_dir
from skilld.settings_file import read_file
from support.rows import for_each

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
    assert access_remedy(tmp_path, "", inside=True) == f'sudo chown -R "$USER" {tmp_path}'


def test_a_read_only_file_system_takes_no_chmod(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "statvfs", lambda _: SimpleNamespace(f_flag=os.ST_RDONLY))
    assert "read-only" in access_remedy(tmp_path, "700")
    assert "chmod" not in access_remedy(tmp_path, "700")


@for_each("name", ["a b", "it's", "two\nlines", "tab\tand\x1b[m", "ünï\ncode", "\udcff\udcfe", "back\\slash\n'"])
def test_a_quoted_path_is_one_printable_word_that_a_shell_reads_back(name: str) -> None:
    quoted = shell_quoted(Path(name))
    assert quoted.isprintable()
    read = subprocess.run(["bash", "-c", f"printf %s {quoted}"], capture_output=True, check=True).stdout
    assert read == os.fsencode(name)


@pytest.mark.parametrize("linked", ["skilld", ""])
def test_a_state_folder_that_is_a_link_to_nothing_is_named(home: Path, linked: str) -> None:
    """A disk that is not mounted: skilld has run before, and must neither say that it has not, nor start anew."""
    state = home / ".local/state"
    link = state / linked if linked else state
    link.parent.mkdir(parents=True)
    link.symlink_to(home / "disk")
    for use in (common.store_or_empty, lambda: private_dir(places().state)):
        with pytest.raises(SkilldError) as error:
            use()
        assert error.value.cause == f"{link} is a link to {home / 'disk'}, which does not exist"
    (home / "disk").mkdir(mode=0o700)
    if linked:
        common.store_or_empty().close()


def test_a_state_folder_on_a_read_only_disk_has_no_owner_to_check(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr(Path, "mkdir", refuse)
    with pytest.raises(SkilldError, match="Cannot use") as error:
        private_dir(tmp_path / "skilld")
    assert (error.value.cause, error.value.remedy) == ("Read-only file system", "")
