"""The person's settings: TOML file, `SKILLD_*` variables over it, flags over both. One object, read once.

Only programs read settings; stages are handed plain values. Importing this costs about 150 ms (pydantic-settings), so
the command line imports it when a verb needs it.
"""

from __future__ import annotations

from skilld.settings.reading import checked, from_text, keys, load, read_file
from skilld.settings.values import Notify, Settings, nearest

__all__ = ["Notify", "Settings", "checked", "from_text", "keys", "load", "nearest", "read_file"]
