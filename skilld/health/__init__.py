"""What is wrong on this machine, what to do about it, and why nothing was proposed.

`gather` looks at the machine and the store and makes facts, `checks` makes verdicts of them. Nothing here changes
anything.
"""
