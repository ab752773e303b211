"""The messages between the daemon and a worker: jobs, partial results and results.

Between processes each is a line of JSON (`skilld.codec`). Jobs of mining, trials and stored words contain a person's
words.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, fields

from skilld.classify.backends import OFFLINE, Spec
from skilld.classify.backends.completion import Rates
from skilld.classify.backends.paid_calls import ModelCall
from skilld.classify.draft_lines import DraftAnswer
from skilld.classify.partial_results import WindowResult
from skilld.classify.question_jobs import Question, Title
from skilld.classify.trial import Trial, TrialAnswer, TrialVerdict
from skilld.codec import TaggedUnion
from skilld.past import PastSession
from skilld.skills import Unusable
from skilld.types import (
    Cause,
    Changes,
    Evidence,
    How,
    Kind,
    Message,
    Operation,
    Outcome,
    Proposal,
    SkillDoc,
    SkillRef,
    State,
    TargetKind,
    Update,
    Usage,
)
from skilld.values import value_class

MEMORY_MB = 2048
PROCESSOR_SECONDS = 120.0


# A batch, and what else is known when it is judged.


@value_class
class Source:
    """Bytes [start, end) of a transcript: replies in them count, and turns from the transcript's beginning."""

    path: str
    start: int
    end: int


@value_class
class Plan:
    """What a worker was about to propose: a second try stages it without asking a model again."""

    proposals: tuple[Proposal, ...]


@value_class(kw_only=True)
class BatchJob:
    """The part of a batch's job that is fixed when the batch is closed, and stored; empty for chatter."""

    version: int = 1
    kind: str = "analyse"  # or "waiting" for learnings, or "remake" for the stale `proposal`, without turns
    proposal: str = ""
    batch: str = ""
    agent: str = ""
    session_id: str = ""
    cwd: str | None = None
    sources: tuple[Source, ...] = ()
    turns: tuple[str, ...] = ()
    skills: tuple[SkillRef, ...] = ()
    unusable: tuple[Unusable, ...] = ()
    home: str = ""
    variables: Mapping[str, str] = field(default_factory=dict)
    plan: Plan | None = None


@value_class
class StoredWords:
    """The redacted words of a turn."""

    key: str
    how: How
    text: str


@value_class
class PastDecision:
    """A proposal that the person did not want: the text it would have written, and its folded quotes."""

    path: str
    state: State
    changes: tuple[str, ...]
    quotes: tuple[str, ...]
    session: str
    id: str = ""  # empty if it was decided on another machine


@value_class
class AutoRules:
    """Which skills' proposals may be applied automatically (None: all), from which confidence, for which targets."""

    skills: tuple[str, ...] | None
    confidence: float
    targets: tuple[TargetKind, ...] = (TargetKind.SKILL,)


@value_class
class PastLearning:
    """Something said earlier that is not proposed; `id` is empty if the batch's words cannot take it back."""

    turn: str
    quote: str
    change: str
    session: str
    id: str = ""
    personal: bool = False  # for a file of the person's, in any project


# Jobs.


@value_class(kw_only=True)
class AnalyseBatch(TaggedUnion):
    """Judge one batch and stage its proposals."""

    batch: BatchJob
    closed_at: str
    backend: Spec
    matcher: Spec = Spec(OFFLINE)  # compares what was said with what is known
    before: Cause | None = None  # why an earlier try failed
    words: tuple[StoredWords, ...] = ()
    kept: Update | None = None  # a learning of a model that is judged again
    auto: AutoRules = field(default=AutoRules((), 1.0))
    open: tuple[Proposal, ...] = ()
    elsewhere: tuple[str, ...] = ()  # the ids of open ones that were made in sessions in other folders
    newer: tuple[str, ...] = ()  # the ids of open ones that were asked for after the batch was typed
    folders: tuple[str, ...] = ()  # of all sessions, the newest first
    closed: Mapping[str, float] = field(default_factory=dict)
    thresholds: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    decided: tuple[PastDecision, ...] = ()
    targets: tuple[TargetKind, ...] = tuple(TargetKind)
    agents: tuple[str, ...] = ()  # all agents that worked in its folder
    waiting: tuple[PastLearning, ...] = ()
    aside: tuple[PastLearning, ...] = ()  # passed over: can only be taken back
    withdrawals: tuple[str, ...] = ()  # words after the batch was typed by which the person took a rule back
    most_tokens: int = 0  # of one file, from the settings


@value_class(kw_only=True)
class RemakeProposal(TaggedUnion):
    """Make a stale proposal again for the current version of its skill."""

    batch: BatchJob
    backend: Spec
    stale: Proposal | None
    open: tuple[Proposal, ...] = ()
    closed: Mapping[str, float] = field(default_factory=dict)
    most_tokens: int = 0


