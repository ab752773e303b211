"""Pipeline: judges one batch, from messages and skills to checked edits."""
