"""Reads the review comments of a repository from its host, and proposes what reviewers ask for repeatedly.

Each page is stored before the next one is requested, so the next run continues where one ended early. The words are
other people's: they are evidence by link, never a quote of the person's, and no model sees them. A proposal is
flagged, so it is never applied without the person.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Any
from urllib.parse import quote

from skilld.classify.backends import OFFLINE
from skilld.classify.contradiction import contradicted_block
from skilld.classify.said_already import find_same_words
from skilld.classify.verify import VerifiedUpdate
from skilld.clock import parse_time, rfc3339
from skilld.edit.lint import lint
from skilld.edit.operations import apply
from skilld.errors import SkilldError
from skilld.library.clusters import Ask
from skilld.mining.dedup import ProposalHistory
from skilld.mining.review_requests import RecurringRequest, StoredRequest, find_requests, recurring_requests
from skilld.pipeline.documents import TargetDocument, load_documents
from skilld.pipeline.edits import check_edit, create_operation, place_updates
from skilld.proposals.model import REVIEWS_PREFIX
from skilld.store import Store
from skilld.store.meta import REVIEWS_READ
from skilld.store.reviews import ReviewComment
from skilld.targets.find import WorkingSession, find_targets
from skilld.targets.route import choose_target, is_personal
from skilld.targets.scopes import find_scopes
from skilld.text import pluralize
from skilld.types import Kind, Proposal, State, TargetKind, Update
from skilld.values import value_class

# One comment, from a row of a host's API, and who wrote it, a person or a tool. GitHub's rows are those of
# `pulls/comments` and `issues/comments`, GitLab's the comment events of a project. Only people with a role in the
# repository count: anybody may comment on a public one.

_GITHUB_ROLES = {"OWNER": "owner", "MEMBER": "member", "COLLABORATOR": "collaborator"}
_GITLAB_ROLES = {50: "owner", 40: "maintainer", 30: "developer"}  # GitLab's, the highest first
_BOT_PATTERN = re.compile(r"\[bot\]$|(?:^|[-_])(?:ro)?bot(?:[-_\d]|$)|-ci$|-commenter$|^ghost$", re.IGNORECASE)
_PULL_PATTERN = re.compile(r"/(?:pull|merge_requests)/(\d+)\b")
_SAFE_URL_PATTERN = re.compile(r"https://[\w.:-]+/[\w./~+-]+#[\w-]+")

# Signs that a tool wrote a text. One match of the first pattern is enough; of the shapes two, as people use each alone.
_GENERATOR_PATTERN = re.compile(
    r"<!--|\[!\[|^\|[-: |]{3,}\|$|<details\b|<summary\b|\U0001f916|actionable comments|generated (?:with|by)\b"
    r"|co-authored-by:"
    r"|\b(?:claude code|codex|copilot|coderabbit|sourcery|gemini code assist|cursor bugbot|chatgpt|as an ai)\b"
    r"|you're absolutely right|here(?:'s| is) (?:a|my|the) (?:summary|review|breakdown)|^#+ pull request overview",
    re.IGNORECASE | re.MULTILINE,
)
_LABEL_PATTERN = re.compile(r"^[ \t]{0,8}(?:[-*] |\d{1,3}[.)] )?(?:\*\*|__)[^*_\n]{2,60}(?:\*\*|__)", re.MULTILINE)
_GENERATED_SHAPES = (
    _LABEL_PATTERN,
    re.compile(r"^#{1,4} \S", re.MULTILINE),
    re.compile(r"(?:^[ \t]{0,8}(?:[-*]|\d{1,3}[.)]) .*\n?){3}", re.MULTILINE),
    re.compile("[\u2600-\u27bf\U0001f300-\U0001faff]|:(?:warning|bulb|bug|rotating_light|orange_circle|red_circle):"),
    re.compile(r"^\|.*\|$|!\[[^\]\n]{0,200}\]\(", re.MULTILINE),
    re.compile(
        r"\b(?:overall,? (?:the|this)|this (?:pr|change|commit) (?:introduces|refactors|adds|updates)"
        r"|well[- ]structured|great (?:job|work) on|(?:potential|critical) issue|recommendation:|edge cases)",
        re.IGNORECASE,
    ),
    re.compile(r"\A[\s\S]{600}"),
)
_MIN_SHAPES = 2


class AuthorKind(StrEnum):
    """Who wrote a comment."""

    PERSON = "person"
    BOT = "bot"
    GENERATED = "generated"
    OUTSIDER = "outsider"


@value_class
class Comment:
    """One comment on a pull request. `author` is a hash; `url` is empty if it is not in a safe form."""

    id: str
    sort: AuthorKind
    url: str
    pull: str
    author: str
    role: str
    at: str
    text: str
    own: bool = False


def github_comment(row: Any, stream: str, me: str) -> Comment | None:  # noqa: ANN401 - what a host answers
    """Return a row's comment, None if it is not on a pull request or undocumented. `me` is the person's login."""
    if not isinstance(row, Mapping) or not isinstance(user := row.get("user") or {}, Mapping):
        return None
    url, login = _as_text(row.get("html_url")), _as_text(user.get("login")) or "ghost"
    by_program = user.get("type") == "Bot" or row.get("performed_via_github_app") is not None
    return _build_comment(
        name=f"{stream}/{row.get('id')}",
        url=url,
        login=login,
        by_program=by_program,
        role=_GITHUB_ROLES.get(_as_text(row.get("author_association")), ""),
        at=_as_text(row.get("created_at")),
        text=_as_text(row.get("body")),
        me=me,
    )


def gitlab_comment(row: Any, web: str, levels: Mapping[str, int], me: str) -> Comment | None:  # noqa: ANN401 - as above
    """Return an event's comment; `web` is the project's page, `levels` are the members' access levels by login."""
    note = row.get("note") if isinstance(row, Mapping) else None
    if not isinstance(note, Mapping) or note.get("noteable_type") != "MergeRequest":
        return None
    author = note.get("author") or {}
    login = _as_text(author.get("username")) if isinstance(author, Mapping) else ""
    return _build_comment(
        name=f"note/{note.get('id')}",
        url=f"{web}/-/merge_requests/{note.get('noteable_iid')}#note_{note.get('id')}",
        login=login or "ghost",
        by_program=note.get("system") is True,
        role=next((name for level, name in _GITLAB_ROLES.items() if levels.get(login, 0) >= level), ""),
        at=_as_text(note.get("created_at")),
        text=_as_text(note.get("body")),
        me=me,
    )


