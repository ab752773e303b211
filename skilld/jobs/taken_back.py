"""What a batch's words mean for open proposals, learnings and rejections: taken back, said again or asked for again."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from skilld.classify.offline.provenance import own_words
from skilld.classify.offline.release import confirming, only_takes_back, releases, taken_back, unclear_releases
from skilld.classify.verify import Verdict
from skilld.git.same_project import is_same_file
from skilld.proposals.past_decisions import find_refused_sentence
from skilld.protocol import AnalyseBatch, FurtherEvidence, TakenBack
from skilld.text import fold, split_sentences, truncate
from skilld.types import Evidence, Kind, Message, Proposal, Update

_MAX_QUOTE = 200  # characters
TAKES_BACK = "it only takes back a rule that was waiting, or you took it back later"

_UNCLEAR = '"{}" fits several rules, so none of them was taken back'


def find_taken_back(job: AnalyseBatch, messages: Sequence[Message]) -> Iterator[TakenBack]:
    """Yield the open proposals that the person's own words in these messages take back by naming their rule."""
    near = near_proposals(job)
    meant = _taken_back(job, messages)
    for one in near:
        if quote := next((clause for rule, clause in meant if rule in _rules(one)), ""):
            yield TakenBack(one.id, truncate(fold(quote), _MAX_QUOTE))


def find_confirmed(job: AnalyseBatch, messages: Sequence[Message]) -> Iterator[FurtherEvidence]:
    """Yield the words that let go, once more, of a rule whose removal is proposed."""
    near = near_proposals(job)
    for message, said in _own_words(messages) if near else ():
        if (turn := message.turn_key) and turn in job.batch.turns:
            found = ((one.id, confirming(said, rule)) for one in near for rule in _rules(one))
            yield from (
                FurtherEvidence(name, Evidence(turn, truncate(fold(quote), _MAX_QUOTE)))
                for name, quote in found
                if quote
            )


def find_forgotten(job: AnalyseBatch, messages: Sequence[Message]) -> Iterator[str]:
    """Yield the IDs of the learnings that the person's own words in these messages take back by naming them."""
    meant = [rule for rule, _ in _taken_back(job, messages)]
    yield from (name for name, rule in _waiting_rules(job).items() if rule in meant)


def find_unclear(job: AnalyseBatch, messages: Sequence[Message]) -> Iterator[str]:
    """Yield why nothing was taken back by words that fit several rules alike."""
    known = _known_rules(job)
    for _, said in _own_words(messages) if known else ():
        for clause in unclear_releases(said, known):
            yield _UNCLEAR.format(truncate(fold(clause), _MAX_QUOTE))


def _taken_back(job: AnalyseBatch, messages: Sequence[Message]) -> list[tuple[Update, str]]:
    known = _known_rules(job)
    return [one for _, said in _own_words(messages) for one in taken_back(said, known)] if known else []


def _known_rules(job: AnalyseBatch) -> list[Update]:
    """Return the rules of learnings and of open proposals that words in the batch's folder can mean."""
    return [*_waiting_rules(job).values(), *(rule for one in near_proposals(job) for rule in _rules(one))]


def find_withdrawals(job: AnalyseBatch, messages: Sequence[Message]) -> Iterator[Evidence]:
    """Yield the clauses with which the person drops a rule for good, with the keys of their turns."""
    for message, said in _own_words(messages):
        if (turn := message.turn_key) and turn in job.batch.turns:
            yield from (Evidence(turn, truncate(fold(one.clause), _MAX_QUOTE)) for one in releases(said) if one.lasting)


def find_refused_again(
    job: AnalyseBatch, messages: Sequence[Message], paths: Collection[str], heard: Collection[int]
) -> Iterator[FurtherEvidence]:
    """Yield what repeats a rejected proposal for one of the files `paths`, in turns in which nothing was `heard`.

    The rules skip words that may not be lasting; those that were asked for before are.
    """
    decided = [one for one in job.decided if one.id and any(is_same_file(one.path, path) for path in paths)]
    for message, words in _own_words(messages) if decided else ():
        if message.turn_key and message.turn not in heard:
            for said in (part for line in words.splitlines() for part in split_sentences(line)):
                if (decision := find_refused_sentence(said, decided)) is not None:
                    yield FurtherEvidence(decision.id, Evidence(message.turn_key, fold(said)))


