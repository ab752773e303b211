"""Deciding: a proposal comes in, is taken back, or is seen to have been, by whatever way the person chose.

- `who`: whether a person gave a command, told by the tree of processes.
- `accept.accept`, `accept.accept_worktree`, `revert.revert`: in the person's name, all or nothing.
- `whole`: a new skill's file made or removed where git's own command would not do it.
- `auto.apply_unasked`: auto mode's commit, where nothing of the person's is in the way.
- `observe.observe`: what plain git did to proposals; `judge` holds the pure rules, `settle` what they mean for a state.
- `why.why`: the proposals that brought a line.

Rejecting needs nothing of this folder: it is `skilld.propose.staging.rebuild` with the id among the dropped, which
also follows each accept, since an accepted proposal leaves the branch.
"""
