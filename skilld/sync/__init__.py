"""Sync: a list of skills in the standing-instruction files of agents, as one managed block that can be taken out.

Skills and the bytes of files enter, the bytes of files leave. Every byte outside the block stays as it is.
"""
