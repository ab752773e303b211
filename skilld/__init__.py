"""Remembers what a person teaches their coding agents, as small quoted edits of the skill in use."""

__version__ = "0.1.0"
