"""The whole life of a proposal: git first, then the store, whichever way a person decides.

- `model`: what enters and leaves. `branch`: the staging branch as read, and rebuilt. `propose`: one proposal's commit,
  the branch rebuilt, everything of skilld's taken out of a repository. `staging`: proposals in, what came of it out.
- `decide`: accept, reject, revert, by `cherry_pick` in a `worktree`. `amend`: another text for an open proposal, single
  parts of it, a rejected one back. `take_back`: an acceptance undone. `auto_apply`: what is applied unasked.
- `observe`: what git shows of proposals. `reconcile`: what follows from it. `poll`, `refresh`: when to look.
- `explain`: what a person is shown. `remarks`: what to mind about where a proposal stands.
- `refit`: the same edit in a skill that changed. `remake`: another edit for the same words, where that cannot be.
- `contradictions`: lines elsewhere that say the opposite. `lessons`: what past decisions teach.
- `recover_from_git`: what repositories tell a store that lost it. `results`, `staging_result`: to rows and back.

Knows no terminal and no argument of a command line.
"""
