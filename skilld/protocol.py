"""What a worker is asked and answers, as values: jobs, partial results, results.

Between two processes each is a line of JSON (`skilld.codec`). Of jobs, mining's, trials and kept words hold a person's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields

from skilld.classify.backends import OFFLINE, Spec
from skilld.classify.backends.completion import Rates
from skilld.classify.partial_results import TitleResult, WindowResult
from skilld.classify.trial import Trial, TrialAnswer, TrialVerdict
from skilld.codec import TaggedUnion
from skilld.errands import Errand
from skilld.past import PastSession
from skilld.skills import Unusable
from skilld.types import (
    AddressChange,
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

MEMORY_MB = 2048
PROCESSOR_SECONDS = 120.0


# What a batch is, and what is known besides when it is judged.


@dataclass(frozen=True, slots=True)
class Source:
    """Bytes [start, end) of a transcript, of which replies count, and turns from its beginning."""

    path: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Plan:
    """What a worker was about to propose: a second try does it without asking again."""

    proposals: tuple[Proposal, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchJob:
    """What of a batch's job is fixed when it is closed; the store keeps it, empty for chatter."""

    version: int = 1
    kind: str = "analyse"  # or "waiting", of learnings; or "remake", of the stale `proposal`, which has no turns
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


@dataclass(frozen=True, slots=True)
class StoredWords:
    """The words of a turn, redacted."""

    key: str
    how: How
    text: str


@dataclass(frozen=True, slots=True)
class PastDecision:
    """A proposal that the person did not want: what it would have written, and by which folded quotes."""

    path: str
    state: State
    changes: tuple[str, ...]
    quotes: tuple[str, ...]
    session: str
    id: str = ""  # empty for one of another machine


@dataclass(frozen=True, slots=True)
class AutoRules:
    """Which skills' proposals may be applied unasked (None: all), how sure they must be, and of which kinds."""

    skills: tuple[str, ...] | None
    confidence: float
    targets: tuple[TargetKind, ...] = (TargetKind.SKILL,)


@dataclass(frozen=True, slots=True)
class PastLearning:
    """What was said before, and waits for a place."""

    turn: str
    quote: str
    change: str
    session: str


# Jobs.


@dataclass(frozen=True, slots=True, kw_only=True)
class Analyse(TaggedUnion):
    """One batch: to be judged and proposed."""

    batch: BatchJob
    closed_at: str
    backend: Spec
    before: Cause | None = None  # what was in the way of an earlier try
    words: tuple[StoredWords, ...] = ()
    auto: AutoRules = field(default=AutoRules((), 1.0))
    open: tuple[Proposal, ...] = ()
    closed: tuple[str, ...] = ()
    thresholds: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    decided: tuple[PastDecision, ...] = ()
    targets: tuple[TargetKind, ...] = tuple(TargetKind)
    agents: tuple[str, ...] = ()  # all that worked in its folder
    waiting: tuple[PastLearning, ...] = ()
    most_tokens: int = 0  # of one file, as the person has it


@dataclass(frozen=True, slots=True, kw_only=True)
class Remake(TaggedUnion):
    """A stale proposal, to be made again for the skill as it is now."""

    batch: BatchJob
    backend: Spec
    stale: Proposal | None
    open: tuple[Proposal, ...] = ()
    closed: tuple[str, ...] = ()
    most_tokens: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Observe(TaggedUnion):
    """Proposals, to be looked for in git at `now`.

    `missing` says since when some are off the branch, `homes` has the common git directory of each linked work tree.
    `alone` says that no other worker runs, so that locks of a killed one may be removed; without `by_code` an edit that
    lost its place is left to a job that asks a model; without `rebuild` the branch stays as it is.
    """

    now: float
    proposals: tuple[Proposal, ...]
    missing: Mapping[str, float] = field(default_factory=dict)
    closed: tuple[str, ...] = ()
    homes: Mapping[str, str] = field(default_factory=dict)
    alone: bool = False
    rebuild: bool = True
    by_code: bool = True
    most_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Recall(TaggedUnion):
    """Skills and folders, in whose repositories proposals are to be found again."""

    paths: tuple[str, ...]
    folders: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Survey:
    """A transcript, to be read whole for what its sessions show of the rules that were loaded.

    `home` is empty for a transcript from elsewhere: what was loaded there is not known. `size` and `mtime` are what it
    had when it was chosen; `is_live` says that it has come since skilld is there. The
    back-end is asked what words do not tell: what else was said again, and which rules could matter.
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


@dataclass(frozen=True, slots=True)
class Surveys(TaggedUnion):
    """Transcripts to be surveyed in turn, as far as that goes in a short while."""

    surveys: tuple[Survey, ...]


@dataclass(frozen=True, slots=True)
class Ask(TaggedUnion):
    """A back-end, to be asked whether it answers."""

    backend: Spec


@dataclass(frozen=True, slots=True)
class Price(TaggedUnion):
    """Models, whose tokens' prices are wanted."""

    models: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Window:
    """Messages of a past session that are asked about together, turns counted from 1; `id` is that of their content."""

    id: str
    session_id: str
    messages: tuple[Message, ...]


@dataclass(frozen=True, slots=True)
class Distil(TaggedUnion):
    """Windows of past sessions, each to be asked about next to a stand-in for a skill."""

    backend: Spec
    skill: SkillDoc
    windows: tuple[Window, ...]