@value_class(kw_only=True)
class ObserveProposals(TaggedUnion):
    """Look for proposals in git at `now`.

    `missing` has the times since when some are off the branch, `homes` the common git directory of each linked work
    tree. `alone`: no other worker runs, so that locks of a killed one may be removed; without `by_code` an edit that
    no longer fits is left to a job that asks a model; without `rebuild` the branch is not changed. `decisions` has the
    number of the newest decision on each.
    """

    now: float
    proposals: tuple[Proposal, ...]
    missing: Mapping[str, float] = field(default_factory=dict)
    closed: Mapping[str, float] = field(default_factory=dict)
    homes: Mapping[str, str] = field(default_factory=dict)
    decisions: Mapping[str, int] = field(default_factory=dict)
    alone: bool = False
    rebuild: bool = True
    by_code: bool = True
    most_tokens: int = 0


@value_class
class RecoverProposals(TaggedUnion):
    """Recover proposals from the repositories of some skills and folders."""

    paths: tuple[str, ...]
    folders: tuple[str, ...] = ()


@value_class
class SurveyRequest:
    """A transcript to be read completely, for what its sessions show about the rules that were loaded.

    `home` is empty for a transcript from another machine, where the loaded files are unknown. `size` and `mtime` are
    those of the time when it was chosen; `is_live`: it was created after skilld was installed. The back-end is asked
    what rules cannot tell: further repeats, and which rules could matter.
    """

    agent: str
    path: str
    home: str
    size: int
    mtime: float
    is_live: bool = False
    backend: Spec = field(default=Spec(OFFLINE))
    variables: Mapping[str, str] = field(default_factory=dict)
    roots: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@value_class
class SurveyTranscripts(TaggedUnion):
    """Survey transcripts one by one for a short while."""

    surveys: tuple[SurveyRequest, ...]


@value_class
class Window:
    """Messages of a past session for one question, turns numbered from 1; `id` is a hash of the content."""

    id: str
    session_id: str
    messages: tuple[Message, ...]


@value_class
class ExtractUpdates(TaggedUnion):
    """Extract updates from windows of past sessions, with a stand-in for the skill."""

    backend: Spec
    skill: SkillDoc
    windows: tuple[Window, ...]


@value_class
class ExtendSkill(TaggedUnion):
    """Add updates from past sessions to a skill; each refers to a turn in `messages`."""

    backend: Spec
    skill: SkillRef
    messages: tuple[Message, ...]
    updates: tuple[Update, ...]


@value_class
class VerbJob(TaggedUnion):
    """Run a verb of skilld, which looks for its own work; `words` follow the program's name."""

    words: tuple[str, ...]


MINE_SESSIONS = VerbJob(("mine", "--nightly", "--yes"))
MEND_RULES = VerbJob(("effect", "--mend"))
SYNC_TEAMS = VerbJob(("team", "sync", "--unasked"))
SYNC_MACHINES = VerbJob(("machines", "sync", "--unasked"))


Work = (
    Question
    | AnalyseBatch
    | RemakeProposal
    | ObserveProposals
    | RecoverProposals
    | SurveyTranscripts
    | ExtractUpdates
    | ExtendSkill
    | VerbJob
    | Trial
)
GIT_WORK = ObserveProposals, RecoverProposals  # never in a process that has loaded litellm


@value_class
class Job:
    """Work with its limits: memory in MB, processor time in seconds (0: no limit), and the umask for its files."""

    work: Work
    umask: int
    memory_mb: int = MEMORY_MB
    processor_seconds: float = PROCESSOR_SECONDS


# Results.


@value_class
class Obstacle:
    """What prevents the work, where, and how to fix it."""

    what: Cause
    place: str = ""
    remedy: str = ""


@value_class
class Outage:
    """The agent cannot answer any question. `limit`: its usage limit is reached.

    `after` is the number of seconds until the limit resets, None if unknown.
    """

    why: str
    remedy: str = ""
    limit: bool = False
    after: float | None = None


@value_class
class NewLearning:
    """Something lasting that is not proposed; `for_now`: only until an obstacle is gone.

    `place` is the path of the file that it would go to, empty if there is none.
    """

    turn: str
    quote: str
    change: str
    kind: Kind
    confidence: float
    skill: str | None
    why_kept: str
    for_now: bool = False
    place_kind: TargetKind | None = None
    place: str = ""


@value_class
class FurtherEvidence:
    """A proposal, open or rejected, whose content was said again."""

    proposal: str
    evidence: Evidence


@value_class
class TakenBack:
    """An open proposal that later words of the person take back."""

    proposal: str
    quote: str


