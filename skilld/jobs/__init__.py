"""Jobs: what a worker can be asked to do, one module each."""
