"""The command line: one file per verb, registered in a visible dict. Heavy libraries are imported inside a verb.

Of each verb, `add` describes its arguments and what runs it takes them and returns the exit code; both are called by
`skilld.__main__`, which prints the SkilldErrors that either raises.

Verbs share `common` (settings, store, JSON), `terminal` (asking the person), `inventory` (their skills), `progress`.
"""
