"""Has this been proposed before? Compares turns, and meaning in whatever wording. Pure.

The daemon's own rule (`skilld.proposals.lessons`) holds for one skill; a new skill has no place yet, so here all
proposals count. What was decided against comes again only when it was said again since, in another session and other
words.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from skilld.classify.said_already import says_already
from skilld.clock import seconds
from skilld.library.clusters import Ask
from skilld.text import folded
from skilld.types import Evidence, Proposal, State
from skilld.words import content_stems, same

_SAYS = {
    State.OPEN: "the open proposal {id} already says this",
    State.ACCEPTED: "you accepted it ({id})",
    State.DROPPED: "you dropped it ({id})",
    State.REJECTED: "you rejected it ({id})",
    State.REVERTED: "you reverted it ({id})",
    State.STALE: "it was already proposed ({id})",
    State.SUPERSEDED: "it was already proposed ({id})",
    State.SAID: "the file already said this ({id})",
}
_DECIDED_AGAINST = frozenset({State.REJECTED, State.REVERTED, State.DROPPED})


_DECLINED = tuple(_SAYS[state].partition("(")[0] for state in sorted(_DECIDED_AGAINST))


def is_declined(why: str | None) -> bool:
    """Whether a reason of `ProposalHistory.duplicate_reason` is that the person decided against it."""
    return bool(why) and str(why).startswith(_DECLINED)


def is_waiting(why: str) -> bool:
    """Whether a reason of `ProposalHistory.duplicate_reason` is that an open proposal has it."""
    return why.startswith(_SAYS[State.OPEN].partition("{")[0])


@dataclass(frozen=True, slots=True)
class _Said:
    """What a proposal says, ready to be compared."""

    proposal: Proposal
    turns: frozenset[str]
    quotes: frozenset[str]
    text: str
    lines: tuple[frozenset[str], ...]


class ProposalHistory:
    """All that was ever proposed. `supported` are open proposals whose ask was found elsewhere, too: id and where."""

    def __init__(self, proposals: Sequence[Proposal]) -> None:
        self._all = [_said(proposal) for proposal in proposals]
        self.supported: dict[tuple[str, str], Evidence] = {}

    def duplicate_reason(self, ask: Ask, path: str) -> str | None:
        """Return why an ask, for the skill at `path` or for a new one, need not be proposed; None where it may.

        A proposal that says it goes before one that rests on the same words, as the halves of one taken in part may.
        """
        stems = content_stems(ask.text)
        quoting: list[_Said] = []

        def known() -> Iterator[_Said]:
            for said in self._all:
                if path and said.proposal.path != path and said.proposal.state is not State.OPEN:
                    continue  # another skill may need it too
                if _says(ask, stems, said):
                    yield said
                elif _quotes(ask, said):
                    quoting.append(said)
            yield from quoting

        for said in known():
            if not _anew(ask, said):
                self._support(ask, said)
                return _SAYS[said.proposal.state].format(id=said.proposal.id)
        return None

    def _support(self, ask: Ask, said: _Said) -> None:
        if said.proposal.state is State.OPEN:
            new = {one.id: Evidence(one.id, one.quote) for one in ask.said if one.id not in said.turns}
            self.supported |= {(said.proposal.id, turn): evidence for turn, evidence in new.items()}


def _says(ask: Ask, stems: frozenset[str], said: _Said) -> bool:
    return says_already(ask.text, said.text) or any(same(stems, line) for line in said.lines)


def _quotes(ask: Ask, said: _Said) -> bool:
    return any(one.id in said.turns and folded(one.quote) in said.quotes for one in ask.said)


def _anew(ask: Ask, said: _Said) -> bool:
    """Whether what was decided against was said again since, in another session and in other words."""
    if said.proposal.state not in _DECIDED_AGAINST:
        return False
    decided = seconds(said.proposal.decided_at) or 0.0
    return any(
        one.piece.at > decided and one.id not in said.turns and folded(one.quote) not in said.quotes for one in ask.said
    )


def _said(proposal: Proposal) -> _Said:
    text = "\n".join(operation.text for operation in proposal.operations)
    lines = [line.strip().lstrip("-*+0123456789. ") for line in f"{text}\n{proposal.summary}".splitlines()]
    return _Said(
        proposal,
        frozenset(piece.turn for piece in proposal.evidence),
        frozenset(folded(piece.quote) for piece in proposal.evidence),
        text,
        tuple(stems for line in lines if (stems := content_stems(line))),
    )
