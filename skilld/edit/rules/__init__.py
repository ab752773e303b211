"""The rules of the linter, one family or two of a kind a module: each has `check_x(change)` and knows nothing of others."""
