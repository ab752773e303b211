"""What can be cut from files that agents load: cuts found by code, cuts that a model names, and their proposals."""
