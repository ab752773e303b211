"""Runs labelled batches and turns through the pipeline and computes the figures.

Cases and a back-end in, outcomes and figures out: what would be proposed, against what a reader would remember. A batch
is found when it gives any update; an update is right when it belongs to the same skill, goes back to the same turn and
means the same. Optional updates count neither way.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, TypeVar

from skilld.batching.gate import needs_classification
from skilld.classify.backends import OFFLINE, Backend
from skilld.errors import RetryError, SkilldError
from skilld.evaluate.loader import BatchCase, GoldUpdate, LabelledTurn
from skilld.evaluate.stored import NoAnswerError
from skilld.evaluate.turns import RANDOM, JudgedTurn, grouped, share
from skilld.pipeline.documents import TargetDocument
from skilld.pipeline.judge import NO_EDIT, Judge, Redact
from skilld.text import fold
from skilld.types import Message, SkillDoc, SkillRef, Update, Usage
from skilld.words import content_stems, other_tongue, share_held

# One batch through everything that comes after reading, git left out. The worker's own judge decides, so a figure says
# what a person would have seen.

_PAUSES = (2.0, 8.0, 30.0)  # seconds before each further attempt, where the other side names none
_MAX_PAUSE_SECONDS = 60.0
_GIVE_UP = 3  # cases in a row that were never answered, for each judged at once: then the back-end is down


@dataclass(frozen=True, slots=True)
class PipelineResult:
    """What came of one batch. `flags` are those of the edits; `answered` is false where no attempt got an answer.

    `lost` are the updates of the answer that are not proposed, each with the check that lost it.
    """

    proposed: tuple[Update, ...] = ()
    learned: tuple[Update, ...] = ()
    flags: tuple[str, ...] = ()
    why_not: tuple[str, ...] = ()
    usage: Usage = field(default_factory=Usage)
    answered: bool = True
    lost: tuple[tuple[Update, str], ...] = ()


class Pipeline:
    """The stages after reading, patient with a busy back-end: `wait` sleeps for seconds, `jobs` threads may judge."""

    def __init__(self, redact: Redact, wait: Callable[[float], None], *, jobs: int = 1) -> None:
        self._redact = redact
        self._wait = wait
        self._most_unanswered = _GIVE_UP * jobs
        self._unanswered = 0
        self._counting = threading.Lock()

    def judge(self, backend: Backend, messages: Sequence[Message], skills: Sequence[TargetDocument]) -> PipelineResult:
        """Return what comes of redacted messages. Raises SkilldError if the back-end cannot be used at all."""
        for pause in (*_PAUSES, None):
            try:
                judged = _judged(backend, messages, skills, self._redact)
            except NoAnswerError as error:
                return PipelineResult(why_not=(f"no answer to {error}",), usage=backend.usage, answered=False)
            except RetryError as error:
                if pause is None:
                    return self._never_answered(backend, error)
                self._wait(min(error.after or pause, _MAX_PAUSE_SECONDS))
            else:
                break
        with self._counting:
            self._unanswered = 0
        return judged

    def _never_answered(self, backend: Backend, error: RetryError) -> PipelineResult:
        with self._counting:
            self._unanswered += 1
            if self._unanswered >= self._most_unanswered:
                raise error
        return PipelineResult(
            why_not=(f"the backend did not answer: {error.cause}",), usage=backend.usage, answered=False
        )

    def redacted(self, messages: Sequence[Message]) -> list[Message]:
        """Return messages as a back-end may see them."""
        return [
            Message(self._redact(message.text), message.turn, message.turn_key, message.how) for message in messages
        ]


def in_memory(name: str, text: str, number: int = 1) -> TargetDocument:
    """Return a skill that is in no file, the `number`-th in use."""
    path = f"/skills/{name}/SKILL.md"
    return TargetDocument(SkillRef(name, path), text.encode(), SkillDoc(number, name, path, text))


def _judged(
    backend: Backend, messages: Sequence[Message], skills: Sequence[TargetDocument], redact: Redact
) -> PipelineResult:
    judge = Judge(backend, messages, skills, "", redact)
    try:
        verdict = judge.verdict()
    except RetryError:
        raise
    except SkilldError as error:
        if error.remedy:  # the set-up is wrong, and will be for every other case
            raise
        return PipelineResult(why_not=(str(error),), usage=backend.usage)
    proposed: list[Update] = []
    learned = [update for update, _ in verdict.learned]
    lost = [*verdict.lost, *verdict.learned]
    flags: list[str] = []
    why_not = [*judge.unusable, *verdict.dropped, *verdict.faults]
    for loaded in skills:
        checked = [item for item in verdict.proposed if item.update.skill == loaded.doc.number]
        updates = [item.update for item in checked]
        if not checked:
            continue
        try:
            composed = judge.edit(loaded, checked)
        except RetryError:
            raise
        except SkilldError as error:
            why_not.append(str(error))
            learned += updates
            lost += [(update, error.cause) for update in updates]
            continue
        flags += composed.flags
        proposed += [item.update for item in composed.checked]
        learned += [item.update for item in composed.left_out]
        why_not += [NO_EDIT] * len(composed.left_out)
        lost += [(item.update, NO_EDIT) for item in composed.left_out]
    return PipelineResult(
        tuple(proposed), tuple(learned), tuple(flags), tuple(why_not), backend.usage, lost=tuple(lost)
    )


# Which of the proposed updates are those that a reader found. Measured on the labelled development batches (46 updates;
# the person's own sentence against the reader's gist of it): at SAME, 40 are taken for the same, and 5 of 40 gists of
# other updates of the batch would be, if they stood in the same turn.

SAME = 0.5
_TURN_ALONE = 0.4  # ranks below every match by meaning


def likeness(one: str, other: str) -> float:
    """Return the share of content words in common, of the sentence that has fewer: 0 to 1."""
    if fold(one) == fold(other):
        return 1.0
    few, many = sorted((content_stems(one), content_stems(other)), key=len)
    return share_held(few, many)


def held(words: str, ground: str) -> float:
    """Return the share of the content words of one text that another holds: 0 to 1."""
    return share_held(content_stems(words), content_stems(ground))


def match(found: Sequence[Update], gold: Sequence[GoldUpdate], case: BatchCase) -> dict[int, int]:
    """Return which update means which of `gold`, as positions, one to one, the likest first.

    Where a gist is not worded like the talk it comes from (most often: it is in another language), words cannot tell,
    and the turn alone decides.
    """
    pairs = [
        (score, i, j)
        for i, update in enumerate(found)
        for j, wanted in enumerate(gold)
        if (update.skill, update.turn) == (wanted.skill, wanted.turn) and (score := _score(update, wanted, case))
    ]
    matched: dict[int, int] = {}
    for _, i, j in sorted(pairs, key=lambda pair: -pair[0]):
        if i not in matched and j not in matched.values():
            matched[i] = j
    return matched


def _score(update: Update, wanted: GoldUpdate, case: BatchCase) -> float:
    alike = likeness(update.change, wanted.gist)
    if alike >= SAME:
        return alike
    apart = other_tongue(wanted.gist, update.change) or not _is_worded_like_the_talk(wanted, case)
    return _TURN_ALONE if apart else 0.0


def _is_worded_like_the_talk(wanted: GoldUpdate, case: BatchCase) -> bool:
    place = next(i for i, message in enumerate(case.messages) if message.turn == wanted.turn)
    talk = " ".join(message.text for message in case.messages[max(0, place - 1) : place + 1])
    return held(wanted.gist, talk) >= SAME


Case = TypeVar("Case")
Outcome = TypeVar("Outcome")


def in_order(cases: Sequence[Case], judge: Callable[[Case], Outcome], jobs: int) -> Iterator[Outcome]:
    """Yield the outcome of each case in their order, with at most `jobs` of them judged at the same time.

    Raises what `judge` raised, at the place of its case. Once that happened, or nobody reads on, no further case is
    begun; those under way are left to themselves and end with the program.
    """
    if jobs == 1:
        yield from map(judge, cases)
        return
    waiting = [(case, Future[Outcome]()) for case in cases]
    left = iter(waiting)
    taking = threading.Lock()
    ended = threading.Event()

    def work() -> None:
        while not ended.is_set():
            with taking:
                taken = next(left, None)
            if taken is None:
                return
            case, future = taken
            try:
                future.set_result(judge(case))
            except BaseException as error:  # noqa: BLE001 - whoever reads this outcome raises it
                future.set_exception(error)

    for number in range(min(jobs, len(waiting))):
        # A thread of an executor would be waited for at the end, as long as its request may take.
        threading.Thread(target=work, name=f"case-{number}", daemon=True).start()
    try:
        for _, future in waiting:
            yield future.result()
    finally:
        ended.set()


# A worker asks no model where no skill is in use; to score a model on single turns, it is shown this one.
_ANY_WORK = "---\nname: any-work\ndescription: How the person wants work to be done here.\n---\n\n# Any work\n"
_QUOTED = re.compile(r"'.*'")  # what a check names of an answer
_HEARD = 0.01  # the least confidence of a turn that was heard at all


@dataclass(frozen=True, slots=True)
class BatchResult:
    """A batch with what came of it: `right` maps proposed updates to gold ones, `optional` holds those set aside."""

    case: BatchCase
    judged: PipelineResult
    right: Mapping[int, int]
    optional: frozenset[int]

    @property
    def counted(self) -> int:
        """The number of updates that count."""
        return len(self.judged.proposed) - len(self.optional)

    @property
    def spared(self) -> bool:
        """Whether the gate would take the batch for chatter, so that no back-end would be asked."""
        return not any(needs_classification(m.text) for m in self.case.messages if m.by_person)


def lost(one: BatchResult) -> list[tuple[Update, str, bool]]:
    """Return the updates of an answer that were not proposed, each with the check that lost it.

    The third says whether it was right: it means what a reader found, and nothing proposed does.
    """
    missed = [gold for j, gold in enumerate(one.case.gold) if j not in one.right.values()]
    updates = [update for update, _ in one.judged.lost]
    right = match(updates, missed, one.case)
    return [(update, why, i in right) for i, (update, why) in enumerate(one.judged.lost)]


def judge_batches(
    cases: Sequence[BatchCase], backend: Callable[[BatchCase], Backend], pipeline: Pipeline, *, jobs: int = 1
) -> Iterator[BatchResult]:
    """Put every case through the pipeline, each before a back-end of its own, `jobs` at a time."""

    def judge(case: BatchCase) -> BatchResult:
        skills = [in_memory(name, text, number) for number, (name, text) in enumerate(case.skills, 1)]
        judged = pipeline.judge(backend(case), pipeline.redacted(case.messages), skills)
        right = match(judged.proposed, case.gold, case)
        rest = [i for i in range(len(judged.proposed)) if i not in right]
        aside = match([judged.proposed[i] for i in rest], case.optional, case)
        return BatchResult(case, judged, right, frozenset(rest[i] for i in aside))

    return in_order(cases, judge, jobs)


def judge_turns(
    turns: Iterable[LabelledTurn], backend: Callable[[], Backend], pipeline: Pipeline
) -> Iterator[tuple[JudgedTurn, Usage]]:
    """Put every turn through the pipeline as a batch of its own, with the agent's text before it.

    A turn's confidence is that of its best update that would be kept or proposed, 0 if there is none.
    """
    for turn in turns:
        asked = backend()
        before = [Message(turn.prev_assistant)] if turn.prev_assistant else []
        messages = pipeline.redacted([*before, Message(turn.text, turn=1, turn_key=turn.id)])
        skills = [] if asked.name == OFFLINE else [in_memory("any-work", _ANY_WORK)]
        judged = pipeline.judge(asked, messages, skills)
        kept = (max(update.confidence, _HEARD) for update in (*judged.proposed, *judged.learned))
        yield JudgedTurn(turn, max(kept, default=0.0)), judged.usage


def figures(scored: Sequence[BatchResult]) -> dict[str, Any]:
    """Return the figures under the keys of `skilld eval batches --json`; a share of nothing is None."""
    usage = sum((one.judged.usage for one in scored), Usage())
    random = [one for one in scored if one.case.sample == RANDOM]
    false_alarms = sum(one.counted > 0 and not one.case.gold for one in random)
    return {
        "kind": "batches",
        "n": len(scored),
        **_batch_level(scored),
        "false_alarms_per_100_random": round(100 * false_alarms / len(random), 4) if random else None,
        "updates": _update_level(scored),
        "by_lang": _by(scored, lambda case: (case.lang,)),
        "by_tag": _by(scored, lambda case: case.tags or ("untagged",)),
        "by_kind": _by_kind(scored),
        "lost": _by_check(scored),
        "flagged": sum(bool(one.judged.flags) for one in scored),
        "unanswered": sum(not one.judged.answered for one in scored),
        "gate": {
            "spared": sum(one.spared for one in scored),
            "lost": sum(one.spared and bool(one.case.gold) for one in scored),
        },
        "calls": usage.calls,
        "tokens": usage.tokens_in + usage.tokens_out,
        "tokens_in": usage.tokens_in,
        "usd": round(usage.usd, 6),
    }


def spent(scored: Sequence[BatchResult]) -> float:
    """Return the dollars that batches cost, as far as the model's price is known."""
    return sum(one.judged.usage.usd for one in scored)


