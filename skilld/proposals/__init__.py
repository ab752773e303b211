"""The whole life of a proposal: git first, then the store, for whichever way a person decides.

- `model`: what enters and leaves. `branch`: the staging branch as read, and made again. `stage`: proposing, rebuilding,
  and taking all of it out of a repository. `submit`: proposals to commits and back.
- `decide`: accept, reject, revert, by `cherry_pick` in a `worktree`. `amend`: another text for an open proposal, single
  parts of it, a rejected one back. `auto_apply`: what is applied unasked.
- `observe`: what git shows of proposals. `reconcile`: what follows from it. `poll`, `refresh`: when to look.
- `explain`: what a person is shown. `remarks`: what to mind about where a proposal stands.
- `remake`, `fitted`: an edit made again in a skill that changed. `lessons`: what past decisions teach.
- `recover_from_git`: what repositories tell a store that lost it. `results`, `staging_result`: to rows and back.

Knows no terminal and no argument of a command line.
"""
