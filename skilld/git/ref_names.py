"""The names of skilld's refs: the staging branch, the refs of open proposals, the branches of shared skills.

A module of its own, since the daemon needs them and imports no GitPython.
"""

STAGING_BRANCH = "skilld/staging"
STAGING = f"refs/heads/{STAGING_BRANCH}"
PROPOSALS = "refs/skilld/proposals/"
SHARES = "refs/heads/skilld/share/"
