"""The command line: `commands` declares all verbs and their arguments, and a file for each carries it out.

The functions that `commands` names take the parsed arguments and return the exit code; their modules are imported when
they are called, so that help and completions answer at once. `skilld.entry` prints the SkilldErrors that they raise.

Verbs share `common` (settings, store, JSON), `terminal` (questions to the person) and `inventory` (their skills).
"""
