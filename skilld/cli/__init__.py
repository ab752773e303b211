"""The command line: one file per verb or group of related verbs, listed in `parser`.

`add` describes the arguments of its verbs; the function that each of them names takes these and returns the exit code.
`skilld.__main__` calls both and prints the SkilldErrors that either raises. Heavy libraries are imported inside a verb.

Verbs share `common` (settings, store, JSON), `terminal` (questions to the person) and `inventory` (their skills).
"""
