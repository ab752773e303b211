"""Agents' own command lines as a back-end: `backend` asks, `clients` lists them, and each has a module.

`base` is what a client's module is. `child` runs one, in a `room` of its own; `trouble` tells what went wrong, `own`
knows our questions again in a transcript.
"""
