"""The team's one pull request: what goes onto its branch, what happened to what was there, and its text.

The branch is only ever added to while its pull request is open, so that nothing of a reviewer's is lost; it begins anew
from the default branch once all of it landed, or its pull request was closed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from skilld.classify.contradiction import contradicted_block
from skilld.errors import RefusedError, SkilldError, UsageError
from skilld.git.borrowed_repo import Push
from skilld.git.errors import GitFailedError, LostRaceError
from skilld.git.objects import Ident
from skilld.git.run import Git
from skilld.team.branch import Built, Commit, Loaded, build, flags
from skilld.team.candidates import Candidate, CandidateState, is_about
from skilld.team.hosts import Pull
from skilld.team.project import INSTRUCTIONS, RuleTrailers, is_said, read_text, rules_of
from skilld.team.records import Record, What, key_of
from skilld.team.refs import Found
from skilld.team.sync import RULES, Hub
from skilld.text import counted

TITLE = "Add rules that the team taught its agents"
_NOTHING = "No pull request was opened"
_MAX_QUOTES = 3


@dataclass(frozen=True, slots=True)
class Before:
    """How the branch stands on the remote: the rules on it that did not land, and from which commit it goes on.

    `tip` is its commit (empty: there is none), `start` the one that the next commits go on.
    """

    tip: str
    start: str
    rules: tuple[RuleTrailers, ...]


def before(hub: Hub, pull: Pull | None) -> Before:
    """Return how the branch stands; `pull` is its newest, if known. RefusedError where it is somebody else's."""
    git, one = hub.borrowed.git, hub.membership
    if not one.base:
        raise SkilldError(_NOTHING, "the remote has no default branch, or no commits on it")
    if not one.rules:
        return Before("", one.base, ())
    landed = {named.key for named in rules_of(git, one.base)}
    on_it = rules_of(git, one.rules, one.base)
    if not on_it and git.run("rev-list", "--count", one.rules, f"^{one.base}").strip() != b"0":
        raise RefusedError(_NOTHING, f"the branch {RULES} has commits that skilld did not make", "Rename that branch.")
    rules = tuple(named for named in on_it if named.key not in landed)
    if not rules or (pull and pull.state != "open" and pull.head == one.rules):
        return Before(one.rules, one.base, ())
    return Before(one.rules, one.rules, rules)


def rejections(hub: Hub, found: Found, at: Before, pull: Pull | None, today: str) -> list[Record]:
    """Return records of what the team did not want: rules that were proposed and neither landed nor are still so."""
    git, base = hub.borrowed.git, hub.membership.base
    landed = {named.key for named in rules_of(git, base)}
    there = {named.key for named in at.rules}
    records = [record for member in found.members.values() for record in member.records]
    rejected = {(record.key, record.day) for record in records if record.what is What.REJECTED}
    closed = pull is not None and pull.state == "closed"
    why = "its pull request was closed" if closed else "its branch was deleted" if not at.tip else ""
    made = {}
    for record in records:
        if record.what is not What.PROPOSED or record.key in landed or record.key in there:
            continue
        if any(key == record.key and day >= record.day for key, day in rejected):
            continue
        if any(is_said(record.rule, read_text(git, base, path)) for path in {record.place, *INSTRUCTIONS}):
            continue
        made[record.key] = rejection(record.rule, record.place, today, why or "removed from its pull request")
    return list(made.values())


def rejection(rule: str, place: str, day: str, note: str) -> Record:
    """Return the record that the team does not want a rule."""
    return Record(what=What.REJECTED, key=key_of(rule, place), rule=rule, place=place, day=day, note=note)


def chosen(found: Sequence[Candidate], named: Sequence[str]) -> list[Candidate]:
    """Return what is ready, and what the person names by ids or their beginnings; UsageError for any other name."""
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


def write(
    hub: Hub, at: Before, wanted: Sequence[Candidate], loaded: Loaded, who: Ident, *, named: Sequence[str] = ()
) -> Built:
    """Write the branch with these rules added, `named` as in `chosen`; nothing is pushed."""
    fresh = [one for one in wanted if not any(is_about(one, there.key, there.rule) for there in at.rules)]
    return build(hub.borrowed.git, at.start, fresh, loaded, who, named=named)


def push(hub: Hub, at: Before, tip: str) -> None:
    """Push the branch; LostRaceError where somebody pushed it meanwhile."""
    hub.borrowed.git.write()
    result = hub.borrowed.push(hub.membership.address, [Push(f"refs/heads/{RULES}", tip, at.tip)])
    if result.status != 0 and ("stale info" in result.err or "fetch first" in result.err):
        raise LostRaceError("Nothing was pushed", "someone else has just pushed the branch", "Run the command again.")
    if result.status != 0:
        raise GitFailedError("Could not push the branch", result.status, result.err)


def proposed(commits: Iterable[Commit], today: str) -> list[Record]:
    """Return the records that these rules went into the pull request."""
    return [
        Record(
            what=What.PROPOSED,
            key=one.candidate.id,
            rule=one.candidate.voices[0].record.rule,
            place=one.candidate.voices[0].record.place,
            day=today,
        )
        for one in commits
    ]


def body(git: Git, tip: str, base: str, found: Sequence[Candidate], count: Callable[[str], int]) -> str:
    """Return what the pull request says: of each rule on the branch who said it, what it costs, what it contradicts."""
    parts = ["Rules that people on this team taught their agents, one commit each."]
    for named in reversed(rules_of(git, tip, base)):
        one = next((each for each in found if is_about(each, named.key, named.rule)), None)
        parts.append(_about(git, base, named, one, count))
    parts.append(
        "To leave one out, drop or revert its commit on this branch; to leave them all out, close this pull request. "
        "skilld remembers that, and proposes a rule again only if someone says it again."
    )
    return "\n\n".join(parts) + "\n"


def _about(git: Git, base: str, named: RuleTrailers, one: Candidate | None, count: Callable[[str], int]) -> str:
    lines = [f"### {quoted(named.rule)}", ""]
    if one is not None:
        people, sessions = counted(one.people, "person", "people"), counted(one.sessions, "session")
        lines.append(f"- {people}, {sessions}, since {one.since}")
        lines += [f"- in their words: {quoted(quote)}" for quote in one.quotes[:_MAX_QUOTES]]
    lines += [f"- flagged: {quoted(flag)}" for flag in flags(named.rule)]
    lines.append(f"- goes into {quoted(named.place)}; about {counted(count(named.rule), 'token')}")
    for path, line in _contradictions(git, base, named).items():
        lines.append(f"- contradicts {quoted(path)}: {quoted(line)}")
    lines.append(f"- commit {named.commit[:12]}; to remove it: `git revert {named.commit[:12]}`")
    return "\n".join(lines)


def _contradictions(git: Git, base: str, named: RuleTrailers) -> Mapping[str, str]:
    """Return the lines of the files of instructions that say the opposite, by file."""
    found = {}
    for path in dict.fromkeys((named.place, *INSTRUCTIONS)):
        text = read_text(git, base, path)
        if text and (block := contradicted_block(named.rule, text)):
            found[path] = block.text
    return found


def quoted(text: str) -> str:
    """Return a text as code, in which a host sees no mention, link, image or markup."""
    plain = " ".join(text.split())
    most = max((len(run) for run in re.findall(r"`+", plain)), default=0)
    fence, blank = "`" * (most + 1), " " if plain.startswith("`") or plain.endswith("`") else ""
    return f"{fence}{blank}{plain}{blank}{fence}"
