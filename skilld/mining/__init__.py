"""Mining: what past sessions would have taught, for existing skills and for new ones.

Transcripts come in, and a few candidates with their evidence go out, staged for review like any other proposal:
sessions -> rows (one per session) -> asks -> candidates. What was considered and left out is reported with the reason.
"""
