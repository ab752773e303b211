"""What a file that agents load can do without: cuts by code alone, those that a model names, and their proposals."""
