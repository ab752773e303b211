"""Pipeline: the judgement of one batch, from messages and skills to checked edits."""
