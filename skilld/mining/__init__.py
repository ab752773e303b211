"""Mining: what past sessions would have taught, for existing skills and for new ones.

Transcripts enter, a few candidates with their evidence leave, staged for review like any other proposal. The way is
sessions -> rows (one a session) -> asks -> candidates; what was thought of and not taken is told with the reason.
"""
