"""The person's library: the skills on this machine as rows, with usage from the store.

- `rows`: one row a skill, and how its uses went; which are offered to agents, which are pinned.
- `archive`: putting a skill aside, bringing it back, deleting it. `history`: its versions in git.
- `merge`, `consolidate`: which skills are alike, which of two stays, and what a merge brings into it.
- `clusters`, `patterns`, `recommend`: what was said several times, which skills fit a piece of work, and whether one
  would have covered what was said in a session.

Takes the skills found on this machine and rows of the store, and returns values. Knows no terminal.
"""
