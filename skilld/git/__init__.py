"""All access to git.

What runs git takes the GIT_* variables out of the process first (`environment`); the person's own commands (accept,
revert) get them back.

- `run.Git`: an allow-listed subcommand in the fixed, silenced environment; `run.PersonGit`: the person's commands.
- `session.shared_git()`: a block in which a repository is opened once and its objects are read from one process.
- `repo.find_tracked(path)`: the repository that tracks a SKILL.md, or a typed refusal with a sentence for the person.
- `repo.find_for_new(path)`: the repository that would track a new one there, or why none may be created.
- `managed_repos.track(path, folder)`: the same, or skilld's own repository, brought up to date, for untracked files.
- `attributes`: whether a .gitattributes file puts a filter on a path.
- `state`: what files show without git: whether a repository is absent or unreadable, which operation is in progress,
  whether it is the person's own; and a lock between our own processes.
- `tracked`: whether git tracks a file, without GitPython.
- `top`: where the work tree around a folder begins.
- `objects`, `tree`: reading and writing blobs, trees and commits, at a cost by path depth.
- `staging_branch`: the names of the staging branch and of skilld's other refs.
- `refs`: compare-and-swap on skilld's own refs, all or nothing.
- `borrowed_repo`: a bare repository of skilld's own that borrows the person's objects and talks to one remote.
- `line_diff`: what a commit adds and removes, whether a text contains it, and undoing it (pure).
- `remote`: clone and push.
- `watchdog`: ends a git process that does not answer in time.

The modules here know the refs and trailers of proposals, but neither skills nor the store. Those that run git import
GitPython, so the daemon must not import them.
"""
