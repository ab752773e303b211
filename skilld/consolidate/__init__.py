"""Two skills for one task: which are alike, which of them stays, and what a merge carries over or loses. Pure."""
