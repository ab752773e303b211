"""Targets: the files that a lasting word may go to where no skill in use can take it, and the choice among them."""
