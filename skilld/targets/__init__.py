"""Targets: the files an instruction may go to when no skill in use can take it, and the choice among them."""
