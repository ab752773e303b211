"""MCP: the skills on this machine, read-only, for agents that have no skills of their own.

Requests of a client arrive on stdin, texts of skills leave on stdout. Nothing listens on the network and nothing is
written; open proposals are not visible, as skills are read from the agents' folders.
"""
