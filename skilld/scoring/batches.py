"""Runs labelled batches and turns through the pipeline and computes the figures.

Compares the proposed updates with those a reader would remember. A batch is found if it yields any update; an update is
right if it has the same skill, the same turn and the same meaning. Optional updates count neither way.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from multiprocessing.pool import ThreadPool
from typing import Any, TypeVar

from skilld.batching.gate import needs_classification
from skilld.classify.backends import OFFLINE, Backend
from skilld.errors import RetryError, SkilldError
from skilld.pipeline.documents import TargetDocument
from skilld.pipeline.judge import NO_EDIT_REASON, Judge
from skilld.scoring.loader import BatchCase, GoldUpdate, LabelledTurn
from skilld.scoring.stored import NoAnswerError
from skilld.scoring.turns import RANDOM_SAMPLE, JudgedTurn, group_by_key, share
from skilld.text import Redact, fold
from skilld.types import Message, SkillDoc, SkillRef, Update, Usage
from skilld.values import value_class
from skilld.words import content_stems, is_other_language, matching_share

# One batch through all stages after reading, without git. The worker's own judge decides, so the figures show what a
# person would have seen.

_RETRY_SECONDS = (2.0, 8.0, 30.0)  # before each further attempt, unless the back-end names a time
_MAX_PAUSE_SECONDS = 60.0
_MAX_UNANSWERED = 3  # unanswered cases in a row, per parallel job, after which the back-end counts as down


@value_class
class PipelineResult:
    """The result of one batch. `flags` are those of the edits; `answered` is false if no attempt got an answer.

    `lost` are the updates of the answer that are not proposed, each with the check that stopped it.
    """

    proposed: tuple[Update, ...] = ()
    learned: tuple[Update, ...] = ()
    flags: tuple[str, ...] = ()
    why_not: tuple[str, ...] = ()
    usage: Usage = field(default_factory=Usage)
    answered: bool = True
    lost: tuple[tuple[Update, str], ...] = ()


class Pipeline:
    """The stages after reading, with retries for a busy back-end: `wait` sleeps, `jobs` is the number of threads."""

    def __init__(self, redact: Redact, wait: Callable[[float], None], *, jobs: int = 1) -> None:
        self._redact = redact
        self._wait = wait
        self._most_unanswered = _MAX_UNANSWERED * jobs
        self._unanswered = 0
        self._counting = threading.Lock()

    def judge(self, backend: Backend, messages: Sequence[Message], skills: Sequence[TargetDocument]) -> PipelineResult:
        """Return the result for redacted messages. Raises SkilldError if the back-end cannot be used at all."""
        for pause in (*_RETRY_SECONDS, None):
            try:
                judged = _judge(backend, messages, skills, self._redact)
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
        """Return the messages, redacted for a back-end."""
        return [Message(self._redact(one.text), one.turn, one.turn_key, one.how) for one in messages]


def in_memory(name: str, text: str, number: int = 1) -> TargetDocument:
    """Return a skill without a file, the `number`-th in use."""
    path = f"/skills/{name}/SKILL.md"
    return TargetDocument(SkillRef(name, path), text.encode(), SkillDoc(number, name, path, text))


def _judge(
    backend: Backend, messages: Sequence[Message], skills: Sequence[TargetDocument], redact: Redact
) -> PipelineResult:
    judge = Judge(backend, messages, skills, "", redact)
    try:
        verdict = judge.verdict()
    except RetryError:
        raise
    except SkilldError as error:
        if error.remedy:  # the set-up is wrong for every other case too
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
        why_not += [NO_EDIT_REASON] * len(composed.left_out)
        lost += [(item.update, NO_EDIT_REASON) for item in composed.left_out]
    return PipelineResult(
        tuple(proposed), tuple(learned), tuple(flags), tuple(why_not), backend.usage, lost=tuple(lost)
    )


# The likeness from which an update counts as the reader's. On the labelled development batches (46 updates; the
# person's own sentence against the reader's gist), 40 reach it, and so would 5 of 40 gists of other updates of the
# batch if they were in the same turn.
SAME_LIKENESS = 0.5
_SAME_TURN_SCORE = 0.4  # ranks below every match by meaning


def likeness(one: str, other: str) -> float:
    """Return the share of content words that two sentences have in common, of the shorter one: 0 to 1."""
    if fold(one) == fold(other):
        return 1.0
    few, many = sorted((content_stems(one), content_stems(other)), key=len)
    return matching_share(few, many)


def share_contained(words: str, ground: str) -> float:
    """Return the share of a text's content words that another text contains: 0 to 1."""
    return matching_share(content_stems(words), content_stems(ground))


