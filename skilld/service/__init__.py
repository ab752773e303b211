"""skilld as a service of the person's own session: a systemd user unit or a launchd agent.

`unit` and `plist` render the files in systemd/ and launchd/ (pure), `environment` says what a service would miss of a
shell's variables (pure), `install` writes and removes files. `systemd` and `launchd` are the two managers behind the
protocol in `values`; each talks to its own program and nothing else here does. No module knows what the daemon does.
"""
