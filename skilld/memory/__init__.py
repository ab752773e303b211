"""Memory: what was said over the weeks, found again, weighed by its evidence, and matched with the work at hand.

Learnings, decisions and skills enter; recommendations leave. Pure: the store searches, the command line shows.
"""
