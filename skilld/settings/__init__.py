"""The person's settings: TOML file, `SKILLD_*` variables over it, flags over both. One object, read once.

Only programs read settings; stages are handed plain values. The names below are imported when they are first used:
they need pydantic-settings, about 150 ms, which the other modules of this package do not.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from skilld.settings.reading import checked, from_text, keys, load, read_file
    from skilld.settings.values import Notify, Settings, nearest

__all__ = ["Notify", "Settings", "checked", "from_text", "keys", "load", "nearest", "read_file"]

_VALUES = frozenset({"Notify", "Settings", "nearest"})


def __getattr__(name: str) -> Any:  # noqa: ANN401 - whatever the name stands for
    """Import one of the names above."""
    if name not in __all__:
        raise AttributeError(name)
    return getattr(import_module(f"{__name__}.{'values' if name in _VALUES else 'reading'}"), name)
