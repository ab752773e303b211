"""Syncs one person's decisions between their machines, through a private repository of theirs.

Nothing here runs for people who have not joined machines. Incoming records change what skilld remembers and proposes,
never a file: lines reach a machine through git or by the person's own decision, as always.
"""
