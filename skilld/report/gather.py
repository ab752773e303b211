"""Gathers the values of a report from the store, files and git. Writes nothing and reads no transcripts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from statistics import median
from typing import Any

from skilld.clock import parse_time, rfc3339
from skilld.context.tokenizer import ESTIMATE
from skilld.effect.figures import RuleState
from skilld.effect.outcomes import collect, sessions_with_repeats
from skilld.effect.rules import Effect
from skilld.errors import SkilldError
from skilld.files import read_regular
from skilld.git.objects import read_objects
from skilld.git.repo import Repo
from skilld.git.same_project import main_path
from skilld.git.session import cached, shared_git
from skilld.git.top import find_top
from skilld.jobs.asks import group_learnings
from skilld.past import PastSession
from skilld.proposals.model import ACROSS_PREFIX, REMEDY_PREFIX, said_updates
from skilld.proposals.repositories import find_file
from skilld.report import values
from skilld.report.values import DecisionCounts, FileCounts, FileWeight, Group, Report, Share, TaughtCounts, Week, Weeks
from skilld.store import Store
from skilld.store.learnings import Learning
from skilld.text import SMALL_USD
from skilld.types import Proposal, State, TargetKind, Usage
from skilld.values import value_class

WAITING = "waiting"
DESTINATIONS = (*(kind.value for kind in TargetKind if kind is not TargetKind.EVALS), WAITING, State.SAID.value)
_DECIDED = (State.ACCEPTED, State.REJECTED, State.REVERTED)
_WEEKS_AROUND = 8  # before and after the week in which a rule was added
_WEEK, _DAY = 7 * 86400.0, 86400.0
_MAX_LESSONS = 30
# Repeated rules first, then those about which most is known.
_STATE_ORDER = (RuleState.REPEATED, RuleState.HOLDS, RuleState.UNKNOWN, RuleState.UNUSED)


@value_class
class _Instruction:
    """A lasting instruction, proposed or waiting for a file.

    `at` is the Unix time at which it was first said, `made_at` that of the proposal: a backfill makes it weeks later.
    """

    at: float
    made_at: float
    where: str
    path: str
    state: str
    agent: str
    session: str
    what: str
    quotes: tuple[str, ...]
    decided_at: float = 0.0
    count: int = 1  # a proposal may contain several instructions, or none that the person taught
    replaced: bool = False  # by a newer one, which took its lines away


def gather(store: Store, now: float, *, words: bool = False) -> Report:
    """Return the report at a Unix time; with `words`, it includes what was said, redacted."""
    past = store.past.sessions()
    effects = collect(store, sessions_with_repeats(store, past))
    asks = group_learnings(store.learnings.said())
    # Proposals of test cases teach nothing.
    proposed = [one for one in store.proposals.all() if one.target is not TargetKind.EVALS]
    said_at = store.transcripts.said_at
    from_proposals = _from_proposals(proposed, said_at, store.proposals.replaced_ids())
    instructions = [*from_proposals, *(_from_learnings(ask, said_at) for ask in asks)]
    spent = [{**row, "at": (parse_time(row["day"]) or 0.0) + _DAY / 2} for row in store.usage.rows()]
    places = {(agent, name): (cwd or "", at) for agent, name, cwd, at in store.overview.all_sessions()}
    places |= {(one.agent, one.session_id): (one.cwd, one.at) for one in past}
    times = [*(one.at for one in instructions), *(row["at"] for row in spent), *(at for _, at in places.values())]
    weeks = Weeks.spanning(times, now)
    recent = sorted((one for one in instructions if weeks.index_of(one.at) is not None), key=lambda one: -one.at)
    counted = [one for one in recent for _ in range(one.count)]
    sessions_in_period = {key: cwd for key, (cwd, at) in places.items() if weeks.index_of(at) is not None}
    taught = [(one, places.get((one.agent, one.session), ("", 0.0))[0] or _top_around(one.path)) for one in counted]
    said = [(of.session, one.rule.since) for one in effects for of in one.occasions if of.was_said]
    again = [one for one, since in said if one.at >= since and weeks.index_of(one.at) is not None]
    inside = [one for one in past if weeks.index_of(one.at) is not None]
    tree = cache(main_path)
    loaded = Counter(path for one in inside for path in dict.fromkeys(map(tree, one.loaded)))
    accepted, project = sum(one.state == State.ACCEPTED for one in recent), cache(project_of)
    fates = store.transcripts.turn_outcomes()
    return Report(
        made_at=rfc3339(now),
        since=rfc3339(weeks.first_moment(times, now)),
        weeks=weeks.mondays,
        words=words,
        sessions=len(sessions_in_period),
        taught=replace(_count_taught(counted, weeks), unjudged=fates["pending"] + fates["waiting"]),
        decided=_count_decisions([one for one in recent if one.where not in {WAITING, State.SAID}]),
        again=_count_repeats(effects, weeks, words=words, unread=bool(store.past.next_unread(now))),
        weight=weigh_files(loaded, weeks),
        cost=_sum_costs(spent, weeks, accepted),
        agents=_group(lambda agent, _: agent, sessions_in_period, taught, again),
        projects=_group(lambda _, cwd: project(cwd) if cwd else "", sessions_in_period, taught, again),
        lessons=tuple(
            values.Lesson(rfc3339(one.at), one.what, one.quotes, one.path, one.state)
            for one in ([one for one in recent if one.count][:_MAX_LESSONS] if words else ())
        ),
    )


_SaidAt = Callable[[str], str | None]  # when a turn was said, by its key


def _from_proposals(
    proposals: Iterable[Proposal], said_at: _SaidAt, replaced: Container[str]
) -> Iterator[_Instruction]:
    """Yield the proposals; the same words, proposed for another file too, were taught once."""
    known: set[tuple[str, str, str]] = set()
    for one in sorted(proposals, key=lambda one: one.created_at):
        taught = _taught_by(one)
        yield replace(_from_proposal(one, len(taught - known), said_at), replaced=one.id in replaced)
        known |= taught


def _taught_by(one: Proposal) -> set[tuple[str, str, str]]:
    """Return the instructions in a proposal that the person taught: none if skilld or others made it."""
    if one.batch_id.startswith((REMEDY_PREFIX, ACROSS_PREFIX)):
        return set()
    return {(one.evidence[0].turn, said.quote or one.evidence[0].quote, said.change) for said in said_updates(one)}


def _from_proposal(one: Proposal, count: int, said_at: _SaidAt) -> _Instruction:
    made = parse_time(one.created_at) or 0.0
    return _Instruction(
        at=_first_said((said.turn for said in one.evidence), said_at) or made if count else made,
        made_at=made,
        where=one.state.value if one.state is State.SAID else one.target.value,
        path=one.path,
        state=one.state.value,
        agent=one.agent,
        session=one.session_id,
        what=one.summary,
        quotes=tuple(said.quote for said in one.evidence),
        decided_at=parse_time(one.decided_at) or 0.0,
        count=count,
    )


def _first_said(turns: Iterable[str], said_at: _SaidAt) -> float:
    """Return when the first of some turns was said, 0 if unknown."""
    return min(filter(None, (parse_time(said_at(turn)) for turn in turns)), default=0.0)


def _from_learnings(ask: Sequence[Learning], said_at: _SaidAt) -> _Instruction:
    newest, oldest = ask[0], ask[-1]
    made, quotes = parse_time(oldest.created_at) or 0.0, tuple(one.quote for one in ask)
    at = _first_said((one.turn_key for one in ask), said_at) or made
    said = oldest.agent, oldest.session_id, newest.change, quotes
    return _Instruction(at, made, WAITING, newest.place, WAITING, *said)


def _count_taught(instructions: Sequence[_Instruction], weeks: Weeks) -> TaughtCounts:
    per_week = {where: weeks.count(one.at for one in instructions if one.where == where) for where in DESTINATIONS}
    paths: dict[tuple[str, str], Counter[str]] = {}
    for one in instructions:
        if one.where not in {WAITING, State.SAID}:
            paths.setdefault((one.path, one.where), Counter())[one.state] += 1
    files = [
        FileCounts(*place, states.total(), states[State.ACCEPTED], states[State.OPEN])
        for place, states in paths.items()
    ]
    return TaughtCounts(
        total=len(instructions),
        where={where: sum(counts) for where, counts in per_week.items()},
        per_week=per_week,
        most_in_a_week=_max_per_week(per_week),
        files=tuple(sorted(files, key=lambda one: (-one.taught, one.path))),
    )


def _count_decisions(instructions: Sequence[_Instruction]) -> DecisionCounts:
    states = Counter(one.state for one in instructions)
    outcomes = Counter("replaced" if one.replaced else one.state for one in instructions)
    final = sum(states[state] for state in _DECIDED)
    decided = [one for one in instructions if one.state in _DECIDED and one.decided_at >= one.made_at]
    took = [one.decided_at - one.made_at for one in decided]
    days = median(took or [0.0]) / _DAY
    return DecisionCounts(
        states={state.value: states[state] for state in State if state is not State.SAID},
        percent=_percent(outcomes[State.ACCEPTED] + outcomes["replaced"], final),
        days=round(days, 1 if days > 1 else 3) if took else None,
        outcomes=dict(outcomes),
    )


def _count_repeats(effects: Sequence[Effect], weeks: Weeks, *, words: bool, unread: bool) -> values.Repeats:
    repeats = [(one, rule) for rule in effects for one in rule.occasions if one.was_said]
    per_week = {
        "before": weeks.count(one.session.at for one, of in repeats if one.session.at < of.rule.since),
        "after": weeks.count(one.session.at for one, of in repeats if one.session.at >= of.rule.since),
    }
    states = Counter(one.state for one in effects)
    ordered = sorted(effects, key=lambda one: (_STATE_ORDER.index(one.state), -one.after.repeats, -one.after.sessions))
    return values.Repeats(
        states={state.value: states[state] for state in _STATE_ORDER},
        before=_share((one.before.sessions, one.before.repeats) for one in effects),
        after=_share((one.after.sessions, one.after.repeats) for one in effects),
        per_week=per_week,
        most_in_a_week=_max_per_week(per_week),
        around=_shares_around(effects),
        rules=tuple(_rule_row(one, words=words) for one in ordered),
        unread=unread,
    )


def _rule_row(effect: Effect, *, words: bool) -> values.RuleRow:
    rule, (low, high) = effect.rule, effect.after.interval
    before, after = (_share([(count.sessions, count.repeats)]) for count in (effect.before, effect.after))
    between = round(low * 100), round(high * 100)
    return values.RuleRow(rule.path, rule.line, effect.state.value, before, after, between, rule.text if words else "")


def _shares_around(effects: Iterable[Effect]) -> values.WeeklyShares:
    found: dict[int, list[tuple[int, int]]] = {week: [] for week in range(-_WEEKS_AROUND, _WEEKS_AROUND)}
    for effect in effects:
        for one in effect.occasions:
            week = int((one.session.at - effect.rule.since) // _WEEK)
            if effect.rule.since and week in found:
                found[week].append((1, int(one.was_said)))
    shares = tuple(map(_share, found.values()))
    return values.WeeklyShares(tuple(found), shares, max(one.percent or 0 for one in shares))


def _sum_costs(rows: Sequence[Mapping[str, Any]], weeks: Weeks, accepted: int) -> values.Cost:
    recent = [(row, place) for row in rows if (place := weeks.index_of(row["at"])) is not None]
    models: dict[str, Usage] = {}
    weekly = {"usd": [0.0] * weeks.number, "tokens": [0.0] * weeks.number}
    for row, place in recent:
        used = Usage(row["calls"], row["tokens_in"], row["tokens_out"], row["usd"])
        weekly["usd"][place] += used.usd
        weekly["tokens"][place] += used.tokens_in + used.tokens_out
        models[row["model"]] = models.get(row["model"], Usage()) + used
    listed = [
        values.ModelCost(name, one.calls, one.tokens_in + one.tokens_out, round_usd(one.usd))
        for name, one in models.items()
    ]
    tokens, usd = sum(weekly["tokens"]), sum(weekly["usd"])
    unit = "usd" if usd else "tokens"
    per_week = tuple(round_usd(one) if usd else int(one) for one in weekly[unit])
    each = (round_usd(usd / accepted) if usd else round(tokens / accepted)) if accepted and tokens else None
    return values.Cost(
        calls=sum(one.calls for one in listed),
        tokens=int(tokens),
        usd=round_usd(usd),
        unit=unit,
        per_week=per_week,
        most_in_a_week=max(per_week),
        models=tuple(sorted(listed, key=lambda one: (-one.usd, -one.tokens, one.model))),
        accepted=accepted,
        per_accepted=each,
    )


def _group(
    name: Callable[[str, str], str],
    sessions: Mapping[tuple[str, str], str],
    taught: Sequence[tuple[_Instruction, str]],
    again: Sequence[PastSession],
) -> tuple[Group, ...]:
    """Return the groups by `name`, a function of agent and folder; those with most sessions first.

    `sessions` have their folders, `taught` the folders of theirs; `again` has the session of each repeat.
    """
    all_of = Counter(name(agent, cwd) for (agent, _), cwd in sessions.items())
    said = Counter(name(one.agent, cwd) for one, cwd in taught)
    accepted = Counter(name(one.agent, cwd) for one, cwd in taught if one.state == State.ACCEPTED)
    repeats = Counter(name(one.agent, one.cwd) for one in again)
    groups = [Group(one, all_of[one], said[one], accepted[one], repeats[one]) for one in {*all_of, *said, *repeats}]
    return tuple(sorted(groups, key=lambda one: (not one.name, -one.sessions, -one.taught, one.name)))


def project_of(cwd: str) -> str:
    """Return the project that a folder belongs to: the top of its repository's main work tree, or the folder itself."""
    if (top := find_top(Path(cwd))) is None:
        return cwd
    try:
        return str(Path(main_path(str(top / ".git"))).parent)
    except OSError:  # its `.git` cannot be read
        return str(top)