def rows_out(scored: Sequence[BatchResult]) -> list[dict[str, Any]]:
    """Return the outcome of each case."""
    return [
        {
            "id": one.case.id,
            "gold": len(one.case.gold),
            "found": one.counted > 0,
            "missed": [g.turn for j, g in enumerate(one.case.gold) if j not in one.right.values()],
            "updates": [
                {
                    "turn": update.turn,
                    "skill": update.skill,
                    "kind": update.kind.value,
                    "confidence": update.confidence,
                    "verdict": "right" if i in one.right else "optional" if i in one.optional else "wrong",
                    "change": update.change,
                }
                for i, update in enumerate(one.judged.proposed)
            ],
            "lost": [
                {"turn": update.turn, "change": update.change, "why": why, "right": right}
                for update, why, right in lost(one)
            ],
            "learned": len(one.judged.learned),
            "answered": one.judged.answered,
            "flags": list(one.judged.flags),
            "why_not": list(one.judged.why_not),
        }
        for one in scored
    ]


def _batch_level(scored: Sequence[BatchResult]) -> dict[str, Any]:
    gold = sum(bool(one.case.gold) for one in scored)
    found = sum(one.counted > 0 for one in scored)
    return _figures(gold, found, sum(one.counted > 0 and bool(one.case.gold) for one in scored))


