"""Agents' own command lines as back-ends: `backend` asks, `clients` lists them, each has its own module.

`base` is the interface of a client's module. `process` runs a client once, `limits` reads when a usage limit resets,
and `own_questions` recognizes skilld's own questions in a transcript.
"""
