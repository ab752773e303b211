"""The names of the staging branch and of skilld's other refs.

Imports nothing, since the daemon needs the names and must not load GitPython. What is done with the branch is in
`skilld.proposals`.
"""

STAGING_BRANCH = "skilld/staging"
STAGING = f"refs/heads/{STAGING_BRANCH}"
PROPOSALS = "refs/skilld/proposals/"  # open proposals, one ref each
SHARES = "refs/heads/skilld/share/"  # branches of `skilld skills share`
