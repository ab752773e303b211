"""Scores judges, guards and the redactor on labelled rows, for `skilld eval`; the cases of a skill are in `evals`."""
