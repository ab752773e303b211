"""The names of the staging branch and of skilld's other refs.

Imports nothing, since the daemon needs the names and must not load GitPython. `skilld.proposals` uses the branch.
"""

STAGING_BRANCH = "skilld/staging"
STAGING_REF = f"refs/heads/{STAGING_BRANCH}"
PROPOSAL_REFS = "refs/skilld/proposals/"  # open proposals, one ref each
SHARE_REFS = "refs/heads/skilld/share/"  # branches of `skilld skills share`
