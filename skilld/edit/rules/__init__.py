"""The linter's rules, one or two families per module: each has `check_x(change)` and knows no other."""
