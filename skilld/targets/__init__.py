"""Targets: the files that an instruction may go to if no skill in use can take it, and the choice among them."""
