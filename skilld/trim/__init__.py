"""What files that agents load can do without: cuts found by code, cuts that a model names, and their proposals."""
