"""From verified updates and a SKILL.md to bounded operations, new bytes, and the linter's findings.

Pure: bytes in, bytes out. `operations` applies operations; `derive_operations` and `insertion_point` make them, `refit`
makes them again for another version of the skill; `lint` judges an edit by its bytes and the person's words. Only code
creates a whole file or marks its front matter. Nothing here asks a model, reads a file or knows git.
"""
