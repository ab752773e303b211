"""The rules of the linter, one family a module: each has `check(change)` and knows nothing of the others.

`created` is none of them: it lays open to the rules what a new skill says before its body.
"""
