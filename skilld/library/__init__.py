"""The person's library: their skills as rows, with what the store counts of each.

- `shelf`: one row for each skill; `uses`: what transcripts, feedback and tasks say of how it went.
- `collect`: both, from the disk and the store. `history`: a skill's versions in git.
- `covers`: whether a skill would have covered what was said in a session.
- `serving`, `offered`, `ranks`: which of them skilld offers to agents, and in which order. `trash`: deleting one.
- `marks`, `pins`, `stale`: what lists say of one in a word.
- `archive`, `movable`, `moving`: putting one aside and back. `alike`: the shelf as matching and merging see it.

Takes the skills that lie on this machine and rows of the store, gives values. Knows no terminal.
"""
