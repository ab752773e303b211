"""Which open proposals a batch's words take back, said in another batch or session than the proposals' own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from skilld.classify.offline.provenance import own_words
from skilld.classify.offline.retraction import taking_back
from skilld.protocol import AnalyseBatch, TakenBack
from skilld.text import fold, truncate
from skilld.types import Message, Proposal, Update

_MAX_QUOTE = 200  # characters


def find_taken_back(job: AnalyseBatch, messages: Sequence[Message]) -> Iterator[TakenBack]:
    """Yield the open proposals that the person's own words in these messages take back by naming their rule."""
    near = [one for one in job.open if one.batch_id != job.batch.batch and _is_near(one, job)]
    before: list[str] = []
    for message in messages if near else ():
        if not message.by_person:
            before.append(message.text)
            continue
        said = own_words(message.text, before)
        for one in near:
            if quote := next(filter(None, (taking_back(said, rule) for rule in _rules(one))), ""):
                yield TakenBack(one.id, truncate(fold(quote), _MAX_QUOTE))


def _rules(proposal: Proposal) -> Sequence[Update]:
    """Return what the person asked for with a proposal; nothing if it is not based on their words."""
    said = " ".join(one.quote for one in proposal.evidence)
    return proposal.updates or ([Update(None, "", proposal.summary, "", proposal.kind, 1, said)] if said else [])


def _is_near(proposal: Proposal, job: AnalyseBatch) -> bool:
    """Whether somebody who works in the batch's folder may speak of a proposal: it is not for another project."""
    path, cwd, home = Path(proposal.path), Path(job.batch.cwd or "/"), Path(job.batch.home or "/")
    if any(skill.path == proposal.path for skill in job.batch.skills):
        return True
    if path.is_relative_to(home) and path.relative_to(home).parts[0].startswith("."):
        return True  # the person's own
    return bool(proposal.repo) and cwd.is_relative_to(proposal.repo)
