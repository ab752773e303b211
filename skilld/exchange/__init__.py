"""Skills in and out: importing from files and repositories, sharing with others, and the block that lists skills.

Imported text is untrusted: it is read within limits, never run, checked by the linter as if the person had said
nothing, and staged as a proposal. Exported text is redacted, shown, and sent only on the person's command.
"""
