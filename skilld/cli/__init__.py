"""The command line: one file per verb, registered in a visible dict. Heavy libraries are imported inside a verb."""
