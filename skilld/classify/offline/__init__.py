"""The parts of the offline back-end: a listener made of written rules, with no model and no network.

`provenance` keeps what the person typed, `sentences` splits it, `cues` says per language which words make a wish last,
`listen` finds the clauses that carry one, `phrasing` makes an instruction of a clause, `taken_back` drops what was
withdrawn, `said` knows what a text says already, `sections` and `compose` place the instruction in a SKILL.md.
"""
