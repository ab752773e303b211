"""MCP: the skills on this machine, read-only, for agents that have no skills of their own.

Requests of a client enter over stdin, texts of skills leave over stdout. Nothing is listened on, nothing is written,
and what waits on a staging branch is never seen: a skill is what is in an agent's folder.
"""
