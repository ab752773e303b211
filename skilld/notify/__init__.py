"""Notify: a quiet desktop notice when there is something to decide, with counts and skill names only."""