def _own_words(messages: Sequence[Message]) -> Iterator[tuple[Message, str]]:
    """Yield the person's messages, each with those of its words that are their own."""
    before: list[str] = []
    for message in messages:
        if message.by_person:
            yield message, own_words(message.text, before)
        else:
            before.append(message.text)


def _waiting_rules(job: AnalyseBatch) -> dict[str, Update]:
    kept = [one for one in (*job.waiting, *job.aside) if one.id]
    return {one.id: Update(None, "", one.change, "", Kind.PREFERENCE, 1, one.quote) for one in kept}


def without_taking_back(verdict: Verdict, job: AnalyseBatch) -> Verdict:
    """Return a verdict without the updates that only say that the rule of a proposal or learning no longer holds.

    Nor those that the person took back in a session that was read before: of past sessions, the newest are. Nor those
    that ask once more for a proposed removal.
    """
    rules = _known_rules(job)
    heard = [*(item.update for item in verdict.proposed), *(update for update, _ in verdict.learned)]
    later = [rule for said in job.withdrawals for rule, _ in taken_back(said, heard)]

    def takes_back(update: Update) -> bool:
        removes = update.kind is Kind.REMOVE_STEP
        return update in later or any(
            only_takes_back(update, one) or (removes and confirming(update.quote, one)) for one in rules
        )

    proposed = tuple(item for item in verdict.proposed if not takes_back(item.update))
    learned = tuple(pair for pair in verdict.learned if not takes_back(pair[0]))
    gone = len(verdict.proposed) + len(verdict.learned) - len(proposed) - len(learned)
    dropped = (*verdict.dropped, *([TAKES_BACK] if gone else []))
    return replace(verdict, proposed=proposed, learned=learned, dropped=dropped)


def gives_up(update: Update, proposal: Proposal) -> bool:
    """Whether an update about the rule of an open proposal drops that rule instead of asking for it again."""
    return update.kind is Kind.REMOVE_STEP and all(one.kind is not Kind.REMOVE_STEP for one in proposal.updates)


def take_back(proposal: Proposal, update: Update) -> TakenBack:
    """Return that the words of an update take back an open proposal."""
    return TakenBack(proposal.id, truncate(fold(update.quote), _MAX_QUOTE))


def loaded_proposals(job: AnalyseBatch) -> list[Proposal]:
    """Return the open proposals of other batches for files that the batch's agent loads in its folder."""
    others = (one for one in job.open if one.batch_id != job.batch.batch and _is_near(one, job))
    return [one for one in others if not one.agents or job.batch.agent in one.agents]


def near_proposals(job: AnalyseBatch) -> list[Proposal]:
    """Return the open proposals that words in the batch's folder can mean: "forget that" means what was said here."""
    others = (one for one in job.open if one.batch_id != job.batch.batch and one.id not in job.newer)
    return [one for one in others if _is_near(one, job) and (one.id not in job.elsewhere or not _is_own(one, job))]


def _rules(proposal: Proposal) -> Sequence[Update]:
    """Return what a proposal asks for, with the person's words; nothing if neither is known."""
    said = " ".join(one.quote for one in proposal.evidence)
    return proposal.updates or ([Update(None, "", proposal.summary, "", proposal.kind, 1, said)] if said else [])


def _is_near(proposal: Proposal, job: AnalyseBatch) -> bool:
    """Whether somebody who works in the batch's folder may mean a proposal: it is not for another project."""
    used = any(skill.path == proposal.path for skill in job.batch.skills)
    below = bool(proposal.repo) and Path(job.batch.cwd or "/").is_relative_to(proposal.repo)
    return used or below or _is_own(proposal, job)


def _is_own(proposal: Proposal, job: AnalyseBatch) -> bool:
    """Whether a proposal is for a file of the person's own that the session did not use as a skill."""
    path, home = Path(proposal.path), Path(job.batch.home or "/")
    used = any(skill.path == proposal.path for skill in job.batch.skills)
    return not used and path.is_relative_to(home) and path.relative_to(home).parts[0].startswith(".")
