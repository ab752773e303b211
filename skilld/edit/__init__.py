"""Edit: from verified updates and a SKILL.md to bounded operations, new bytes, and the linter's findings.

Pure: bytes in, bytes out. `operations` applies; `from_file` and `insertion_point` make operations, `refit` makes them
again in another version of the skill; `lint` judges an edit by its bytes and the person's words. Making a whole file
and marking its front matter are for code alone. Nothing here asks a model, reads a file or knows git.
"""
