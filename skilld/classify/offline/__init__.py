"""The parts of the offline back-end: written rules, no model, no network.

`provenance` keeps the words that the person typed, `sentences` splits them, `grammar` has a table per language of the
words that make a wish lasting, `product` recognizes talk about a product, `detector` finds the lasting clauses and
`retraction` those that were taken back (`release`: in a later session), `phrasing` makes an instruction of a clause,
`choices` knows which words exclude each other, `relevance` which skill is meant, and `sections` and `placement` find
its place in a SKILL.md.
"""
