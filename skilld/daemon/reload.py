"""Reloads the settings file in a running daemon: a change is checked, reported, and used from the next job on.

Settings that cannot change in a running daemon (the transcript folders, whether notices are shown) need a restart, and
an invalid file changes nothing; both are reported.
"""

from __future__ import annotations

from pathlib import Path

from skilld.classify.backends.names import check_name
from skilld.daemon import settings_cache
from skilld.daemon.engine import Engine
from skilld.daemon.notices import Notices
from skilld.errors import UsageError
from skilld.files import file_stamp
from skilld.logs import get_logger
from skilld.notify.notice import SETTINGS_CHANGED
from skilld.settings import Settings, load_file
from skilld.text import join_words

log = get_logger()


class SettingsFile:
    """Detects changes of the file at `path`. `message` is what `status` shows about the last change."""

    def __init__(self, path: Path | None, settings: Settings) -> None:
        self._path = path
        self._started_with = settings
        self._stamp = file_stamp(path or "")
        self.message = ""

    def apply_changes(self, engine: Engine, notices: Notices, now: float) -> bool:
        """Apply and report a changed file; return whether `message` has changed."""
        if file_stamp(self._path or "") == self._stamp:
            return False
        before = self.message
        origin = settings_cache.settings_origin(self._path, engine.host.environment) if self._path else ""
        if settings := self.load_if_changed():
            settings_cache.store_settings(engine.store, settings, origin)
            engine.use_settings(settings)
            notices.use_settings(settings.notify)
            notices.add_trouble("settings", SETTINGS_CHANGED, now)
        return self.message != before

    def load_if_changed(self) -> Settings | None:
        """Return the new settings if the file was changed and is valid, None otherwise."""
        stamp = file_stamp(self._path or "")
        if self._path is None or stamp == self._stamp:
            return None
        self._stamp = stamp
        try:
            settings = load_file(self._path)
            check_name(settings.model, own_server=bool(settings.model_base_url))
        except UsageError as error:
            self.message = f"the settings file is not valid, so the previous settings still apply: {error.cause}"
            log.warning("settings refused", error=error.cause)
            return None
        later = self._restart_settings(settings)
        self.message = (
            f"changed; {join_words(later)} {'takes' if len(later) == 1 else 'take'} effect only after a restart"
            if later
            else ""
        )
        log.info("settings changed", after_a_restart=later)
        return settings

    def _restart_settings(self, settings: Settings) -> list[str]:
        old = self._started_with
        later = ["roots"] if settings.roots != old.roots else []
        return [*later, "notify.enabled"] if settings.notify.enabled != old.notify.enabled else later
