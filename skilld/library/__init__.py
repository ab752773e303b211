"""The person's library: the skills on this machine, with usage from the store.

- `rows`: one row per skill with its usage; which skills are offered to agents.
- `archive`: archiving, restoring and deleting a skill. `history`: its versions in git.
- `consolidate`, `merge`: which skills are similar, which of two is kept, and what a merge adds to it.
- `clusters`, `patterns`, `recommend`: what was said repeatedly, which skills fit a task, and whether a skill would
  have covered what was said in a session.

Takes skills and rows of the store, and returns values. Knows no terminal.
"""
