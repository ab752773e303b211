"""Skills in and out: importing from files and repositories, sharing with others, and the block that lists skills.

What comes in is nobody's word: it is read within limits, never run, judged by the linter with nothing of it taken for
the person's, and staged as a proposal. What goes out is redacted, shown, and sent on a command of the person's only.
"""
