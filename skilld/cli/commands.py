"""The verbs and their arguments, with the function that carries out each; `parser` makes argparse's parsers of them."""

from __future__ import annotations

from pathlib import Path

from skilld.cli import actions
from skilld.cli.arguments import (
    JSON,
    MAX_DAYS,
    PROJECT,
    YES,
    Argument,
    Verb,
    argument,
    one_of,
    parse_count,
    parse_count_or_zero,
    parse_counts,
    parse_days,
    parse_number,
)
from skilld.cli.common import REPROPOSAL_CONDITION
from skilld.exchange.managed_block import INSTRUCTION_FILES

_IDS = argument("ids ID*", "a proposal's ID, or a prefix of it")
_WHY = argument("--why TEXT", "record your reason", default="")
_FILES_TO_SYNC = (
    one_of(
        argument(
            "--agent AGENT",
            f"only this agent's file: {', '.join(sorted(INSTRUCTION_FILES))}; repeatable",
            action="append",
            choices=sorted(INSTRUCTION_FILES),
            default=[],
        ),
        argument("--all", "the files of all these agents"),
    ),
    PROJECT,
    argument("--dry-run", "show what would change without changing it"),
)
SHELLS = ("bash", "zsh", "fish")
SAMPLE_NOTE = "skilld can tell whether a rule is followed once it has applied in 40 sessions since it was added."
_EVAL_KINDS = ("turns", "batches", "decisions", "repeats", "matters", "finding", "secrets", "injection")


def _part(verb: str) -> Argument:
    about = f"{verb} only this part, or parts (1,3), and leave the rest open; `skilld show` numbers them"
    return argument("--part N", about, action="extend", type=parse_counts, default=[])


def _over(about: str) -> tuple[Argument, ...]:
    """Return the options of verbs that read transcripts elsewhere; `about` is the help of the first."""
    return (
        argument("--over FOLDER|URL+", about),
        argument("--workers N", "with --over: processes to use (default: one per core)", type=int),
        argument("--cluster ADDRESS", "with --over: Dask scheduler to use, such as tcp://host:8786"),
    )


