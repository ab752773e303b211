"""Finds out whether an ask was proposed before, by its turns and its meaning. Pure.

The daemon's own rule (`skilld.proposals.past_decisions`) is about one file. A new skill has no file yet, so here all
proposals count whose file the agent loads where the ask was made. What the person decided against is proposed again
only if they said it since, in another session and in other words.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from skilld.classify.said_already import agrees, says_already
from skilld.clock import parse_time
from skilld.library.clusters import Ask
from skilld.mining.similarity import has_word
from skilld.text import fold_case
from skilld.types import Evidence, Op, Proposal, State, TargetKind
from skilld.values import value_class
from skilld.words import content_stems, has_negation, is_same_ask

_REASONS = {
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
# A step or trap of a new skill, as mining writes it: `pnpm db:reset` does not say which package manager to use.
_OBSERVED_STEP = re.compile(r"^[ \t]*(?:\d+[.)]|-) (?:Run )?`[^`\n]*`(?:\.| failed\b.*)?$", re.MULTILINE)
_HERE = frozenset({State.OPEN, State.ACCEPTED})
_STANDING = frozenset({TargetKind.INSTRUCTIONS, TargetKind.RULES, TargetKind.PERSONAL})


_DECLINED_PREFIXES = tuple(_REASONS[state].partition("(")[0] for state in sorted(_DECIDED_AGAINST))


def is_declined(why: str | None) -> bool:
    """Whether a reason from `ProposalHistory.duplicate_reason` is that the person decided against it."""
    return bool(why) and str(why).startswith(_DECLINED_PREFIXES)


def is_waiting(why: str) -> bool:
    """Whether a reason from `ProposalHistory.duplicate_reason` is an open proposal."""
    return why.startswith(_REASONS[State.OPEN].partition("{")[0])


@value_class
class _ProposalText:
    """A proposal with its texts prepared for comparison."""

    proposal: Proposal
    turns: frozenset[str]
    quotes: frozenset[str]
    text: str
    lines: tuple[tuple[str, frozenset[str]], ...]


class ProposalHistory:
    """All past proposals. `supported` has further evidence for open ones, by the proposal's id and the turn."""

    def __init__(self, proposals: Sequence[Proposal]) -> None:
        self._all = [_proposal_text(proposal) for proposal in proposals]
        self.supported: dict[tuple[str, str], Evidence] = {}

    def duplicate_reason(self, ask: Ask, path: str, agents: Collection[str] = ()) -> str | None:
        """Return why an ask, for the file at `path` or a new skill, need not be proposed; None if it may.

        `agents` are those of its sessions, empty if unknown.
        A proposal that says the same is preferred to one with the same quotes, as the halves of a proposal that was
        accepted in part have.
        """
        stems = content_stems(ask.text)
        quoting: list[_ProposalText] = []

        def known() -> Iterator[_ProposalText]:
            for said in self._all:
                if not _counts(said.proposal, ask, path, agents) or _only_reworded(ask, said.proposal):
                    continue
                if says_already(ask.text, said.text) or any(
                    is_same_ask(stems, known) and agrees(ask.text, line) for line, known in said.lines
                ):
                    yield said
                elif any(one.id in said.turns and _is_quoted(one.quote, said.quotes) for one in ask.said):
                    quoting.append(said)
            yield from quoting

        for said in known():
            if not _is_new_ask(ask, said):
                if said.proposal.state is State.OPEN:
                    new = [Evidence(one.id, one.quote) for one in ask.said if one.id not in said.turns]
                    self.supported |= {(said.proposal.id, one.turn): one for one in new}
                return _REASONS[said.proposal.state].format(id=said.proposal.id)
        newest = max(one.piece.at for one in ask.said)
        since = (
            known.proposal
            for known in self._all
            if known.proposal.state is State.ACCEPTED and (parse_time(known.proposal.created_at) or 0.0) > newest
        )
        gone = (one.id for one in since if _counts(one, ask, path, agents) and _takes_away(one, ask))
        return next((f"you accepted an edit that removes it ({name})" for name in gone), None)


