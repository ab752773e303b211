"""One report of what was taught, where it went and what came of it: as values, a page, or lines. Reads only."""
