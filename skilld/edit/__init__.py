"""Edit: verified updates and a SKILL.md to bounded operations, new bytes, and what the linter says about them.

Pure: bytes in, bytes out. `operations` applies, `from_file` and `place` make operations, `lint` judges an
edit by its bytes and the person's words. `create` and `mark` are for code alone, `between` tells all five operations
from two versions. Nothing here asks a model, reads a file or knows git.
"""
