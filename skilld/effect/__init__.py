"""Whether rules work: what a person had to say again, in which sessions a rule could matter, and what that comes to."""
