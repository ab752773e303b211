"""What files that agents load can do without: cuts found by code, cuts named by a model, and their proposals."""
