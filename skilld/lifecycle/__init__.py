"""What becomes of skills: which two are alike, what a merge carries over, which are no longer used. Pure."""
