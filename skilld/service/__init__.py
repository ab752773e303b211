"""skilld as a service of the person's own login session: a systemd user unit or a launchd agent.

`systemd` and `launchd` have the same methods, each with its own files and program; `install` writes and removes these
files. No module here knows what the daemon does.
"""
