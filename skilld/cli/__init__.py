"""The command line: `commands` declares all verbs and their arguments, and a file for each carries it out.

The functions that `commands` names take the parsed arguments and return the exit code; their modules are imported when
they are called, so that help and completions answer at once. `skilld.entry` prints the SkilldErrors that they raise.
Such a module imports at its top what every run of it needs, and late what only some runs do: git takes 0.15 s to load,
and the settings 0.3. Modules that every command imports (`common`, `permissions`, `completion`) import late.

Verbs share `common` (settings, store, JSON), `terminal` (questions to the person) and `inventory` (their skills).
"""