def _is_quoted(said: str, quotes: Collection[str]) -> bool:
    """Whether words are quoted, or a part of them: each judge cuts a sentence where it sees fit."""
    words = fold_case(said)
    whole = words in quotes
    return whole or (bool(words) and any(has_word(one, words) or _is_nearly_all(words, one) for one in quotes))


def _is_nearly_all(words: str, quote: str) -> bool:
    """Whether a quote has all that words ask for: the rest of them is a reason."""
    if not content_stems(quote) or not has_word(words, quote):
        return False
    from skilld.classify.offline.detector import find_practices  # takes time to load

    return not any(has_negation(rest) or find_practices(rest) for rest in words.split(quote) if content_stems(rest))


def _replaced_text(known: Proposal) -> str:
    return "\n".join(one.anchor for one in known.operations if one.op in {Op.REPLACE, Op.DELETE})


def _only_reworded(ask: Ask, known: Proposal) -> bool:
    """Whether the person decided against other words for a line that says the ask, and not against the line."""
    return known.state in _DECIDED_AGAINST and says_already(ask.text, _replaced_text(known))


def _takes_away(known: Proposal, ask: Ask) -> bool:
    """Whether a proposal replaces or deletes the line that says an ask."""
    return says_already(ask.text, _replaced_text(known)) and not says_already(
        ask.text, "\n".join(one.text for one in known.operations)
    )


def _counts(known: Proposal, ask: Ask, path: str, agents: Collection[str]) -> bool:
    """Whether a proposal that says the same makes an ask for the file at `path` (or a new skill) needless.

    One that the person decided against does so whatever its file. One for another skill does so only while it is open:
    several skills may need the same.
    """
    if known.target is TargetKind.EVALS or (path and known.path == path):
        return known.target is not TargetKind.EVALS
    if known.state in _DECIDED_AGAINST:
        return True
    if path and (known.state not in _HERE or (known.state is State.ACCEPTED and known.target not in _STANDING)):
        return False
    unread = known.target in _STANDING and known.agents and agents and not {*known.agents} & {*agents}
    return not (path and unread) and _is_loaded_there(known, [ask.said[0].project, path])


def _is_loaded_there(known: Proposal, places: Sequence[str]) -> bool:
    """Whether a proposal's file is loaded in one of these folders, or next to one of these files.

    A file in a hidden folder, such as ~/.claude, is for all that is below the folder around it.
    """
    where = [Path(place) for place in places if place]
    if known.target is TargetKind.PERSONAL or not where:
        return True
    file = Path(known.path)
    hidden = next((folder for folder in file.parents if folder.name.startswith(".")), file)
    return any(place.is_relative_to(root) for place in where for root in {hidden.parent, Path(known.repo or file)})


def _is_new_ask(ask: Ask, said: _ProposalText) -> bool:
    """Whether a rejected ask was made again since the decision, in another session and in other words."""
    if said.proposal.state not in _DECIDED_AGAINST:
        return False
    decided = parse_time(said.proposal.decided_at) or 0.0
    return any(
        one.piece.at > decided and one.id not in said.turns and fold_case(one.quote) not in said.quotes
        for one in ask.said
    )


def _proposal_text(proposal: Proposal) -> _ProposalText:
    text = "\n".join(operation.text for operation in proposal.operations)
    if proposal.creates:
        text = _OBSERVED_STEP.sub("", text)
    lines = [line.strip().lstrip("-*+0123456789. ") for line in f"{text}\n{proposal.summary}".splitlines()]
    return _ProposalText(
        proposal,
        frozenset(piece.turn for piece in proposal.evidence),
        frozenset(fold_case(piece.quote) for piece in proposal.evidence),
        text,
        tuple((line, stems) for line in lines if (stems := content_stems(line))),
    )
