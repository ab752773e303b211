"""What is wrong on this machine, how to fix it, and why nothing was proposed.

`gather` collects facts from the machine and the store, `checks` turns them into verdicts. Nothing here writes.
"""
