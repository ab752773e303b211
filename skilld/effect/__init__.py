"""Whether rules work: what had to be repeated, in which sessions a rule applied, and what follows from it."""
