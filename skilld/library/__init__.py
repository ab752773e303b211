"""The person's library: their skills as rows, with what the store counts of each.

- `shelf`: one row for each skill; `uses`: what transcripts, feedback and tasks say of how it went.
- `collect`: both, from the disk and the store. `history`: a skill's versions in git.
- `covers`: whether a skill would have covered what was said in a session.
- `serving`: which of them skilld offers to agents. `trash`: deleting one.
- `marks`, `ranks`, `pins`: what lists say of one in a word, and in which order skilld offers them.
- `archive`, `movable`, `moving`: putting one aside and back. `alike`: the shelf as matching and merging see it.

Takes the skills that lie on this machine and rows of the store, gives values. Knows no terminal.
"""