def _build_comment(
    *, name: str, url: str, login: str, by_program: bool, role: str, at: str, text: str, me: str
) -> Comment | None:
    pull, text = _PULL_PATTERN.search(url), text.replace("\r\n", "\n")
    if pull is None:
        return None
    sort = AuthorKind.PERSON
    if by_program or _BOT_PATTERN.search(login):
        sort = AuthorKind.BOT
    elif is_generated(text):
        sort = AuthorKind.GENERATED
    elif not role:
        sort = AuthorKind.OUTSIDER
    who = hashlib.sha256(login.casefold().encode()).hexdigest()[:16]
    own = bool(me) and login.casefold() == me.casefold()
    return Comment(name, sort, url if _SAFE_URL_PATTERN.fullmatch(url) else "", pull[1], who, role, at, text, own)


def is_generated(text: str) -> bool:
    """Whether a text has the marks or the shape of one that a review tool or an agent wrote."""
    shapes = sum(bool(shape.search(text)) for shape in _GENERATED_SHAPES)
    return (
        bool(_GENERATOR_PATTERN.search(text))
        or shapes >= _MIN_SHAPES
        or len(_LABEL_PATTERN.findall(text)) >= _MIN_SHAPES
    )


def _as_text(value: object) -> str:
    return value if isinstance(value, str) else ""


Get = Callable[[str], Any]
"""Requests a path from the host's API, and returns its JSON. Raises SkilldError."""

PER_PAGE = 100
MAX_PAGES = 100  # of one stream of comments in one run
_MAX_LINKS = 5
_FAR_FUTURE = "9998-12-31T23:59:59Z"  # of the last year, `parse_time` knows no day
_CONFIDENCE = 0.6


@value_class
class Source:
    """A repository on its host: `kind` is github or gitlab."""

    kind: str
    hostname: str
    path: str
    get: Get

    @property
    def repository(self) -> str:
        """The name under which its comments are stored."""
        return f"{self.hostname}/{self.path}"


@dataclass
class Reading:
    """Comments read by kind of author, the number of new ones with a request, and why reading ended early."""

    sorts: Counter[str] = field(default_factory=Counter)
    new: int = 0
    stopped: str = ""

    @property
    def comments(self) -> int:
        """The number of comments read."""
        return sum(self.sorts.values())