@value_class(kw_only=True)
class Result(TaggedUnion):
    """How a job ended, and its usage beyond that of partial results.

    `exit` is the exit code of a process without a result, None if it never ran.
    """

    outcome: Outcome
    detail: str = ""
    remedy: str = ""
    model: str = ""
    usage: Usage = field(default=Usage())
    retry_after: float | None = None
    cause: Obstacle | None = None
    exit: int | None = None


@value_class(kw_only=True)
class BatchResult(Result):
    """The result of a batch, or its plan. `if_given_up` are the learnings if staging finally fails.

    `notes` are proposals not made because a file that the agent loads already says the same. `passed_over` sounded
    lasting, but was no rule. `forgotten` are the IDs of learnings that were taken back, `withdrawals` all words
    that take a rule back, which may have been said in a session that is read later.
    """

    proposals: tuple[Proposal, ...] = ()
    notes: tuple[Proposal, ...] = ()
    learnings: tuple[NewLearning, ...] = ()
    if_given_up: tuple[NewLearning, ...] = ()
    supported: tuple[FurtherEvidence, ...] = ()
    taken_back: tuple[TakenBack, ...] = ()
    forgotten: tuple[str, ...] = ()
    passed_over: tuple[NewLearning, ...] = ()
    withdrawals: tuple[Evidence, ...] = ()
    changes: Changes = field(default=Changes())
    away: Outage | None = None

    @classmethod
    def of(cls, result: Result) -> BatchResult:
        """Return any result as a batch result."""
        return result if isinstance(result, cls) else cls(**{name: getattr(result, name) for name in _RESULT_FIELDS})


_RESULT_FIELDS = [one.name for one in fields(Result)]


@value_class(kw_only=True)
class GitResult(Result):
    """The result of observing git.

    `missing` has the time since when undecided proposals are off the branch (None: they are on it), `branches` the
    other branch that some are on, `at` the time of some decisions; `committed` were waiting before, `rehomed` have
    another repository or path now. `decisions` is that of the question: what was found of a proposal is void if it was
    decided on since.
    """

    changes: Changes = field(default=Changes())
    missing: Mapping[str, float | None] = field(default_factory=dict)
    rehomed: tuple[Proposal, ...] = ()
    committed: tuple[Proposal, ...] = ()
    branches: Mapping[str, str] = field(default_factory=dict)
    at: Mapping[str, float] = field(default_factory=dict)
    decisions: Mapping[str, int] = field(default_factory=dict)


@value_class(kw_only=True)
class RecoveryResult(Result):
    """The recovered proposals."""

    proposals: tuple[Proposal, ...] = ()


@value_class(kw_only=True)
class SurveyResult(Result):
    """What the sessions of a transcript show."""

    sessions: tuple[PastSession, ...] = ()


@value_class(kw_only=True)
class SurveysResult(Result):
    """The results of the completed surveys, in order."""

    shown: tuple[SurveyResult, ...] = ()


@value_class(kw_only=True)
class PriceResult(Result):
    """The prices of the models, None for each unknown one."""

    rates: Mapping[str, Rates | None] = field(default_factory=dict)


@value_class(kw_only=True)
class ExtensionResult(Result):
    """An edit and the updates it makes."""

    operations: tuple[Operation, ...] = ()
    flags: tuple[str, ...] = ()
    said: tuple[Update, ...] = ()


@value_class(kw_only=True)
class ChoiceResult(Result):
    """The answer to a closed question, all numbers from 1; only what was asked for is filled in.

    `same` has the parts to omit by number, each with the part that says the same (0: none needed), `text` shorter texts
    of others. `numbers` are the skills that fit, or for each task its requests and those that continue them. `drafts`
    and `titles` are in the order of what was asked about.
    """

    same: Mapping[str, int] = field(default_factory=dict)
    text: Mapping[str, str] = field(default_factory=dict)
    numbers: tuple[tuple[int, ...], ...] = ()
    drafts: tuple[DraftAnswer, ...] = ()
    titles: tuple[Title, ...] = ()


AnyResult = (
    Result | BatchResult | GitResult | RecoveryResult | SurveysResult | PriceResult | ExtensionResult | ChoiceResult
)


# Partial results, which the daemon stores during a job.


PartialResult = BatchResult | WindowResult | TrialAnswer | TrialVerdict


@value_class
class KeepRequest(TaggedUnion):
    """A partial result; the worker waits until the daemon has stored it."""

    what: PartialResult


@value_class
class JobEnd(TaggedUnion):
    """The end of a job: its result, whether the worker stays for another one, and whether it has loaded litellm."""

    result: AnyResult
    stays: bool
    asked_models: bool


GO = "go"  # the answer to a worker that waits; to a call, anything else is why it may not be made
FromWorker = KeepRequest | ModelCall | JobEnd
