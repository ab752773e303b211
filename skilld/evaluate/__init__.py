"""Scoring of the detector on labelled turns: rows in, figures out. Pure but for reading the files of rows."""
