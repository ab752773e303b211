"""Scores the detector on labelled turns: rows in, figures out. Pure except for reading the files."""
