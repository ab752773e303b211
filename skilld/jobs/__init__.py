"""Jobs: what a worker is asked to do, one module each."""