def match(found: Sequence[Update], gold: Sequence[GoldUpdate], case: BatchCase) -> dict[int, int]:
    """Match updates with `gold` one to one, the most alike first; return the positions.

    If a gist shares no words with its conversation (mostly because it is in another language), only the turn decides.
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
    if alike >= SAME_LIKENESS:
        return alike
    apart = is_other_language(wanted.gist, update.change) or not _shares_words_with_talk(wanted, case)
    return _SAME_TURN_SCORE if apart else 0.0


def _shares_words_with_talk(wanted: GoldUpdate, case: BatchCase) -> bool:
    place = next(i for i, message in enumerate(case.messages) if message.turn == wanted.turn)
    talk = " ".join(message.text for message in case.messages[max(0, place - 1) : place + 1])
    return share_contained(wanted.gist, talk) >= SAME_LIKENESS


Case = TypeVar("Case")
Outcome = TypeVar("Outcome")


def map_in_order(cases: Sequence[Case], judge: Callable[[Case], Outcome], jobs: int) -> Iterator[Outcome]:
    """Yield the outcomes of cases in order, judging at most `jobs` at the same time.

    Raises what `judge` raised, at the place of its case. After that, or once the iterator is closed, no further case is
    started; those in progress are abandoned and end with the program.
    """
    if jobs == 1:
        yield from map(judge, cases)
        return
    pool = ThreadPool(jobs)  # of daemons: an executor's threads would delay the end of the program
    try:
        yield from pool.imap(judge, cases)
    finally:
        pool.terminate()


# A worker asks a model only if a skill is in use; to score a model on single turns, it is shown this one.
_GENERIC_SKILL = "---\nname: any-work\ndescription: How the person wants work to be done here.\n---\n\n# Any work\n"
_QUOTED_PART = re.compile(r"'.*'")  # the part of an answer that a check quotes
_MIN_CONFIDENCE = 0.01  # of a turn in which anything was found


@value_class
class BatchResult:
    """The result of a batch: `right` maps proposed updates to gold ones, `optional` has the proposed optional ones."""

    case: BatchCase
    judged: PipelineResult
    right: Mapping[int, int]
    optional: frozenset[int]

    @property
    def counted(self) -> int:
        """The number of proposed updates that are not optional."""
        return len(self.judged.proposed) - len(self.optional)

    @property
    def spared(self) -> bool:
        """Whether the gate takes the batch for chatter, so that no back-end is asked."""
        return not any(needs_classification(m.text) for m in self.case.messages if m.by_person)


def lost_updates(one: BatchResult) -> list[tuple[Update, str, bool]]:
    """Return the updates of an answer that were not proposed, each with the check that stopped it.

    The third value says whether it was right: it matches a gold update that no proposed update matches.
    """
    missed = [gold for j, gold in enumerate(one.case.gold) if j not in one.right.values()]
    updates = [update for update, _ in one.judged.lost]
    right = match(updates, missed, one.case)
    return [(update, why, i in right) for i, (update, why) in enumerate(one.judged.lost)]


def judge_batches(
    cases: Sequence[BatchCase], backend: Callable[[BatchCase], Backend], pipeline: Pipeline, *, jobs: int = 1
) -> Iterator[BatchResult]:
    """Run every case through the pipeline, each with its own back-end, `jobs` at a time."""

    def judge(case: BatchCase) -> BatchResult:
        skills = [in_memory(name, text, number) for number, (name, text) in enumerate(case.skills, 1)]
        judged = pipeline.judge(backend(case), pipeline.redacted(case.messages), skills)
        right = match(judged.proposed, case.gold, case)
        rest = [i for i in range(len(judged.proposed)) if i not in right]
        aside = match([judged.proposed[i] for i in rest], case.optional, case)
        return BatchResult(case, judged, right, frozenset(rest[i] for i in aside))

    return map_in_order(cases, judge, jobs)


def judge_turns(
    turns: Iterable[LabelledTurn], backend: Callable[[], Backend], pipeline: Pipeline
) -> Iterator[tuple[JudgedTurn, Usage]]:
    """Run every turn through the pipeline as a batch of its own, with the agent's text before it.

    A turn's confidence is that of its best update that would be kept or proposed, or 0.
    """
    for turn in turns:
        asked = backend()
        before = [Message(turn.prev_assistant)] if turn.prev_assistant else []
        messages = pipeline.redacted([*before, Message(turn.text, turn=1, turn_key=turn.id)])
        skills = [] if asked.name == OFFLINE else [in_memory("any-work", _GENERIC_SKILL)]
        judged = pipeline.judge(asked, messages, skills)
        kept = (max(update.confidence, _MIN_CONFIDENCE) for update in (*judged.proposed, *judged.learned))
        yield JudgedTurn(turn, max(kept, default=0.0)), judged.usage


def figures(scored: Sequence[BatchResult]) -> dict[str, Any]:
    """Return the figures for `skilld eval batches --json`; a share of nothing is None."""
    usage = sum((one.judged.usage for one in scored), Usage())
    random = [one for one in scored if one.case.sample == RANDOM_SAMPLE]
    false_alarms = sum(one.counted > 0 and not one.case.gold for one in random)
    return {
        "kind": "batches",
        "n": len(scored),
        **_batch_level(scored),
        "false_alarms_per_100_random": round(100 * false_alarms / len(random), 4) if random else None,
        "updates": _update_level(scored),
        "by_lang": _figures_by(scored, lambda case: (case.lang,)),
        "by_tag": _figures_by(scored, lambda case: case.tags or ("untagged",)),
        "by_kind": _figures_by_kind(scored),
        "lost": _lost_by_check(scored),
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


def outcome_rows(scored: Sequence[BatchResult]) -> list[dict[str, Any]]:
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
                for update, why, right in lost_updates(one)
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


def _figures_by(scored: Sequence[BatchResult], keys: Callable[[BatchCase], Sequence[str]]) -> dict[str, Any]:
    groups = group_by_key((key, one) for one in scored for key in keys(one.case))
    return {
        key: {"n": len(group), **_batch_level(group), "updates": _update_level(group)} for key, group in groups.items()
    }


def _lost_by_check(scored: Sequence[BatchResult]) -> dict[str, Any]:
    """Count, for each check, the right and other updates that it stopped."""
    counts = group_by_key(
        (_QUOTED_PART.sub("...", why), right) for one in scored for _, why, right in lost_updates(one)
    )
    return {why: {"right": sum(found), "other": len(found) - sum(found)} for why, found in counts.items()}


def _figures_by_kind(scored: Sequence[BatchResult]) -> dict[str, Any]:
    """Return how many gold updates of each kind were found."""
    found = group_by_key(
        (gold.kind.value, j in one.right.values()) for one in scored for j, gold in enumerate(one.case.gold)
    )
    return {kind: {"gold": len(hits), "recall": share(sum(hits), len(hits))} for kind, hits in found.items()}
