"""The options, the context and the results of a mining run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from enum import StrEnum
from pathlib import Path

from skilld.classify.backends import Spec
from skilld.ingest.discover import Host
from skilld.mining.questions import Estimate, Terms
from skilld.mining.sessions import Session, SessionFilter, Transcript
from skilld.skills import Skill
from skilld.skills.draft import SkillKind
from skilld.store import Store
from skilld.text import join_words, pluralize
from skilld.types import Kind
from skilld.values import value_class

REPEATABLE, ROOM, REPEATED = "repeatable", "room for improvement", "repeated request"

_UUID_HYPHENS = 4

Place = tuple[str, str]
"""Where something was said: the ID of the session and the key of the turn."""


class PartKind(StrEnum):
    """What a part of a skill is."""

    RULE = "rule"
    PITFALL = "pitfall"  # what went wrong and was corrected
    FACT = "fact"
    REQUEST = "request"  # what the person asks for repeatedly
    SAID = "said"  # what the person said about how the task is to be done, as typed
    READ = "read"  # observed: a file read in several sessions
    COMMAND = "command"  # observed: what ran in several sessions, with variables
    EDIT = "edit"  # observed: a file changed in several sessions
    TRAP = "trap"  # observed: what failed and what worked afterwards
    ANSWER = "answer"  # observed: how the agent's last answer was built
    WORDED = "worded"  # a step in a model's words, each of which its proofs have


STEPS = frozenset({PartKind.COMMAND, PartKind.EDIT, PartKind.READ, PartKind.WORDED})
OBSERVED = frozenset({PartKind.COMMAND, PartKind.EDIT, PartKind.READ, PartKind.TRAP})
"""What the log shows. Nobody said it, so it is no evidence of what anybody wants."""


@value_class
class Proof:
    """Evidence: the session, the turn's key, the person's words.

    `observed`: nobody said it; `quote` is a command as it ran, and the turn is the one before it.
    """

    session: str
    turn: str
    quote: str
    observed: bool = False


@value_class
class Part:
    """One thing for a skill to say. `kind` is that of lasting feedback, None for requests."""

    sort: PartKind
    text: str
    proofs: tuple[Proof, ...]
    kind: Kind | None = None
    confidence: float = 0.5

    @property
    def observed(self) -> bool:
        """Whether nobody said it."""
        return self.sort in OBSERVED or all(proof.observed for proof in self.proofs)


_MAX_SHOWN = 3  # sessions of a quote, and quotes of a part


def proof_lines(part: Part, where: Callable[[str], str] = lambda _: "") -> Iterator[str]:
    """Yield for a person who said or did a part, and in which sessions; of what was observed, as the newest one ran it.

    `where` says what is to be known about a session.
    """
    quotes: dict[tuple[bool, str], list[str]] = {}
    for one in part.proofs:
        quotes.setdefault((one.observed, "" if one.observed else one.quote), []).append(one.session)
    for (observed, quote), named in [*quotes.items()][:_MAX_SHOWN]:
        sessions = [*dict.fromkeys(named)]
        shown = [one[:8] if one.count("-") == _UUID_HYPHENS else one for one in sessions[:_MAX_SHOWN]]
        shown += [f"{len(sessions) - _MAX_SHOWN} more"] if len(sessions) > _MAX_SHOWN else []
        told = quote or next(one.quote for one in part.proofs if one.observed)
        notes = "".join(dict.fromkeys(map(where, sessions)))
        yield f"{'the agent' if observed else 'you'}, in {join_words(shown)}{notes}: \u201c{told}\u201d"
    if len(quotes) > _MAX_SHOWN:
        yield f"and {len(quotes) - _MAX_SHOWN} more"


def count_sessions(parts: Iterable[Part]) -> int:
    """Return in how many sessions these parts were said or observed."""
    return len({proof.session for part in parts for proof in part.proofs})


@value_class
class LeftOut:
    """A command that is in no step of a draft, and why; `refused` if no skill may have it."""

    command: str
    why: str
    refused: bool = False


@value_class
class Recurrence:
    """A recurring task: `request` with `{{variables}}`, examples of each, the check at the end.

    `wordings` has the request of each session. `done` is what single sessions did, in order: a model may word steps
    after it.
    """

    request: str
    examples: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False)
    check: str = ""
    left_out: tuple[LeftOut, ...] = ()
    wordings: tuple[str, ...] = ()
    done: tuple[Part, ...] = ()


@value_class
class ToldTask:
    """A task that a model found: its requests and those that only continue them."""

    requests: Collection[Place]
    continued: Collection[Place] = ()


@value_class
class Grouping:
    """The tasks that a model found among the requests that it was `asked` about."""

    tasks: Sequence[ToldTask] = ()
    asked: Collection[Place] = ()


@value_class
class Savings:
    """What a skill would have saved in its sessions: corrections, failed calls and tokens; and its number of steps."""

    sessions: int = 0
    corrections: int = 0
    failures: int = 0
    tokens: int = 0
    steps: int = 0

    @property
    def worth(self) -> float:
        """The rank of a candidate: a correction costs the person a turn, a failure the agent a call."""
        return 3 * self.corrections + self.failures + self.steps / 10

    @property
    def why(self) -> str:
        """The savings in one clause, for a person."""
        spent = [pluralize(self.corrections, "correction")] if self.corrections else []
        spent += [pluralize(self.failures, "failed call")] if self.failures else []
        cost = f", with {join_words(spent)}" if spent else f", {pluralize(self.steps, 'step')} each time"
        return f"done in {pluralize(self.sessions, 'session')}{cost}"


@value_class
class Candidate:
    """A skill to extend (`action` is extend, `target` its file) or to create (`target` is the project's folder).

    `kind` is None for an existing skill; `work` is the kind of work it is for. `description` and `title` (its heading)
    replace those that code drafts. `recurrence` belongs to a recurring task.
    """

    name: str
    action: str
    target: str
    kind: SkillKind | None
    dimensions: tuple[str, ...]
    parts: tuple[Part, ...]
    work: str = ""
    description: str = ""
    title: str = ""
    recurrence: Recurrence | None = None
    saved: Savings = Savings()

    @property
    def changes(self) -> tuple[str, ...]:
        """What the skill is going to say."""
        return tuple(part.text for part in self.parts)

    @property
    def evidence(self) -> tuple[Proof, ...]:
        """What was said for it, without duplicates."""
        return tuple(dict.fromkeys(proof for part in self.parts for proof in part.proofs if not proof.observed))

    @property
    def observed(self) -> tuple[Proof, ...]:
        """What the log shows for it, without duplicates."""
        return tuple(dict.fromkeys(proof for part in self.parts for proof in part.proofs if proof.observed))

    @property
    def left_out(self) -> tuple[LeftOut, ...]:
        """The commands of its sessions that it does not have."""
        return self.recurrence.left_out if self.recurrence else ()

    @property
    def creates(self) -> bool:
        """Whether it is a new skill."""
        return self.action == "create"


@value_class
class RejectedCandidate:
    """A topic that does not become a skill, with what it lacks."""

    topic: str
    missed: str


@value_class
class Doc:
    """Something for a project's standing instructions: it holds for all work there, so it belongs in no skill."""

    project: str
    text: str
    evidence: tuple[Proof, ...]


@value_class
class Judgement:
    """What a run found."""

    candidates: tuple[Candidate, ...]
    rejected: tuple[RejectedCandidate, ...]
    docs: tuple[Doc, ...]


Edit = Callable[[str], str]
Progress = Callable[[str, int, int], None]


@value_class
class Options:
    """The options of a run. `gather` are projects whose facts become a skill of their own."""

    transcripts: Sequence[Transcript]
    wanted: SessionFilter
    kind: SkillKind | None = None
    name: str = ""
    gather: Sequence[Path] = ()
    dry_run: bool = False
    create_new: bool = False  # even if a similar skill exists


@value_class
class MiningContext:
    """What a run works with. `skills` returns the skills of some projects and of the person.

    If each session is judged by its own agent, `own` has those that can be asked and `unasked` why others cannot, and
    `agent` is the one that is asked: only about its own sessions.
    """

    store: Store
    terms: Terms
    host: Host
    redact: Callable[[str], str]
    skills: Callable[[Sequence[Path]], list[Skill]]
    own: Mapping[str, Spec] = field(default_factory=dict)
    unasked: Mapping[str, str] = field(default_factory=dict)
    agent: str = ""

    def for_sessions(self, sessions: Iterable[Session]) -> MiningContext:
        """Return the context for these sessions, in which the agent with most of the turns is asked."""
        turns = Counter[str]()
        for one in sessions:
            if one.agent in self.own:
                turns[one.agent] += len(one.turns)
        if not turns:
            return self
        agent = turns.most_common(1)[0][0]
        return replace(self, agent=agent, terms=replace(self.terms, spec=self.own[agent]))


@value_class
class Hooks:
    """What a run calls back.

    `agree` gets the estimate of the questions and a function that returns their price in dollars (None if unknown),
    which takes seconds; no question is asked unless it returns true.
    `edit` gets the text of a new skill and returns the text to propose. `progress` reports long work.
    """

    agree: Callable[[Estimate, Callable[[], float | None]], bool]
    edit: Edit
    progress: Progress
