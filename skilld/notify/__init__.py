"""Notify: one quiet desktop notice when there is something to decide. Counts and skill names only."""