def read_comments(
    store: Store, source: Source, since: float, redact: Callable[[str], str], progress: Callable[[int], None]
) -> Reading:
    """Read the comments since `since` (Unix seconds) or the last run. Raises SkilldError if nothing can be read."""
    reading = Reading()
    streams = _github_streams(source) if source.kind == "github" else _gitlab_streams(source)
    for name, pages in streams:
        done: dict[str, dict[str, dict[str, str]]] = store.meta.get(REVIEWS_READ, {})
        known = done.get(source.repository, {}).get(name, {})
        wanted = _stamp(since)
        start = known["to"] if known and known["from"] <= wanted else wanted
        first = known["from"] if start != wanted else wanted
        try:
            for comments, upto in pages(start):
                reading.sorts.update(one.sort.value for one in comments)
                kept = [_stored_comment(source.repository, one, redact) for one in comments]
                with store.transaction():
                    reading.new += store.reviews.save(kept)
                    done = store.meta.get(REVIEWS_READ, {})
                    done.setdefault(source.repository, {})[name] = {"from": first, "to": upto}
                    store.meta.set(REVIEWS_READ, done)
                progress(reading.comments)
        except SkilldError as error:
            if not reading.comments:
                raise
            reading.stopped = error.cause or error.title
            break
    return reading


def _stored_comment(repository: str, one: Comment, redact: Callable[[str], str]) -> ReviewComment:
    """Return a comment as it is stored, with its requests, if a person with a role wrote it."""
    found = find_requests(one.text, redact) if one.sort is AuthorKind.PERSON else []
    asks = tuple((each.change, each.quote) for each in found)
    return ReviewComment(repository, one.id, one.url, one.pull, one.author, one.role, one.at, one.own, asks)


Pages = Callable[[str], Iterator[tuple[list[Comment], str]]]


def _github_streams(source: Source) -> Iterator[tuple[str, Pages]]:
    me = str(_mapping(source.get("user")).get("login") or "")
    for stream in ("pulls", "issues"):

        def pages(start: str, stream: str = stream) -> Iterator[tuple[list[Comment], str]]:
            since, page = _second_before(start), 1
            for _ in range(MAX_PAGES):
                asked = f"sort=updated&direction=asc&per_page={PER_PAGE}&since={since}&page={page}"
                rows = _rows(source.get(f"repos/{source.path}/{stream}/comments?{asked}"))
                upto = max((str(_mapping(row).get("updated_at") or "") for row in rows), default=start)
                found = [github_comment(row, stream, me) for row in rows]
                yield [one for one in found if one is not None], max(upto, start)
                if len(rows) < PER_PAGE:
                    return
                # Continue from the time of the last one: a comment edited meanwhile moves to the end and would shift
                # the pages. The documentation does not say whether that second itself is included.
                behind = _second_before(upto)
                since, page = (behind, 1) if behind > since else (since, page + 1)

        yield stream, pages


def _gitlab_streams(source: Source) -> Iterator[tuple[str, Pages]]:
    project, web = f"projects/{quote(source.path, safe='')}", f"https://{source.hostname}/{source.path}"
    me = str(_mapping(source.get("user")).get("username") or "")
    levels: dict[str, int] = {}
    for rows in _gitlab_pages(source, f"{project}/members/all?"):
        levels |= {str(row.get("username")): int(row.get("access_level") or 0) for row in map(_mapping, rows)}

    def pages(start: str) -> Iterator[tuple[list[Comment], str]]:
        before = datetime.fromtimestamp((parse_time(start) or 0.0) - 86400, UTC).strftime("%Y-%m-%d")  # exclusive
        upto = start
        asked = f"action=commented&target_type=note&sort=asc&after={before}&"
        for rows in _gitlab_pages(source, f"{project}/events?{asked}"):
            found = [gitlab_comment(row, web, levels, me) for row in rows]
            comments = [one for one in found if one is not None]
            upto = max((upto, *(_stamp(at) for one in comments if (at := parse_time(one.at)))))
            yield comments, upto

    yield "notes", pages


def _gitlab_pages(source: Source, path: str) -> Iterator[list[Any]]:
    """Yield the pages of a list, up to one that is not full; `path` ends where the next parameter begins."""
    for page in range(1, MAX_PAGES + 1):
        rows = _rows(source.get(f"{path}per_page={PER_PAGE}&page={page}"))
        yield rows
        if len(rows) < PER_PAGE:
            return


