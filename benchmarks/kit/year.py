"""A year of sessions with rules whose truth is known, and the errors measured in docs/measurements/effect.md."""

from __future__ import annotations

import random
from dataclasses import dataclass

from skilld.effect.figures import MIN_SESSIONS, RuleState
from skilld.effect.model_questions import rule_key
from skilld.effect.rules import Effect, effects, rules
from skilld.past import Correction, PastSession
from skilld.types import Kind, Op, Operation, Proposal, State

SESSIONS = 400
DAY = 86400.0
START = 1_760_000_000.0
PATH, UNREAD = "/home/ada/a/CLAUDE.md", "/home/ada/a/GEMINI.md"
SILENT = "Hm, that is odd."  # a repeat in words that are not heard

_HEADS = (
    "ba",
    "ce",
    "di",
    "fo",
    "gu",
    "ha",
    "je",
    "ki",
    "lo",
    "mu",
    "na",
    "pe",
    "ri",
    "so",
    "tu",
    "va",
    "we",
    "xi",
    "zo",
)
_TAILS = ("brand", "clamp", "drift", "flint", "grove", "kneel", "plumb", "quart", "sworn", "trout")


@dataclass(frozen=True, slots=True)
class Ears:
    """How well a session is told of.

    `heard` is the share of repeats, `false` that of sessions in which one is heard falsely, `seen` and `mistaken` of
    those in which a rule could matter, and could not, that are taken for such in which it could. What a
    model says of that stands in the session by itself.
    """

    heard: float
    false: float
    seen: float
    mistaken: float
    is_model: bool = False


_FALSE = 0.004  # of sessions of ten turns: 45 of 115,026 pairs of a rule and a real turn are 0.0004
WORDS = Ears(0.5, _FALSE, 0.78, 0.06)  # as measured without a model
MODEL = Ears(
    0.955, _FALSE, 0.94, 0.06, is_model=True
)  # with one: the bad ends of the intervals, since nothing was wrong


@dataclass(frozen=True, slots=True)
class Truth:
    """A rule as it really is: how often it has to be said again before, after, and from a day on once more."""

    text: str
    state: RuleState
    share: float  # of sessions in which it could matter
    since: float
    before: float
    after: float
    later: float
    turns_at: float  # Unix time from which `later` holds


def truths(chance: random.Random, number: int) -> list[Truth]:
    """Return rules of four kinds: kept, not kept, kept for a while, never loaded."""
    found = []
    for place in range(number):
        word = f"{_HEADS[place % len(_HEADS)]}{_TAILS[place // len(_HEADS)]}"
        since = START + chance.uniform(20, 200) * DAY
        state, after, later = chance.choice(
            [
                (RuleState.HOLDS, (0.0, 0.03), None),
                (RuleState.REPEATED, (0.25, 0.6), None),
                (RuleState.REPEATED, (0.0, 0.03), (0.35, 0.7)),
                (RuleState.UNUSED, (0.3, 0.5), None),
            ]
        )
        rate = chance.uniform(*after)
        found.append(
            Truth(
                text=f"Keep the {word} {word[::-1]}ed.",
                state=state,
                share=chance.uniform(0.02, 0.6),
                since=since,
                before=chance.uniform(0.1, 0.5),
                after=rate,
                later=chance.uniform(*later) if later else rate,
                turns_at=since + 0.55 * (START + 365 * DAY - since),
            )
        )
    return found


def sessions(chance: random.Random, known: list[Truth], ears: Ears = WORDS) -> list[PastSession]:
    """Return what the sessions of the year show."""
    keyed = [(rule, rule_key(rule.text)) for rule in known]
    return [_session(chance, keyed, number, ears) for number in range(SESSIONS)]


def _session(chance: random.Random, keyed: list[tuple[Truth, str]], number: int, ears: Ears) -> PastSession:
    at = START + number * 365 * DAY / SESSIONS
    work, said = {"refactor", "module"}, []
    mattered: list[str] = []
    idle: list[str] = []
    for rule, key in keyed:
        word = rule.text.split()[2]
        matters = chance.random() < rule.share
        if seen := chance.random() < (ears.seen if matters else ears.mistaken):
            work.add(word)
        if ears.is_model:
            (mattered if seen else idle).append(key)
        rate = rule.before if at < rule.since or rule.state is RuleState.UNUSED else rule.after
        rate = rule.later if at >= max(rule.turns_at, rule.since) else rate
        repeated = matters and chance.random() < rate
        heard = repeated and chance.random() < ears.heard
        if heard or (matters and chance.random() < ears.false):
            said.append(f"You forgot to keep the {word} {word[::-1]}ed again.")
        elif repeated:
            said.append(SILENT)
    quotes = tuple(Correction(f"claude-code:{number}-{place}", at, text) for place, text in enumerate(said))
    return PastSession(
        agent="claude-code",
        session_id=f"s{number}",
        cwd="/home/ada/a",
        version="2.1",
        at=at,
        loaded=(PATH,),
        work=tuple(sorted(work)),
        said=quotes,
        repeats=(),
        mattered=tuple(mattered),
        idle=tuple(idle),
    )


def accepted(known: list[Truth]) -> list[tuple[Proposal, float]]:
    """Return the proposals that brought the rules in, with their times."""
    return [
        (_proposal(f"p{place}", UNREAD if rule.state is RuleState.UNUSED else PATH, rule.text), rule.since)
        for place, rule in enumerate(known)
    ]


def _proposal(name: str, path: str, text: str) -> Proposal:
    return Proposal(
        id=name,
        batch_id=name,
        state=State.ACCEPTED,
        skill="",
        path=path,
        operations=(Operation(Op.INSERT_AFTER, "", f"- {text}"),),
        summary=text,
        reason="",
        kind=Kind.PREFERENCE,
        evidence=(),
        confidence=1.0,
        agent="claude-code",
        session_id="s",
        model="offline",
        created_at="2026-01-01T00:00:00Z",
    )


def texts(known: list[Truth]) -> dict[str, str]:
    """Return the files that hold the rules."""
    of = {PATH: [one for one in known if one.state is not RuleState.UNUSED]}
    of[UNREAD] = [one for one in known if one.state is RuleState.UNUSED]
    return {path: "# Rules\n\n" + "".join(f"- {one.text}\n" for one in those) for path, those in of.items()}


def lived(seed: int, number: int = 60, ears: Ears = WORDS) -> tuple[list[Truth], list[Effect]]:
    """Return the rules of a year, and what is said of each."""
    chance = random.Random(seed)
    known = truths(chance, number)
    held, files = sessions(chance, known, ears), texts(known)
    by_text = {one.rule.text: one for one in effects(rules(accepted(known), held, files.__getitem__), held)}
    return known, [by_text[one.text] for one in known]


def has_enough(effect: Effect) -> bool:
    """Whether something has to be said of a rule."""
    return effect.after.sessions >= MIN_SESSIONS
