"""The team's one pull request: the rules on its branch, what happened to them, and its text.

The branch is only ever added to while its pull request is open, so that nothing of a reviewer's is lost; it begins anew
from the default branch once all of it landed, or its pull request was closed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from skilld.classify.contradiction import contradicted_block
from skilld.errors import RefusedError, SkilldError, UsageError
from skilld.git.borrowed_repo import Push
from skilld.git.errors import GitFailedError, LostRaceError
from skilld.git.objects import Ident
from skilld.git.run import Git
from skilld.team.branch import BranchResult, LoadedFiles, RuleCommit, build_branch, rule_flags
from skilld.team.candidates import Candidate, CandidateState, is_about
from skilld.team.hosts import PullRequest
from skilld.team.project import INSTRUCTIONS, RuleTrailers, is_said, read_rules, read_text
from skilld.team.records import Record, RecordType, rule_key
from skilld.team.refs import ReadResult
from skilld.team.sync import RULES_BRANCH, Hub
from skilld.text import pluralize
from skilld.values import value_class

TITLE = "Add rules that the team taught its agents"
_NOT_OPENED = "No pull request was opened"
_MAX_QUOTES = 3


@value_class
class BranchState:
    """The state of the branch on the remote: the rules on it that did not land, and where it continues.

    `tip` is its commit (empty: there is none), `start` the parent of the next commit.
    """

    tip: str
    start: str
    rules: tuple[RuleTrailers, ...]


def read_branch_state(hub: Hub, pull: PullRequest | None) -> BranchState:
    """Return the state of the branch; `pull` is its newest pull request, if known.

    Raises RefusedError if the branch is somebody else's.
    """
    git, one = hub.borrowed.git, hub.membership
    if not one.base:
        raise SkilldError(_NOT_OPENED, "the remote has no default branch, or no commits on it")
    if not one.rules:
        return BranchState("", one.base, ())
    landed = {named.key for named in read_rules(git, one.base)}
    on_it = read_rules(git, one.rules, one.base)
    if not on_it and git.run("rev-list", "--count", one.rules, f"^{one.base}").strip() != b"0":
        raise RefusedError(
            _NOT_OPENED, f"the branch {RULES_BRANCH} has commits that skilld did not make", "Rename that branch."
        )
    rules = tuple(named for named in on_it if named.key not in landed)
    if not rules or (pull and pull.state != "open" and pull.head == one.rules):
        return BranchState(one.rules, one.base, ())
    return BranchState(one.rules, one.rules, rules)


def new_rejections(hub: Hub, found: ReadResult, at: BranchState, pull: PullRequest | None, today: str) -> list[Record]:
    """Return records of rules that the team did not want: they were proposed, did not land, and no longer are."""
    git, base = hub.borrowed.git, hub.membership.base
    landed = {named.key for named in read_rules(git, base)}
    there = {named.key for named in at.rules}
    records = [record for member in found.members.values() for record in member.records]
    rejected = {(record.key, record.day) for record in records if record.what is RecordType.REJECTED}
    closed = pull is not None and pull.state == "closed"
    why = "its pull request was closed" if closed else "its branch was deleted" if not at.tip else ""
    made = {}
    for record in records:
        if record.what is not RecordType.PROPOSED or record.key in landed or record.key in there:
            continue
        if any(key == record.key and day >= record.day for key, day in rejected):
            continue
        if any(is_said(record.rule, read_text(git, base, path)) for path in {record.place, *INSTRUCTIONS}):
            continue
        made[record.key] = rejection_record(record.rule, record.place, today, why or "removed from its pull request")
    return list(made.values())


def rejection_record(rule: str, place: str, day: str, note: str) -> Record:
    """Return a record that says that the team does not want a rule."""
    return Record(what=RecordType.REJECTED, key=rule_key(rule, place), rule=rule, place=place, day=day, note=note)


def choose(found: Sequence[Candidate], named: Sequence[str]) -> list[Candidate]:
    """Return the candidates that are ready or that the person named by (partial) ID; UsageError for other names."""
    picked = [one for one in found if one.standing is CandidateState.READY]
    for name in named:
        fitting = [one for one in found if name and one.id.startswith(name)]
        if len(fitting) != 1:
            what = "does not match any rule" if not fitting else f"matches {len(fitting)} rules"
            raise UsageError("Which rule do you mean?", f"{name} {what}", "List them: skilld team status")
        if fitting[0].standing in {CandidateState.ACCEPTED, CandidateState.PROPOSED}:
            raise UsageError("Nothing to propose", f"{name} is already {fitting[0].standing.value}")
        picked += [one for one in fitting if one not in picked]
    return picked


def write_branch(
    hub: Hub, at: BranchState, rules: Sequence[Candidate], loaded: LoadedFiles, who: Ident, *, named: Sequence[str] = ()
) -> BranchResult:
    """Write the branch with these rules added, `named` as in `chosen`; nothing is pushed."""
    fresh = [one for one in rules if not any(is_about(one, there.key, there.rule) for there in at.rules)]
    return build_branch(hub.borrowed.git, at.start, fresh, loaded, who, named=named)


def push_branch(hub: Hub, at: BranchState, tip: str) -> None:
    """Push the branch; raises LostRaceError if somebody pushed it meanwhile."""
    hub.borrowed.git.write()
    result = hub.borrowed.push(hub.membership.address, [Push(f"refs/heads/{RULES_BRANCH}", tip, at.tip)])
    if result.status != 0 and ("stale info" in result.err or "fetch first" in result.err):
        raise LostRaceError("Nothing was pushed", "someone else has just pushed the branch", "Run the command again.")
    if result.status != 0:
        raise GitFailedError("Could not push the branch", result.status, result.err)


def proposal_records(commits: Iterable[RuleCommit], today: str) -> list[Record]:
    """Return records that say that these rules went into the pull request."""
    return [
        Record(
            what=RecordType.PROPOSED,
            key=one.candidate.id,
            rule=one.candidate.voices[0].record.rule,
            place=one.candidate.voices[0].record.place,
            day=today,
        )
        for one in commits
    ]


def describe(git: Git, tip: str, base: str, found: Sequence[Candidate], count: Callable[[str], int]) -> str:
    """Return the text of the pull request: for each rule who said it, what it costs, what it contradicts."""
    parts = ["Rules that people on this team taught their agents, one commit each."]
    for named in reversed(read_rules(git, tip, base)):
        one = next((each for each in found if is_about(each, named.key, named.rule)), None)
        parts.append(_describe_rule(git, base, named, one, count))
    parts.append(
        "To leave one out, drop or revert its commit on this branch; to leave them all out, close this pull request. "
        "skilld remembers that, and proposes a rule again only if someone says it again."
    )
    return "\n\n".join(parts) + "\n"


def _describe_rule(git: Git, base: str, named: RuleTrailers, one: Candidate | None, count: Callable[[str], int]) -> str:
    lines = [f"### {as_code(named.rule)}", ""]
    if one is not None:
        people, sessions = pluralize(one.people, "person", "people"), pluralize(one.sessions, "session")
        lines.append(f"- {people}, {sessions}, since {one.since}")
        lines += [f"- in their words: {as_code(quote)}" for quote in one.quotes[:_MAX_QUOTES]]
    lines += [f"- flagged: {as_code(flag)}" for flag in rule_flags(named.rule)]
    lines.append(f"- goes into {as_code(named.place)}; about {pluralize(count(named.rule), 'token')}")
    for path, line in _contradictions(git, base, named).items():
        stays = path != named.place or line in read_text(git, named.commit, path)
        lines.append(f"- {'contradicts' if stays else 'replaces, in'} {as_code(path)}: {as_code(line)}")
    lines.append(f"- commit {named.commit[:12]}; to remove it: `git revert {named.commit[:12]}`")
    return "\n".join(lines)


def _contradictions(git: Git, base: str, named: RuleTrailers) -> Mapping[str, str]:
    """Return the lines of instruction files that say the opposite, by file."""
    found = {}
    for path in dict.fromkeys((named.place, *INSTRUCTIONS)):
        text = read_text(git, base, path)
        if text and (block := contradicted_block(named.rule, text)):
            found[path] = block.text
    return found


def as_code(text: str) -> str:
    """Return a text as inline code, in which a host sees no mention, link, image or markup."""
    plain = " ".join(text.split())
    most = max((len(run) for run in re.findall(r"`+", plain)), default=0)
    fence, blank = "`" * (most + 1), " " if plain.startswith("`") or plain.endswith("`") else ""
    return f"{fence}{blank}{plain}{blank}{fence}"
