"""Remembers what people teach their coding agents, as small quoted edits to the skill in use."""

__version__ = "0.1.0"
