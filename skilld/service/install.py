"""Installs and removes the service's files, only if something changes."""

from __future__ import annotations

import stat
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from skilld.errors import SkilldError
from skilld.files import write_atomically
from skilld.service.launchd import Launchd
from skilld.service.systemd import Systemd
from skilld.service.values import ManagerError, ServiceFile, StartCommand

# Both have the same methods, which raise ManagerError; only `state` never raises.
ServiceManager = Launchd | Systemd


def manager(platform: str, environment: Mapping[str, str], home: Path, config: Path) -> ServiceManager:
    """Return the service manager of a platform (`sys.platform`); `config` is skilld's settings folder."""
    return Launchd(environment, home) if platform == "darwin" else Systemd(environment, home, config)


def install(manager: ServiceManager, start: StartCommand) -> list[Path]:
    """Write the service's files, enable and start it. Returns the files that were written, none if all were up to date.

    Raises SkilldError if a file cannot be written or the manager fails. New files are removed again, unless the manager
    has enabled the service and only could not start it.
    """
    wanted = manager.files(start)
    written = [path for path, file in wanted.items() if _differs(path, file)]
    new = [path for path in written if not path.exists()]
    try:
        for path in written:
            _write(path, wanted[path])
    except SkilldError:
        _remove(new)
        raise
    gone = [path for path in manager.own_files() if path not in wanted and path.exists()]
    for path in gone:
        path.unlink()
    try:
        manager.enable(changed=bool(written or gone))
    except ManagerError:
        if not manager.state().enabled:
            _remove(new)
        raise
    return written


def _remove(paths: Iterable[Path]) -> None:
    for path in paths:
        with suppress(OSError):
            path.unlink()


def uninstall(manager: ServiceManager) -> list[Path]:
    """Stop the service and remove its files, even if its manager does not respond. Returns the removed files."""
    if there := [path for path in manager.own_files() if path.exists() or path.is_symlink()]:
        with suppress(ManagerError):
            manager.disable()
        for path in there:
            path.unlink(missing_ok=True)
        with suppress(ManagerError):
            manager.clean_up()
    return there


def _differs(path: Path, file: ServiceFile) -> bool:
    try:
        return path.read_bytes() != file.data or stat.S_IMODE(path.stat().st_mode) != file.mode
    except OSError:
        return True


def _write(path: Path, file: ServiceFile) -> None:
    """Write a file; an existing one is replaced, and a symlink is not followed."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_atomically(path, file.data, file.mode)
    except OSError as error:
        raise SkilldError("The service was not installed", f"{path}: {error.strerror or error}") from error
