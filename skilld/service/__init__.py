"""skilld as a service of the person's own session: a systemd user unit or a launchd agent.

`systemd` and `launchd` are the two managers behind the protocol in `values`, each with its own files and program;
`install` writes and removes these files. No module knows what the daemon does.
"""
