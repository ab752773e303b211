"""The rules of the linter, a family or two a module: each has `check_x(change)` and knows nothing of the others."""
