"""Reloads the settings file in a running daemon: a change is checked, reported, and used from the next job on.

What cannot change in a running daemon (where the transcripts are, whether notices are shown) waits for a restart, and a
file that is not understood changes nothing; both are said.
"""

from __future__ import annotations

from pathlib import Path

from skilld.daemon import settings_cache
from skilld.daemon.engine import Engine
from skilld.daemon.notices import Notices
from skilld.errors import UsageError
from skilld.logs import get_logger
from skilld.notify.notice import SETTINGS_CHANGED
from skilld.settings import Settings, load

log = get_logger()


class SettingsFile:
    """Notices that the file at `path` was changed. `said` is what `status` tells of the last change."""

    def __init__(self, path: Path | None, settings: Settings) -> None:
        self._path = path
        self._started_with = settings
        self._stamp = _stamp(path)
        self.said = ""

    def follow(self, engine: Engine, notices: Notices, now: float) -> bool:
        """Have a changed file taken over, and told; whether there is something else to be said of it now."""
        if _stamp(self._path) == self._stamp:
            return False
        before = self.said
        origin = settings_cache.origin(self._path, engine.around.environment) if self._path else ""
        if settings := self.changed():
            settings_cache.keep(engine.store, settings, origin)
            engine.follow_settings(settings)
            notices.follow(settings.notify)
            notices.trouble("settings", SETTINGS_CHANGED, now)
        return self.said != before

    def changed(self) -> Settings | None:
        """Return the new settings where the file was changed and makes sense, else None."""
        stamp = _stamp(self._path)
        if self._path is None or stamp == self._stamp:
            return None
        self._stamp = stamp
        try:
            settings = load(self._path)
        except UsageError as error:
            self.said = f"the settings file is not valid, so the previous settings still apply: {error.cause}"
            log.warning("settings refused", error=error.cause)
            return None
        later = self._after_a_restart(settings)
        self.said = (
            f"changed; {' and '.join(later)} {'takes' if len(later) == 1 else 'take'} effect only after a restart"
            if later
            else ""
        )
        log.info("settings changed", after_a_restart=later)
        return settings

    def _after_a_restart(self, settings: Settings) -> list[str]:
        old = self._started_with
        later = ["roots"] if settings.roots != old.roots else []
        return [*later, "notify.enabled"] if settings.notify.enabled != old.notify.enabled else later


def _stamp(path: Path | None) -> tuple[int, int, int] | None:
    try:
        facts = path.stat() if path else None
    except OSError:
        return None
    return (facts.st_mtime_ns, facts.st_size, facts.st_ino) if facts else None
