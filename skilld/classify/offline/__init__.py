"""The parts of the offline back-end: written rules, no model, no network.

`provenance` keeps what the person typed, `sentences` splits it, `grammar` has one table a language of the words that
make a wish last, `product` tells what is said of a product,
`detector` finds the clauses that carry one and what was taken back, `phrasing` makes an instruction
of a clause, `choices` knows which words exclude each other, `sections` and `placement` find its place in a SKILL.md.
"""
