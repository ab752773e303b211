"""A report of what was taught, where it went and whether it helped: as values, a page, or lines. Reads only."""
