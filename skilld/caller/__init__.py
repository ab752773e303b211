"""Who gave a command: a person at a terminal, or not. Decided by the process tree, never by claims.

- `tree.process_tree`: this process and its ancestors, as the kernel shows them (Linux: /proc, macOS: ps).
- `programs`: the programs and variables of agents.
- `judge.judge_caller`: whether a person gave the command, and if not, why; the programs in which people type (pure).
"""
