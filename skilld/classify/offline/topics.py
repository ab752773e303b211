"""The tables of topics.toml: kinds of work, words of one choice, words too common to tell. Knows no text."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

TOPICS: dict[str, Any] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