def _top_around(path: str) -> str:
    """Return the top of the repository around a file, empty if there is none: mining may be all that read a session."""
    return str(find_top(Path(path).parent) or "") if path.startswith("/") else ""


def _share(counts: Iterable[tuple[int, int]]) -> Share:
    sessions, repeats = (sum(numbers) for numbers in zip((0, 0), *counts, strict=True))
    return Share(sessions, repeats, _percent(repeats, sessions))


def _percent(part: int, of: int) -> int | None:
    return round(100 * part / of) if of else None


def _max_per_week(per_week: Mapping[str, Week]) -> int:
    weeks: Iterable[Week] = zip(*per_week.values(), strict=True)
    return max(map(sum, weeks))


def round_usd(usd: float) -> float:
    """Round dollars for display: to the cent, or to a hundredth of a cent if there are only a few."""
    return round(usd, 2 if usd >= SMALL_USD else 4)


# The size in tokens of the files that sessions loaded, by week, from git.

_MAX_FILES = 24  # the heaviest
_MAX_BYTES = 1 << 20
_GIT_SECONDS = 5.0  # to list one repository's commits


def weigh_files(loaded: Mapping[str, int], weeks: Weeks) -> tuple[FileWeight, ...]:
    """Return the weight of files, given by path with the number of sessions that loaded each; the heaviest first."""
    found = {path: tokens for path in loaded if (tokens := _tokens_of_file(path)) is not None}
    heaviest = sorted(found, key=lambda path: (-found[path], path))[:_MAX_FILES]
    with shared_git():
        return tuple(_file_weight(path, loaded[path], found[path], weeks) for path in heaviest)


