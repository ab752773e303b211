"""One run of mining from start to end: sessions, questions, judgement, drafts, proposals.

Whoever starts it says what to read, answers whether it may cost something, and shows how far it has come.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace

from skilld.errors import SkilldError
from skilld.mining import domains
from skilld.mining.candidates import Prices, Report, consider
from skilld.mining.dedup import ProposalHistory
from skilld.mining.options import Hooks, Options, Progress, World
from skilld.mining.proposing import become
from skilld.mining.reading import SessionSet, read
from skilld.mining.sessions import Transcript
from skilld.mining.values import Candidate
from skilld.skills.spec import NAME
from skilld.store import Store


def mine(options: Options, world: World, hooks: Hooks) -> Report:
    """Do one run. Raises SkilldError where the model cannot be asked or a name cannot be a skill's."""
    if options.name and not NAME.fullmatch(options.name):
        raise SkilldError("That is no name for a skill", options.name, "Small letters, digits and single hyphens.")
    prices = Prices(world.terms)
    reading = read(counted(options.transcripts, hooks.progress), options.wanted, world.redact, prices)
    considered = consider(reading, options, world, hooks)
    report, run = considered.report, considered.run
    if not options.dry_run:
        support(considered.proposed, world.store, report.reading)
    for number, candidate in enumerate(_named(report.judgement.candidates, options.name), 1):
        hooks.progress("proposals", number, len(report.judgement.candidates))
        report.became.append(become(candidate, run, world.around, hooks.edit, dry_run=options.dry_run))
    said = {proof.turn for one in report.judgement.candidates for proof in one.evidence}
    report.gathered = list(
        domains.propose(
            options.gather,
            world.store,
            world.around,
            redact=world.redact,
            now=time.time(),
            said=said,
            dry_run=options.dry_run,
        )
    )
    report.usage = sum(run.spent, report.asked.usage)
    return report


def support(proposed: ProposalHistory, store: Store, reading: SessionSet) -> None:
    """Keep what was said again of open proposals as evidence of theirs, but for words from a file given by hand."""
    by_hand = {turn.turn_key for one in reading.sessions if reading.is_by_hand(one.id) for turn in one.turns}
    for (proposal, _), evidence in proposed.supported.items():
        if evidence.turn not in by_hand:
            store.proposals.support(proposal, evidence)


def counted(transcripts: Sequence[Transcript], progress: Progress) -> Iterator[Transcript]:
    """Yield the transcripts, and tell how far it has come."""
    for number, transcript in enumerate(transcripts, 1):
        progress("transcripts", number, len(transcripts))
        yield transcript


def _named(candidates: Sequence[Candidate], name: str) -> list[Candidate]:
    """Give the first skill to create the name that was asked for."""
    new = next((one for one in candidates if one.creates), None)
    return [replace(one, name=name) if name and one is new else one for one in candidates]
