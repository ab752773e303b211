"""The review: shows proposals and decides on them, in a terminal.

- `controller`: what a review does and shows, as values, without a screen, with `diff` and `excerpts`; `generation`:
  the same for the steps of `skilld mine --interactive`.
- `app`, `proposals_pane`, `panes`, `generate_screen`: both on a full screen (Textual), with `dialogs`, `draw` and
  `failures`.
- `plain`, `plain_tabs`, `plain_generate`: both as questions and answers, for screen readers and dumb terminals.

Decisions go through `skilld.proposals`, like those of the command line. Only verbs import this, late.
"""
