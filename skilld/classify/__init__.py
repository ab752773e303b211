"""Classify: from a batch and the skills in use to a verdict: what, if anything, a skill should remember.

Pure but for `backends/`, which call models. What a model answers is only ever a suggestion: the reply is parsed to a
closed schema, the quote must stand in what the person typed, and must support the change.
"""