def _update_level(scored: Sequence[BatchResult]) -> dict[str, Any]:
    gold = sum(len(one.case.gold) for one in scored)
    return _figures(gold, sum(one.counted for one in scored), sum(len(one.right) for one in scored))


def _figures(gold: int, found: int, true: int) -> dict[str, Any]:
    return {
        "precision": share(true, found),
        "recall": share(true, gold),
        "f1": share(2 * true, found + gold),
        "gold": gold,
        "found": found,
        "true": true,
    }


def _by(scored: Sequence[BatchResult], keys: Callable[[BatchCase], Sequence[str]]) -> dict[str, Any]:
    groups = grouped((key, one) for one in scored for key in keys(one.case))
    return {
        key: {"n": len(group), **_batch_level(group), "updates": _update_level(group)} for key, group in groups.items()
    }


def _by_check(scored: Sequence[BatchResult]) -> dict[str, Any]:
    """Return by check how many updates of the answers it lost: right ones, and others."""
    counts = grouped((_QUOTED.sub("...", why), right) for one in scored for _, why, right in lost(one))
    return {why: {"right": sum(found), "other": len(found) - sum(found)} for why, found in counts.items()}


def _by_kind(scored: Sequence[BatchResult]) -> dict[str, Any]:
    """Return how many of the reader's updates of each kind were found."""
    found = grouped(
        (gold.kind.value, j in one.right.values()) for one in scored for j, gold in enumerate(one.case.gold)
    )
    return {kind: {"gold": len(hits), "recall": share(sum(hits), len(hits))} for kind, hits in found.items()}
