"""Agents' own command lines as back-ends: `backend` asks, `clients` lists them, each has its own module.

`base` is what a client's module is. `child` runs one, in a `room` of its own; `trouble` tells what went wrong, `own`
knows our questions again in a transcript.
"""
