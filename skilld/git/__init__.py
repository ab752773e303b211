"""The one door to git: everything skilld asks of a repository goes through here.

Programs call `environment.scrub_environment()` once, before anything else of this folder; it returns the variables it
removed, which the person's own commands (accept, revert) need again.

- `run.Git`: an allow-listed subcommand in the fixed, silenced environment; `run.PersonGit`: the person's commands.
  `run.one_command()`: a block in which a repository is opened once and its objects are read from one process.
- `repo.find(path)`: the repository that tracks a SKILL.md, or a typed refusal with a sentence for the person.
- `repo.find_absent(path)`: the repository that would track a new one there, or why none may be made.
- `managed_repos.track(path, folder)`: the same, or skilld's own repository for what git does not track, brought up to
  date.
- `attributes`: whether a .gitattributes file puts a filter on a path.
- `state`: what files tell without git: whether a repository is absent or cannot be read now, what is in progress in it,
  whether it is the person's own; and our own processes one after the other.
- `objects`, `tree`: reading and writing blobs, trees and commits, at a cost by path depth.
- `staging_branch`: the name of the staging branch, and of all other refs that are skilld's.
- `refs`: compare-and-swap on skilld's own refs, all or nothing.
- `borrowed`: a bare repository of skilld's own that borrows the objects of the person's and speaks to one remote.
- `line_diff`: what a commit adds and takes away, whether a text holds it, and taking it out again (pure).
- `remote`: clone and push.

The modules here know the refs and trailers of proposals, and nothing of skills or the store. Those that run git import
GitPython, so the daemon must not import them.
"""
