"""The whole life of a proposal. Every change is made in git first, then in the store.

- `model`: the values that the other modules exchange. `branch`: reads and rebuilds the staging branch. `propose`:
  commits one proposal on it. `staging`: stages proposals and interprets the outcome, as a `staging_result`.
  `repositories`: opens the repository of a proposal.
- `decide`: accept, reject, revert, with `cherry_pick` in a `worktree`; `whole_files` writes the files there. `amend`:
  changes an open proposal's text, splits off parts (`narrow`: what justifies them), restores. `undo_accept`.
  `auto_apply`: applies proposals unasked.
- `observe`: reads from git what became of proposals, on the branches that count and by their `whereabouts` elsewhere.
  `reconcile`: decides what follows. `poll`: schedules this. `follow`: finds projects whose folder was moved.
- `explain`: the parts, diff and origin that a person is shown. `remarks`: sentences about where a proposal stands.
- `refit`: fits the same edit into a changed skill. `remake`: makes another edit for the same words if that fails.
- `contradictions`: lines elsewhere that say the opposite. `past_decisions`: what they teach.
- `recover_from_git`: restores proposals that the store lost. `results`: writes a worker's result to the store.
- `remove_refs`: deletes skilld's branches and refs on uninstall.

Knows no terminal and no command line arguments.
"""
