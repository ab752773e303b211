"""The actions of the verbs that have some: `skilld config set`, `skilld skills show`."""

from __future__ import annotations

from pathlib import Path

from skilld.cli.arguments import JSON, SKILL, UNASKED, YES, YES_UNUSED, Verb, argument, one_of, parse_count

_KEY = argument("key KEY", "the setting's name, as listed by `skilld config show`")
_REPO = argument("--repo FOLDER", "the repository (default: the current one)", type=Path, default=Path())
_SKILL_OR_FOLDER = argument("name NAME", "a skill's name or path")
_OFFERED = "through mcp, sync, suggest, chat and recommend"
_SKILLS_MEANT = (
    argument("names NAME*", "a skill's name or path"),
    argument("--all", "all the skills you have now"),
    argument("--custom", "all your own skills and project skills, but not plugin skills"),
)
CONFIG = {
    "show": Verb(
        "config.show",
        "list every setting with its value and meaning",
        JSON,
        argument("key KEY?", "show only this setting, or section such as `budget`"),
    ),
    "get": Verb("config.get", "print the value of a setting", JSON, _KEY),
    "path": Verb("config.path", "print the path of the settings file"),
    "set": Verb(
        "config.set_",
        "change a setting",
        _KEY,
        argument(
            "value VALUE",
            "the new value; separate list items with commas; - reads it from standard input, for a secret",
        ),
        argument("--no-check", "do not send a new model a test question"),
        check="config.check_set",
    ),
    "edit": Verb("config.edit", "open the file in your editor, with every setting and its meaning"),
    "unset": Verb(
        "config.unset", "remove a setting from the file, restoring its default", _KEY, check="config.check_unset"
    ),
}
SKILLS = {
    "list": Verb(
        "skills.listing.run",
        "list your skills, how often they were used and how well they went",
        JSON,
        argument("--type KIND", "only this kind: workflow, prompt-template, ...", dest="kind"),
        argument("--tag TAG", "only skills with this tag; repeatable", action="append", default=[]),
        argument(
            "--source",
            "only from this source; evolving: created by skilld, changed with it in the last 30 days, or with "
            "an open proposal",
            choices=("evolving", "project", "user", "plugin"),
        ),
        argument("--search TEXT", "only skills that contain every word of TEXT", default=""),
        argument("--project FOLDER", "only this project's skills", type=Path),
        argument("--sort", "sort order", choices=("group", "recency", "uses"), default="group"),
        argument("--limit N", "show at most N skills", type=parse_count),
    ),
    "show": Verb("skills.show.run", "show a skill: its details, what you said about it, and its text", JSON, SKILL),
    "history": Verb(
        "skills.show.history",
        "list the commits that changed a skill",
        JSON,
        _SKILL_OR_FOLDER,
        argument("--limit N", "show at most N commits (default: 50)", type=parse_count, default=50),
    ),
    "diff": Verb(
        "skills.show.diff",
        "show what changed in a skill since a revision",
        _SKILL_OR_FOLDER,
        argument("since REV?", "the revision to compare with (default: uncommitted changes)", default=""),
    ),
    "test": Verb(
        "skills.testing.run",
        "have your judge check whether a skill covers what you said in a session (exit code 0: it covers all of it)",
        JSON,
        SKILL,
        argument("--session ID", "the agent's ID for a past session; a prefix is enough", required=True),
    ),
    "eval": Verb(
        "skills.evaluation.run",
        "test a skill with and without an edit, on cases built from your corrections",
        JSON,
        SKILL,
        one_of(
            argument("--with ID", "compare the skill with and without this open proposal", dest="put_in"),
            argument("--without ID", "compare the skill with and without this accepted proposal", dest="taken_out"),
        ),
        argument("--case ID", "only this case; repeatable", dest="cases", action="append"),
        argument("--runs N", "runs per side (default: enough to detect a drop from 80%% to 50%%)", type=int),
        argument("--model MODEL", "the model or agent to test (default: the `model` setting)"),
        argument("--into-repository", "propose new cases as files in the skill's repository, even if it has a remote"),
        argument("--dry-run", "show the cases and the cost without writing anything or calling the model"),
        argument("--yes", "call the model without asking you first"),
        epilog="exit code 1: the edit did worse, or the run was not completed",
    ),
    "use": Verb(
        "skills.show.run_use",
        "print a skill's text with its variables filled in",
        SKILL,
        argument("--var NAME=VALUE", "set a variable; repeatable", action="append", default=[]),
    ),
    "enable": Verb(
        "skills.listing.run_enable",
        f"offer skills to agents again ({_OFFERED})",
        *_SKILLS_MEANT,
    ),
    "disable": Verb(
        "skills.listing.run_enable",
        f"stop offering skills to agents ({_OFFERED}); agents may still load them on their own",
        *_SKILLS_MEANT,
    ),
    "profile": Verb(
        "skills.listing.run_profile",
        "show how much you have taught your agents, and what skilld is most confident of",
        JSON,
        argument("--project FOLDER", "only what you said in the project at FOLDER", type=Path),
    ),
    "archive": Verb(
        "skills.archive.archive", "move a skill to the archive, hidden from your agents; undo with restore", SKILL
    ),
    "restore": Verb(
        "skills.archive.restore",
        "bring back an archived skill, or list the archived ones",
        JSON,
        argument("name NAME?", "the archived skill to bring back"),
    ),
    "export": Verb(
        "skills.export.run",
        "write skills to files that you can share, without secrets or sessions",
        argument("names NAME+", "a skill's name or path"),
        argument("-o --out FILE", "the file to write, or a folder for several skills"),
        argument("--format", "the format: yaml, or skill for a SKILL.md", choices=("yaml", "skill"), default="yaml"),
        argument("--with-evidence", "include the sessions, the author and, in yaml, your quotes"),
        argument("--force", "replace files that exist"),
    ),
    "import": Verb(
        "skills.imports.run",
        "propose skills from YAML, a SKILL.md, a folder or a git repository",
        JSON,
        argument("source SOURCE", "a file, a folder, or the path or URL of a repository or of a folder in it"),
        argument("--only NAME", "import only this skill; repeatable", action="append", default=[]),
        argument("--branch NAME", "the repository's branch (default: its default branch)", default=""),
        argument("--name NAME", "a new name for the skill", default=""),
        argument("--yes", "propose many skills without asking you first"),
        argument(
            "--as", "import it as this kind of skill", dest="kind", choices=("prompt", "workflow", "domain", "mcp")
        ),
        one_of(
            argument(
                "--project FOLDER?",
                "import into the project in FOLDER (without FOLDER: the current one)",
                type=Path,
                const=Path(),
            ),
            argument("--user", "import into your personal skills (the default)"),
        ),
    ),
    "share": Verb(
        "skills.share.run",
        "preview skills, then push them to a branch that others can use, without sessions and secrets",
        argument("names NAME+", "a skill's name or path"),
        argument("--to REMOTE", "a remote of the skill's repository, or a URL", required=True),
        argument("--branch NAME", "the branch (default: skilld/share/NAME)", default=""),
        argument("--dry-run", "show what would be pushed without pushing it"),
        YES,
    ),
    "delete": Verb(
        "skills.archive.run_delete", "move a skill's folder to the trash, where you can recover it", SKILL, YES
    ),
}
TEAM = {
    "join": Verb(
        "team.join",
        "preview what you would share, then share it with your team",
        _REPO,
        argument("--remote NAME", "the remote (default: origin)", default="origin"),
        argument("--name NAME", "your name in the team (default: a random one)", default=""),
        argument("--quotes", "also share the words you used for each rule"),
        argument("--open", "also share rules that you have not yet decided on"),
        argument("--as-sent", "preview each rule as the JSON that is sent"),
        YES,
    ),
    "leave": Verb("team.leave", "leave, and delete your shared rules from the remote", _REPO, YES_UNUSED),
    "status": Verb("team.status", "list the team's rules, as of the last sync", JSON, _REPO),
    "sync": Verb("team.sync", "fetch what your teammates share and push what you share", _REPO, UNASKED),
    "pr": Verb(
        "team_pr.pull_request",
        "open or update the pull request with the team's rules",
        JSON,
        argument("rules RULE*", "also propose these rules, even if only one person said them"),
        _REPO,
        YES_UNUSED,
        argument("--dry-run", "show what would be pushed without pushing it"),
    ),
}
MACHINES = {
    "join": Verb(
        "machines.join",
        "preview what this machine would send, then start syncing",
        argument("remote REMOTE", "a private git repository of yours; use the same one on every machine"),
        argument("--name NAME", "a name for this machine (default: a random one)", default=""),
        argument("--as-sent", "preview each record as the JSON that is sent"),
        YES,
    ),
    "add": Verb("machines.add", "add accepted rules that your own files on this machine do not have", YES),
    "leave": Verb("machines.leave", "leave, and delete this machine's ref from the remote", YES_UNUSED),
    "status": Verb("machines.status", "list your machines and their rules, as of the last sync", JSON),
    "sync": Verb("machines.sync", "fetch your other machines' decisions and push this machine's", UNASKED),
}
SERVICE = {
    "install": Verb(
        "service.install",
        "install and start the service, or update it",
        argument("--dry-run", "show the files without writing them"),
        argument(
            "--environment",
            "environment variables that are set only in your shell: keep them in a file that only you can read, or "
            "leave them out",
            choices=("keep", "leave"),
        ),
    ),
    "uninstall": Verb("service.uninstall", "stop the service and remove its files"),
    "start": Verb("service.start", "start the service"),
    "stop": Verb("service.stop", "stop the service until you start it or log in again"),
    "status": Verb("service.status", "show whether the service is installed and running", JSON),
}