def _tokens_of_file(path: str) -> int | None:
    with suppress(OSError, ValueError):
        return _count_tokens(read_regular(Path(path), _MAX_BYTES)[0])
    return None


def _count_tokens(data: bytes) -> int:
    return ESTIMATE.count(data.decode("utf-8", "replace"))


def _file_weight(path: str, sessions: int, now: int, weeks: Weeks) -> FileWeight:
    past: Sequence[int | None] = ()
    with suppress(SkilldError, OSError):
        past = _weekly_tokens(Path(path), weeks)
    per_week = (*(past[:-1] or (None,) * (weeks.number - 1)), now)
    first = next(tokens for tokens in per_week if tokens is not None)
    return FileWeight(path, sessions, now, now - first, per_week)


def _weekly_tokens(path: Path, weeks: Weeks) -> list[int | None]:
    """Return the tokens of a file at the end of each week, along HEAD's first parents. Raises SkilldError."""
    tracked = find_file(path)
    repo, oldest = tracked.repo, weeks.ends[0]
    commits = cached(("weeks", repo.git_dir), partial(_list_commits, repo, oldest))
    names = [_newest_before(commits, end, repo.head) for end in weeks.ends]
    distinct = list(dict.fromkeys(names))
    objects = read_objects(repo.git, [f"{name}:{tracked.relpath}" for name in distinct])
    tokens = {
        name: _count_tokens(one.data) if one is not None and one.kind == "blob" else None
        for name, one in zip(distinct, objects, strict=True)
    }
    return [tokens[name] for name in names]


def _list_commits(repo: Repo, since: float) -> list[tuple[int, str]]:
    """Return the commits since a Unix time, newest first, each with its time."""
    words = "rev-list", "--first-parent", "--timestamp", f"--max-age={since:.0f}", repo.head
    out = repo.git.run(*words, seconds=_GIT_SECONDS)
    rows = (line.split() for line in out.decode().splitlines())
    return [(int(at), name) for at, name in rows]


def _newest_before(commits: Sequence[tuple[int, str]], until: float, head: str) -> str:
    """Return the newest commit at a Unix time; if all are younger, the parent of the oldest."""
    if not commits:
        return head
    return next((name for at, name in commits if at <= until), f"{commits[-1][1]}^")
