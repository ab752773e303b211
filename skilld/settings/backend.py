"""The back-end that the settings come to on this machine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from skilld.classify.backends.choose import Choice, choose

if TYPE_CHECKING:
    from skilld.settings import Settings


def choice_of(settings: Settings, environment: Mapping[str, str], agent: str = "", *, in_job: bool = True) -> Choice:
    """Return the back-end that works now; for a session of `agent` where one is named.

    One question may take half the time of a job, or all of it out of one.
    """
    seconds = max(1.0, settings.worker.seconds / 2) if in_job else settings.worker.seconds
    return choose(settings.model, settings.model_base_url, settings.model_api_key, seconds, environment, agent=agent)
