"""The review: looking at proposals and deciding on them, in a terminal.

- `sitting`: what a review does, without a screen; `marks`, `context`: what it shows, as values.
- `app`: the screens (Textual). `plain`: the same by questions and answers, for screen readers and dumb terminals.
- `generate`: the steps of `skilld mine --interactive`, in the same two ways.

Decisions go through `skilld.proposals`, as those of the command line do. Only verbs import this, late.
"""
