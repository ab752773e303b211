"""Proposals from being staged to being decided: git first, then the store, for whichever way a person decides.

- `staging`: put on the branch and kept. `parts`: one of several operations, taken apart.
- `carry_out`: accept, reject, revert: git first, then the store, then the staging branch.
- `amend`: another text for an open proposal, single parts of it, a rejected one back.
- `versions`: a proposal's skill before and after, and its diff.
- `remarks`: what to mind about where a proposal stands. `refresh`: what was decided with plain git since the last look.

Takes a store and proposals, gives sentences to tell. Knows no terminal and no argument of a command line.
"""
