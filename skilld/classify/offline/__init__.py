"""The parts of the offline back-end: a listener made of written rules, with no model and no network.

`provenance` keeps what the person typed, `sentences` splits it, `cues` says per language which words make a wish last,
`weigh` adds up smaller `signs` where none says so, `listen` finds the clauses that carry a wish, `phrasing` makes an
instruction of a clause, `taken_back` drops what was withdrawn, `said` knows what a text says already, `sections` and
`home` place the instruction in a SKILL.md.
"""
