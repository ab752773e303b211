"""Reads the review comments of a repository from its host, and proposes what reviewers ask for again and again.

Each page is kept before the next one is asked for, so a run that ends early goes on from there. The words are those of
other people: they are evidence by link, never a quote of the person's, and no model is shown them. A proposal is
flagged, which keeps it from being applied without the person.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

from skilld.classify.backends import OFFLINE
from skilld.classify.contradiction import contradicted_block
from skilld.classify.said_already import said_in
from skilld.classify.verify import VerifiedUpdate
from skilld.clock import rfc3339, seconds
from skilld.edit.lint import lint
from skilld.edit.operations import apply
from skilld.errors import SkilldError
from skilld.library.clusters import Ask, Mention, Piece
from skilld.mining.comments import Comment, Sort, of_github, of_gitlab
from skilld.mining.dedup import ProposalHistory
from skilld.mining.requests import RecurringRequest, StoredRequest, recurring, requests
from skilld.pipeline.documents import TargetDocument, load_skills
from skilld.pipeline.edits import check, creation, placed
from skilld.store import Store
from skilld.store.meta import REVIEWED
from skilld.store.reviews import ReviewComment
from skilld.targets.places import Session, places
from skilld.targets.route import choose, is_personal
from skilld.targets.scopes import scopes
from skilld.text import counted
from skilld.types import Kind, Proposal, State, TargetKind, Update

Get = Callable[[str], Any]
"""Asks the host's API for a path, and returns its JSON. Raises SkilldError."""

PER_PAGE = 100
MAX_PAGES = 100  # of one kind of comments in one run
_LINKS = 5
_NEVER = "9999-12-31T23:59:59Z"
_CONFIDENCE = 0.6


@dataclass(frozen=True, slots=True)
class Source:
    """A repository on its host: `kind` is github or gitlab."""

    kind: str
    hostname: str
    path: str
    get: Get

    @property
    def repository(self) -> str:
        """Under which name its comments are kept."""
        return f"{self.hostname}/{self.path}"


@dataclass
class Reading:
    """What was read: comments by who wrote them, how many that ask for something are new, why it ended early."""

    sorts: Counter[str] = field(default_factory=Counter)
    new: int = 0
    stopped: str = ""

    @property
    def comments(self) -> int:
        """How many comments were read."""
        return sum(self.sorts.values())


def read(
    store: Store, source: Source, since: float, redact: Callable[[str], str], progress: Callable[[int], None]
) -> Reading:
    """Read what is new since `since` (Unix seconds) or since the last run. Raises SkilldError where nothing can be."""
    reading = Reading()
    streams = _github(source) if source.kind == "github" else _gitlab(source)
    for name, pages in streams:
        done: dict[str, dict[str, dict[str, str]]] = store.meta.get(REVIEWED, {})
        known = done.get(source.repository, {}).get(name, {})
        wanted = _stamp(since)
        start = known["to"] if known and known["from"] <= wanted else wanted
        first = known["from"] if start != wanted else wanted
        try:
            for comments, upto in pages(start):
                reading.sorts.update(one.sort.value for one in comments)
                kept = [_kept(source.repository, one, redact) for one in comments]
                with store.transaction():
                    reading.new += store.reviews.keep([one for one in kept if one is not None])
                    done = store.meta.get(REVIEWED, {})
                    done.setdefault(source.repository, {})[name] = {"from": first, "to": upto}
                    store.meta.set(REVIEWED, done)
                progress(reading.comments)
        except SkilldError as error:
            if not reading.comments:
                raise
            reading.stopped = error.cause or error.title
            break
    return reading


def _kept(repository: str, one: Comment, redact: Callable[[str], str]) -> ReviewComment | None:
    """Return what is kept of a comment; of others than people with a say nothing but that they ask no more."""
    found = requests(one.text, redact) if one.sort is Sort.PERSON else []
    asks = tuple((each.change, each.quote) for each in found)
    return ReviewComment(repository, one.id, one.url, one.pull, one.author, one.role, one.at, one.own, asks)


Pages = Callable[[str], Iterator[tuple[list[Comment], str]]]