VERBS = {
    "setup": Verb(
        "setup.run",
        "get started: choose a judge, start at login, read your last week",
        argument("model MODEL?", "agent, offline, auto, or the name of a model; skips the question"),
        argument(
            "--base-url URL",
            "the address of MODEL, if it is your own server or a company's: http://localhost:8000/v1 with openai/NAME",
        ),
        argument(
            "--service", "whether to run skilld whenever you are logged in; skips the question", choices=("yes", "no")
        ),
        argument(
            "--look-back DAYS",
            "process your messages from the last DAYS days (0: none); skips the question",
            type=lambda text: parse_number(text, MAX_DAYS),
        ),
        argument(
            "--environment",
            "whether the service gets environment variables that are set only in your shell",
            choices=("keep", "leave"),
        ),
        argument(
            "--statusline",
            "only add the number of waiting proposals to the named program's status line (none: remove it)",
            choices=("claude-code", "starship", "tmux", "none"),
        ),
        argument("--json", "print the choices as one JSON document, without prompting"),
    ),
    "run": Verb(
        "run.run",
        "follow your agents' sessions and propose edits",
        argument("--once", "process new messages, then exit"),
        argument("--backfill DAYS", "also process your messages from the last DAYS days", type=parse_days),
        stays=True,
    ),
    "status": Verb(
        "status.run",
        "show what runs, who judges, what waits, and today's cost",
        JSON,
        argument(
            "--check",
            "for scripts: list only what needs your attention; exit 4 if no daemon is running, 1 if anything needs "
            "your attention, otherwise 0",
        ),
    ),
    "review": Verb(
        "review.run",
        "go through the proposals on screen: accept, reject, edit, undo",
        argument("ids ID*", "only these proposals"),
        argument("--plain", "ask questions line by line instead of using the full screen"),
        stays=True,
        check="common.check_ids",
    ),
    "accept": Verb(
        "decide.accept",
        "commit proposals to the branch you have checked out",
        JSON,
        _IDS,
        one_of(
            argument(
                "--all", "accept the open proposals of the repository you are in and your personal ones, oldest first"
            ),
            argument(
                "--all-repositories",
                "accept those of all repositories; in a terminal, lists the repositories and asks first",
            ),
        ),
        argument("--yes", "do not ask"),
        _part("accept"),
        argument("--worktree", "write the file without committing"),
        argument("--to PATH", "apply it to this file instead, such as your own ~/.claude/CLAUDE.md", type=Path),
        check="decide.check_accept",
    ),
    "reject": Verb(
        "decide.reject",
        "discard proposals until you say the same in other words",
        JSON,
        _IDS,
        _part("reject"),
        _WHY,
        check="common.check_ids",
        description=f"Discard proposals. Each is {REPROPOSAL_CONDITION}.",
    ),
    "demo": Verb(
        "demo.run",
        "watch skilld learn from a sample session in a temporary folder",
        argument("--keep", "keep the temporary folder"),
    ),
    "doctor": Verb(
        "doctor.run",
        "diagnose problems and explain why nothing was proposed",
        JSON,
        argument("--ask", "also send the model one test question (about 1,000 tokens)"),
    ),
    "config": Verb("config.show", "show or change the settings", actions=actions.CONFIG),
    "completion": Verb(
        "completion.run",
        "print a shell completion script for skilld",
        argument("shell SHELL?", f"{', '.join(SHELLS)} (default: the shell you use)", choices=SHELLS),
    ),
    "statusline": Verb(
        "statusline.run",
        "print how many proposals are waiting, for a status line or prompt",
        argument("--agent AGENT", "count only proposals from this agent's sessions"),
    ),
    "proposals": Verb(
        "proposals.run",
        "list the proposals waiting for your decision",
        JSON,
        argument(
            "--state STATE",
            "open (default), accepted, rejected, reverted, dropped (taken off the staging branch, rejected after a "
            "day), stale (no longer fits the file), superseded (another proposal or a newer line says the same, or "
            "removes its line), said (already in a file), or all; separate several with commas",
            default="open",
        ),
    ),
    "show": Verb(
        "proposals.run_show",
        "show a proposal: your words, the diff, and how to decide",
        JSON,
        argument("id ID?", "a proposal's or a learning's ID, or a prefix of it"),
        argument("--without-commands"),  # for the demo
    ),
    "why": Verb(
        "why.run",
        "trace a line of a file back to your words",
        JSON,
        argument(
            "place FILE[:LINE]|TEXT",
            "a file and line number, such as CLAUDE.md:12; a file alone, to list its added lines; or words from a line "
            "that a proposal added",
        ),
    ),
    "revert": Verb(
        "decide.revert",
        "undo accepted proposals with a new commit",
        JSON,
        _IDS,
        _WHY,
        argument("--worktree", "change the file without committing"),
        check="decide.check_revert",
        description=f"Undo accepted proposals with a new commit. Each is {REPROPOSAL_CONDITION}. "
        "To reopen one instead, as if you had never accepted it: u in skilld review.",
    ),
    "restore": Verb(
        "decide.restore", "bring back rejected, dropped or stale proposals", JSON, _IDS, check="common.check_ids"
    ),
    "context": Verb(
        "context.run",
        "show what each agent loads here: instructions, rules, skills",
        JSON,
        argument("--agent AGENT", "only this agent (default: every agent installed or used here)"),
        PROJECT,
        argument("--tokens", "count tokens with a tokenizer (slower) instead of dividing characters by 4"),
    ),
    "effect": Verb(
        "effect.run",
        "show which rules were followed and which you had to repeat",
        JSON,
        argument(
            "which NAME|PATH|ID?",
            "only the rules in this skill, file or line (FILE:LINE), or the rule with this ID or from this proposal",
        ),
        *_over("check the rules in one file against all transcripts in these folders or object stores (s3://...)"),
        argument("--mend"),  # started by the daemon
        description=f"Show which rules were followed and which you had to repeat. {SAMPLE_NOTE}",
    ),
    "report": Verb(
        "report.run",
        "show what you taught in the last year, and whether it helped",
        JSON,
        argument("--html FILE", "write the report to FILE as a web page", type=Path),
        argument(
            "--words",  # `arguments.words` is the command as it was typed
            "with --html or --json: include your words and the rules (default: numbers only)",
            dest="with_words",
        ),
        check="report.check_page",
    ),
    "trim": Verb(
        "trim.run",
        "propose cuts to your instruction files and skills",
        JSON,
        argument("path PATH?", "only this file, skill or folder"),
        PROJECT,
        argument("--ask", "also ask the model which lines repeat others, and which could be shorter"),
        argument("--dry-run", "show what would be proposed without proposing it"),
    ),
    "learnings": Verb(
        "learnings.run",
        "list what you said that is not in any file yet, or propose it",
        JSON,
        argument("action", "propose: turn a learning into a proposal", nargs="?", choices=("propose",)),
        argument("id ID?", "ID of the learning to propose; a prefix is enough"),
        argument("--to PATH", "with propose: the file to put the learning in", type=Path),
        argument("--search TEXT", "show only learnings about TEXT, best match first"),
        argument("--project FOLDER", "show only what you said in the project at FOLDER", type=Path),
        argument(
            "--forget ID", "delete this learning (even one from several sessions), or a rejected proposal's words"
        ),
        check="learnings.check_words",
    ),
    "skills": Verb("", "manage your skills: list, show, use, test, share, archive", actions=actions.SKILLS),
    "consolidate": Verb(
        "consolidate.run",
        "find skills for the same task and propose merging them",
        JSON,
        argument(
            "--project FOLDER?",
            "only the skills of the project in FOLDER (without FOLDER: the current one)",
            type=Path,
            const=Path(),
        ),
        argument("--dry-run", "show what would be proposed without proposing it"),
        argument("names NAME*", "merge these two skills, whether or not they are similar"),
    ),
    "feedback": Verb(
        "record.feedback",
        "rate a skill, so that it is recommended more or less often",
        argument("skill SKILL", "the skill's name, or its folder if two skills share the name"),
        one_of(
            argument("--helpful", "the skill helped"),
            argument("--unhelpful", "the skill did not help", dest="helpful", action="store_false"),
            required=True,
        ),
        argument("--note TEXT", "a note to keep with your feedback", default=""),
        argument(
            "--session ID", "the session that used the skill; only your latest feedback per session counts", default=""
        ),
    ),
    "git": Verb(
        "git.run",
        "run git in the repositories that skilld keeps for your skills",
        argument("--root FOLDER", "the skills folder, if you have several", type=Path),
        argument("args ARGS", "a git command: merge, cherry-pick, revert, log, ...", nargs="..."),
    ),
    "team": Verb("", "share accepted rules with your team through git", actions=actions.TEAM),
    "machines": Verb("", "sync your decisions between your machines", actions=actions.MACHINES),
    "mine": Verb(
        "mine.run",
        "propose skills, new or changed, from your past sessions",
        JSON,
        argument("paths PATH*", "transcripts or folders to read (default: your agents')", type=Path),
        argument("--reviews", "read the repository's review comments on GitHub or GitLab instead"),
        *_over("report on all transcripts in these folders or object stores (s3://...)"),
        argument("--since DAYS", "days to look back, or 36h, 2w (default: 14; --reviews: 90)", type=parse_days),
        argument("--project FOLDER", "only sessions in this project", type=Path),
        argument("--from ID+", "only sessions with these IDs or prefixes; - reads them", action="extend", dest="ids"),
        argument("--limit N", "read at most N sessions (default: 100)", type=parse_count, default=100),
        argument("--min-turns N", "only sessions with at least N messages from you", type=parse_count, default=1),
        argument("--min-cost USD", "only sessions known to have cost at least this many US dollars", type=parse_number),
        argument("--status", "only sessions that ran to completion, as far as skilld can tell", choices=("completed",)),
        argument(
            "--kind {workflow,domain,mcp}",
            "create only this kind of skill",
            choices=(
                "workflow",
                "domain",
                "mcp",
                "prompt",
            ),  # the last is accepted, as in older versions, but never found
        ),
        argument("--name NAME", "the name of the first new skill", default=""),
        argument("--dry-run", "report without proposing anything"),
        argument("--edit", "open each new skill in your editor before proposing it"),
        argument("-i --interactive", "choose sessions, review the findings, then name and propose skills"),
        argument("--yes", "call the model without asking you first"),
        argument("--nightly"),  # started by the daemon
    ),
    "inspect": Verb(
        "inspect.run",
        "show how skilld reads a transcript",
        JSON,
        argument("file FILE", "a transcript", type=Path),
        argument("--agent AGENT", "the agent that wrote the transcript, if skilld cannot tell"),
        argument("--explain", "show how skilld classified each record, and why"),
    ),
    "record": Verb(
        "record.record",
        "record a finished task, or show statistics on past ones",
        argument("prompt TEXT?", "the task you asked for"),
        PROJECT,
        argument(
            "--status",
            "how the task ended (default: completed)",
            choices=("completed", "failed", "abandoned"),
            default="completed",
        ),
        argument("--tool NAME", "a tool the task used; repeatable", action="append", default=[]),
        argument("--skill NAME", "a skill the task used; repeatable", action="append", default=[]),
        argument("--seconds N", "how long the task took, in seconds", type=parse_number, default=0.0),
        argument("--result TEXT", "the result; kept as a learning with --qa-passed", default=""),
        one_of(
            argument("--qa-passed", "the result passed its checks", dest="qa", default=None),
            argument("--qa-failed", "the result failed its checks", dest="qa", action="store_false"),
        ),
        argument("--stats", "show statistics on past tasks and sessions"),
        JSON,
    ),
    "eval": Verb(
        "eval.run",
        "score how well skilld judges and redacts, on labelled cases",
        JSON,
        argument("kind KIND", ", ".join(_EVAL_KINDS), choices=_EVAL_KINDS),
        argument(
            "--data FILE",
            "labelled cases, one JSON object per line (pairs if KIND is repeats or matters; none if decisions)",
            action="append",
            type=Path,
            default=[],
        ),
        argument(
            "--backend NAME",
            "offline (the default), litellm (your configured model), a model string, gold (batches only: a model "
            "that gives the labelled answers), or stored:FOLDER (answers kept in files)",
            default="offline",
        ),
        argument("--jobs N", "batches to judge in parallel (default: %(default)s)", type=parse_count, default=4),
        argument("--usd DOLLARS", "start no new batches after spending this much", type=parse_number),
        argument("--out FILE", "write the outcome of each case to FILE, one JSON object per line", type=Path),
    ),
    "sync": Verb(
        "sync.sync",
        "write a list of this project's skills to AGENTS.md or CLAUDE.md",
        JSON,
        *_FILES_TO_SYNC,
        argument("names SKILL*", "only these skills"),
    ),
    "unsync": Verb(
        "sync.unsync",
        "remove the list of skills that sync wrote",
        JSON,
        *_FILES_TO_SYNC,
    ),
    "suggest": Verb(
        "recommend.run_suggest",
        "print a short summary of this project's skills for a new session",
        JSON,
        PROJECT,
        argument("--hook AGENT", "print the hook that shows the summary at the start of every session"),
    ),
    "recommend": Verb(
        "recommend.run",
        "list the skills that fit a task, and what you have said about it",
        JSON,
        argument("text TEXT+", "the task, in a few words"),
        argument("--ask", "let the model choose among your skills (one model call)"),
        PROJECT,
    ),
    "mcp": Verb(
        "mcp.run",
        "serve your skills read-only to agents without skill support (MCP)",
        PROJECT,
        argument("--config AGENT", "print the MCP settings for AGENT and exit"),
        stays=True,
    ),
    "chat": Verb(
        "chat.run",
        "chat with your configured model, using skills as instructions",
        argument("--skill NAME", "a skill to use; repeatable", action="append", default=[]),
        PROJECT,
        argument("text TEXT*", "send this message and exit (default: chat line by line)"),
    ),
    "service": Verb(
        "service.status", "run skilld whenever you are logged in (systemd or launchd)", actions=actions.SERVICE
    ),
    "logs": Verb(
        "logs.run",
        "show the daemon's log: IDs, counts and times, never your words",
        JSON,
        argument("-f --follow", "keep printing new entries"),
        argument(
            "-n --lines NUMBER", "how many entries to show (default: %(default)s)", type=parse_count_or_zero, default=50
        ),
    ),
    "cost": Verb("status.run_cost", "show model calls, tokens and dollars per day, and the budget", JSON),
    "pause": Verb(
        "pause.pause",
        "stop judging and proposing until you resume",
        argument("duration DURATION?", "how long to pause, such as 30m, 1h30m, 1d or 2w (default: until you resume)"),
    ),
    "resume": Verb("pause.resume", "resume judging and proposing"),
    "snooze": Verb(
        "pause.snooze",
        "mute desktop notifications; everything else keeps working",
        argument(
            "duration DURATION?",
            "how long to mute, such as 30m, 1h30m, 1d or 2w (default: 1h); off to unmute",
            default="1h",
        ),
    ),
    "retry": Verb("pause.retry", "retry failed and delayed batches now"),
    "uninstall": Verb(
        "uninstall.run",
        "remove everything that skilld set up, except your settings",
        argument("--purge", "remove your settings too"),
        argument("--dry-run", "list what would be removed without removing it"),
        YES,
    ),
}
