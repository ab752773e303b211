"""The review: look at proposals and decide on them, in a terminal.

- `controller`: what a review does and what it shows, as values, without a screen; `generating`: the same of the steps
  of `skilld mine --interactive`.
- `app`, `proposals_pane`, `panes`, `generate_screen`: both on screens (Textual), with `dialogs` and `draw`.
- `plain`, `plain_tabs`, `plain_generate`: both by questions and answers, for screen readers and dumb terminals.

Decisions go through `skilld.proposals`, as those of the command line do. Only verbs import this, late.
"""