def _github(source: Source) -> Iterator[tuple[str, Pages]]:
    me = str(_mapping(source.get("user")).get("login") or "")
    for stream in ("pulls", "issues"):

        def pages(start: str, stream: str = stream) -> Iterator[tuple[list[Comment], str]]:
            since, page = _second_before(start), 1
            for _ in range(MAX_PAGES):
                asked = f"sort=updated&direction=asc&per_page={PER_PAGE}&since={since}&page={page}"
                rows = _rows(source.get(f"repos/{source.path}/{stream}/comments?{asked}"))
                upto = max((str(_mapping(row).get("updated_at") or "") for row in rows), default=start)
                found = [of_github(row, stream, me) for row in rows]
                yield [one for one in found if one is not None], max(upto, start)
                if len(rows) < PER_PAGE:
                    return
                # From the last one's time on: what is edited meanwhile moves to the end, and would move all others up.
                # Whether the host counts that very second in, its documentation does not say.
                behind = _second_before(upto)
                since, page = (behind, 1) if behind > since else (since, page + 1)

        yield stream, pages


def _gitlab(source: Source) -> Iterator[tuple[str, Pages]]:
    project, web = f"projects/{quote(source.path, safe='')}", f"https://{source.hostname}/{source.path}"
    me = str(_mapping(source.get("user")).get("username") or "")
    levels: dict[str, int] = {}
    for page in range(1, MAX_PAGES + 1):
        rows = _rows(source.get(f"{project}/members/all?per_page={PER_PAGE}&page={page}"))
        levels |= {str(row.get("username")): int(row.get("access_level") or 0) for row in map(_mapping, rows)}
        if len(rows) < PER_PAGE:
            break

    def pages(start: str) -> Iterator[tuple[list[Comment], str]]:
        before = datetime.fromtimestamp((seconds(start) or 0.0) - 86400, UTC).strftime("%Y-%m-%d")  # it is exclusive
        upto = start
        for page in range(1, MAX_PAGES + 1):
            asked = f"action=commented&target_type=note&sort=asc&after={before}&per_page={PER_PAGE}&page={page}"
            rows = _rows(source.get(f"{project}/events?{asked}"))
            found = [of_gitlab(row, web, levels, me) for row in rows]
            comments = [one for one in found if one is not None]
            upto = max((upto, *(_stamp(at) for one in comments if (at := seconds(one.at)))))
            yield comments, upto
            if len(rows) < PER_PAGE:
                return

    yield "notes", pages


