"""One person, several machines: what they decided on one holds on the others, through a private repository of theirs.

Nothing here runs for who has joined no machines. What comes in changes what skilld remembers and proposes, and never a
file: lines come to a machine as they always did, by git or by the person's own word.
"""
