"""Proposing: an edit of a SKILL.md becomes a commit on `skilld/staging`, and nothing else of the repository changes.

- `staging.propose(Request) -> Proposed | Waiting | Misfit | Contradiction | Unchanged`
- `staging.rebuild(toplevel, standing, dropped) -> Line`: after any decision, and when a skill moved on. Rejecting a
  proposal is a rebuild with its id among the dropped.
- `values`: what enters and leaves; `message`: the commit message; `base`: where the branch rests; `line`: the branch
  as a line of commits.

Refusals are exceptions of `skilld.git.errors`, all of them SkilldErrors.
"""