def _rows(answer: object) -> list[Any]:
    if not isinstance(answer, list):
        raise SkilldError("Could not read the review comments", "the host's response is not in the documented format")
    return answer


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _stamp(at: float) -> str:
    return datetime.fromtimestamp(int(at), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _second_before(stamp: str) -> str:
    return _stamp((parse_time(stamp) or 1.0) - 1)


# Proposals from recurring requests.


@value_class
class ProposalContext:
    """What proposals are made with. `by_agents` returns which of the person's comments an agent of theirs wrote."""

    repo: Path
    home: Path
    environment: Mapping[str, str]
    agents: Sequence[str]
    allowed: Collection[TargetKind]
    redact: Callable[[str], str]
    by_agents: Callable[[Sequence[StoredRequest]], Collection[str]]
    now: float


@value_class
class Outcome:
    """The draft for a recurring request, or why there is none."""

    found: RecurringRequest
    draft: Proposal | None
    why_not: str = ""


def outcomes(store: Store, source: Source, since: float, context: ProposalContext) -> list[Outcome]:
    """Return the requests that recurred since `since`, each with a draft or the reason for none."""
    rows = store.reviews.of_repository(source.repository, _stamp(since))
    asked = [
        StoredRequest(one.id, one.url, one.pull, one.author, one.role, one.at, *pair)
        for one in rows
        for pair in one.asks
    ]
    own = {one.id for one in rows if one.own}
    likely = recurring_requests(asked)
    doubtful = [one for found in likely for one in found.asked if one.comment in own]
    if theirs := set(context.by_agents(doubtful)) if doubtful else set():
        likely = recurring_requests(one for one in asked if one.comment not in theirs)
    # The person's decision stands, even if reviewers ask again.
    decided = [replace(one, decided_at=_FAR_FUTURE) for one in store.proposals.in_states([*State])]
    return [_outcome(found, ProposalHistory(decided), context) for found in likely]


def _outcome(found: RecurringRequest, history: ProposalHistory, context: ProposalContext) -> Outcome:
    if found.disputed:
        return Outcome(found, None, "reviewers have also asked for the opposite")
    session = WorkingSession(
        next(iter(context.agents), "claude-code"),
        context.repo,
        context.home,
        context.environment,
        others=tuple(context.agents),
    )
    kinds = {TargetKind.INSTRUCTIONS, TargetKind.RULES} & set(context.allowed)
    where = find_targets(session, kinds, find_scopes(found.change))
    ref = None if where.why_none or is_personal(found.change) else choose_target(found.change, where.refs)
    loaded, _ = load_documents([ref] if ref else [])
    if not loaded:
        return Outcome(found, None, where.refusal or "this project has no file that skilld can add it to")
    newest, *others = (one.mention for one in found.asked)
    if why := history.duplicate_reason(Ask((replace(newest, text=found.change), *others)), loaded[0].ref.path):
        return Outcome(found, None, why)
    texts = {loaded[0].ref.path: loaded[0].doc.text} | {
        file.real: file.text for file in where.context.files if file.entered
    }
    if any(find_same_words(found.change, text) for text in texts.values()):
        return Outcome(found, None, "the instructions already say this")
    try:
        return Outcome(found, _draft_proposal(found, loaded[0], texts, context))
    except SkilldError as error:
        return Outcome(found, None, error.cause or error.title)


def _draft_proposal(
    found: RecurringRequest, loaded: TargetDocument, texts: Mapping[str, str], context: ProposalContext
) -> Proposal:
    """Return the proposal. Raises SkilldError if no edit may say this."""
    words = "\n".join(one.quote for one in found.asked)
    update = Update(1, "", found.change, "", Kind.PREFERENCE, 1, words.split("\n")[0], _CONFIDENCE)
    steps = [create_operation([update], loaded)] if loaded.ref.absent else place_updates([update], loaded.data)
    check_edit(steps, [VerifiedUpdate(update)], loaded, words, context.redact)
    before = loaded.ref.front.encode() if loaded.ref.absent else loaded.data
    after = apply(loaded.data, steps)
    if harmful := lint(before, after, words):  # for the person's own words a flag would be enough
        raise SkilldError("The edit was not made", harmful[0].sentence)
    against = [block.text for text in texts.values() if (block := contradicted_block(found.change, text))]
    flags = (
        "the wording comes from reviewers in pull requests, not from you",
        *(f"contradicts a line you already have: {context.redact(line)[:160]}" for line in against),
        *(one.sentence for one in lint(before, after, "")),  # commands and the like that the person did not type
    )
    ref = loaded.ref
    batch = REVIEWS_PREFIX + hashlib.sha256(f"{context.repo}\n{found.change}".encode()).hexdigest()[:16]
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
        created_at=rfc3339(context.now),
        flags=tuple(dict.fromkeys(flags)),
        target=ref.kind,
        agents=ref.agents,
    )


def reason(found: RecurringRequest) -> str:
    """Return who made a request, how often, and links to its newest comments."""
    roles = ", ".join(pluralize(many, role) for role, many in found.roles.items())
    pulls, people = pluralize(found.pulls, "pull request"), pluralize(found.people, "person", "people")
    head = f"Reviewers have asked for this in {pulls} ({people}: {roles}) since {found.since}"
    return f"{head}: {' '.join(links(found)[:_MAX_LINKS])}"


def links(found: RecurringRequest) -> list[str]:
    """Return the addresses of the comments, the newest of each pull request first."""
    newest = {one.pull: one.url for one in reversed(found.asked) if one.url}
    return list(dict.fromkeys(newest[one.pull] for one in found.asked if one.pull in newest))