def _rows(answer: object) -> list[Any]:
    if not isinstance(answer, list):
        raise SkilldError("Could not read the review comments", "the host's response is not in the documented format")
    return answer


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _stamp(at: float) -> str:
    return datetime.fromtimestamp(int(at), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _second_before(stamp: str) -> str:
    return _stamp((seconds(stamp) or 1.0) - 1)


# What comes again, and what becomes of it.


@dataclass(frozen=True, slots=True)
class Around:
    """What proposals are made with. `by_agents` says which of the person's own comments an agent of theirs wrote."""

    repo: Path
    home: Path
    environment: Mapping[str, str]
    agents: Sequence[str]
    allowed: Collection[TargetKind]
    redact: Callable[[str], str]
    by_agents: Callable[[Sequence[StoredRequest]], Collection[str]]
    now: float


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a request that came again: a draft, or why there is none."""

    found: RecurringRequest
    draft: Proposal | None
    why_not: str = ""


def outcomes(store: Store, source: Source, since: float, around: Around) -> list[Outcome]:
    """Return what reviewers asked for again and again since `since`, with a draft where there is to be a proposal."""
    rows = store.reviews.of(source.repository, _stamp(since))
    asked = [
        StoredRequest(one.id, one.url, one.pull, one.author, one.role, one.at, *pair)
        for one in rows
        for pair in one.asks
    ]
    own = {one.id for one in rows if one.own}
    likely = recurring(asked)
    doubtful = [one for found in likely for one in found.asked if one.comment in own]
    if theirs := set(around.by_agents(doubtful)) if doubtful else set():
        likely = recurring(one for one in asked if one.comment not in theirs)
    # Said again by others is no reason to ask the person again what they decided.
    known = [replace(one, decided_at=_NEVER) for one in store.proposals.in_states([*State])]
    return [_outcome(found, ProposalHistory(known), around) for found in likely]


def _outcome(found: RecurringRequest, history: ProposalHistory, around: Around) -> Outcome:
    if found.disputed:
        return Outcome(found, None, "reviewers have also asked for the opposite")
    session = Session(
        next(iter(around.agents), "claude-code"),
        around.repo,
        around.home,
        around.environment,
        others=tuple(around.agents),
    )
    kinds = {TargetKind.INSTRUCTIONS, TargetKind.RULES} & set(around.allowed)
    where = places(session, kinds, scopes(found.change))
    ref = None if where.why_none or is_personal(found.change) else choose(found.change, where.refs)
    loaded, _ = load_skills([ref] if ref else [])
    if not loaded:
        return Outcome(
            found, None, where.why_none or where.why_not or "this project has no file that skilld can add it to"
        )
    said = [
        Mention("review", one.comment, one.change, "", "", "", one.pull, Piece(one.pull, 0.0, 0.5))
        for one in found.asked
    ]
    if why := history.duplicate_reason(Ask((replace(said[0], text=found.change), *said[1:])), loaded[0].ref.path):
        return Outcome(found, None, why)
    texts = {loaded[0].ref.path: loaded[0].doc.text} | {
        file.real: file.text for file in where.context.files if file.entered
    }
    if any(said_in(found.change, text) for text in texts.values()):
        return Outcome(found, None, "the instructions already say this")
    try:
        return Outcome(found, _draft(found, loaded[0], texts, around))
    except SkilldError as error:
        return Outcome(found, None, error.cause or error.title)


def _draft(found: RecurringRequest, loaded: TargetDocument, texts: Mapping[str, str], around: Around) -> Proposal:
    """Return the proposal. Raises SkilldError where no edit may say this."""
    words = "\n".join(one.quote for one in found.asked)
    update = Update(1, "", found.change, "", Kind.PREFERENCE, 1, words.split("\n")[0], _CONFIDENCE)
    steps = [creation([update], loaded)] if loaded.ref.absent else placed([update], loaded.data)
    check(steps, [VerifiedUpdate(update)], loaded, words, around.redact)
    before = loaded.ref.front.encode() if loaded.ref.absent else loaded.data
    after = apply(loaded.data, steps)
    if harmful := lint(before, after, words):  # of one's own words a flag would do
        raise SkilldError("The edit was not made", harmful[0].sentence)
    against = [block.text for text in texts.values() if (block := contradicted_block(found.change, text))]
    flags = (
        "the wording comes from reviewers in pull requests, not from you",
        *(f"contradicts a line you already have: {around.redact(line)[:160]}" for line in against),
        *(one.sentence for one in lint(before, after, "")),  # commands and the like that the person did not type
    )
    ref = loaded.ref
    batch = "reviews-" + hashlib.sha256(f"{around.repo}\n{found.change}".encode()).hexdigest()[:16]
    return Proposal(
        id=hashlib.sha256(f"{batch}\n{ref.path}".encode()).hexdigest()[:8],
        batch_id=batch,
        skill=ref.name,
        path=ref.path,
        operations=tuple(steps),
        summary=found.change,
        reason=reason(found),
        kind=Kind.PREFERENCE,
        confidence=_CONFIDENCE,
        model=OFFLINE,
        created_at=rfc3339(around.now),
        flags=tuple(dict.fromkeys(flags)),
        target=ref.kind,
        agents=ref.agents,
    )


def reason(found: RecurringRequest) -> str:
    """Return who asked for something, how often, and where the newest of it can be read."""
    roles = ", ".join(counted(many, role) for role, many in found.roles.items())
    pulls, people = counted(found.pulls, "pull request"), counted(found.people, "person", "people")
    head = f"Reviewers have asked for this in {pulls} ({people}: {roles}) since {found.since}"
    return f"{head}: {' '.join(links(found)[:_LINKS])}"


def links(found: RecurringRequest) -> list[str]:
    """Return the addresses of the comments, the newest of each pull request first."""
    newest = {one.pull: one.url for one in reversed(found.asked) if one.url}
    return list(dict.fromkeys(newest[one.pull] for one in found.asked if one.pull in newest))
