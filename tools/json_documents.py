"""What `--json` promises: the document of every command, and docs/json.md and docs/json.schema.json made from them.

Where a command prints a typed result as it is, its type is made from that; the others are written here.
tests/e2e/test_json.py runs the commands and holds that what they print is exactly this.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass
from typing import Any

from skilld.context.contradictions import Contradiction
from skilld.context.values import Surprise
from skilld.daemon.judges import JudgeProblem
from skilld.exchange.skill_list import Conflict
from skilld.health.values import Check
from skilld.library.history import Version
from skilld.library.patterns import Patterns
from skilld.library.recommend import Because, CoverageAnswer, Profile, Recommendation
from skilld.mining.domains import DomainResult
from skilld.report.values import Report
from skilld.service.values import ServiceState
from skilld.store.learnings import Learning
from skilld.store.overview import UnratedUse
from skilld.store.tasks import Task
from skilld.types import Operation, Proposal, Update
from tools.json_types import of_fields, schema, wrapped
from tools.reference import commands

_SPENT = "calls: integer, tokens: integer, usd: number"
_QUOTES = "{session: string, turn: string, quote: string}[]"
_COUNT = "{sessions: integer, repeats: integer, interval: number[]}"
_PROPOSAL = of_fields(
    Proposal,
    operations="Operation[]",
    updates="Update[]",
    also="{path: string, operations: Operation[], relpath: string}[]",
    target="{kind: string, agents: string[]}",
    sessions="integer",
    rests_on="string",
    decided_by="string",
    rejected_for="string",
    evals="Evaluation[]",
    without=("agents",),
)
_SKILL = (
    "name: string, group: string, source: string, project: string | null, path: string, description: string, "
    "kind: string, tags: string[], agents: string[], uses: integer, corrections: integer, "
    "corrections_per_use: number, success_rate: number | null, last_used_at: string | null, "
    "edited_at: string | null, origin: string, evolving: boolean, generated_from: integer, marks: string[]"
)
_BEHIND = (
    "metadata: {[key]: string}, proposals: {id: string, state: string, summary: string, evidence: {turn: string, "
    "quote: string}[], session_id: string, created_at: string, decided_at: string, landed: string}[], "
    "learnings: {id: string, change: string, quote: string}[], text: string"
)
# Types that several documents have.
TYPES = {
    "Operation": of_fields(Operation),
    "Update": of_fields(Update),
    "Proposal": _PROPOSAL,
    "Skill": f"{{{_SKILL}}}",
    "Evaluation": "{id: string, proposal: string | null, side: string, model: string, judge: string, at: string, "
    "pairs: integer, planned: integer, with: integer, without: integer, only_with: integer, only_without: integer, "
    "verdict: string | null, p: number | null, difference: number | null, interval: number[] | null, "
    "cases: {file: string, id: string, pairs: integer, with: integer, without: integer, failed: any}[]}",
    "Archived": "{id: string, name: string, origin: string, archived_at: string, folder: string}",
    "Decided": "{id: string, state: string, commit: string, said: string[], warnings: string[], error: string}",
    "FileChange": f"{{path: string, change: string, conflicts: {of_fields(Conflict)}[]}}",
    "Context": "{version: string, assumed: boolean, source: string, files: {path: string, loaded: string, "
    "scope: string, tokens: integer, via: string, paths: string[]}[], tokens: integer, tokenizer: string, "
    "limits: {path: string, most: integer, "
    "unit: string, has: integer, what: string}[], duplicates: {path: string, other: string, line: integer, "
    f"size: integer}}[], conflicts: {of_fields(Contradiction)}[], dead: Surprise[], surprises: Surprise[]}}",
    "Surprise": of_fields(Surprise),
}


@dataclass(frozen=True, slots=True)
class Document:
    """What some commands print with --json."""

    commands: tuple[str, ...]
    about: str
    type: str
    shown: str = ""  # the type as the page has it, where that is shorter


DOCUMENTS = (
    Document(
        ("setup",),
        "The `model` setting, whether you chose it, and the judges available on this machine.",
        "{model: string, answered: boolean, offers: {model: string, title: string, sends: string, costs: string}[]}",
    ),
    Document(
        ("status",),
        "`needs` is present only with `--check`. `daemon` is the daemon's last report on itself; its fields may "
        "change. `delayed` says why batches will be tried again, and when. "
        "`stale` lists the proposals of the last week that no longer fit their file; `staging_held` says where a "
        "staging branch is checked out. `gone` names an agent's transcript folder that no longer exists. "
        "In `spend_today`, `tests` counts the calls that only tested the judge.",
        "{running: boolean, paused: boolean, paused_until: string | null, "
        f"backend: {{name: string, why: string, found: string[], agents: {of_fields(JudgeProblem)}[]}}, "
        "agents: {[agent]: {files: integer, turns: integer, malformed: integer, overlong: integer, "
        "last_event_at: string | null, gone: string | null}}, turns: {[state]: integer}, "
        "batches: {pending: integer, done: integer, parked: integer}, outcomes: {[outcome]: integer}, "
        "parked: {id: string, agent: string, session_id: string, outcome: string | null, detail: string | null, "
        "created_at: string}[], delayed: {why: string, batches: integer, next_try: string}[], "
        "proposals: {[state]: integer}, dropped: {id: string, hours: integer, told: string}[], "
        "stale: {id: string, told: string}[], staging_held: {[repository]: string}, "
        "said_again: {id: string, told: string}[], "
        f"rests_on: {{[repository]: string}}, learnings: integer, unrated: {of_fields(UnratedUse)}[], "
        f"spend_today: {{{_SPENT}, tests: integer}}, budget: {{{_SPENT}, spent: string}}, dead: string, daemon: any, "
        "notices: string | null, snoozed_until: string | null, "
        "rebuilt: {at: string, why: string, from: string} | null, "
        "last_error: {at: string, message: string, batch?: string} | null, "
        "drift: {agent: string, version: string, kind: string, share: number, sample: any, told: string}[], "
        "needs?: {what: string, detail: string, remedy: string}[]}",
    ),
    Document(
        ("cost",),
        "One entry in `days` per day, model and skill; `usd` is 0 if no price is known. `waiting` and `spared` count "
        "batches.",
        "{days: {day: string, model: string, skill: string, calls: integer, usd: number, tokens: integer, "
        f"tokens_in: integer}}[], budget: {{{_SPENT}, spent: string}}, waiting: integer, spared: integer}}",
    ),
    Document(
        ("doctor",),
        "`why_nothing` says why nothing, or nothing more, was proposed; otherwise it is empty.",
        f"{{checks: {of_fields(Check)}[], why_nothing: string[]}}",
    ),
    Document(("config show",), "The settings by section. A key shows as `(set)`.", "{[name]: any}"),
    Document(("config get",), "The value of the setting.", "any"),
    Document(("accept", "reject", "restore", "revert"), "One entry per proposal, in order.", "Decided[]"),
    Document(
        ("proposals",),
        "`commit` is on `branch` while a proposal is open; `landed` is the commit that accepted it.",
        "Proposal[]",
    ),
    Document(("learnings propose",), "The new proposal.", "Proposal"),
    Document(
        ("show",),
        "The proposal, with its unified diff; the `parts` of an open one can be accepted separately.",
        _PROPOSAL[:-1] + ", diff: string, parts: {removed: string[], added: string[]}[]}",
        "Proposal & {diff: string, parts: {removed: string[], added: string[]}[]}",
    ),
    Document(
        ("why",),
        "`commit` is empty if the line is not committed, `observed` is null if you said it, `merged_from` is null if "
        "it did not come from a merge, and `accepted_as` is empty if it has not changed since. For a file, or words "
        "that occur in several lines: a list of those lines.",
        "{file: string, line: integer, text: string}[] | "
        "{file: string, line: integer, text: string, commit: string, proposals: {id: string, state: string, "
        "skill: string, summary: string, reason: string, evidence: {turn: string, quote: string}[], "
        "observed: {where: string, ran: string} | null, merged_from: {skill: string, line: integer | null} | null, "
        "accepted_as: string, "
        "agent: string, session_id: string, model: string, "
        "created_at: string, decided_at: string, accepted_at: string | null, "
        "landed: string, decided_by: string}[]}",
    ),
    Document(
        ("context",),
        "What each agent loads, in load order. `tokens` counts what its first request contains.",
        "{agents: {[agent]: Context}, unread: string[]}",
    ),
    Document(
        ("effect",),
        "`before` and `after` the rule was added: the sessions where it applied, those where you repeated it, and the "
        "interval for the true share. `unread` counts transcripts that have not been read yet.",
        "{rules: {id: string, path: string, line: integer, text: string, origin: string, since: string | null, "
        f"before: {_COUNT}, after: {_COUNT}, state: string, "
        "remedy: {kind: string, proposal: string | null, state: string | null, "
        "checks: {agent: string, file: string, text: string}[]} | null, evidence: {session: string, turn: string, "
        "quote: string, agent: string, at: string | null}[]}[], unread: integer}",
    ),
    Document(("report",), "The last year by week; words only with `--words`.", of_fields(Report)),
    Document(
        ("trim",),
        "`what` says what became of a cut; `lost` is the text it removes.",
        "{tokenizer: string, cuts: {path: string, line: integer, last: integer, tokens: integer, reason: string, "
        "where: string, lost: string, what: string, proposal: string | null, trouble: string}[], "
        "files: {path: string, tokens: integer, why_not: string, dead: {line: integer, why: string}[], "
        "doubtful: {line: integer, text: string}[]}[]}",
    ),
    Document(
        ("learnings",),
        "Lasting things you said that are not in a file yet, each once; `said` has an ID for every time. "
        "If `taken` is false, it only sounded lasting: `why_not` says why it was not treated as a rule.",
        of_fields(
            Learning,
            text="string",
            sessions="integer",
            said="string[]",
            place="{kind: string, path: string} | null",
            why_not="string",
            relied_on="number",
            taken="boolean",
        )
        + "[]",
    ),
    Document(("skills list",), "Shares are 0 to 1, or null if unknown.", "Skill[]"),
    Document(
        ("skills show",),
        "The skill, with the proposals and learnings behind it.",
        f"{{{_SKILL}, {_BEHIND}}}",
        f"Skill & {{{_BEHIND}}}",
    ),
    Document(("skills history",), "The newest commit first.", f"{of_fields(Version, at='string')}[]"),
    Document(
        ("skills test",),
        "`covered` is null if the rules found nothing or cannot tell; `reason` says which.",
        "{skill: string, session_id: string, agent: string, backend: string, covered: boolean | null, "
        f"reason: string, answers: {of_fields(CoverageAnswer)}[], elsewhere: integer, calls: integer, "
        "tokens: integer}",
    ),
    Document(
        ("skills eval",),
        "The cases, new cases, the cost of a run, and its result; a verdict's fields are null until the run is "
        "complete.",
        "{skill: string, path: string, cases: {id: string, file: string | null, proposal: string | null, "
        "prompt: string, expectations: {text: string, by: string}[], run: boolean, why_not: string}[], "
        "new: {cases: integer, offered: integer, file: string, kept: boolean, proposal: string | null, "
        "why_own: string, trouble: string, left_out: {proposal: string, why: string}[]}, "
        "plan: {id: string, model: string, judge: string, proposal: string | null, pairs: integer, left: integer, "
        "calls: integer, tokens: integer, shows: {from: number, to: number | null, power: number}} | null, "
        "result: Evaluation | null, stopped: string}",
    ),
    Document(
        ("skills profile",),
        "How much you taught, and the five learnings with the highest confidence.",
        of_fields(Profile, newest="string | null", top=of_fields(Because) + "[]"),
    ),
    Document(
        ("skills restore",), "With a name: the restored skill; without one: the archive.", "Archived | Archived[]"
    ),
    Document(
        ("skills import",),
        "One entry per skill found; `refused` says why it was not proposed.",
        "{where: string, name: string | null, proposal: string | null, path: string | null, flags: string[], "
        "left_out: string[], refused: string}[]",
    ),
    Document(
        ("consolidate",),
        "Pairs of skills for the same task; `what` says what happened to the merge.",
        "{keep: {name: string, path: string}, away: {name: string, path: string}, score: number, words: string[], "
        "what: string, why: string, carried: string[], lost: {what: string, why: string}[], proposals: string[], "
        "dry_run: boolean}[]",
    ),
    Document(("record",), "The task as recorded.", of_fields(Task)),
    Document(("record --stats",), "What the recorded tasks have in common. Shares are 0 to 1.", of_fields(Patterns)),
    Document(
        ("mine",),
        "`missed` says why a candidate was not used; `observed` is what the agent did without anyone saying it; "
        "`left_out` is what every session ran but no step contains. "
        "For each session in `rows`, `env_feedback` lists the calls that failed, `user_feedback` your lasting words.",
        "{sessions: integer, rows: {agent: string, session_id: string, path: string, main_dir: string, "
        "datetime: string, n_user_turns: integer, topics: string[], tasks: string[], skills_used: string[], "
        "env_feedback: string[], user_feedback: string[]}[], by_hand: string[], "
        "candidates: {name: string, action: string, target: string, "
        "path: string, kind: string | null, dimensions: string[], changes: string[], "
        f"evidence: {_QUOTES}, observed: {_QUOTES}, "
        "left_out: {command: string, why: string}[], proposal: string | null, why_not: string, text: string}[], "
        "rejected: {topic: string, missed: string}[], "
        f"docs: {{project: string, text: string, evidence: {_QUOTES}}}[], gathered: {of_fields(DomainResult)}[], "
        "model: string, calls: integer, tokens: integer, usd: number, stopped: string, unread: integer, "
        "unreadable: integer, unknown_cost: integer, unknown_status: integer, left_alone: integer}",
    ),
    Document(
        ("mine --over",),
        "What many transcripts have in common; it quotes only words that recur.",
        "{files: integer, sessions: integer, unreadable: {path: string, why: string}[], candidates: {name: string, "
        "project: string, dimensions: string[], changes: string[], sessions: integer}[], "
        "docs: {project: string, text: string, sessions: integer}[]}",
    ),
    Document(
        ("mine --reviews",),
        "What reviewers asked for in several pull requests. `left_out` counts comments by kind of author.",
        "{comments: integer, new: integer, left_out: {[sort]: integer}, stopped: string, requests: {text: string, "
        "pulls: integer, people: integer, roles: {[role]: integer}, since: string, links: string[], path: string, "
        "proposal: string | null, why_not: string}[]}",
    ),
    Document(
        ("inspect",),
        "What skilld reads in one transcript.",
        "{agent: string, session_id: string | null, cwd: string | null, main_dir: string | null, "
        "turns: {id: string, text: string, at: string | null, how: string}[], "
        "skills: {name: string, path: string | null, after_turn: integer | null}[], tools: {[tool]: any}, "
        "ignored: {[reason]: integer}, malformed: integer}",
    ),
    Document(
        ("inspect --explain",),
        "How each record was classified, and why; for an unknown kind, `shape` has keys and types, but no values.",
        "{agent: string, records: {start: integer, end: integer, kind: string, taken_for: string[], why: string, "
        "shape: any}[]}",
    ),
    Document(("eval",), "Figures by name; which ones there are depends on what is scored.", "{[figure]: any}"),
    Document(
        ("team status",),
        "What the people in the team share, as of the last sync. If you have not joined, the exit code is still 0, and "
        "`remote`, `person` and `synced_at` are null.",
        "{joined: boolean, remote: string | null, candidates: {id: string, text: string, path: string, "
        "people: integer, sessions: integer, state: string}[], "
        "repository: string, person: string | null, people: string[], refused: {[person]: string}, "
        "synced_at: string | null, "
        "trouble: string, rules: {id: string, rule: string, standing: string, why: string, people: integer, "
        "sessions: integer, since: string, last: string, quotes: string[]}[]}",
    ),
    Document(
        ("team pr",),
        "The commits on the team's branch. `url` is null if no pull request was opened.",
        "{branch: string, remote: string, commits: {subject: string, path: string}[], url: string | null}",
    ),
    Document(
        ("machines status",),
        "Your machines and their rules, as of the last sync.",
        "{remote: string, machine: string, machines: string[], refused: {[machine]: string}, synced_at: string, "
        "trouble: string, rules: {rule: string, file: string, standing: string, sessions: integer, "
        "decided_at: string}[], learnings: string[]}",
    ),
    Document(("sync", "unsync"), "One entry per file.", "FileChange[]"),
    Document(
        ("recommend",),
        "Best match first; `skill` is empty if no skill says it.",
        f"{of_fields(Recommendation)}[]",
    ),
    Document(
        ("suggest",),
        "The project's skills (`more` counts those left out), and what you said there that no skill says; `kind` is "
        "`result` for the result of a task.",
        "{skills: {name: string, description: string, sessions: integer}[], more: integer, "
        "minded: {text: string, confidence: number, kind: string}[]}",
    ),
    Document(("service status",), "What the service manager reports.", of_fields(ServiceState)),
    Document(("logs",), "The fields of each entry depend on its `event`.", "{[field]: any}[]"),
)
# Commands without --json, and why.
WITHOUT = (
    (("run", "review", "chat", "demo"), "they are interactive; scripts can use `status`, `proposals` or `learnings`"),
    (
        ("config path", "completion", "statusline", "skills use", "skills diff", "skills export", "git"),
        "they print the result itself",
    ),
    (("mcp",), "it already speaks JSON; `--config` prints an agent's own settings"),
    (
        (
            "config set",
            "config unset",
            "config edit",
            "pause",
            "resume",
            "snooze",
            "retry",
            "machines leave",
            "machines sync",
            "team leave",
            "team sync",
        ),
        "the exit code says it all",
    ),
    (
        (
            "skills enable",
            "skills disable",
            "skills archive",
            "skills delete",
            "feedback",
        ),
        "the exit code says it all; `skills list` shows the result",
    ),
    (("skills share", "team join", "machines join", "machines add", "uninstall"), "they ask first"),
    (
        ("service install", "service uninstall", "service start", "service stop"),
        "the exit code says it all; `service status` shows the result",
    ),
)


def page() -> str:
    """Return the generated part of docs/json.md."""
    lines = ["```ts"]
    for one in DOCUMENTS:
        lines += [f"// {', '.join(one.commands)}: {one.about}", wrapped(one.shown or one.type)]
    lines += ["// Shared types."]
    lines += [f"type {name} = {wrapped(text)}" for name, text in TYPES.items()]
    lines += ["```"]
    lines += ["", "## Without `--json`", "", "| command | why |", "| --- | --- |"]
    lines += [f"| {', '.join(f'`{name}`' for name in names)} | {why} |" for names, why in WITHOUT]
    return "\n".join([*lines, ""])


def schemas() -> str:
    """Return docs/json.schema.json: a definition for each command by its name, and the types that they share."""
    named = {name: schema(text) for name, text in TYPES.items()}
    told = {name: schema(one.type) | {"description": one.about} for one in DOCUMENTS for name in one.commands}
    whole = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "skilld --json"}
    definitions = ",\n".join(f"{json.dumps(name)}: {json.dumps(one)}" for name, one in (named | told).items())
    return json.dumps(whole)[:-1] + f', "$defs": {{\n{definitions}\n}}}}\n'


def definition(command: str) -> dict[str, Any]:
    """Return the schema of one command's document, to validate with."""
    whole: dict[str, Any] = json.loads(schemas())
    return whole | {"$ref": f"#/$defs/{command.replace(' ', '%20')}"}


def listing(parser: argparse.ArgumentParser) -> tuple[set[str], set[str]]:
    """Return the commands that take --json, and those that do not."""
    found = [(verb.prog.removeprefix("skilld "), verb) for verb, _ in commands(parser)]
    taking = {name for name, verb in found if any("--json" in one.option_strings for one in verb._actions)}  # noqa: SLF001 - argparse has no public way to list what a parser takes
    return taking, {name for name, _ in found} - taking