@dataclass(frozen=True, slots=True)
class Extend(TaggedUnion):
    """A skill, and updates from past sessions that it is to say, each by a turn of `messages`."""

    backend: Spec
    skill: SkillRef
    messages: tuple[Message, ...]
    updates: tuple[Update, ...]


@dataclass(frozen=True, slots=True)
class Entitle(TaggedUnion):
    """Texts of drafted skills, for which names are wanted."""

    backend: Spec
    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Spare(TaggedUnion):
    """The texts of a file, to find what it can do without or say more briefly, each with its number; 0: only shown."""

    backend: Spec
    numbers: tuple[int, ...]
    parts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Fit(TaggedUnion):
    """A piece of work in a person's words, and skills in a few words each, of which those are wanted that it is for."""

    backend: Spec
    text: str
    skills: tuple[str, ...]


Question = Ask | Price | Entitle | Spare | Fit
Work = Question | Analyse | Remake | Observe | Recall | Surveys | Distil | Extend | Errand | Trial
GIT_WORK = Observe, Recall  # they never share a process with litellm


@dataclass(frozen=True, slots=True)
class Job:
    """Work with its limits: MB of memory, seconds of processor time (0: none), and the umask of what it writes."""

    work: Work
    umask: int
    memory_mb: int = MEMORY_MB
    processor_seconds: float = PROCESSOR_SECONDS


# Results.


@dataclass(frozen=True, slots=True)
class Blame:
    """What is in the way, where, and what may be done about it."""

    what: Cause
    place: str = ""
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class Away:
    """The agent that was to be asked cannot be, whatever the question: `limit` says that its limit is reached.

    `after` is the number of seconds until it resets, None if the agent does not say.
    """

    why: str
    remedy: str = ""
    limit: bool = False
    after: float | None = None


@dataclass(frozen=True, slots=True)
class NewLearning:
    """A lasting thing that is not proposed; `for_now`: only until what is in the way is gone.

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


@dataclass(frozen=True, slots=True)
class Support:
    """A proposal was said again: an open one, or one that the person did not want."""

    proposal: str
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class Result(TaggedUnion):
    """How a job ended, and what it cost that was not told before.

    `exit` is that of a process that gave no result, None if it never ran.
    """

    outcome: Outcome
    detail: str = ""
    remedy: str = ""
    model: str = ""
    usage: Usage = field(default=Usage())
    retry_after: float | None = None
    cause: Blame | None = None
    exit: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchResult(Result):
    """Of a batch, or what is about to be staged of it. `if_given_up` are learnings where that cannot be at last.

    `notes` are what was not proposed because it stands already in what the agent loads.
    """

    proposals: tuple[Proposal, ...] = ()
    notes: tuple[Proposal, ...] = ()
    learnings: tuple[NewLearning, ...] = ()
    if_given_up: tuple[NewLearning, ...] = ()
    supported: tuple[Support, ...] = ()
    changes: Changes = field(default=Changes())
    away: Away | None = None

    @classmethod
    def of(cls, result: Result) -> BatchResult:
        """Return a result of whatever kind as one of a batch."""
        return result if isinstance(result, cls) else cls(**{name: getattr(result, name) for name in _HEADER})


_HEADER = [one.name for one in fields(Result)]


@dataclass(frozen=True, slots=True, kw_only=True)
class GitResult(Result):
    """Of a look into git.

    `missing` says of undecided proposals since when they are off the branch (None: they are not), `branches` on which
    another branch some are, `at` when some were decided; `committed` had waited.
    """

    changes: Changes = field(default=Changes())
    missing: Mapping[str, float | None] = field(default_factory=dict)
    rehomed: tuple[AddressChange, ...] = ()
    committed: tuple[Proposal, ...] = ()
    branches: Mapping[str, str] = field(default_factory=dict)
    at: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecoveryResult(Result):
    """The proposals that were found again."""

    proposals: tuple[Proposal, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SurveyResult(Result):
    """What the sessions of a transcript show."""

    sessions: tuple[PastSession, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SurveysResult(Result):
    """What came of the surveys that were done, in their order."""

    shown: tuple[SurveyResult, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PriceResult(Result):
    """The prices of the models asked for, None of one that is not known."""

    rates: Mapping[str, Rates | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtensionResult(Result):
    """An edit, with what it says by which turns."""

    operations: tuple[Operation, ...] = ()
    flags: tuple[str, ...] = ()
    said: tuple[Update, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SpareResult(Result):
    """The parts that can go, by number, each with the one that says the same (0: all of them); others said anew."""

    same: Mapping[str, int] = field(default_factory=dict)
    text: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class FitResult(Result):
    """The skills that fit, by their numbers from 1, the best first."""

    numbers: tuple[int, ...] = ()


Chosen = SpareResult | FitResult
AnyResult = Result | BatchResult | GitResult | RecoveryResult | SurveysResult | PriceResult | ExtensionResult | Chosen


# What is kept on the way.


PartialResult = BatchResult | WindowResult | TitleResult | TrialAnswer | TrialVerdict


@dataclass(frozen=True, slots=True)
class KeepRequest(TaggedUnion):
    """A worker waits until this is kept."""

    what: PartialResult


@dataclass(frozen=True, slots=True)
class JobEnd(TaggedUnion):
    """A worker's job has ended; it stays for another one, or not, and has loaded litellm, or not."""

    result: AnyResult
    stays: bool
    asked_models: bool


FromWorker = KeepRequest | JobEnd
